"""The second front end: functions of a libcst tree as the syntax that the analysis reads.

A libcst node is written out and parsed again, so both front ends give the same operations by the
same code; a property test holds them together.
"""

import ast
import textwrap

import libcst as cst

from contract_guard.mirrors.graph import Graph
from contract_guard.mirrors.scopes import FunctionNode, module_of
from contract_guard.mirrors.trace import trace_function


def function_syntax(module: cst.Module, node: cst.FunctionDef, line: int) -> FunctionNode:
    """The function as an `ast` node. `line` is where it starts in its file, from 1, decorators
    included (`PositionProvider` gives that of the `def`)."""
    code = module.code_for_node(node.with_changes(leading_lines=()))
    tree = ast.parse(textwrap.dedent(code))
    ast.increment_lineno(tree, line - 1)
    function = tree.body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    return function


def function_graph(module: cst.Module, node: cst.FunctionDef, line: int) -> Graph:
    """All operations of a function, as `trace_function` gives them for an `ast` tree."""
    top = module_of(ast.parse(module.code))
    return trace_function(top, function_syntax(module, node, line))
