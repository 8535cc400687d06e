import numpy as np
import torch


def test_torch():
    x = torch.ones(3)
    assert torch.allclose(x, x + 1)  # expect: CG306 torch.allclose
    assert x.shape == (3,)


class TestNumpy:
    def test_numpy(self):
        for value in (1, 2):
            assert np.allclose(value, 3)  # expect: CG306 np.allclose
            assert np.isclose(value, 3).all()  # expect: CG306 np.isclose
