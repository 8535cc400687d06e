"""A test of a shadow copy with production put beside the copy, so that both can be run.

Such a test calls nothing of production: where it calls the copy, production is called on the same
arguments, and both are compared. Its own assertions are left out.
"""

import ast
import copy
from collections.abc import Sequence

from contract_guard.mirrors.agreement import CannotLift
from contract_guard.mirrors.scopes import FunctionNode
from contract_guard.mirrors.trace import functions_of

_PRODUCTION = "contract_guard_production"


def beside_production(
    tree: ast.Module, qualname: str, copied: str, production: ast.Module, symbol: str
) -> ast.Module:
    """The test file `tree` with its test `qualname` changed so: `copied` is the function of the
    file that is the copy, `symbol` (`package.module:function`) the function that it copies, and
    `production` the file of that.

    Raises CannotLift where the copy is no function that can be called as production is, or the
    test does not call it, LookupError if a file has no such function.
    """
    module, _, name = symbol.partition(":")
    if "." in name or "." in copied:
        raise CannotLift("a copy that is, or is of, a method or an inner function")
    here, there = _function(tree, copied), _function(production, name)
    if not _takes(there, len(_names(here))):
        raise CannotLift(f"`{copied}` and `{name}` take other arguments")
    changed = copy.deepcopy(tree)
    test = next(node for known, node, _ in functions_of(changed) if known == qualname)
    same_names = _names(here) == _names(there)[: len(_names(here))]
    if not _add(test.body, copied, same_names):
        raise CannotLift(f"the test does not call `{copied}` with arguments of its own")
    test.body = [
        ast.ImportFrom(module, [ast.alias(name, _PRODUCTION)], 0),
        *(statement for statement in test.body if not _is_own_assertion(statement)),
    ]
    return ast.fix_missing_locations(changed)


def _function(tree: ast.Module, name: str) -> FunctionNode:
    for node in tree.body:
        if isinstance(node, FunctionNode) and node.name == name:
            return node
    raise LookupError(f"no function {name}")


def _names(node: FunctionNode) -> list[str]:
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]


def _takes(node: FunctionNode, count: int) -> bool:
    """Whether a function can be called with so many arguments by position."""
    most = len(_names(node))
    required = sum(default is None for default in node.args.kw_defaults)
    return not required and most - len(node.args.defaults) <= count <= most


def _add(body: list[ast.stmt], copied: str, same_names: bool) -> bool:
    """Compares both after the first statement that calls the copy; False where there is none."""
    for at, statement in enumerate(body):
        inner = [b for name in ("body", "orelse") if (b := getattr(statement, name, None))]
        if isinstance(statement, ast.With | ast.If) and any(
            _add(block, copied, same_names) for block in inner
        ):
            return True
        call = None if inner else _call(statement, copied, same_names)
        if call is not None:
            other = copy.deepcopy(call)
            other.func = ast.Name(_PRODUCTION, ast.Load())
            test = ast.Compare(other, [ast.Eq()], [copy.deepcopy(call)])
            body.insert(at + 1, ast.copy_location(ast.Assert(test), statement))
            return True
    return False


def _call(statement: ast.stmt, copied: str, same_names: bool) -> ast.Call | None:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            is_plain = not any(isinstance(a, ast.Starred) for a in node.args)
            words: Sequence[ast.keyword] = node.keywords
            if node.func.id == copied and is_plain and (same_names or not words):
                return node
    return None


def _is_own_assertion(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assert):
        return False
    return not any(
        isinstance(node, ast.Name) and node.id == _PRODUCTION for node in ast.walk(statement)
    )
