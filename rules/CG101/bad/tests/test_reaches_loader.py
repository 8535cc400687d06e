from pkg import loader


class TestLoader:
    def test_load(self):
        assert loader.load(1)

    def test_nothing(self):
        assert loader.load(0) == 0
