"""`contract_guard_symbol`: a production name that is resolved when a test asks for it."""

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

import pytest


def resolver(config: pytest.Config) -> Callable[[str], Any]:
    """A function from `package.module:NAME` (or `package.module:Class.attribute`) to its value.

    It fails the test where the name is not there, and says what became of it. An error inside
    the module that is imported is that module's own, and is raised as it is.
    """
    explanations: dict[str, str] = {}

    def _fail(said: str) -> NoReturn:
        __tracebackhide__ = True
        if said not in explanations:
            from contract_guard.plugin.doctor import explained

            explanations[said] = explained(config, said)
        pytest.fail(f"{said}\n\n{explanations[said]}", pytrace=False)

    def resolve(symbol: str) -> Any:
        __tracebackhide__ = True
        module, colon, name = symbol.partition(":")
        if not module or not (name or not colon):
            raise ValueError(f"{symbol!r}: expected package.module:NAME")
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
            _fail(f"No module named '{error.name}'")
        reached = module
        for part in name.split(".") if name else ():
            if not hasattr(found, part):
                is_module = reached == module
                _fail(
                    f"cannot import name '{part}' from '{module}'"
                    if is_module
                    else f"<class '{reached}'> does not have the attribute '{part}'"
                )
            found = getattr(found, part)
            reached += f".{part}"
        return found

    return resolve
