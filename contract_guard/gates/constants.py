"""Values of production constants that an expectation uses: read from the source where that says
enough, imported otherwise."""

import ast
import importlib
import importlib.util
from pathlib import Path
from typing import cast

from contract_guard.gates.operations import CannotLift


def assigned(text: str, name: str) -> object:
    """The literal that a module's text assigns to `name`, once, at its top level. Raises
    LookupError where there is none, or more than one."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise LookupError(name) from error
    values: list[ast.expr] = []
    for node in body:
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            continue
        if name in names and node.value is not None:
            values.append(node.value)
    if len(values) != 1:
        raise LookupError(name)
    try:
        return ast.literal_eval(values[0])
    except ValueError as error:
        raise LookupError(name) from error


def production_constant(path: str) -> object:
    """The value of `package.module:NAME`: a number, a string or a tuple of these. A module is
    imported only where its text does not say the value. Raises CannotLift."""
    module, _, name = path.partition(":")
    try:
        value = assigned(_source(module), name)
    except LookupError:
        value = _imported(module, name, path)
    if isinstance(value, int | float | str | tuple):
        return cast("object", value)
    raise CannotLift(f"{path} is a {type(value).__name__}, not a constant")


def _source(module: str) -> str:
    """The text of a module. Only its top package is looked for, and nothing is imported. Raises
    LookupError."""
    top, *parts = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError) as error:
        raise LookupError(module) from error
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    files = [place.joinpath(*parts) for place in places]
    candidates = [file.with_suffix(".py") for file in files if parts]
    candidates += [file / "__init__.py" for file in files]
    if spec is not None and spec.origin is not None and not parts:
        candidates.append(Path(spec.origin))
    for file in candidates:
        if file.is_file():
            try:
                return file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
    raise LookupError(module)


def _imported(module: str, name: str, path: str) -> object:
    try:
        value: object = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except Exception as error:
        raise CannotLift(f"{path} is not to be had: {type(error).__name__}: {error}") from error
    return value
