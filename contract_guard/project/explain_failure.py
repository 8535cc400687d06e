"""Why collection failed: from the error's text to the commit that took the name away, what took its
place, and everyone else whom it fails."""

from collections.abc import Sequence
from pathlib import Path

from contract_guard.detectors.base import Context
from contract_guard.detectors.drift import BREAKING, place_of
from contract_guard.detectors.hygiene import unreadable
from contract_guard.detectors.likeness import renamed
from contract_guard.detectors.run import run
from contract_guard.errors import UserError
from contract_guard.facts.model import Unreadable
from contract_guard.findings import Finding
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.culprits import has_symbol, last_removing_commit
from contract_guard.project.failure_text import Missing, missing_symbols
from contract_guard.project.git_objects import Commit, Repository
from contract_guard.project.revisions import Revisions
from contract_guard.project.snapshot import load
from contract_guard.registry.compare import compare
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Change, Place
from contract_guard.report.changes import CommitLine
from contract_guard.report.failures import Failure

_IN_WORK = "`contract-guard diff HEAD` says what took its place, and --fix mends it"


def explain(
    root: Path,
    config: Config,
    text: str,
    *,
    since: str | None = None,
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> list[Failure]:
    """What became of each name that `text` says is missing, in its order.

    The working tree is looked at; history is searched from HEAD back to `since`, or to its start.

    Raises UserError where the text names nothing that is missing, and where `root` is in no
    repository.
    """
    missing = missing_symbols(text)
    if not missing:
        raise UserError(
            "no ImportError, ModuleNotFoundError or AttributeError of a module in the text: give"
            " the error's own lines, or the whole log of pytest"
        )
    with Repository(root) as repository:
        revisions = f"{repository.resolve(since)}..HEAD" if since else "HEAD"
        snapshot = load(root, config, jobs=jobs, cache_dir=cache_dir)
        registry = build(snapshot.tree)
        findings = run(
            registry,
            snapshot.read,
            rules=BREAKING,
            ignore=config.ignore,
            severity=config.severity,
            version_predicates=config.version_predicates,
            patch_wrappers=config.patch_wrappers,
            known=rule_ids(),
            unreadable=snapshot.unreadable,
        )
        failures: list[Failure] = []
        for each in missing:
            unread = _unreadable_file(registry, each.symbol)
            if unread:
                what = {unread: snapshot.unreadable[unread]}
                (finding,) = unreadable(Context(registry, snapshot.read, what))
                failures.append(_unreadable(each, finding))
                continue
            if _status(registry, each.symbol) == "exists":
                failures.append(_present(registry, each))
                continue
            commit, path = _removal(repository, registry, each.symbol, revisions)
            change = old = None
            status = _status(registry, each.symbol)
            in_head = (
                commit is None
                and status == "missing"
                and _is_in_head(repository, registry, each.symbol)
            )
            if commit is not None:
                change, old = _change(root, config, commit, each.symbol, jobs, cache_dir)
                if change is None and old is None:
                    old = Place(path, 1)
            same = tuple(f for f in findings if is_same(f.symbol, each.symbol))
            failures.append(
                Failure(
                    symbol=each.symbol,
                    said=each.said,
                    status=status,
                    commit=CommitLine(*commit) if commit is not None else None,
                    change=change,
                    old=old,
                    findings=same,
                    repair=_IN_WORK
                    if in_head
                    else _repair(each.symbol, change, same) or _meant(registry, each.symbol),
                    is_uncommitted=in_head,
                )
            )
        return failures


def is_same(found: str, symbol: str) -> bool:
    """Whether a finding's symbol is the one that is missing, or a module that it is in."""
    return found == symbol or symbol.replace(":", ".").startswith(f"{found}.")


def _status(registry: Registry, symbol: str) -> str:
    if registry.modules.named(symbol.partition(":")[0]):
        return registry.resolve_symbol(symbol).status
    return registry.resolve_dotted(symbol.replace(":", ".")).status


def _present(registry: Registry, missing: Missing) -> Failure:
    return Failure(
        symbol=missing.symbol,
        said=missing.said,
        status="exists",
        old=place_of(registry, missing.symbol),
        repair="it is there in this working tree: what failed ran against another version of it,"
        " installed or not yet pulled",
    )


def _unreadable_file(registry: Registry, symbol: str) -> str:
    """The file that would have told of the symbol, had it any facts; "" for none."""
    dotted, _, name = symbol.partition(":")
    modules = [*registry.modules.named(dotted)]
    for module in modules:
        facts = registry.tree.files.get(module.path) if module.tree == 0 else None
        if isinstance(facts, Unreadable):
            return module.path
        for imp in facts.imports if facts is not None else ():
            if imp.bound == name.partition(".")[0]:
                found = registry.modules.locate_import(module, imp).modules[:1]
                modules += [each for each in found if each not in modules]
    return ""


def _unreadable(missing: Missing, finding: Finding) -> Failure:
    return Failure(
        symbol=missing.symbol,
        said=missing.said,
        status="unreadable",
        old=Place(finding.path, finding.line),
        findings=(finding,),
        repair=finding.help,
    )


def _removal(
    repository: Repository, registry: Registry, symbol: str, revisions: str
) -> tuple[Commit | None, str]:
    """The commit that took the symbol away, with the path of the file that had it."""
    dotted = symbol.partition(":")[0]
    for module in registry.modules.named(dotted):
        commit = last_removing_commit(repository, symbol, module.path, revisions)
        if commit is not None:
            return commit, module.path
    # Of a module that is there, a file that it replaced may have had the name.
    gone = symbol if registry.modules.named(dotted) else dotted
    below = dotted.replace(".", "/")
    for pattern in (f"*{below}.py", f"*{below}/__init__.py"):
        for commit in repository.log(revisions, [pattern], limit=1):
            path = _path_before(repository, commit, pattern[1:])
            if path:
                return last_removing_commit(repository, gone, path, revisions), path
    return None, ""


def _is_in_head(repository: Repository, registry: Registry, symbol: str) -> bool:
    """Whether HEAD has what the working tree has not."""
    head = repository.resolve("HEAD")
    dotted = symbol.partition(":")[0]
    modules = [module.path for module in registry.modules.named(dotted) if module.path]
    if modules:
        return any(has_symbol(repository, head, symbol, path) for path in modules)
    below = dotted.replace(".", "/")
    endings = (f"/{below}.py", f"/{below}/__init__.py")
    return any(
        f"/{blob.path}".endswith(endings) and has_symbol(repository, head, symbol, blob.path)
        for blob in repository.files(head)
    )


def _path_before(repository: Repository, commit: Commit, ending: str) -> str:
    try:
        before = repository.resolve(f"{commit.oid}^")
    except UserError:  # the first commit has no parent
        return ""
    paths = [blob.path for blob in repository.files(before)]
    return next((path for path in paths if f"/{path}".endswith(f"/{ending}")), "")


def _change(
    root: Path,
    config: Config,
    commit: Commit,
    symbol: str,
    jobs: int | None,
    cache_dir: Path | None,
) -> tuple[Change | None, Place | None]:
    """What the commit did to the symbol, whether anybody named it by then or not."""
    with Revisions(
        root,
        config,
        f"{commit.oid}^",
        commit.oid,
        merge=False,
        jobs=jobs,
        cache_dir=cache_dir,
        fragments=False,
    ) as revisions:
        old, new = build(revisions.old.tree), build(revisions.new.tree)
    changes = compare(old, new, downstream=True)
    gone = [
        change for change in changes if change.kind != "added" and is_same(change.symbol, symbol)
    ]
    exact = [change for change in gone if change.symbol == symbol] or gone
    return (exact[0], exact[0].old) if exact else (None, None)


def _repair(symbol: str, change: Change | None, findings: Sequence[Finding]) -> str:
    """ "" where nothing tells one."""
    name = symbol.partition(":")[2] or symbol
    if change is not None and change.replacement is not None:
        module, _, new = change.replacement.partition(":")
        if not new:
            return f"import from `{module}` in place of `{change.symbol}`"
        if module != change.symbol.partition(":")[0]:
            return f"take `{new}` from `{module}`"
        return f"use `{new}` in place of `{name}`"
    helps = [finding.help for finding in findings if finding.help]
    return helps[0] if helps else ""


def _meant(registry: Registry, symbol: str) -> str:
    """The advice for what nothing else is known of: a name that is spelled alike, if there is."""
    dotted, _, name = symbol.partition(":")
    modules = registry.modules.named(dotted)
    if name and modules:
        close = renamed(name, (known for each in modules for known in each.bindings))
    else:
        above, dot, last = dotted.rpartition(".")
        of_project = (module.name for module in registry.modules.all() if module.tree == 0)
        beside = {
            module.removeprefix(above + dot).partition(".")[0]
            for module in of_project
            if module.startswith(above + dot)
        }
        close = [above + dot + module for module in renamed(last, beside)]
    if close:
        return f"did you mean {' or '.join(f'`{each}`' for each in close)}?"
    return f"remove what depends on `{name or dotted}`"
