"""A rule that production holds inline and a test repeats becomes one function that both call.

The function is written beside the constants that the rule is about, where they all come from one
module, else in the module that holds the rule. What production does stays the same.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contract_guard.facts.model import Import, ModuleFacts, Predicate, Span
from contract_guard.findings import Finding
from contract_guard.fixes import imports
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge
from contract_guard.fixes.predicates import called_helper, is_helper, predicate_at
from contract_guard.registry.risk import is_constant_name
from contract_guard.registry.rules import Rule, rules_of
from contract_guard.registry.value_sets import literal

# What the names of constants say beside what they stand for.
_PLAIN_WORDS = frozenset({"id", "ids", "base", "token", "index", "value", "start", "first"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")


def mirrored_predicate(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """CG303: the condition becomes a call of the function that production has for it, or of one
    that is moved out of something larger."""
    try:
        return called_helper(file, finding, knowledge)
    except CannotFix:
        return extraction(file.path, finding.line, knowledge, same_only=True)


class _Helper(NamedTuple):
    """The function to be: where it is written, its name, its parameter, what it returns, and the
    first constant in that."""

    path: str
    name: str
    parameter: str
    returned: str
    constant: str


def extraction(
    path: str, line: int, knowledge: Knowledge, *, name: str = "", same_only: bool = False
) -> Fix:
    """The fix that moves the rule out, for the condition on a line of the test `path`.

    `name` is that of the function, "" for one that is made from the rule. With `same_only` the
    test has to hold the same rule as production; else it takes over production's.

    Raises CannotFix.
    """
    if name and not name.isidentifier():
        raise CannotFix(f"`{name}` is no name for a function")
    copy = predicate_at(knowledge.registry, path, line)
    inline = _inline_rule(copy, knowledge, same_only=same_only)
    test, production = _file(path, knowledge), _file(inline.path, knowledge)
    helper = _helper(production, inline, knowledge, name)
    owner = _file(helper.path, knowledge)
    for file in (test, production, owner):
        if not file.names.is_free(helper.name):
            raise CannotFix(f"`{helper.name}` means something else in {file.path}: give --name")
    edits = [_definition(owner, helper, knowledge.line_length)]
    module = knowledge.registry.module(helper.path).name
    for file, rule in ((production, inline), (test, copy)):
        edits += _called(file, rule.predicate, helper, module, knowledge)
    title = f"`{module}:{helper.name}` holds the rule of {inline.path}"
    if copy.accepts != inline.accepts:
        accepted = f"{literal(inline.accepts)}, where the test accepted {literal(copy.accepts)}"
        title += f", which accepts {accepted}"
    return Fix("unsafe", title, tuple(edits))


def _file(path: str, knowledge: Knowledge) -> File:
    facts = knowledge.registry.tree.files.get(path)
    if not isinstance(facts, ModuleFacts):
        raise CannotFix(f"{path} cannot be read")
    return File(path, knowledge.read(path), facts)


def _inline_rule(copy: Rule, knowledge: Knowledge, *, same_only: bool) -> Rule:
    """The one condition of production over the copy's constants that is no function by itself."""
    registry = knowledge.registry
    names = {symbol.rpartition(":")[2] for symbol in copy.constants}
    found: list[Rule] = []
    for path, facts in registry.facts():
        if registry.layout.is_test(path) or names.isdisjoint(facts.loaded_names):
            continue
        found += [
            rule
            for rule in rules_of(registry, path)
            if copy.constants <= rule.constants
            and rule.predicate.subject is not None
            and facts.scopes[rule.predicate.scope].kind == "function"
            and not is_helper(knowledge.read(path), rule.predicate)
        ]
    same = [rule for rule in found if rule.accepts == copy.accepts]
    chosen = same or ([] if same_only else found)
    if not chosen:
        raise CannotFix("production holds no rule over these constants inside of a function")
    if len(chosen) > 1:
        places = ", ".join(f"{r.path}:{r.predicate.span.line}" for r in chosen)
        raise CannotFix(f"production holds it in several places: {places}")
    return chosen[0]


def _helper(file: File, rule: Rule, knowledge: Knowledge, name: str) -> _Helper:
    predicate = rule.predicate
    assert predicate.subject is not None
    registry = knowledge.registry
    symbols = {
        each: producer.symbol
        for each in predicate.names
        if (producer := registry.resolve_name(file.path, each).producer) is not None
    }
    last = predicate.subject.rpartition(".")[2]
    parameter = last if _IDENTIFIER.match(last) else "values"
    homes = {symbol.partition(":")[0] for symbol in symbols.values()}
    foreign = _foreign_names(file, predicate)
    home = registry.modules.named(homes.pop()) if len(homes) == 1 and not foreign else []
    path = home[0].path if home and not home[0].tree else file.path
    spelled = {each: symbol.partition(":")[2] for each, symbol in symbols.items()}
    if path == file.path:
        spelled = {}
    returned = _rewritten(file, predicate, parameter, spelled)
    name = name or _proposed_name(file, predicate)
    constant = next(iter(symbols.values()), "").rpartition(":")[2]
    return _Helper(path, name, parameter, returned, constant)


