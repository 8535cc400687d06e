import warnings


def __getattr__(name):
    if name == "OldError":
        warnings.warn("use ExceptionGroup", DeprecationWarning)
        return ExceptionGroup
    raise AttributeError(name)
