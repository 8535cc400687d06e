"""A registry made from sources by path."""

from collections.abc import Callable, Mapping

import pytest

from contract_guard.facts.extract import extract
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Tree


def tree_of(sources: Mapping[str, str], **settings: object) -> Tree:
    files = {path: extract(source.encode()) for path, source in sources.items()}
    return Tree(files=files, **settings)  # type: ignore[arg-type]


@pytest.fixture
def registry_of() -> Callable[..., Registry]:
    def make(
        sources: Mapping[str, str], *others: Mapping[str, str], **settings: object
    ) -> Registry:
        trees = [tree_of(other, origin=f"other=={n}") for n, other in enumerate(others)]
        return build(tree_of(sources, **settings), *trees)

    return make
