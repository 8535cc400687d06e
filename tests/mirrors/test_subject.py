"""What a copy is of: the function that the assertion names, not a neighbour that resembles it more,
and what is no expected value at all."""

import ast
import textwrap

import pytest

from contract_guard.mirrors.copies import Copy, copies_in, is_note
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.search import Search

OPS = """
import math

class Rows:
    def __init__(self, share):
        self.share = share
        self.kept = None
        self.limit = share * 96 % 31 + share // 7

    def prune(self, table):
        count = math.ceil(self.share * table.rows) % 17
        return table.drop(count)

    def settle(self, table):
        self.kept = table.rows - math.ceil(self.share * table.rows) % 17

class Ranks(Rows):
    def prune(self, table):
        count = math.ceil(self.share * table.rows) % 17
        scores = table.rank_scores(self.share, count)
        return table.drop(scores)

def pressed(resid, leverage):
    return resid / (1 - leverage) % 13

def scaled(resid, leverage, spread):
    return resid / (1 - leverage) % 13 / math.sqrt(spread)

def standard(resid, leverage):
    return scaled(resid, leverage, 1)

def measured(values, cut):
    above = values > cut
    size = len(above) // 3 % 23 + cut * 0.025
    return above.sum(), size

def refuse(names):
    if names:
        raise ValueError(f"cannot estimate these parameters: {sorted(names)}")
"""


def copies(test: str) -> tuple[Copy, ...]:
    head = "import math\nfrom pkg.ops import Ranks, Rows, measured, pressed, refuse, scaled\n"
    head += "from pkg.ops import standard\n"
    sources = {
        "pkg/__init__.py": "",
        "pkg/ops.py": OPS,
        "tests/test_it.py": head + textwrap.dedent(test),
    }
    trees = {path: ast.parse(source) for path, source in sources.items()}
    files = {path: file_fragments(tree) for path, tree in trees.items()}
    search = Search(files, frozenset({"tests/test_it.py"}), sources.__getitem__)
    return copies_in(search, "tests/test_it.py").copies


NAMED = {
    "of the class that the test makes": (
        "Rows.prune",
        """
def test_it(table, share):
    rows = Rows(share)
    assert rows.prune(table) == table.drop(math.ceil(share * table.rows) % 17)
""",
    ),
    "of its sibling where the test makes that": (
        "Ranks.prune",
        """
def test_it(table, share):
    ranks = Ranks(share)
    count = math.ceil(share * table.rows) % 17
    assert ranks.prune(table) == table.drop(table.rank_scores(share, count))
""",
    ),
    "of the function that is called, not of one with a further term": (
        "pressed",
        """
def test_it(resid, leverage):
    assert pressed(resid, leverage) == resid / (1 - leverage) % 13
""",
    ),
    "of what the called function calls": (
        "scaled",
        """
def test_it(resid, leverage, spread):
    expected = resid / (1 - leverage) % 13 / math.sqrt(spread)
    assert standard(resid, leverage) == expected
""",
    ),
    "of the method that sets the field": (
        "Rows.settle",
        """
def test_it(table, share):
    rows = Rows(share)
    rows.settle(table)
    assert rows.kept == table.rows - math.ceil(share * table.rows) % 17
""",
    ),
}


@pytest.mark.parametrize(("name", "test"), NAMED.values(), ids=NAMED.keys())
def test_the_named_function(name: str, test: str) -> None:
    (found,) = copies(test)
    assert found.production.qualname == name


QUIET = {
    "a bound": """
def test_it(resid, leverage):
    assert pressed(resid, leverage) <= resid / (1 - leverage) % 13
""",
    "another function of the module": """
def test_it(resid, leverage, spread):
    rows = Rows(spread)
    assert rows.prune(spread) == resid / (1 - leverage) % 13 / math.sqrt(spread)
""",
    "parts of one result": """
def test_it(values, cut):
    result = measured(values, cut)
    assert result[1] == len(result[0]) // 3 % 23 + cut * 0.025
""",
    "a number of another program, shifted": """
def test_it(results, resid, leverage):
    expected = results["resid_R"] + resid / (1 - leverage) % 13
    assert pressed(resid, leverage) == expected
""",
}


@pytest.mark.parametrize("test", QUIET.values(), ids=QUIET.keys())
def test_what_is_no_copy(test: str) -> None:
    assert copies(test) == ()


def test_plain_helpers_have_to_be_production_s_way_throughout() -> None:
    test = """
def {name}(resid, leverage, spread):
    total = {extra}
    return total + resid / (1 - leverage) % 13 / math.sqrt(spread)

def test_it(resid, leverage, spread):
    assert scaled(resid, leverage, spread) == {name}(resid, leverage, spread)
"""
    other = test.format(name="helper", extra="math.log(spread)")
    assert [copy.production.qualname for copy in copies(other)] == ["scaled"]
    assert copies(other.replace("helper", "brute_force")) == ()


def test_the_text_of_an_error_is_a_note() -> None:
    (found,) = copies("""
def test_it(names):
    with pytest.raises(ValueError) as error:
        refuse(names)
    assert error.msg == f"cannot estimate these parameters: {sorted(names)}"
""")
    assert (found.production.qualname, is_note(found)) == ("refuse", True)


@pytest.mark.parametrize(
    ("expected", "note"),
    [
        ("resid / (1 - leverage) % 13 / math.sqrt(spread)", False),
        ("(resid / leverage, 1 - spread, spread % 13, math.sqrt(resid))", True),
    ],
)
def test_operations_that_stand_apart_are_a_note_at_most(expected: str, note: bool) -> None:
    found = copies(f"""
def test_it(resid, leverage, spread):
    assert scaled(resid, leverage, spread) == {expected}
""")
    assert all(is_note(copy) for copy in found) == note
