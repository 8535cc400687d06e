import importlib

import pytest

import pkg
import pkg.decode as alias
from pkg import decode as renamed


def test_re_export_removed():
    pkg.decode.MlaWrapper()  # expect: CG102 pkg:MlaWrapper runtime-error lost=1


def test_alias():
    alias.Gone.build().run()  # expect: CG102 pkg.decode:Gone runtime-error lost=1


def test_from_alias():
    assert renamed.Away is None  # expect: CG102 pkg.decode:Away runtime-error lost=1


def test_import_module():
    module = importlib.import_module("pkg.decode")
    module.Missing()  # expect: CG102 pkg.decode:Missing runtime-error lost=1


class TestSetUp:
    value = alias.Default  # expect: CG102 pkg.decode:Default collection-error lost=7

    def test_value(self):
        assert self.value


def test_fine():
    assert pkg.Wrapper and pkg.decode.MlaWrapper


def test_skipped_on_some_machines():
    if not pkg.Wrapper:
        pytest.skip("needs a wrapper")
    pkg.OldWrapper()  # expect: CG102 pkg:OldWrapper runtime-error lost=1
