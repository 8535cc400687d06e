"""Patches that look stale and are not."""

from unittest import mock
from unittest.mock import patch

import pytest

import pkg.parallel
from pkg import worker
from pkg.worker import Worker


@patch("pkg.worker.is_parallel")
@patch("pkg.worker.parallel.is_parallel")
@patch("pkg.worker.os.path.exists", return_value=True)
@patch("pkg.worker.threading.Thread")
@patch("pkg.worker.outside.anything.at.all")
@patch("pkg.worker.Base.start")
@patch("pkg.worker.Worker.start")
@patch("outside.thing")
def test_there(*_):
    assert worker


def test_allowed_to_be_missing(monkeypatch):
    with patch("pkg.worker.made_up", create=True):
        pass
    with patch.object(worker, "made_up", 1, create=True):
        pass
    monkeypatch.setattr(worker, "made_up", 1, raising=False)
    monkeypatch.setattr("pkg.worker.made_up", 1, raising=False)
    monkeypatch.delattr(worker, "made_up", raising=False)


@patch("pkg.worker.open", mock.mock_open(read_data=""))
@patch("pkg.worker.print")
def test_builtins_are_created(*_):
    assert worker


def test_bases_that_are_not_known():
    with (
        patch.object(worker.FromOutside, "anything"),
        patch.object(worker.Made, "anything"),
        patch("pkg.worker.Decorated.anything"),
        patch("pkg.worker.Open.anything"),
    ):
        pass


def test_every_class_has_these():
    with patch.object(Worker, "__init__", return_value=None), patch.object(Worker, "__eq__"):
        pass
    with patch("pkg.worker.Worker.__class__"):
        pass


def test_instances_and_locals(worker=None):
    with patch.object(worker, "no_module_here"):
        pass
    with patch.object(Worker(), "handle"):
        pass


def test_expected_to_fail():
    with pytest.raises(AttributeError), patch("pkg.worker.removed"):
        pass


def test_takes_it_from_there():
    with patch("pkg.worker.used_only_as_re_export"), patch("pkg.worker.looked_up_by_name"):
        pass


def test_dictionary():
    with patch.dict("pkg.worker.TABLE", {"a": 1}), patch.dict("os.environ", {"A": "1"}):
        pass


def stand_in():
    return 1


pkg.parallel.registered = stand_in
pkg.parallel.is_parallel = stand_in


@patch("pkg.shadowed._inner")
def test_a_function_hides_the_submodule(_):
    assert pkg.shadowed()
