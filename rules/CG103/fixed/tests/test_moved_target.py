from unittest.mock import patch

from pkg import planner


@patch("pkg.planner.balance_load", return_value=1.0)  # expect: CG103 pkg.worker:balance_load lost=1
def test_plan(balance_load):
    assert planner.plan([3, 1]) == [1.0, 1.0]


def test_plan_of_one():
    target = "pkg.worker"
    with patch("pkg.planner.balance_load", return_value=2.0):  # expect: CG103 pkg.worker:balance_load lost=1
        assert planner.plan([3]) == [2.0]
