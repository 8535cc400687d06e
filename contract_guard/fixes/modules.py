"""CG104: modules that live elsewhere, or under another name."""

import ast
import re
from collections.abc import Iterator

from contract_guard.facts.model import Import, Span
from contract_guard.findings import Finding
from contract_guard.fixes import imports
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge
from contract_guard.fixes.moved import asked_module, is_package
from contract_guard.fixes.successor import Successor, is_doubtful, module_successor, successor

_MODULE_PART = re.compile(r"from\s+([.\w]+)")


def missing_module(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """CG104: names of a module that is gone are imported from where they live now."""
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    around = [
        imp
        for imp in file.facts.imports
        if imp.statement[:2] <= span[:2] and span[2:] <= imp.statement[2:]
    ]
    imp = next((each for each in around if each.span == span), around[0] if around else None)
    if imp is None:
        raise CannotFix("the import could not be found again")
    here = [each for each in around if each.form == imp.form]
    moved = module_successor(knowledge, finding.symbol)
    if imp.form != "from" and imp.name is None:
        return _whole(file, imp, finding.symbol, moved)
    if imp.form != "from" or any(each.name in (None, "*") for each in here):
        raise CannotFix("only `from ... import` is rewritten")
    asked = asked_module(knowledge.registry, file.path, imp)
    homes = {each.name: _home(knowledge, finding.symbol, asked, moved, each) for each in here}
    modules = {home.module for home in homes.values()}
    if len(modules) > 1:
        raise CannotFix("its names went to different modules: " + ", ".join(sorted(modules)))
    if any(home.name != name for name, home in homes.items()):
        raise CannotFix("some of its names have new names as well")
    (module,) = modules
    safe = all(home.safety == "safe" for home in homes.values())
    own = knowledge.registry.module(file.path).name
    text = imports.relative(own, is_package(file.path), imp.level, module)
    return Fix(
        "safe" if safe else "unsafe",
        f"`{finding.symbol}` is now `{module}`",
        (file.edit(_module_span(file, imp), text),),
    )


def _module_span(file: File, imp: Import) -> Span:
    """The range of `pkg.gone` in `from pkg.gone import a, b`."""
    line, column = imp.statement[:2]
    match = _MODULE_PART.match(file.source.lines[line - 1], column - 1)
    if match is None:
        raise CannotFix("the module's name stands on a line of its own")
    return Span(line, match.start(1) + 1, line, match.end(1) + 1)


def _home(
    knowledge: Knowledge, gone: str, asked: str, moved: Successor | None, imp: Import
) -> Successor:
    """Where one name of the module went: along with it, or by itself."""
    assert imp.name is not None
    if moved is not None:
        module = moved.symbol + asked[len(gone) :]
        found = knowledge.registry.resolve_symbol(f"{module}:{imp.name}")
        if found.status == "exists":
            if is_doubtful(knowledge, f"{asked}:{imp.name}", f"{module}:{imp.name}"):
                raise CannotFix(f"`{imp.name}` may have gone to one of several modules")
            return Successor(f"{module}:{imp.name}", moved.safety)
    found = successor(knowledge, f"{asked}:{imp.name}")
    if found is None:
        raise CannotFix(f"nothing is certain to have taken the place of `{imp.name}`")
    return found


def _whole(file: File, imp: Import, gone: str, moved: Successor | None) -> Fix:
    """`import pkg.gone`, with the uses of its dotted name; and calls that import a module."""
    if moved is None:
        raise CannotFix("nothing is certain to have taken its place")
    module = moved.symbol + imp.module[len(gone) :]
    title = f"`{imp.module}` is now `{module}`"
    if imp.form != "import":
        return Fix(moved.safety, title, (_argument(file, imp, module),))
    if imp.renamed:
        return Fix(moved.safety, title, (file.edit(imp.span, f"{module} as {imp.bound}"),))
    edits = (file.edit(imp.span, module), *_dotted_uses(file, imp, gone, moved.symbol))
    return Fix(moved.safety, title, edits)


def _argument(file: File, imp: Import, module: str) -> Edit:
    """The text that `import_module` or `importorskip` is given."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and file.source.span(node) == imp.span:
            text = node.args[0]
            written = file.source.segment(text)
            if imp.level or written.count(imp.module) != 1:
                break
            return file.edit(text, written.replace(imp.module, module))
    raise CannotFix("the name of the module is not written out in the call")


def _dotted_uses(file: File, imp: Import, gone: str, module: str) -> Iterator[Edit]:
    """`gone.name` becomes `module.name` wherever its first part is what the import binds."""
    path = tuple(gone.split(".")[1:])
    at = file.facts.imports.index(imp)
    is_root_kept = gone.partition(".")[0] == module.partition(".")[0]
    rest = [each for each in file.facts.uses if at in each.imported]
    for use in (each for each in rest if each.chain[: len(path)] == path):
        span = Span(*use.span[:2], *use.ends[len(path)])
        if file.cut(span) != gone:
            raise CannotFix(f"line {span.line} spells the dotted name in a way of its own")
        yield file.edit(span, module)
    is_left = any(each.chain[: len(path)] != path for each in rest)
    is_passed = any(at in load.imported for load in file.facts.loads)
    if not is_root_kept and (is_left or is_passed or imp.bound in (file.facts.exports or ())):
        raise CannotFix(f"it is now `{module}`, and `{imp.bound}` is used for more than it here")
    home = file.names.scope_at(file.statement(imp)).home(imp.bound)
    word = re.compile(rf"(?<![\w.]){re.escape(gone)}(?!\w)")
    for text in file.names.annotations(home) if home is not None else ():
        before = file.source.segment(text)
        if word.search(before):
            yield file.edit(text, word.sub(module, before))
