"""Imports that look broken and are not."""

import contextlib
from typing import TYPE_CHECKING

import pytest

import pkg
from pkg import __doc__, __file__, __name__ as package_name, __path__, submodule
from pkg import deep, __version__
from pkg._build_info import device_type
from pkg._kernels import launch
from pkg.bindings import (
    __dict__ as bindings_dictionary,
    annotated,
    caught,
    comprehension_walrus,
    first,
    inner_loop,
    json_module,
    kept,
    linux_only,
    looped,
    made_global,
    matched,
    newer,
    older,
    opened,
    other_platform,
    removed_for_a_while,
    rest,
    second,
    type_alias,
    walrus,
)
from pkg.chain_a import deep as through_star
from pkg.compiled_with_stub import fast
from pkg.cycle_one import second as around
from pkg.cython_module import quick
from pkg.delegating import anything_at_all
from pkg.device_info import kind
from pkg.dynamic_globals import Engine as copied
from pkg.lazy_set import decode_with_cache
from pkg.lazy_table import Engine, Params
from pkg.replaced import whatever
from pkg.set_attributes import east, north, south, west
from pkg.shim import OldError
from pkg.star_consumer import _private_but_listed, later, visible
from shared_namespace.ours import value
from shared_namespace.theirs import other_value

if TYPE_CHECKING:
    from pkg.engine import OnlyForTheTypeChecker

try:
    from pkg.engine import FutureEngine
except ImportError:
    FutureEngine = None

with contextlib.suppress(ImportError, AttributeError):
    from pkg.engine import Optional

if False:
    from pkg.engine import NeverImported


def test_that_a_name_is_gone():
    with pytest.raises(ImportError):
        from pkg.engine import Removed


def test_late():
    try:
        from pkg.engine import Late
    except (ImportError, RuntimeError):
        pytest.skip("no such engine")
    else:
        assert Late
