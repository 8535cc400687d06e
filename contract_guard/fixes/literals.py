"""CG203: a literal that repeats the value of a constant becomes the constant."""

from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes import imports
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge
from contract_guard.fixes.successor import import_place


def copied_literal(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """Unsafe: the test may have meant the value itself."""
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    bound, edits = imported_name(file, finding.symbol, knowledge)
    if not file.cut(span)[:1].isalnum() and file.cut(span)[:1] not in "\"'-":
        raise CannotFix("the literal could not be found again")
    title = f"`{bound}` in place of {file.cut(span)}"
    return Fix("unsafe", title, (*edits, file.edit(span, bound)))


def imported_name(
    file: File, symbol: str, knowledge: Knowledge, *, is_read: bool = False
) -> tuple[str, list[Edit]]:
    """The name under which the file can use a definition of production, with the edits that
    import it where nothing does yet. With `is_read` the file reads the name already, unbound.

    Raises CannotFix where the name means something else here, or the file has no import beside
    which it could stand.
    """
    registry = knowledge.registry
    owner, _, name = symbol.partition(":")
    for imp in file.facts.imports:
        if imp.scope or imp.guard != -1 or imp.form not in ("from", "import"):
            continue
        producer = registry.resolve_import(file.path, imp).producer
        if producer is None:
            continue
        if producer.symbol == symbol:
            return imp.bound, []
        if producer.kind == "module" and producer.symbol == owner and imp.name is not None:
            return f"{imp.bound}.{name}", []
    if not is_read and not file.names.is_free(name):
        raise CannotFix(f"`{name}` means something else in this file")
    place = import_place(knowledge, file, symbol)
    top = place.partition(".")[0]
    near = [
        imp
        for imp in file.facts.imports
        if imp.scope == 0 and imp.guard == -1 and imp.form in ("from", "import")
    ]
    if not near:
        raise CannotFix("the file has no import beside which the name could be imported")
    own = [imp for imp in near if imp.module.partition(".")[0] == top and not imp.level]
    statement = file.statement((own or near)[-1])
    edit = imports.adding(file, statement, place, (name, None), knowledge.line_length)
    return name, [edit]
