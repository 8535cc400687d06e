import numpy as np
import torch


def test_torch():
    x = torch.ones(3)
    assert torch.allclose(x, x)
    same = torch.equal(x, x)
    assert same
    np.testing.assert_allclose(x, x)


class Recorder:
    def equal(self, a, b):
        self.seen = (a, b)


def test_own_method():
    recorder = Recorder()
    recorder.equal(1, 1)
    assert recorder.seen == (1, 1)


def test_result_is_kept():
    out = np.empty(3, dtype=bool)
    np.equal(np.ones(3), 1, out=out)
    np.equal(np.ones(3), 1, out)
    assert out.all()
