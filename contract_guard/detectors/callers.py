"""A function that its module calls only where an error of it is caught."""

import ast

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.guarded import GuardedVisitor
from contract_guard.registry.guards import Error

# Who catches everything reports what failed; it does not expect a name to be missing.
_REPORTS = frozenset({"Exception", "BaseException"})


def is_called_only_guarded(context: Context, site: Site, error: Error) -> bool:
    """Whether the site stands in a function of the module that is called there, always inside of
    a `try` or a `with` that catches `error`, and that nothing else seems to use."""
    name = _function_around(site)
    if not name or name not in site.facts.loaded_names:
        return False
    calls = _Calls(name, error)
    calls.visit(ast.parse(context.text(site.path)))
    return calls.guarded > 0 and not calls.others and not _is_imported(context, site.path, name)


def _function_around(site: Site) -> str:
    """The name of the module-level function that the site stands in, "" for none."""
    scope, scopes = site.scope, site.facts.scopes
    while scope > 0 and scopes[scope].parent > 0:
        scope = scopes[scope].parent
    return scopes[scope].qualname if scope > 0 and scopes[scope].kind == "function" else ""


def _is_imported(context: Context, path: str, name: str) -> bool:
    return any(
        imported.name == name
        for other, facts in context.registry.whole.facts()
        if other != path
        for imported in facts.imports
    )


class _Calls(GuardedVisitor):
    """Counts the calls of a function that are guarded, and all other loads of its name."""

    def __init__(self, name: str, error: Error) -> None:
        super().__init__(error)
        self.guarded = 0
        self.others = 0
        self._name = name

    def catches(self, name: str) -> bool:
        return name not in _REPORTS and super().catches(name)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == self._name and self.is_guarded:
            self.guarded += 1
        else:
            self.visit(node.func)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        self.others += node.id == self._name
