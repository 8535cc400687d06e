"""Settings of Hypothesis for all tests: no limit on time, which says more about the machine than
about the code; and in CI the same examples each time, so that a run can be repeated."""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

settings.register_profile(
    "contract-guard",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("contract-guard")
