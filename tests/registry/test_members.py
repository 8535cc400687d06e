"""Attributes of classes, and values of constants."""

import pytest

from contract_guard.facts.fold import NotFoldable

SOURCES = {
    "lib/__init__.py": "",
    "lib/base.py": "class Base:\n    def run(self): ...\n    x: int\n"
    "    def __init__(self):\n        self.set_later = 1\n",
    "lib/kinds.py": "import dataclasses\nimport enum\nimport io\nimport typing\n"
    "from lib.base import Base\nimport torch\nfrom typing import Any\n"
    "class Child(Base):\n    LIMIT = 3\n    class Inner:\n        deep = 1\n"
    "class Kind(enum.Enum):\n    A = 1\n    B = A + 1\n"
    "class Net(torch.nn.Module): ...\n"
    "class Fails(ValueError): ...\n"
    "class Open:\n    def __getattr__(self, name): ...\n"
    "class Meta(metaclass=torch.M): ...\n"
    "@dataclasses.dataclass(slots=True)\nclass Point:\n    x: int\n"
    "class Row(typing.NamedTuple):\n    first: int\n"
    "class Stream(io.TextIOWrapper): ...\n"
    "class Loop(Loop2): ...\nclass Loop2(Loop): ...\n"
    "class Lent: ...\n"
    "from lib.marks import mark, unread\n"
    "@mark\nclass Marked: ...\n@unread\nclass Unread: ...\n"
    "class Computed:\n    def fill(self, name):\n        setattr(self, name, 1)\n"
    "class Filled:\n    def fill(self, name):\n        setattr(type(self), name, 1)\n"
    "class Calls(type):\n    served = 1\n    def __call__(cls): ...\n"
    "class Makes(Calls):\n    def __new__(cls, *args): ...\n"
    "class Called(metaclass=Calls): ...\nclass Made(metaclass=Makes): ...\n"
    "class Below(Called): ...\nclass Round(Round2): ...\nclass Round2(Round): ...\n"
    "class Turned(metaclass=Round): ...\n"
    "class Field:\n    def __set_name__(self, owner, name):\n"
    "        setattr(owner, 'get_' + name, 1)\n"
    "class Named(Field):\n    def __set_name__(self, owner, name):\n"
    "        super().__set_name__(owner, name)\n"
    "class Plain:\n    def __set_name__(self, owner, name):\n        self.name = name\n"
    "class Holder:\n    a = Field()\nclass Heir(Holder): ...\n"
    "class Holder2:\n    a = Named()\nclass Holder3:\n    a = Plain()\n"
    "Mapping.register(Lent)\n"
    "Old = Child\nSelf = Self\nPing = Pong\nPong = Ping\n",
    "lib/marks.py": "def mark(cls):\n    cls.marked = 1\n    return cls\n"
    "def unread(cls):\n    return change(cls)\n",
    "lib/both.py": "import os\nclass Kept:\n    def run(self): ...\n"
    "if os.environ.get('DOCS'):\n    def Kept(): ...\n    Kept.marked = 1\n",
    "lib/lend.py": "from lib.kinds import Lent\nLent.borrowed = 1\n",
}


