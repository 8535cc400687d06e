"""CG101, CG102: names that live elsewhere, or under another name."""

import ast
import re
from collections.abc import Iterator

from contract_guard.facts.model import Import, ModuleFacts, Span
from contract_guard.findings import Finding
from contract_guard.fixes import imports
from contract_guard.fixes.file import File
from contract_guard.fixes.literals import imported_name
from contract_guard.fixes.lookups import is_taken
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge
from contract_guard.fixes.names import Scope
from contract_guard.fixes.successor import (
    Successor,
    import_place,
    module_successor,
    must_exist,
    passes_on,
)
from contract_guard.registry.index import Registry
from contract_guard.text import plural


def missing_name(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """CG101: the name is imported from where it lives now, and renamed at every use."""
    if not marks_import(file, finding):
        is_own = knowledge.registry.module(file.path).name == finding.symbol.partition(":")[0]
        return (_own if is_own else _forgotten)(file, finding, knowledge)
    imp = file.import_at(finding.line, finding.column)
    if imp.name is None or imp.name == "*" or imp.form != "from":
        raise CannotFix("only `from ... import` is rewritten")
    new = must_exist(knowledge, finding.symbol)
    return _import_of(file, imp, new, knowledge)


def marks_import(file: File, finding: Finding) -> bool:
    """Whether the finding is on an import, or on a use of a name that nothing binds."""
    return any(imp.span[:2] == (finding.line, finding.column) for imp in file.facts.imports)


def _own(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """A name that this file defined itself: all of its uses take what took its place."""
    new, old = must_exist(knowledge, finding.symbol), finding.symbol.partition(":")[2]
    name, edits = new.name, list[Edit]()
    if new.module != finding.symbol.partition(":")[0]:
        name, edits = imported_name(file, new.symbol, knowledge, is_read=True)
    top = file.names.top
    uses = file.names.uses(old, None)
    for use in uses if not edits else ():
        if file.names.scope_at(use).home(name) is not top:
            raise CannotFix(f"`{name}` means something else on line {use.lineno}")
    if name != old:
        edits = [*edits, *uses_renamed(file, None, old, name)]
    left = _left_in_texts(file, old)
    return Fix(new.safety, f"`{old}` is now `{name}`", tuple(edits), left)


def _forgotten(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """A name that nothing here binds, and that a module next door defines."""
    module = knowledge.registry.modules.named(finding.symbol.partition(":")[0])
    if not module or knowledge.registry.layout.is_test(module[0].path):
        raise CannotFix("a conftest defines the name, which is not to be imported from")
    name, edits = imported_name(file, finding.symbol, knowledge, is_read=True)
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    if name != file.cut(span):
        edits = [*edits, file.edit(span, name)]
    return Fix("unsafe", f"`{finding.symbol}` is imported", tuple(edits))


def _import_of(file: File, imp: Import, new: Successor, knowledge: Knowledge) -> Fix:
    assert imp.name is not None
    registry = knowledge.registry
    if "." in new.name or not new.name:
        raise CannotFix(f"it became `{new.symbol}`, which cannot be imported by itself")
    here = registry.module(file.path)
    if new.module == here.name:
        raise CannotFix("this file itself defines it now")
    statement = file.statement(imp)
    old_pair = (imp.name, imp.bound if imp.renamed else None)
    pair, edits, left = (new.name, old_pair[1]), list[Edit](), ""
    if new.name != imp.name and not imp.renamed:
        if _keeps_its_name(file, statement, imp.bound, new.name, registry):
            pair = (new.name, imp.bound)
        else:
            home = file.names.scope_at(statement).home(imp.bound)
            assert home is not None
            edits = list(uses_renamed(file, home, imp.bound, new.name))
            left = _left_in_texts(file, imp.bound)
    width = knowledge.line_length - len(file.indent(statement))
    old_module = registry.resolve_import(file.path, imp).symbol.partition(":")[0]
    segment = file.source.segment(statement)
    if passes_on(registry, old_module, new.symbol):
        edits.append(file.edit(statement, imports.renamed(segment, old_pair, pair, width)))
        return Fix(new.safety, f"`{imp.name}` is now `{new.name}`", tuple(edits), left)
    place = import_place(knowledge, file, new.symbol)
    module = imports.relative(here.name, is_package(file.path), imp.level, place)
    edits += moved_import(file, statement, old_pair, module, pair, knowledge.line_length)
    return Fix(new.safety, f"`{new.name}` is imported from `{place}`", tuple(edits), left)


def moved_import(
    file: File,
    statement: ast.Import | ast.ImportFrom,
    old: tuple[str, str | None],
    module: str,
    new: tuple[str, str | None],
    line_length: int,
) -> Iterator[Edit]:
    """The edits that take one name out of a statement and import another from `module`."""
    width = line_length - len(file.indent(statement))
    segment = file.source.segment(statement)
    if isinstance(statement, ast.ImportFrom) and imports.module_of(statement) == module:
        yield file.edit(statement, imports.renamed(segment, old, new, width))
        return
    rest = imports.without(segment, {old}, width)
    lost = imports.comments(segment)
    for kept in imports.comments(rest):
        lost.remove(kept)
    add = imports.adding(
        file,
        statement,
        module,
        new,
        line_length,
        instead=not rest,
        comment="  ".join(lost),
        is_alone=not rest and file.has_comment_behind(statement),
    )
    if rest:
        yield file.edit(statement, rest)
    elif add.span != file.source.span(statement):
        yield file.edit(file.line_range(statement), "")
    yield add


def _keeps_its_name(
    file: File, statement: ast.stmt, old: str, new: str, registry: Registry
) -> bool:
    """Whether the file has to go on with the old name: others may take it from here, something
    else binds it too, or the new one means something else here."""
    names = file.names
    home = names.scope_at(statement).home(old)
    return (
        home is None
        or home.bound.get(old, 0) > 1
        or not names.is_free(new)
        or names.is_ambiguous(old)
        or file.path.endswith("__init__.py")
        or old in (file.facts.exports or ())
        or (home is file.names.top and is_taken(registry, file.path, old))
    )


def uses_renamed(file: File, home: Scope | None, old: str, new: str) -> Iterator[Edit]:
    """Every place where `old` means the one bound in `home` (None: nowhere in the file), in quoted
    annotations too."""
    for node in file.names.uses(old, home):
        edit = file.edit(node, new)
        if file.cut(edit.span) != old:  # inside of an f-string, before Python 3.12
            raise CannotFix(f"where line {node.lineno} names `{old}` cannot be told exactly")
        yield edit
    word = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w)")
    for text in file.names.annotations(home or file.names.top):
        before = file.source.segment(text)
        after = word.sub(new, before)
        if after != before:
            yield file.edit(text, after)


def _left_in_texts(file: File, name: str) -> str:
    """Where a name stands that is not followed: texts that are just the name (`globals()[...]`,
    `getattr`), and type comments; "" for nowhere."""
    texts = sum(
        isinstance(node, ast.Constant) and node.value == name for node in ast.walk(file.tree)
    )
    typed = re.compile(rf"#\s*type:.*(?<![\w.]){re.escape(name)}(?!\w)")
    comments = sum(bool(typed.search(line)) for line in file.source.lines)
    places = [plural(texts, "text")] if texts else []
    places += [plural(comments, "type comment")] if comments else []
    return f"`{name}` stays in {' and '.join(places)}" if places else ""


def missing_attribute(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """CG102: `m.old` becomes `m.new`, or the name in the module that has it now."""
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    node = _attribute_at(file, span)
    module, _, name = finding.symbol.partition(":")
    found = module_successor(knowledge, f"{module}.{name}")
    if found is not None and f"{module}.{name}" in knowledge.changes:
        return _chain(file, node, found.symbol, found, knowledge)
    new = must_exist(knowledge, finding.symbol)
    owner, _, last = new.name.rpartition(".")
    is_there = passes_on(knowledge.registry, module, new.symbol)
    if is_there and owner == name.rpartition(".")[0]:
        end = Span(span.end_line, span.end_column - len(node.attr), *span[2:])
        dotted = file.source.segment(node)
        dotted = dotted[: len(dotted) - len(node.attr)] + last
        edits = (file.edit(end, last), *_in_quotes(file, node, dotted))
        return Fix(new.safety, f"`{name}` is now `{new.name}`", edits)
    if "." in name or owner:
        raise CannotFix(f"it became `{new.symbol}`, which has another owner")
    return _chain(file, node, new.symbol.replace(":", "."), new, knowledge)


def _chain(
    file: File, node: ast.Attribute, dotted: str, new: Successor, knowledge: Knowledge
) -> Fix:
    """The whole chain anew where it begins with the top-level package, else an import."""
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    title = f"`{file.source.segment(node)}` is now `{dotted}`"
    top = dotted.partition(".")[0]
    roots = [
        imp for imp in file.facts.imports if isinstance(root, ast.Name) and imp.bound == root.id
    ]
    names_top = any(i.form == "import" and i.bound == top and not i.renamed for i in roots)
    if names_top and _is_loaded(file, new.module, knowledge.registry):
        return Fix(new.safety, title, (file.edit(node, dotted), *_in_quotes(file, node, dotted)))
    name, place = dotted.rpartition(".")[2], import_place(knowledge, file, new.symbol)
    text = name
    if new.name and not file.names.is_free(name):
        # By its module, where the file uses the name for something else.
        place, _, name = new.module.rpartition(".")
        text = f"{name}.{text}"
    if not new.name or not roots or not place or not file.names.is_free(name):
        raise CannotFix(f"it is now `{dotted}`; the name cannot be imported here by itself")
    add = imports.adding(file, file.statement(roots[0]), place, (name, None), knowledge.line_length)
    return Fix(new.safety, title, (file.edit(node, text), add))


def _in_quotes(file: File, node: ast.Attribute, new: str) -> Iterator[Edit]:
    """The same chain in annotations in quotes."""
    word = re.compile(rf"(?<![\w.]){re.escape(file.source.segment(node))}(?!\w)")
    for text in file.names.annotations(file.names.top):
        before = file.source.segment(text)
        if word.search(before):
            yield file.edit(text, word.sub(new, before))


def _is_loaded(file: File, module: str, registry: Registry) -> bool:
    """Whether the imports at the top of the file see to it that the dotted name of a module leads
    to it: they load it, or its package, which takes it in."""
    names = [
        f"{imp.module}.{imp.name}." if imp.name else f"{imp.module}."
        for imp in file.facts.imports
        if imp.scope == 0 and imp.form in ("import", "from") and not imp.level
    ]
    package, _, last = module.rpartition(".")
    if not package or any(name.startswith(f"{module}.") for name in names):
        return True
    return any(name.startswith(f"{package}.") for name in names) and any(
        last in each.bindings or _takes_in(registry, each.path, module)
        for each in registry.modules.named(package)
    )


def _takes_in(registry: Registry, path: str, module: str) -> bool:
    """Whether the package at `path` imports its module itself, whatever it takes from it."""
    facts = registry.tree.files.get(path)
    return isinstance(facts, ModuleFacts) and any(
        imp.scope == 0
        and imp.guard == -1
        and f"{asked_module(registry, path, imp)}.".startswith(f"{module}.")
        for imp in facts.imports
    )


def asked_module(registry: Registry, path: str, imp: Import) -> str:
    """The absolute name of the module that an import asks for."""
    if not imp.level:
        return imp.module
    parts = registry.module(path).name.split(".")
    base = parts[: len(parts) - imp.level + (1 if is_package(path) else 0)]
    return ".".join((*base, *filter(None, [imp.module])))


def _attribute_at(file: File, span: Span) -> ast.Attribute:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and file.source.span(node) == span:
            return node
    raise CannotFix("the attribute could not be found again")


def is_package(path: str) -> bool:
    return path.rpartition("/")[2].startswith("__init__.")
