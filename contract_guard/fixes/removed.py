"""CG101 for a constant that a change removed: what production compared together with it stays.

Where production at the older revision held `x == GONE or x == STAYS`, a comparison with GONE goes
where one with STAYS stands beside it, and STAYS takes the place of GONE everywhere else: as a
value, so that lengths stay what they were. What a test told apart by the two it no longer does.
"""

import ast
from collections.abc import Iterator, Sequence

from contract_guard.facts.model import Import, Predicate, Span
from contract_guard.findings import Finding
from contract_guard.fixes import imports
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge
from contract_guard.fixes.moved import moved_import
from contract_guard.fixes.names import Scope
from contract_guard.fixes.successor import import_place

_JOINING_CALLS = frozenset({"logical_or", "logical_and", "bitwise_or", "bitwise_and"})
_EQUAL = (ast.Eq, ast.NotEq)


def survivor(knowledge: Knowledge, symbol: str) -> str:
    """The one constant that production compared together with a removed one, and that is still
    there. Raises CannotFix where there is none, or several."""
    old, new = knowledge.old, knowledge.registry
    if old is None:
        raise CannotFix("only `diff` knows what stood beside it")
    gone = old.producer(symbol)
    if gone is None or gone.kind != "assign":
        raise CannotFix("nothing is certain to have taken its place")
    name = symbol.rpartition(":")[2]
    found: set[str] = set()
    for path, facts in old.facts():
        if name not in facts.loaded_names or old.layout.is_test(path):
            continue
        for predicate in facts.predicates:
            groups = [
                {
                    producer.symbol
                    for each in group
                    if (producer := old.resolve_name(path, each).producer) is not None
                }
                for group in _groups(predicate)
            ]
            found |= {each for group in groups if symbol in group for each in group}
    others = sorted(found - {symbol})
    alive = [each for each in others if new.producer(each) is not None]
    if len(alive) == 1:
        return alive[0]
    if alive:
        raise CannotFix(f"production compared it together with several: {', '.join(alive)}")
    if others:
        raise CannotFix(f"what production compared it with is gone too: {', '.join(others)}")
    raise CannotFix("it is gone, and nothing is certain to have taken its place")


def _groups(predicate: Predicate) -> Iterator[set[str]]:
    """The names that a predicate compares one subject with, as alternatives of each other."""
    if predicate.op in ("in", "not in", "isin"):
        yield set(predicate.names)
    if predicate.op in ("or", "and"):
        wanted = "==" if predicate.op == "or" else "!="
        yield {
            name
            for operand in predicate.operands
            if isinstance(operand, Predicate) and operand.op == wanted
            for name in operand.names
        }
    for operand in predicate.operands:
        if isinstance(operand, Predicate):
            yield from _groups(operand)