@pytest.mark.parametrize(
    ("dotted", "status", "detail"),
    [
        ("lib.kinds.Child.LIMIT", "exists", "lib.kinds:Child.LIMIT"),
        ("lib.kinds.Child.run", "exists", "lib.base:Base.run"),
        ("lib.kinds.Child.Inner.deep", "exists", "lib.kinds:Child.Inner.deep"),
        ("lib.kinds.Child.Inner.gone", "missing", "lib.kinds:Child.Inner.gone"),
        ("lib.kinds.Child.gone", "missing", "lib.kinds:Child.gone"),
        ("lib.kinds.Child.x", "missing", "lib.kinds:Child.x"),
        ("lib.kinds.Marked.gone", "missing", "lib.kinds:Marked.gone"),
        ("lib.kinds.Called.gone", "missing", "lib.kinds:Called.gone"),
        ("lib.kinds.Below.gone", "missing", "lib.kinds:Below.gone"),
        ("lib.kinds.Called.served", "unknown", "dynamic-class"),
        ("lib.kinds.Made.gone", "unknown", "dynamic-class"),
        ("lib.kinds.Turned.gone", "unknown", "dynamic-class"),
        ("lib.kinds.Marked.marked", "unknown", "dynamic-class"),
        ("lib.kinds.Unread.gone", "unknown", "dynamic-class"),
        ("lib.kinds.Computed.gone", "missing", "lib.kinds:Computed.gone"),
        ("lib.kinds.Filled.gone", "unknown", "dynamic-class"),
        ("lib.kinds.Holder.get_a", "unknown", "dynamic-class"),
        ("lib.kinds.Heir.get_a", "unknown", "dynamic-class"),
        ("lib.kinds.Holder2.get_a", "unknown", "dynamic-class"),
        ("lib.kinds.Holder3.get_a", "missing", "lib.kinds:Holder3.get_a"),
        ("lib.kinds.Lent.gone", "missing", "lib.kinds:Lent.gone"),
        ("lib.both.Kept.gone", "missing", "lib.both:Kept.gone"),
        ("lib.both.Kept.marked", "unknown", "assigned-elsewhere"),
        ("lib.both.Kept.__name__", "exists", None),
        ("lib.kinds.Point.x", "unknown", "instance-attribute"),
        ("lib.kinds.Child.set_later", "unknown", "instance-attribute"),
        ("lib.kinds.Child.__doc__", "exists", None),
        ("lib.kinds.Child.mro", "exists", None),
        ("lib.kinds.Old.LIMIT", "exists", "lib.kinds:Child.LIMIT"),
        ("lib.kinds.Old.gone", "missing", "lib.kinds:Old.gone"),
        ("lib.kinds.Kind.A", "exists", "lib.kinds:Kind.A"),
        ("lib.kinds.Kind.C", "missing", "lib.kinds:Kind.C"),
        ("lib.kinds.Kind.__members__", "exists", None),
        ("lib.kinds.Kind._missing_", "exists", None),
        ("lib.kinds.Kind.A.value", "exists", "lib.kinds:Kind.A"),
        ("lib.kinds.Net.forward", "unknown", "unknown-base"),
        ("lib.kinds.Fails.args", "exists", None),
        ("lib.kinds.Fails.gone", "missing", "lib.kinds:Fails.gone"),
        ("lib.kinds.Open.gone", "missing", "lib.kinds:Open.gone"),
        ("lib.kinds.Row.first", "exists", "lib.kinds:Row.first"),
        ("lib.kinds.Row._replace", "exists", None),
        ("lib.kinds.Row.gone", "missing", "lib.kinds:Row.gone"),
        ("lib.kinds.Stream.readline", "exists", None),
        ("lib.kinds.Stream.gone", "missing", "lib.kinds:Stream.gone"),
        ("lib.kinds.Meta.gone", "unknown", "dynamic-class"),
        ("lib.kinds.Loop.gone", "missing", "lib.kinds:Loop.gone"),
        ("lib.kinds.Lent.borrowed", "unknown", "assigned-elsewhere"),
        ("lib.kinds.Lent.kept", "missing", "lib.kinds:Lent.kept"),
        ("lib.kinds.Self.gone", "exists", "lib.kinds:Self"),
        ("lib.kinds.Ping.gone", "exists", "lib.kinds:Ping"),
    ],
)
def test_class_attributes(registry_of, dotted: str, status: str, detail: str | None) -> None:
    found = registry_of(SOURCES).resolve_dotted(dotted)
    assert found.status == status
    if status == "exists":
        assert (found.producer.symbol if found.producer else None) == detail
    else:
        assert detail in (found.symbol, found.reason)


CONSTANTS = {
    "c/__init__.py": "from c.ids import *\n",
    "c/ids.py": "PAD = 129257\nSENTINEL = PAD - 5\nIDS = (PAD, SENTINEL)\n"
    "FIRST, SECOND = range(2)\nLOOP = LOOP_TOO\nLOOP_TOO = LOOP\nCALL = open('x')\n",
    "c/more.py": "import c.ids as ids\nfrom c import SENTINEL as S\nNEXT = ids.PAD + 1\n"
    "BOTH = {S: NEXT}\nclass Kind:\n    A = NEXT\n    B = A * 2\n",
    "c/two.py": "import sys\nif sys.argv:\n    X = 1\nelse:\n    X = 2\n",
}


@pytest.mark.parametrize(
    ("symbol", "value"),
    [
        ("c.ids:SENTINEL", 129252),
        ("c:IDS", (129257, 129252)),
        ("c.ids:SECOND", 1),
        ("c.more:NEXT", 129258),
        ("c.more:BOTH", {129252: 129258}),
        ("c.more:Kind.B", 258516),
    ],
)
def test_values_fold_across_modules(registry_of, symbol: str, value: object) -> None:
    assert registry_of(CONSTANTS).value_of(symbol) == value


@pytest.mark.parametrize(
    "symbol", ["c.ids:LOOP", "c.ids:CALL", "c.two:X", "c.ids:GONE", "c.ids", "nowhere:X"]
)
def test_what_has_no_value(registry_of, symbol: str) -> None:
    with pytest.raises(NotFoldable):
        registry_of(CONSTANTS).value_of(symbol)


def test_expressions_are_read_where_they_stand(registry_of) -> None:
    assert registry_of(CONSTANTS).evaluate("c/more.py", "S + ids.FIRST") == 129252
