"""`[tool.contract_guard]`: found, read and checked.

The table stands in `pyproject.toml`, or its keys alone in `.contract_guard.toml` or
`contract_guard.toml`; the dedicated files win. Whatever is wrong with it is a `UserError` of one
line that names the file and the key.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Literal

import msgspec

from contract_guard.errors import UserError
from contract_guard.findings import SEVERITIES
from contract_guard.project.rules import rules_directory

Level = Literal["error", "warning", "note", "off"]

OWN_FILES = (".contract_guard.toml", "contract_guard.toml")
# The command has a dash in its name, and what is written so is easily taken for its settings.
_MISNAMED_FILES = {name.replace("_", "-"): name for name in OWN_FILES}
_TABLE, _MISNAMED_TABLE = "contract_guard", "contract-guard"

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_NAME_PATTERN = re.compile(r"[\w*?\[\]!-]+(?:\.[\w*?\[\]!-]+)*")
_SYMBOL_PATTERN = re.compile(r"[:*?\[]")


class Config(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What the project says of itself. All paths are relative to the root, `/` between parts.

    `roots` are import roots (empty: inferred). `test_patterns` are file-name patterns as in
    pytest's `python_files` (empty: pytest's own setting). `exclude` and the keys of
    `per_file_ignores` are gitignore patterns. `select`, `ignore` and the values of
    `per_file_ignores` are rule ids or prefixes of them (`CG1`). `severity` maps rule ids to a
    level. `dynamic_names` are dotted names that exist although no source shows them.
    `version_predicates` and `patch_wrappers` are dotted names of the project's own functions
    that test a version or wrap `mock.patch`. `lock` are globs of the symbols that contracts.lock
    holds (empty: public constants across a boundary). `baseline` is the file of accepted findings
    (empty: none). `gates` is kept as written.
    """

    roots: tuple[str, ...] = ()
    test_patterns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict[str, tuple[str, ...]]
    )
    severity: dict[str, Level] = msgspec.field(default_factory=dict[str, Level])
    dynamic_names: tuple[str, ...] = ()
    version_predicates: tuple[str, ...] = ()
    patch_wrappers: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    baseline: str = ""
    gates: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def find_root(start: Path) -> Path:
    """The project that `start` belongs to, as an absolute path.

    The nearest directory, from `start` up to the top of its git repository, that has a
    configuration of this tool; else the top of the repository; else the nearest directory with
    `pyproject.toml`, `setup.cfg` or `setup.py`; else the directory itself. A configuration
    above the repository is not looked for: it was not written for it.

    Raises UserError where `start` does not exist.
    """
    if not start.exists():
        raise UserError(f"{start}: no such file or directory")
    start = start.resolve()
    directory = start if start.is_dir() else start.parent
    ancestors = [directory, *directory.parents]
    git_root = next((place for place in ancestors if (place / ".git").exists()), None)
    if git_root is not None:
        ancestors = ancestors[: ancestors.index(git_root) + 1]
    for place in ancestors:
        own = (*OWN_FILES, *_MISNAMED_FILES)
        if any((place / name).is_file() for name in own) or _has_table(place):
            return place
    if git_root is not None:
        return git_root
    for place in ancestors:
        if any((place / name).is_file() for name in ("pyproject.toml", "setup.cfg", "setup.py")):
            return place
    return directory


def read_config(root: Path, *, known_rules: Collection[str] | None = None) -> Config:
    """The configuration of the project at `root`; all defaults where there is none.

    `known_rules` are the rule ids that may be named, by default all of the catalogue.

    Raises UserError for a file that cannot be read, unknown keys, wrong types, unknown rules,
    paths that lead out of the root, and a file or table with a dash in its name.
    """
    for misnamed, name in _MISNAMED_FILES.items():
        if (root / misnamed).is_file():
            raise UserError(f"{misnamed}: not read: the file is called {name}")
    for name in OWN_FILES:
        path = root / name
        if is_given(path):
            return parse_config(_read(path), name, root, known_rules)
    path = root / "pyproject.toml"
    if not is_given(path):
        return Config()
    document = read_toml(path, unless_without=b"contract")
    if tool_table(document, _MISNAMED_TABLE) is not None:
        raise UserError("pyproject.toml: [tool.contract-guard]: the table is [tool.contract_guard]")
    table = tool_table(document, _TABLE)
    if table is None:
        return Config()
    return check_table(table, "pyproject.toml: [tool.contract_guard]", root, known_rules)


