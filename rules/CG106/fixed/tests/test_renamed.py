def test_renamed(gate_weights):  # expect: CG106 gate_weight runtime-error lost=1
    assert gate_weights


class TestInClass:
    def test_elsewhere(self, only_in_unit):  # expect: CG106 only_in_unit runtime-error lost=1
        assert only_in_unit
