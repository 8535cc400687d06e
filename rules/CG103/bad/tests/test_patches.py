from unittest import mock
from unittest.mock import patch

import pytest

from pkg import parallel, worker
from pkg.worker import Worker

MODULE = "pkg.worker"


@patch("pkg.worker.enable_sequence")  # expect: CG103 pkg.worker:enable_sequence runtime-error lost=1
def test_decorator(_):
    assert Worker().run()


@pytest.mark.parametrize("case", [1, 2, 3])
@mock.patch("pkg.worker.revert", return_value=1)  # expect: CG103 pkg.worker:revert runtime-error lost=3
def test_a_method_is_no_module_name(_, case):
    assert case


def test_context():
    with patch("pkg.gone.thing"):  # expect: CG103 pkg.gone runtime-error lost=1
        pass


def test_several():
    with (
        patch("pkg.worker.is_parallel", return_value=False),
        patch("pkg.worker.Worker.rerun"),  # expect: CG103 pkg.worker:Worker.rerun runtime-error lost=1
    ):
        assert not Worker().run()


def test_object():
    with patch.object(worker, "is_serial"):  # expect: CG103 pkg.worker:is_serial runtime-error
        pass
    with mock.patch.object(Worker, "halt"):  # expect: CG103 pkg.worker:Worker.halt runtime-error
        pass
    with patch.object(worker.Worker, "halt"):  # expect: CG103 pkg.worker:Worker.halt runtime-error
        pass


def test_multiple():
    with patch.multiple("pkg.worker", is_parallel=None, is_remote=None):  # expect: CG103 pkg.worker:is_remote
        pass


def test_dict():
    with patch.dict("pkg.worker.REGISTRY", {"a": 1}):  # expect: CG103 pkg.worker:REGISTRY
        pass


def test_monkeypatch(monkeypatch):
    monkeypatch.setattr("pkg.worker.is_serial", None)  # expect: CG103 pkg.worker:is_serial
    monkeypatch.setattr(worker, "is_serial", None)  # expect: CG103 pkg.worker:is_serial
    monkeypatch.delattr(parallel, "none_to_all")  # expect: CG103 pkg.parallel:none_to_all


def test_mocker(mocker):
    mocker.patch("pkg.worker.is_serial")  # expect: CG103 pkg.worker:is_serial
    mocker.patch.object(worker, "is_serial")  # expect: CG103 pkg.worker:is_serial


def test_folded():
    with patch(f"{MODULE}.is_serial"):  # expect: CG103 pkg.worker:is_serial
        pass
    with patch(MODULE + ".Worker.halt"):  # expect: CG103 pkg.worker:Worker.halt
        pass


def test_changes_nothing():
    with patch("pkg.worker.all_to_all"):  # expect: CG103 pkg.worker:all_to_all warning silent
        assert Worker().run()


@patch.object(Worker, "stop")  # expect: CG103 pkg.worker:Worker.stop runtime-error lost=2
class TestClass:
    def test_one(self, _):
        assert Worker().run()

    def test_two(self, _):
        assert Worker().run()


@patch("pkg.shadowed._inner")  # expect: CG103 pkg.shadowed:_inner
def test_a_function_hides_the_submodule(_):
    assert Worker().run()
