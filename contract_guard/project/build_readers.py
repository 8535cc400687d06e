"""What one build file says of modules that have no Python source: text in, names out.

Each reader gives strings of two kinds: a *path* of a module or a package directory, which has a
slash or ends in `.py`, relative to the directory of the file or to some other (with a slash
before it: to that of the file; with `/*` behind it: what is in it); or a *name*, bare for an
extension module of unknown package, or dotted.
Nothing is evaluated: what is not written out literally is not seen.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_EXTENSION = re.compile(r"(?:Extension|ext_module|pymodule)$", re.IGNORECASE)

_CMAKE = re.compile(
    r"\b(?:(?:pybind11|nanobind|cython|swig|f2py|python\d?)_add_(?:module|library)"
    r"|define_\w*extension_target|\w*extension_module)"
    r"\s*\(\s*\"?(?P<name>[A-Za-z_][\w.]*|\$\{\w+\})"
    r"|\badd_library\s*\(\s*\"?(?P<plain>[A-Za-z_][\w.]*|\$\{\w+\})\"?\s+MODULE\b",
    re.IGNORECASE,
)
_CMAKE_SET = re.compile(r"^[ \t]*set\s*\(\s*(\w+)\s+\"?([A-Za-z_][\w.]*)\"?\s*\)", re.I | re.M)
_CMAKE_OUTPUT = re.compile(r"\bOUTPUT_NAME\s+\"?([A-Za-z_]\w*)\"?")
_NATIVE_MARKS = (b"_MODULE", b"PyInit_", b"REGISTER_EXTENSION", b"TORCH_LIBRARY")
_NATIVE = re.compile(
    rb"\b(?:PYBIND11_MODULE|NB_MODULE|BOOST_PYTHON_MODULE|REGISTER_EXTENSION"
    rb"|(?:STABLE_)?TORCH_LIBRARY)\s*\(\s*(\w+)|\bPyInit_(\w+)\s*\("
)
_RUST_MODULE = re.compile(
    r"#\[(?:pyo3::)?pymodule\b(?P<options>[^\]]*)\]"
    r"(?P<between>(?:\s|#\[[^\]]*\]|//[^\n]*)*)"
    r"(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:fn|mod)\s+(?P<name>\w+)"
)
_RUST_NAME = re.compile(r"\bname\s*=\s*\"(\w+)\"")
_MESON_MODULE = re.compile(
    r"\bextension_module\s*\(\s*'(\w+)'(?:(?:(?!extension_module).){0,4000}?\bsubdir\s*:\s*'([^']+)')?",
    re.DOTALL,
)
_MESON_OUTPUT = re.compile(r"\boutput\s*:\s*\[?\s*'([\w./-]+\.py)'")
_BAZEL = re.compile(
    r"\b(?:pybind_extension|py_extension|nanobind_extension)\s*\(\s*name\s*=\s*\"(\w+)\""
)
_WRITTEN = re.compile(
    r"(?:>>?|\btee(?:\s+-a)?\s|\s-o\s|--?out(?:put)?[ =])\s*[\"']?([\w./-]+\.py)\b"
)
_INI_VERSION_FILE = re.compile(
    r"^\s*(?:versionfile_source|version_file|write_to)\s*=\s*(\S+\.py)\s*$", re.M
)
_VERSION_KEYS = frozenset(
    {"version-file", "version_file", "write_to", "write-to", "versionfile_source", "build_file"}
)


def read_python(source: bytes) -> Iterator[str]:
    """A build script: names of extensions, `package_dir`, `packages`, and every `.py` path."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the file is reported unreadable by the analysis itself
    inner: set[ast.AST] = set()  # parts of a path that has been given as a whole
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _EXTENSION.search(_last_name(node.func)):
            yield from _extension_names(node)
        if isinstance(node, ast.keyword):
            yield from _package_names(node)
        if isinstance(node, (ast.Call, ast.BinOp, ast.Constant)) and node not in inner:
            path = _path_tail(node)
            if path and path.endswith(".py"):
                inner.update(ast.walk(node))
                yield path


def _extension_names(call: ast.Call) -> Iterator[str]:
    named = [keyword.value for keyword in call.keywords if keyword.arg in ("name", "target")]
    for node in named or call.args[:1]:
        if isinstance(node, ast.JoinedStr) and node.values:
            node = node.values[-1]
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _package_names(keyword: ast.keyword) -> Iterator[str]:
    if keyword.arg == "package_dir" and isinstance(keyword.value, ast.Dict):
        nodes = [key for key in keyword.value.keys if key is not None]
    elif keyword.arg in ("packages", "py_modules") and isinstance(keyword.value, ast.List):
        nodes = keyword.value.elts
    else:
        return
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _inner_package(node.value)


def _inner_package(name: str) -> Iterator[str]:
    """A package at the top needs no hint: a missing one is not first-party."""
    if "." in name:
        yield name


