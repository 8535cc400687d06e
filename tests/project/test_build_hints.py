from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.project import build_hints
from contract_guard.project.build_hints import hint_sources, read_build_hints
from contract_guard.project.build_readers import READERS
from contract_guard.project.discovery import discover

Write = Callable[[Mapping[str, str | bytes]], Path]

PACKAGE = {"src/pkg/__init__.py": "", "src/pkg/core.py": "", "src/pkg/ops/__init__.py": ""}


def hints(root: Path) -> set[str]:
    found = discover(root)
    sources = hint_sources(found.build, found.python)
    return set(read_build_hints(root, sources, [file.path for file in found.python]))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"pyproject.toml": "[tool.setuptools_scm]\nversion_file = 'src/pkg/_version.py'"},
            {"pkg._version"},
            id="setuptools-scm",
        ),
        pytest.param(
            {
                "pyproject.toml": "[tool.hatch.build.hooks.vcs]\n"
                "version-file = 'src/pkg/__version__.py'"
            },
            {"pkg.__version__"},
            id="hatch-vcs",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.maturin]\nmodule-name = 'pkg._native'"},
            {"pkg._native"},
            id="maturin",
        ),
        pytest.param(
            {
                "pyproject.toml": "[tool.setuptools]\next-modules = [{name = 'pkg._speed'}]\n"
                "[tool.setuptools.package-dir]\n'' = 'src'\n'pkg.data' = 'data'\n"
                "'pkg.ops' = 'src/pkg/ops'\n"
                "[tool.setuptools.dynamic]\nversion = {attr = 'pkg._meta.__version__'}"
            },
            {"pkg._speed", "pkg.data", "pkg._meta"},
            id="setuptools-tables",
        ),
        pytest.param(
            {"setup.cfg": "[versioneer]\nversionfile_source = src/pkg/_version.py\n"},
            {"pkg._version"},
            id="versioneer",
        ),
        pytest.param(
            {
                "setup.py": "ext = [CMakeExtension(name='pkg._C'), Extension('pkg.fast', [])]\n"
                "ext += [CUDAExtension(f'{name}._cuda', [])]\n"
                "setup(packages=['pkg', 'pkg.ops', 'pkg.vendored'],"
                " package_dir={'pkg.other': 'third_party/other'})"
            },
            {"pkg._C", "pkg.fast", "_cuda", "pkg.vendored", "pkg.other"},
            id="setup-py-names",
        ),
        pytest.param(
            {
                "setup.py": "a = open(os.path.join(ROOT, 'pkg', '_info.py'), 'w')\n"
                "b = get_version(write_to='src/pkg/_version.py')\n"
                "c = load(join(ROOT, 'src', 'pkg', 'core.py'))\n"
                "d = use_scm_version={'version_file': 'src/pkg/v.py'}\n"
            },
            {"pkg._info", "pkg._version", "pkg.v"},
            id="setup-py-paths",
        ),
        pytest.param(
            {
                "pyproject.toml": "",
                "build_backend.py": "(Path(__file__).parent / 'src' / 'pkg' / '_m.py').write()",
                "src/pkg/builder.py": "open('not_of_the_build.py')",
                "tools/gen_ops.py": "out = root / '_generated_ops.py'",
                "tools/report.py": "out = root / '_report.py'",
            },
            {"pkg._m", "_generated_ops"},
            id="build-scripts",
        ),
        pytest.param(
            {
                "CMakeLists.txt": "set(NAME _lib)\n"
                "pybind11_add_module(_C MODULE x.cpp)\n"
                "Python3_add_library(${NAME} MODULE x.c)\n"
                "define_gpu_extension_target(\n  _moe_C DESTINATION pkg)\n"
                "function(define_extension_target MOD_NAME)\n"
                "add_library(plain SHARED x.c)\nadd_library(plugin MODULE x.c)\n"
                "add_modules_sources(DIR x)\n",
                "cmake/more.cmake": "nanobind_add_module(_nb x.cpp)",
            },
            {"_C", "_lib", "_moe_C", "plugin", "_nb"},
            id="cmake",
        ),
        pytest.param(
            {
                "csrc/a.cpp": "PYBIND11_MODULE(_ext, m) {}\n"
                "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)",
                "csrc/b.c": "PyMODINIT_FUNC PyInit_spin(void) {}",
                "csrc/c.cu": "TORCH_LIBRARY(_kernels, m) {}\nREGISTER_EXTENSION(_reg)",
                "csrc/d.cc": "NB_MODULE(_nano, m) {}",
                "csrc/e.cpp": "// PYBIND11 is not used here",
            },
            {"_ext", "spin", "_kernels", "_reg", "_nano"},
            id="native-sources",
        ),
        pytest.param(
            {
                "rust/Cargo.toml": "[package]\nname = 'pkg-native'\n"
                "[lib]\ncrate-type = ['cdylib']\n"
                "[dependencies]\npyo3 = '0.2'",
                "rust/src/lib.rs": '#[pyo3::pymodule]\n/// Words.\n#[pyo3(name = "_rust")]\n'
                "pub mod native { #[pymodule] mod core {} }",
                "rust/src/ops.rs": "#[pymodule]\nmod ops {}",
                "other/Cargo.toml": "[package]\nname = 'tool'",
            },
            {"pkg_native", "_rust"},
            id="rust",
        ),
        pytest.param(
            {
                "src/pkg/ops/meson.build": "py.extension_module('_fast', 'x.c')\n"
                "configure_file(output: '_config.py')",
                "meson.build": "py.extension_module(\n  '_root', 'x.c', subdir: 'src/pkg')",
            },
            {"pkg.ops._fast", "_config", "pkg._root"},
            id="meson",
        ),
        pytest.param(
            {"BUILD.bazel": 'pybind_extension(\n    name = "_bzl",\n)'}, {"_bzl"}, id="bazel"
        ),
        pytest.param(
            {"Makefile": "all:\n\techo 1 > src/pkg/_made.py\n\tcat src/pkg/core.py > /dev/null"},
            {"pkg._made"},
            id="make",
        ),
        pytest.param({"protos/a-b.proto": ""}, {"a_b_pb2", "a_b_pb2_grpc"}, id="protobuf"),
        pytest.param(
            {
                ".gitignore": "# words\n/src/pkg/_version.py\n_local.py\n*.so\nbuild/\ndist\n"
                "src/pkg/third/kernels/*\n/src/pkg/ops/*\n!src/pkg/ops/__init__.py\n"
                "src/pkg/table.h\nsrc/pkg/core.py\ndata/raw/\n**/generated/**\nsrc/*/x.py\n"
            },
            {"pkg._version", "_local", "pkg.ops"},
            id="gitignore",
        ),
        pytest.param(
            {"src/pkg/.gitignore": "_version.py\n/ops/kernels/\n"},
            {"_version", "pkg.ops.kernels"},
            id="nested-gitignore",
        ),
        pytest.param(
            {".gitmodules": '[submodule "x"]\n\tpath = src/pkg/vendor\n\turl = x\n'},
            {"pkg.vendor"},
            id="submodules",
        ),
        pytest.param({}, set(), id="nothing"),
    ],
)
def test_each_kind(files: dict[str, str], expected: set[str], write: Write) -> None:
    assert hints(write({**PACKAGE, **files})) == expected


