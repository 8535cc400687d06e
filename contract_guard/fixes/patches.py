"""CG103: patch targets follow what they patch, to where it is looked up now."""

import ast
import re
from typing import NamedTuple

from contract_guard.facts.model import PatchTarget, Span
from contract_guard.findings import Finding
from contract_guard.fixes import imports
from contract_guard.fixes.file import File
from contract_guard.fixes.lookups import lookups
from contract_guard.fixes.model import CannotFix, Edit, Fix, Knowledge, Safety
from contract_guard.fixes.successor import module_successor, successor

_PLAIN_STRING = re.compile(
    r"(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')(?P<body>[^\\]*)(?P=quote)"
)


class _Target(NamedTuple):
    """What to patch instead: owner and name of a dotted target."""

    owner: str
    name: str
    safety: Safety


def stale_target(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """The patch names what took the place of its target, in the spelling that it has."""
    old_owner, _, old_name = finding.symbol.partition(":")
    target = _target(finding, knowledge)
    title = f"`{target.owner}.{target.name}` is patched in place of `{old_owner}.{old_name}`"
    patch = _patch_at(file, finding)
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    if patch is not None and patch.form == "mock.patch.multiple" and patch.attribute is None:
        if target.owner != old_owner:
            raise CannotFix(f"it is looked up as `{target.owner}.{target.name}` now")
        names = (name.rpartition(".")[2] for name in (old_name, target.name))
        edits = [_name_edit(file, _call_at(file, patch.call), *names)]
    elif patch is not None and (patch.imported or patch.attribute is not None):
        edits = _object_form(file, patch, old_owner, old_name, target, knowledge)
    elif patch is None and (node := _stored(file, span)) is not None:
        if target.owner != old_owner:
            raise CannotFix(f"it is looked up as `{target.owner}.{target.name}` now")
        end = Span(span.end_line, span.end_column - len(node.attr), *span[2:])
        edits = [file.edit(end, target.name.rpartition(".")[2])]
    else:
        edits = [_string(file, span, patch.target if patch else "", old_owner, old_name, target)]
    return Fix(target.safety, title, tuple(edits))


def _target(finding: Finding, knowledge: Knowledge) -> _Target:
    owner, _, name = finding.symbol.partition(":")
    registry = knowledge.registry
    if not name:
        moved = module_successor(knowledge, owner)
        if moved is None:
            raise CannotFix("nothing is certain to have taken the place of the module")
        return _Target(moved.symbol, "", moved.safety)
    if finding.severity == "warning":
        producer = registry.producer(finding.symbol)
        if producer is None:
            return _renamed(finding, knowledge)
        dotted, _ = _looked_up(producer.symbol, owner, knowledge)
        return _Target(dotted.rpartition(".")[0], dotted.rpartition(".")[2], "unsafe")
    if "." in name:
        return _renamed(finding, knowledge)
    new = successor(knowledge, finding.symbol)
    if new is None:
        raise CannotFix("nothing is certain to have taken its place")
    if "." in new.name:
        raise CannotFix(f"it became `{new.symbol}`")
    if new.module == owner:
        return _Target(owner, new.name, new.safety)
    dotted, is_only = _looked_up(new.symbol, owner, knowledge)
    safety: Safety = new.safety if is_only else "unsafe"
    return _Target(dotted.rpartition(".")[0], dotted.rpartition(".")[2], safety)


def _renamed(finding: Finding, knowledge: Knowledge) -> _Target:
    """A member of a class, or a name that an assignment would make: under its new name."""
    owner, _, name = finding.symbol.partition(":")
    change = knowledge.changes.get(finding.symbol)
    new = successor(knowledge, finding.symbol) if change is not None else None
    if new is None or new.module != owner or new.name.rpartition(".")[0] != name.rpartition(".")[0]:
        raise CannotFix("nothing is certain to have taken its place")
    return _Target(owner, new.name, new.safety)


def _looked_up(symbol: str, before: str, knowledge: Knowledge) -> tuple[str, bool]:
    """Where a definition is looked up, if that is one place, or one place only came with the
    change; and whether it is the only one."""
    now = lookups(knowledge.registry, symbol)
    now = frozenset(each for each in now if each.rpartition(".")[0] != before)
    if len(now) == 1:
        return next(iter(now)), True
    if not now:
        raise CannotFix(f"nothing looks up `{symbol}`")
    if knowledge.old is not None:
        came = now - lookups(knowledge.old, symbol)
        if len(came) == 1:
            return next(iter(came)), False
    raise CannotFix("it is looked up in several places: " + ", ".join(sorted(now)))


def _patch_at(file: File, finding: Finding) -> PatchTarget | None:
    for patch in file.facts.patches:
        if patch.span[:2] == (finding.line, finding.column):
            asked = (patch.attribute or patch.target.rpartition(".")[2]) or ""
            if patch.form != "mock.patch.multiple" or finding.symbol.endswith(asked):
                return patch
    return None


def _stored(file: File, span: Span) -> ast.Attribute | None:
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
            continue
        if file.source.span(node) == span:
            return node
    return None


def _string(
    file: File, span: Span, dotted: str, old_owner: str, old_name: str, target: _Target
) -> Edit:
    """The target string anew: inside its quotes where it is plain, its last part where that alone
    changes, else as a plain string in place of what made it."""
    text = file.cut(span)
    plain = _PLAIN_STRING.fullmatch(text)
    dotted = plain["body"] if plain else dotted
    asked = f"{old_owner}.{old_name}" if old_name else old_owner
    new = f"{target.owner}.{target.name}" if target.name else target.owner
    if dotted != asked and not dotted.startswith(f"{asked}."):
        # The package passes on the module or class that the text names.
        last, new_last = asked.rpartition(".")[2], new.rpartition(".")[2]
        if dotted.rpartition(".")[2] != last or asked.rpartition(".")[0] != new.rpartition(".")[0]:
            raise CannotFix(f"the text names `{asked}` by another way")
        new, asked = f"{dotted.rpartition('.')[0]}.{new_last}", dotted
    whole = new + dotted[len(asked) :]
    if plain:
        quote = plain["quote"]
        return file.edit(span, f"{plain['prefix']}{quote}{whole}{quote}")
    last, new_last = dotted.rpartition(".")[2], whole.rpartition(".")[2]
    ends = re.search(rf"\b{re.escape(last)}(?=[\"')\s]*\Z)", text)
    if ends and dotted.rpartition(".")[0] == whole.rpartition(".")[0]:
        return file.edit(span, text[: ends.start()] + new_last + text[ends.end() :])
    return file.edit(span, f'"{whole}"')


def _object_form(
    file: File,
    patch: PatchTarget,
    old_owner: str,
    old_name: str,
    target: _Target,
    knowledge: Knowledge,
) -> list[Edit]:
    call = _call_at(file, patch.call)
    last = target.name.rpartition(".")[2]
    edits: list[Edit] = []
    if last != old_name.rpartition(".")[2]:
        edits.append(_name_edit(file, call, old_name.rpartition(".")[2], last))
    if target.owner == old_owner:
        return edits
    if "." in old_name or "." in target.name or not target.name:
        raise CannotFix(f"its owner became `{target.owner}`")
    if patch.form == "mock.patch.multiple":
        raise CannotFix(f"only some of its names went to `{target.owner}`")
    if not patch.imported:
        return [
            *edits,
            _string(file, patch.span, patch.target, old_owner, "", target._replace(name="")),
        ]
    bound = _module_name(file, target.owner, knowledge)
    if bound is None:
        parent, _, bound = target.owner.rpartition(".")
        if not parent or not file.names.is_free(bound):
            raise CannotFix(f"`{target.owner}` would have to be imported first")
        near = file.statement(file.facts.imports[patch.imported[0]])
        edits.append(imports.adding(file, near, parent, (bound, None), knowledge.line_length))
    edits.append(file.edit(patch.span, bound))
    return edits


def _module_name(file: File, dotted: str, knowledge: Knowledge) -> str | None:
    """The name under which the file imports a module at its top level."""
    for imp in file.facts.imports:
        if imp.scope == 0 and imp.guard == -1:
            producer = knowledge.registry.resolve_import(file.path, imp).producer
            if producer is not None and producer.kind == "module" and producer.symbol == dotted:
                if imp.form == "import" and not imp.renamed:
                    return imp.module
                return imp.bound
    return None


def _name_edit(file: File, call: ast.Call, old: str, new: str) -> Edit:
    """The second argument, or the keyword of `patch.multiple`."""
    for keyword in call.keywords:
        if keyword.arg == old:
            start = file.source.span(keyword)
            return file.edit(Span(*start[:2], start.line, start.column + len(old)), new)
    named = [k.value for k in call.keywords if k.arg in ("attribute", "name")]
    for node in (*call.args[1:2], *named):
        plain = _PLAIN_STRING.fullmatch(file.source.segment(node))
        if plain and plain["body"] == old:
            quote = plain["quote"]
            return file.edit(node, f"{plain['prefix']}{quote}{new}{quote}")
    raise CannotFix("the name is not written out in the call")


def _call_at(file: File, span: Span) -> ast.Call:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and file.source.span(node) == span:
            return node
    raise CannotFix("the call could not be found again")