def _path_tail(node: ast.expr) -> str:
    """The literal end of a path: `join(ROOT, "a", "b.py")`, `root / "a" / "b.py"` -> `a/b.py`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and len(node.value) < 300 else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts.append(node.right)
            node = node.left
    elif isinstance(node, ast.Call) and _last_name(node.func) in ("join", "joinpath", "Path"):
        parts = node.args[::-1]
    else:
        return ""
    tail: list[str] = []
    for part in parts:
        if not (isinstance(part, ast.Constant) and isinstance(part.value, str)):
            break
        tail.append(part.value)
    return "/".join(reversed(tail))


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def read_pyproject(source: bytes) -> Iterator[str]:
    """Version files, extension modules and vendored packages of any build backend."""
    document = _toml(source)
    for key, value in _pairs(document):
        if isinstance(value, str):
            # `module-name` is maturin's
            if key == "module-name" or (key in _VERSION_KEYS and value.endswith(".py")):
                yield value
        elif key == "package-dir" and isinstance(value, dict):  # setuptools
            for name in value:  # pyright: ignore
                yield from _inner_package(str(name))  # pyright: ignore
        elif key in ("ext-modules", "generate") and isinstance(value, list):
            for item in value:  # pyright: ignore
                if isinstance(item, dict):
                    name = item.get("name" if key == "ext-modules" else "path")  # pyright: ignore
                    if isinstance(name, str):
                        yield name
    version: Any = _at(document, "tool", "setuptools", "dynamic", "version")
    if isinstance(version, dict) and isinstance(attribute := version.get("attr"), str):  # pyright: ignore
        yield from _inner_package(attribute.rpartition(".")[0])


def read_cargo(source: bytes) -> Iterator[str]:
    """The module of a crate that is a Python extension."""
    document = _toml(source)
    if _at(document, "dependencies", "pyo3") is None:
        return
    if "cdylib" not in str(_at(document, "lib", "crate-type")):
        return
    name = _at(document, "lib", "name") or _at(document, "package", "name")
    if isinstance(name, str):
        yield name.replace("-", "_")


def read_ini(source: bytes) -> Iterator[str]:
    yield from _INI_VERSION_FILE.findall(_text(source))


def read_cmake(source: bytes) -> Iterator[str]:
    text = _text(source)
    variables: dict[str, str] = dict(_CMAKE_SET.findall(text))
    found = False
    for match in _CMAKE.finditer(text):
        name = match["name"] or match["plain"]
        if name.startswith("$"):
            name = variables.get(name[2:-1], "")
        if name and not _is_placeholder(name):
            found = True
            yield name
    if found:  # some of them get another name on disk
        yield from _CMAKE_OUTPUT.findall(text)


def read_native(source: bytes) -> Iterator[str]:
    """C, C++, CUDA: the macros and functions that make a library importable."""
    if not any(mark in source for mark in _NATIVE_MARKS):
        return
    for match in _NATIVE.finditer(source):
        name = (match[1] or match[2]).decode()
        if not _is_placeholder(name):
            yield name


def read_rust(source: bytes) -> Iterator[str]:
    """The root of a crate: its first module is the library, others lie inside it."""
    if b"pymodule" not in source:
        return
    match = _RUST_MODULE.search(_text(source))
    if match:
        renamed = _RUST_NAME.search(match["options"] + match["between"])
        yield renamed[1] if renamed else match["name"]


def read_meson(source: bytes) -> Iterator[str]:
    """Modules lie beside their `meson.build`, or where `subdir` says."""
    text = _text(source)
    for name, directory in _MESON_MODULE.findall(text):
        yield f"{directory or '.'}/{name}"
    yield from _MESON_OUTPUT.findall(text)


def read_bazel(source: bytes) -> Iterator[str]:
    yield from _BAZEL.findall(_text(source))


def read_shell(source: bytes) -> Iterator[str]:
    """Shell scripts and makefiles: Python files that a command writes."""
    yield from _WRITTEN.findall(_text(source))


def read_gitignore(source: bytes) -> Iterator[str]:
    """Ignored Python files, and ignored directories that are named by more than one part.

    `build/` says nothing of a module; `/pkg/_version.py` and `pkg/third_party/kernels/*` do.
    """
    for line in _text(source).splitlines():
        path = line.strip().removeprefix("**/").rstrip("/").replace("/**", "/*")
        place = path.removesuffix("/*")
        if place.startswith(("#", "!")) or re.search(r"[*?\[\\]", place):
            continue
        if "/" in place.strip("/") and not line.startswith("**/"):
            yield "/" + path.strip("/")  # a slash within binds a rule to its directory
        elif place.endswith(".py") or "/" in place.strip("/"):
            yield path


def read_gitmodules(source: bytes) -> Iterator[str]:
    """Directories of other repositories, absent where they are not checked out."""
    for path in re.findall(r"^\s*path\s*=\s*(\S+)\s*$", _text(source), re.M):
        if "/" in path:
            yield path


READERS: Mapping[str, Callable[[bytes], Iterator[str]]] = {
    "pyproject.toml": read_pyproject,
    "setup.cfg": read_ini,
    "Cargo.toml": read_cargo,
    "CMakeLists.txt": read_cmake,
    "lib.rs": read_rust,
    "meson.build": read_meson,
    "BUILD": read_bazel,
    "BUILD.bazel": read_bazel,
    "Makefile": read_shell,
    "makefile": read_shell,
    "GNUmakefile": read_shell,
    ".gitignore": read_gitignore,
    ".gitmodules": read_gitmodules,
    ".cmake": read_cmake,
    ".sh": read_shell,
    ".c": read_native,
    ".cc": read_native,
    ".cpp": read_native,
    ".cxx": read_native,
    ".cu": read_native,
    ".hip": read_native,
    ".py": read_python,
}
"""By file name, else by suffix."""


def _is_placeholder(name: str) -> bool:
    """Capitals are a macro's or function's parameter, or what the build defines; `_C` is not."""
    return name.isupper() and not name.startswith("_")


def _text(source: bytes) -> str:
    return source.decode("utf-8", "replace")


def _toml(source: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(source))
    except (ValueError, RecursionError):
        return {}


def _pairs(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every key with its value, at any depth."""
    pending = [table]
    while pending:
        for key, value in pending.pop().items():
            yield key, value
            if isinstance(value, dict):
                pending.append(value)  # pyright: ignore


def _at(document: Mapping[str, Any], *keys: str) -> Any:
    value: Any = document
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore
    return value  # pyright: ignore
