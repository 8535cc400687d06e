def test_there(only_in_unit, gate_weights):
    assert only_in_unit and gate_weights
