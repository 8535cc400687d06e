"""Hardware that a test needs, and whether it is here."""

import importlib.util

import pytest

from contract_guard.gates.evidence import Requirement


def parse_hardware(text: object, where: str) -> Requirement:
    """`cuda` or `cuda:sm90`. Raises pytest.UsageError, which names `where` it was said."""
    try:
        return Requirement.parse(str(text))
    except ValueError as error:
        raise pytest.UsageError(f"{where}: {error}") from None


def missing_hardware(wanted: Requirement) -> str | None:
    """Why tests that need `wanted` cannot run here, on one line; None where they can."""
    if wanted.device_type == "cpu":
        return None
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    from contract_guard.gates.device import usable

    problem = usable("cuda:0")
    if problem is not None or not wanted.capability:
        return problem
    import torch

    found = [
        "sm{}{}".format(*torch.cuda.get_device_capability(index))
        for index in range(torch.cuda.device_count())
    ]
    if wanted.capability.removesuffix("a") in found:
        return None
    return f"the GPU here is {', '.join(sorted(set(found)))}"


def is_demanded(needed: Requirement | None, demanded: Requirement | None) -> bool:
    """Whether a test that needs `needed` must not be skipped where `demanded` was promised. A
    test that names no hardware is taken to need what is promised; one that needs another GPU than
    the promised one cannot be asked for."""
    if demanded is None:
        return False
    if needed is None:
        return True
    return needed.device_type == demanded.device_type and (
        not needed.capability or not demanded.capability or needed.capability == demanded.capability
    )