def _foreign_names(file: File, predicate: Predicate) -> set[str]:
    """Names in a condition that are neither its subject nor its constants: `torch` of
    `torch.isin`."""
    known = {each.partition(".")[0] for each in (*predicate.names, predicate.subject or "")}
    tree = ast.parse(f"({file.cut(predicate.span)}\n)", mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known


def _rewritten(file: File, predicate: Predicate, parameter: str, spelled: dict[str, str]) -> str:
    """The condition on one line, over `parameter`, with the names that constants have at home."""
    if "#" in file.cut(predicate.span):
        raise CannotFix("a comment stands inside of production's rule")
    text = " ".join(file.cut(predicate.span).split())
    tree = ast.parse(text, mode="eval")
    places: dict[tuple[int, int], str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and node.end_col_offset is not None:
            source = ast.get_source_segment(text, node) or ""
            if source == predicate.subject:
                places[node.col_offset, node.end_col_offset] = parameter
            elif source in spelled:
                places[node.col_offset, node.end_col_offset] = spelled[source]
    encoded = text.encode()
    for (start, end), new in sorted(places.items(), reverse=True):
        encoded = encoded[:start] + new.encode() + encoded[end:]
    return encoded.decode().replace("( ", "(").replace(" )", ")").replace(",)", ")")


def _proposed_name(file: File, predicate: Predicate) -> str:
    """`is_image_position` for `is_image = ...`, else from the first constant."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Assign) and file.source.span(node.value) == predicate.span:
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id.startswith("is_"):
                return f"{target.id}_position"
    constants = [n.rpartition(".")[2] for n in predicate.names]
    name = next((n for n in constants if is_constant_name(n)), "rule")
    words = [word for word in name.lower().split("_") if word]
    while len(words) > 1 and words[-1] in _PLAIN_WORDS:
        words.pop()
    return "is_" + "_".join(words)


def _definition(file: File, helper: _Helper, line_length: int) -> Edit:
    """The function at the end of its module."""
    text = file.source.text
    last = Span(*([len(file.source.lines), len(file.source.lines[-1]) + 1] * 2))
    blank = "\n\n" if text.endswith("\n") else "\n\n\n"
    returned = "\n    ".join(_folded(helper.returned, line_length - 4))
    return file.edit(
        last,
        f"{blank}def {helper.name}({helper.parameter}):\n"
        f'    """Whether `{helper.parameter}` fit the rule over `{helper.constant}`."""\n'
        f"    {returned}\n",
    )


def _folded(returned: str, width: int) -> list[str]:
    """`return ...` on one line, or with an operand a line in parentheses."""
    line = f"return {returned}"
    tree = ast.parse(returned, mode="eval").body
    if len(line) <= width or not isinstance(tree, ast.BinOp | ast.BoolOp):
        return [line]
    if isinstance(tree, ast.BoolOp):
        sign = "or" if isinstance(tree.op, ast.Or) else "and"
        parts: Sequence[ast.expr] = tree.values
    else:
        sign = "|" if isinstance(tree.op, ast.BitOr) else "&"
        parts = [tree.left, tree.right]
    texts = [ast.get_source_segment(returned, part) or "" for part in parts]
    if isinstance(tree, ast.BinOp):
        texts = [f"({text})" for text in texts]
    return [
        "return (",
        f"    {texts[0]}",
        *(f"    {sign} {text}" for text in texts[1:]),
        ")",
    ]


def _called(
    file: File, predicate: Predicate, helper: _Helper, module: str, knowledge: Knowledge
) -> Iterator[Edit]:
    """The call in place of the condition, and the imports that it needs and no longer needs."""
    if predicate.subject is None:
        raise CannotFix(f"the condition in {file.path} tests more than one thing")
    dotted = next((n for n in predicate.names if "." in n), "")
    if file.path == helper.path:
        yield file.edit(predicate.span, f"{helper.name}({predicate.subject})")
        return
    if dotted:
        prefix = dotted.rpartition(".")[0]
        producer = knowledge.registry.resolve_name(file.path, prefix).producer
        if producer is None or producer.symbol != module:
            raise CannotFix(f"{file.path} does not take the constants from `{module}`")
        yield file.edit(predicate.span, f"{prefix}.{helper.name}({predicate.subject})")
        return
    yield file.edit(predicate.span, f"{helper.name}({predicate.subject})")
    taken = [
        imp
        for imp in file.facts.imports
        if imp.form == "from"
        and imp.scope == 0
        and imp.guard == -1
        and imp.bound in predicate.names
    ]
    if not taken:
        raise CannotFix(f"{file.path} does not import the constants at its top level")
    idle = [imp for imp in taken if not _is_used_elsewhere(file, imp, predicate)]
    by_statement: dict[Span, list[Import]] = {}
    for imp in idle:
        by_statement.setdefault(imp.statement, []).append(imp)
    near = taken[0]
    by_statement.setdefault(near.statement, [])
    whole = knowledge.registry.resolve_import(file.path, near).symbol.partition(":")[0]
    for span, gone in by_statement.items():
        statement = file.statement(gone[0] if gone else near)
        text = file.source.segment(statement)
        width = knowledge.line_length - len(file.indent(statement))
        pairs = [(i.name or "", i.bound if i.renamed else None) for i in gone]
        if span != near.statement or whole != module:
            text = imports.without(text, pairs, width)
        elif pairs:
            text = imports.without(text, pairs[1:], width)
            text = imports.renamed(text, pairs[0], (helper.name, None), width)
        else:
            text = imports.widened(text, (helper.name, None), width)
        if text:
            yield file.edit(statement, text)
        else:
            yield file.edit(file.line_range(statement), "")
    if whole != module:
        pair = (helper.name, None)
        yield imports.adding(file, file.statement(near), module, pair, knowledge.line_length)


def _is_used_elsewhere(file: File, imp: Import, predicate: Predicate) -> bool:
    home = file.names.scope_at(file.statement(imp)).home(imp.bound)
    if home is None or imp.bound in (file.facts.exports or ()):
        return True
    span = predicate.span
    return any(
        not (span[:2] <= file.source.span(use)[:2] <= span[2:])
        for use in file.names.uses(imp.bound, home)
    )