def removed_name(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """The import loses the name, comparisons with it go, other uses take the survivor."""
    imp = file.import_at(finding.line, finding.column)
    if imp.name is None or imp.form != "from":
        raise CannotFix("only `from ... import` is rewritten")
    statement = file.statement(imp)
    home = file.names.scope_at(statement).home(imp.bound)
    if home is not None and _is_idle(file, imp, home):
        edits = _narrowed(file, imp, knowledge)
        return Fix("unsafe", f"`{imp.bound}` is gone, and nothing here uses it", tuple(edits))
    symbol = survivor(knowledge, finding.symbol)
    if home is None or home.bound.get(imp.bound, 0) > 1 or file.names.is_ambiguous(imp.bound):
        raise CannotFix(f"something else binds `{imp.bound}` in this file as well")
    if imp.bound in (file.facts.exports or ()):
        raise CannotFix(f"`__all__` lists `{imp.bound}`")
    other = _bound_name(file, symbol, knowledge)
    stays = other or symbol.partition(":")[2]
    if other is None and not file.names.is_free(stays):
        raise CannotFix(f"`{stays}` means something else in this file")
    rewriter = _Uses(file, imp.bound, stays)
    uses = file.names.uses(imp.bound, home)
    if file.names.annotations(home) and any(
        imp.bound in file.source.segment(text) for text in file.names.annotations(home)
    ):
        raise CannotFix("an annotation in quotes names it")
    edits = [*rewriter.edits(uses), *_import_edits(file, imp, symbol, other, knowledge)]
    title = f"`{imp.bound}` is gone; `{stays}`, compared together with it, takes its place"
    return Fix("unsafe", title, tuple(edits))


def _is_idle(file: File, imp: Import, home: Scope) -> bool:
    """Whether the file imports the name and does nothing with it."""
    return (
        not file.names.uses(imp.bound, home)
        and home.bound.get(imp.bound, 0) == 1
        and imp.bound not in (file.facts.exports or ())
        and imp.bound not in file.facts.loaded_names
    )


def _narrowed(file: File, imp: Import, knowledge: Knowledge) -> Iterator[Edit]:
    """The import without the name."""
    statement = file.statement(imp)
    pair = (imp.name or "", imp.bound if imp.renamed else None)
    width = knowledge.line_length - len(file.indent(statement))
    rest = imports.without(file.source.segment(statement), {pair}, width)
    if rest:
        yield file.edit(statement, rest)
    elif file.block(statement) == [statement] and statement not in file.tree.body:
        yield file.edit(statement, "pass")
    else:
        yield file.edit(file.line_range(statement), "")


def _bound_name(file: File, symbol: str, knowledge: Knowledge) -> str | None:
    """The name under which the file imports a symbol at its top level."""
    for imp in file.facts.imports:
        if imp.name is not None and imp.scope == 0 and imp.guard == -1:
            producer = knowledge.registry.resolve_import(file.path, imp).producer
            if producer is not None and producer.symbol == symbol:
                return imp.bound
    return None


def _import_edits(
    file: File, imp: Import, symbol: str, other: str | None, knowledge: Knowledge
) -> Iterator[Edit]:
    assert imp.name is not None
    statement = file.statement(imp)
    pair = (imp.name, imp.bound if imp.renamed else None)
    if other is None:
        place, name = import_place(knowledge, file, symbol), symbol.partition(":")[2]
        yield from moved_import(file, statement, pair, place, (name, None), knowledge.line_length)
        return
    yield from _narrowed(file, imp, knowledge)


class _Uses:
    """Rewrites the uses of a name that is gone, beside those of the one that stays."""

    def __init__(self, file: File, gone: str, stays: str) -> None:
        self._file = file
        self._gone = gone
        self._stays = stays
        self._parents = file.names.parents

    def edits(self, uses: Sequence[ast.Name]) -> Iterator[Edit]:
        done: list[Span] = []
        replaced: dict[ast.expr, list[ast.expr]] = {}
        for use in uses:
            if not isinstance(use.ctx, ast.Load):
                raise CannotFix(f"line {use.lineno} binds `{use.id}`")
            dropped = self._dropped(use)
            if dropped is None:
                yield self._file.edit(use, self._stays)
            else:
                replaced.setdefault(dropped[0], []).append(dropped[1])
        for whole, operands in replaced.items():
            edit = self._without(whole, operands)
            if any(edit.span[:2] < span[2:] and span[:2] < edit.span[2:] for span in done):
                raise CannotFix(f"conditions on line {edit.span.line} are nested too deeply")
            done.append(edit.span)
            yield edit

    def _dropped(self, use: ast.Name) -> tuple[ast.expr, ast.expr] | None:
        """The joined condition (or container) that can lose the part with this use, and that
        part; None where the use is a value."""
        parent = self._parents[use]
        if isinstance(parent, ast.Tuple | ast.List | ast.Set) and self._is_membership(parent):
            if any(isinstance(e, ast.Name) and e.id == self._stays for e in parent.elts):
                return parent, use
            return None
        if not isinstance(parent, ast.Compare) or len(parent.ops) != 1:
            return None
        if not isinstance(parent.ops[0], _EQUAL):
            return None
        whole = self._joined(parent)
        if whole is None:
            return None
        twin = self._twin(parent, use)
        if any(ast.dump(part) in twin for part in _parts(whole) if part is not parent):
            return whole, parent
        return None

    def _joined(self, compare: ast.Compare) -> ast.expr | None:
        """The outermost condition of one kind that joins `compare` with others."""
        wanted = "or" if isinstance(compare.ops[0], ast.Eq) else "and"
        found: ast.expr | None = None
        node: ast.AST = compare
        while (parent := self._parents.get(node)) is not None and _joins(parent) == wanted:
            assert isinstance(parent, ast.expr)
            found = node = parent
        return found

    def _twin(self, compare: ast.Compare, use: ast.Name) -> set[str]:
        """The same comparison with the name that stays, in either order."""
        (right,) = compare.comparators
        subject = right if compare.left is use else compare.left
        name = ast.Name(self._stays, ast.Load())
        return {
            ast.dump(ast.Compare(left, compare.ops, [other]))
            for left, other in ((subject, name), (name, subject))
        }

    def _is_membership(self, container: ast.expr) -> bool:
        """Whether the elements are what something is looked for among."""
        node: ast.AST = container
        parent = self._parents[node]
        if isinstance(parent, ast.Call) and _last(parent.func) in ("tensor", "array", "frozenset"):
            node, parent = parent, self._parents[parent]
        if isinstance(parent, ast.Compare):
            return parent.left is not node and isinstance(parent.ops[0], ast.In | ast.NotIn)
        return isinstance(parent, ast.Call) and _last(parent.func) in ("isin", "in1d")

    def _without(self, whole: ast.expr, parts: Sequence[ast.expr]) -> Edit:
        segment = self._file.source.segment
        if isinstance(whole, ast.Tuple | ast.List | ast.Set):
            kept = [segment(e) for e in whole.elts if e not in parts]
            text = ", ".join(kept)
            if isinstance(whole, ast.Tuple):
                text = f"({text},)" if len(kept) == 1 else f"({text})"
            else:
                text = f"[{text}]" if isinstance(whole, ast.List) else f"{{{text}}}"
            self._refuse_comments(whole)
            return self._file.edit(whole, text)
        self._refuse_comments(whole)
        text, is_single = self._joined_text(whole, parts)
        assert text is not None
        if is_single and self._needs_parentheses(whole, text):
            text = f"({text})"
        return self._file.edit(whole, text)

    def _refuse_comments(self, node: ast.expr) -> None:
        if node.end_lineno != node.lineno and "#" in self._file.source.segment(node):
            raise CannotFix(f"a comment stands inside of the condition on line {node.lineno}")

    def _joined_text(self, node: ast.expr, parts: Sequence[ast.expr]) -> tuple[str | None, bool]:
        """The text of a condition without some of its parts, None for nothing; and whether it is
        a single comparison now."""
        if node in parts:
            return None, False
        operands = _operands(node)
        if not operands:
            return self._file.source.segment(node), isinstance(node, ast.Compare)
        texts = [(o, *self._joined_text(o, parts)) for o in operands]
        kept = [(o, text, single) for o, text, single in texts if text is not None]
        if len(kept) == len(operands) and all(
            text == self._file.source.segment(o) for o, text, _ in kept
        ):
            return self._file.source.segment(node), False
        if len(kept) <= 1:
            return (kept[0][1], kept[0][2]) if kept else (None, False)
        wrapped = isinstance(node, ast.BinOp)
        shown = [f"({text})" if wrapped and single else text for _, text, single in kept]
        if isinstance(node, ast.Call):
            return f"{self._file.source.segment(node.func)}({', '.join(shown)})", False
        if isinstance(node, ast.BinOp):
            sign = " | " if isinstance(node.op, ast.BitOr) else " & "
        else:
            sign = " or " if isinstance(node.op, ast.Or) else " and "  # type: ignore[attr-defined]
        return sign.join(shown), False

    def _needs_parentheses(self, whole: ast.expr, text: str) -> bool:
        """Whether a comparison that takes the place of `whole` has to be wrapped."""
        span = self._file.source.span(whole)
        before = self._file.source.lines[span.line - 1][: span.column - 1].rstrip()
        after = self._file.source.lines[span.end_line - 1][span.end_column - 1 :].lstrip()
        if before.endswith("(") and after.startswith(")"):
            return False
        parent = self._parents[whole]
        binds_tighter = (
            ast.BinOp,
            ast.UnaryOp,
            ast.Compare,
            ast.Attribute,
            ast.Await,
            ast.Starred,
        )
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            return False
        if isinstance(parent, ast.Subscript | ast.Call) and whole in (
            getattr(parent, "value", None),
            getattr(parent, "func", None),
        ):
            return True
        return "\n" in text or isinstance(parent, binds_tighter)


def _last(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _joins(node: ast.AST) -> str:
    """ "or", "and", or "" for what joins no conditions."""
    if isinstance(node, ast.BoolOp):
        return "or" if isinstance(node.op, ast.Or) else "and"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd):
        return "or" if isinstance(node.op, ast.BitOr) else "and"
    if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        name = _last(node.func)
        if name in _JOINING_CALLS:
            return "or" if name.endswith("or") else "and"
    return ""


def _operands(node: ast.expr) -> list[ast.expr]:
    if not _joins(node):
        return []
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return node.args if isinstance(node, ast.Call) else []


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    operands = _operands(node)
    if not operands:
        yield node
    for operand in operands:
        yield from _parts(operand)
