"""What the search in one test file asked of production: its result holds as long as the answers do.

Everything that the search takes from outside the test file goes through `Search` and is noted
here, or is among what `answers.answers` gives for every file.
"""

from dataclasses import dataclass, field

from contract_guard.mirrors.subject import Ways

Function = tuple[str, int]  # qualified name and first line


@dataclass(frozen=True, slots=True)
class Named:
    """Which functions the names in assertions of `test` stand for was asked, and how far from
    these `entries` of file `path` are; for "" which are the nearest.

    `builders` are the functions of that file that set a field, by its name: they follow from its
    bytes.
    """

    test: Function
    path: str
    ways: Ways
    builders: dict[str, list[Function]] = field(default_factory=dict[str, list[Function]])
    entries: set[Function] = field(default_factory=set[Function])


@dataclass(frozen=True, slots=True)
class Asked:
    """`opened` are files of production of which functions were read, `weights` the fragments whose
    weight counted, `constants` the names of which the functions that compare them were asked."""

    opened: set[str] = field(default_factory=set[str])
    weights: set[str] = field(default_factory=set[str])
    constants: set[str] = field(default_factory=set[str])
    named: list[Named] = field(default_factory=list[Named])

    def of(self, test: Function, path: str, ways: Ways) -> Named:
        """The entry of this question, a new one if it was not asked before."""
        for known in reversed(self.named):
            if known.test != test:
                break
            if known.path == path and known.ways == ways:
                return known
        new = Named(test, path, ways)
        self.named.append(new)
        return new
