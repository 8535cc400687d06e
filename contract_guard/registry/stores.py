"""Who assigns to attributes of modules and classes from outside: `module.NAME = value`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contract_guard.registry.module import Module
from contract_guard.registry.modules import Modules


class Store(NamedTuple):
    """An assignment in `module` to the end of `chain`, which starts at one of its imports.

    `lasting` is false for patches, which are taken back after a test.
    """

    module: Module
    imported: Sequence[int]
    chain: tuple[str, ...]
    lasting: bool


class Stores:
    """All such assignments of all trees, by the name that is assigned to; made on first use."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._by_name: dict[str, list[Store]] | None = None
        self._completed: set[str] = set()

    def to(self, name: str) -> Sequence[Store]:
        """Assignments to an attribute of this name."""
        if self._by_name is None:
            self._by_name = {}
            for module in self._modules.opened():
                for store in stores_of(module):
                    self._by_name.setdefault(store.chain[-1], []).append(store)
        found = self._by_name.get(name)
        if name not in self._completed:
            self._completed.add(name)
            for store in self._in_digests(name):
                found = self._by_name.setdefault(name, [])
                found.append(store)
        return found or ()

    def _in_digests(self, name: str) -> Iterator[Store]:
        for index, tree in enumerate(self._modules.trees):
            for path in tree.digest.storing.get(name, ()) if tree.digest is not None else ():
                stores = stores_of(self._modules.at(path, index))
                yield from (store for store in stores if store.chain[-1] == name)


def stores_of(module: Module) -> Iterator[Store]:
    """The assignments of one module."""
    if module.facts is None:
        return
    for use in module.facts.uses:
        if use.context == "store" and use.chain:
            yield Store(module, use.imported, use.chain, lasting=True)
    for patch in module.facts.patches:
        lasting = patch.form == "setattr"
        if patch.imported and patch.attribute and (lasting or patch.create or not patch.raising):
            chain = (*patch.target.split(".")[1:], patch.attribute)
            yield Store(module, patch.imported, chain, lasting)