def is_given(path: Path) -> bool:
    """Whether a settings file is there.

    Raises UserError for what has its name and is no file: settings that cannot be read are not
    the same as none.
    """
    if path.is_file():
        return True
    if path.is_symlink() and not path.exists():
        raise UserError(f"{path.name}: a link that leads nowhere")
    if path.exists():
        raise UserError(f"{path.name}: {'a directory' if path.is_dir() else 'not a regular file'}")
    return False


def read_toml(path: Path, *, unless_without: bytes = b"") -> dict[str, Any]:
    """The file as a TOML document; empty, unparsed, where it lacks the given bytes.

    Raises UserError.
    """
    source = _read(path)
    return _parse_toml(source, path.name) if unless_without in source else {}


def tool_table(document: Mapping[str, Any], name: str) -> object:
    """`[tool.NAME]` of a `pyproject.toml`, None where there is none."""
    tools = document.get("tool")
    return tools.get(name) if isinstance(tools, dict) else None  # pyright: ignore


def parse_config(
    source: bytes, name: str, root: Path, known_rules: Collection[str] | None = None
) -> Config:
    """A configuration from the bytes of one of this tool's own files. Raises UserError."""
    return check_table(_parse_toml(source, name), name, root, known_rules)


def check_table(
    table: object, where: str, root: Path, known_rules: Collection[str] | None = None
) -> Config:
    """A configuration from a TOML table that stands at `where`. Raises UserError."""
    if not isinstance(table, dict):
        raise UserError(f"{where}: expected a table")
    keys = {field.encode_name for field in msgspec.structs.fields(Config)}
    for key in table:  # pyright: ignore[reportUnknownVariableType]
        if key not in keys:
            raise UserError(f"{where}: unknown key {key!r}{_suggest(str(key), keys)}")  # pyright: ignore[reportUnknownArgumentType]
    try:
        config = msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise UserError(f"{where}: {_explain(error, table)}") from None  # pyright: ignore[reportUnknownArgumentType]
    _check_rules(config, where, known_rules)
    _check_paths(config, where, root)
    _check_names(config, where)
    return config


def _check_names(config: Config, where: str) -> None:
    for key, names, word in (
        ("dynamic-names", config.dynamic_names, _NAME_PATTERN),
        ("version-predicates", config.version_predicates, _NAME),
        ("patch-wrappers", config.patch_wrappers, _NAME),
    ):
        for name in names:
            if not word.fullmatch(name):
                raise UserError(f"{where}: {key}: {name!r} is no dotted name")
    for pattern in config.lock:
        if not _SYMBOL_PATTERN.search(pattern):
            raise UserError(f"{where}: lock: {pattern!r} fits no symbol: write MODULE:NAME")


def _check_rules(config: Config, where: str, known_rules: Collection[str] | None) -> None:
    selectors = [("select", rule) for rule in config.select]
    selectors += [("ignore", rule) for rule in config.ignore]
    for pattern, rules in config.per_file_ignores.items():
        selectors += [(f"per-file-ignores.{pattern!r}", rule) for rule in rules]
    if not selectors and not config.severity:
        return
    known = rule_ids() if known_rules is None else frozenset(known_rules)
    for key, rule in selectors:
        if not any(is_selected(rule, known_rule) for known_rule in known):
            raise UserError(f"{where}: {key}: unknown rule {rule!r}{_suggest_rule(rule, known)}")
    for rule in config.severity:
        if rule not in known:
            raise UserError(f"{where}: severity: unknown rule {rule!r}{_suggest_rule(rule, known)}")


def rule_ids() -> frozenset[str]:
    """The ids of all rules, without reading what the rules say."""
    return frozenset(path.name for path in rules_directory().glob("CG*"))


