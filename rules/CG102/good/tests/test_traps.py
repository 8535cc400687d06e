"""Attributes that look missing and are not."""

import sys
import types

import pytest

import pkg
import pkg.lazy
from pkg import fleet, log


def test_attribute_hides_the_submodule():
    log.info("the logger, not pkg/log.py")
    pkg.log.debug("the same")


def test_local_name_hides_the_module():
    fleet = pkg.fleet.make_fleet()
    fleet.create_handle()


def test_parameter_hides_the_module(fleet=None):
    fleet.create_handle()


def test_hidden_in_a_comprehension():
    assert [fleet.handle for fleet in [types.SimpleNamespace(handle=1)]]


def test_submodules_are_attributes():
    assert pkg.loaded_by_the_package.value
    assert pkg.loaded_elsewhere.value


def test_guards():
    if hasattr(fleet, "optional"):
        fleet.optional()
    try:
        fleet.perhaps()
    except AttributeError:
        pass
    with pytest.raises(AttributeError):
        fleet.removed_on_purpose
    assert getattr(fleet, "with_a_default", None) is None


def test_stored_elsewhere():
    assert fleet.registered_by_a_plugin


def test_stored_by_a_fixture(monkeypatch):
    monkeypatch.setattr(fleet, "only_here", 1, raising=False)
    assert fleet.only_here


def test_lazy():
    assert pkg.lazy.tensor


def test_synthesised():
    assert fleet.Config.__dataclass_fields__
    assert fleet.Kind.__members__
    assert fleet.__spec__.name and fleet.__dict__
    assert fleet.Open.anything


def test_annotated_only():
    value: "fleet.OnlyAnAnnotation"


def test_skipped_for_ever():
    pytest.skip("written for the old module")
    fleet.never_reached()