def test_what_has_a_source_is_no_hint(write: Write) -> None:
    root = write({**PACKAGE, ".gitignore": "src/pkg/core.py\n", "setup.py": "x = 'core.py'"})
    assert hints(root) == set()


def test_a_namespace_package_may_have_several_names(write: Write) -> None:
    root = write({"lib/ns/mod.py": "", ".gitignore": "lib/ns/_version.py\n"})
    assert hints(root) == {"lib.ns._version", "ns._version"}


def test_bounds(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(
        {
            "a.cpp": "PYBIND11_MODULE(_a, m)",
            "b.cpp": "PYBIND11_MODULE(_b, m)" + " " * (1 << 20),
            "c.cpp": "PYBIND11_MODULE(_c, m)",
            "d.cpp": "PYBIND11_MODULE(_d, m)",
        }
    )
    monkeypatch.setattr(build_hints, "MOST_FILES", 2)
    assert hints(root) == {"_a", "_c"}


def test_broken_build_files_say_nothing(write: Write) -> None:
    root = write(
        {
            "setup.py": "def (",
            "pyproject.toml": "[tool",
            "Cargo.toml": b"\xff\xfe",
            "CMakeLists.txt": b"\xff pybind11_add_module(_C x)",
            "deep/setup.py": "(" * 5000,
        }
    )
    assert hints(root) == {"_C"}


def test_a_file_that_vanished(write: Write) -> None:
    root = write({"a.cpp": "PYBIND11_MODULE(_a, m)"})
    sources = discover(root).build
    (root / "a.cpp").unlink()
    assert read_build_hints(root, sources, []) == frozenset()


@given(source=st.binary(max_size=200), reader=st.sampled_from(sorted(READERS)))
def test_readers_take_any_bytes(source: bytes, reader: str) -> None:
    assert all(isinstance(name, str) for name in READERS[reader](source))


@given(
    tables=st.recursive(
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just("a/_v.py")),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(
                    ["tool", "setuptools", "dynamic", "version", "lib", "dependencies", "name",
                     "crate-type", "package-dir", "ext-modules", "version-file"]
                ),
                inner,
                max_size=4,
            ),
        ),
    )
)  # fmt: skip
def test_tables_of_any_shape(tables: object) -> None:
    source = _toml({"tool": tables, "lib": tables, "dependencies": tables}).encode()
    for name in ("pyproject.toml", "Cargo.toml"):
        assert all(isinstance(hint, str) for hint in READERS[name](source))


def _toml(value: object) -> str:
    """Enough of a TOML writer for the values above: one inline table a line."""
    assert isinstance(value, dict)
    return "\n".join(f"{key} = {_inline(item)}" for key, item in value.items())


def _inline(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f'"{key}" = {_inline(item)}' for key, item in value.items())
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, int):
        return str(value)
    text = "".join(char if char.isalnum() or char in "/._" else "-" for char in str(value or ""))
    return f'"{text}"'
