from pkg.worker import used_only_as_re_export

__all__ = ["used_only_as_re_export"]