def rules_near(word: str, known: Iterable[str] | None = None) -> str:
    """`CG101, CG102`: the rules of the family that a rule's number or a family (`CG1`) is of: no
    number is closer than another. "" for other words, and where there is no such family."""
    if not re.fullmatch(r"CG\d+", word, re.IGNORECASE):
        return ""
    family = word[:3].upper()
    return ", ".join(sorted(r for r in known or rule_ids() if r.startswith(family)))


def is_selected(selector: str, rule: str) -> bool:
    """Whether a rule id or prefix of one (`CG`, `CG1`, `CG101`) covers the rule."""
    return selector.startswith("CG") and rule.startswith(selector)


def _check_paths(config: Config, where: str, root: Path) -> None:
    for key, path in _named_paths(config):
        parts = PurePosixPath(path).parts
        if ".." in parts or PureWindowsPath(path).drive or "\0" in path:
            raise UserError(f"{where}: {key}: {path!r} leads out of the project")
    real_root = root.resolve()
    for path in config.roots:
        if PurePosixPath(path).is_absolute() or not (root / path).resolve().is_relative_to(
            real_root
        ):
            raise UserError(f"{where}: roots: {path!r} leads out of the project")
        if not (root / path).is_dir():
            raise UserError(f"{where}: roots: {path!r} is not a directory of the project")


def _named_paths(config: Config) -> Iterator[tuple[str, str]]:
    for path in config.roots:
        yield "roots", path
    for pattern in config.exclude:
        yield "exclude", pattern
    for pattern in config.per_file_ignores:
        yield "per-file-ignores", pattern
    for pattern in config.test_patterns:
        yield "test-patterns", pattern
    yield "baseline", config.baseline


def _has_table(place: Path) -> bool:
    path = place / "pyproject.toml"
    if not path.is_file() or b"contract" not in (source := _read(path)):
        return False
    try:
        document = tomllib.loads(source.decode("utf-8"))
    except (ValueError, RecursionError):
        return True  # reading it will say what is wrong with it
    return any(tool_table(document, name) is not None for name in (_TABLE, _MISNAMED_TABLE))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path.name}: cannot be read: {error.strerror}") from None


def _parse_toml(source: bytes, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(source.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise UserError(f"{name}: not valid TOML: nested too deep") from None
    except ValueError as error:  # TOMLDecodeError, and numbers of too many digits
        raise UserError(f"{name}: not valid TOML: {error}") from None


_TYPE_NAMES: Mapping[str, str] = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "a boolean",
    "array": "a list",
    "object": "a table",
}


def _explain(error: msgspec.ValidationError, table: Mapping[str, Any]) -> str:
    """msgspec's message in the words of TOML: `roots[0]: expected a string, got an integer`."""
    text, _, place = str(error).partition(" - at `")
    place = place.removesuffix("`").removeprefix("$.")
    if place.endswith("[...]"):
        key = place.removesuffix("[...]")
        place = f"{key}.{_bad_key(key, table[key])}"
    text = re.sub(r"`(\w+)`", lambda word: _TYPE_NAMES.get(word[1], f"`{word[1]}`"), text)
    if text.startswith("Invalid enum value"):
        value = text.removeprefix("Invalid enum value ").strip("'")
        levels = (*SEVERITIES, "off")
        text = f"{value!r} is not one of {', '.join(levels)}{_suggest(value, levels)}"
    return f"{place}: {text[:1].lower()}{text[1:]}"


def _bad_key(field: str, values: Mapping[str, Any]) -> str:
    """Which entry of a table is wrong: msgspec leaves out the keys of mappings."""
    for key, value in values.items():
        try:
            msgspec.convert({field: {key: value}}, Config)
        except msgspec.ValidationError:
            return key
    return "*"


def _suggest(word: str, words: Iterable[str]) -> str:
    import difflib  # only for a mistake

    close = difflib.get_close_matches(word.replace("_", "-"), sorted(words), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def _suggest_rule(word: str, known: Collection[str]) -> str:
    near = rules_near(word, known)
    return f"; there are {near}" if near else _suggest(word, known)
