"""A function that is parsed alone computes what it does in its file."""

import ast
from pathlib import Path

import pytest

import contract_guard
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.opened import FunctionWise, OpenedFile
from contract_guard.mirrors.trace import trace_function

PACKAGE = Path(contract_guard.__file__).parent
FILES = sorted((PACKAGE / "mirrors").glob("*.py")) + sorted((PACKAGE / "gates").glob("*.py"))

HARD = '''
import torch
LIMIT = (
    3
)
if LIMIT:
    class A(Base):
        FACTOR = 2

        @property
        def wide(self): return """
not indented
"""

        @staticmethod
        async def late(
            x, y=1,
        ):
            # a comment
            def inner(z):
                return z * LIMIT + A.FACTOR

\tthere = """a line with a tab, in a text"""
            return inner(x) + y

    def other(x): return A().wide + x * LIMIT
else:
\tdef other(x):
\t\treturn x - LIMIT
'''.replace("\tthere", "            there")


@pytest.mark.parametrize("text", [p.read_text() for p in FILES] + [HARD])
def test_function_alone_is_as_in_its_file(text: str) -> None:
    functions = file_fragments(ast.parse(text)).functions
    whole, parts = OpenedFile(text), FunctionWise(text, functions)
    for function in functions:
        name = function.qualname.rpartition(".")[2]
        expected = trace_function(whole.module, whole.every[function.start, name])
        found = trace_function(parts.module, parts.function(function))
        assert (found.ops, found.aliases) == (expected.ops, expected.aliases)
    assert parts.module.names.keys() == whole.module.names.keys()
    assert parts.module.constants.keys() == whole.module.constants.keys()
