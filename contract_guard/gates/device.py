"""Whether a device can be used, what it is called, and the numerics that a run relies on."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress

import torch


def usable(device: str) -> str | None:
    """Why the device cannot be used, on one line; None if it can."""
    if not device.startswith("cuda"):
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        there = torch.cuda.is_available()
        count = torch.cuda.device_count() if there else 0
    if not there:
        # A driver that is too old says so in a warning, and only there.
        said = [str(warning.message).splitlines()[0] for warning in caught]
        return "no CUDA here" + (f": {said[0]}" if said else "")
    if (torch.device(device).index or 0) >= count:
        return f"no {device} here: {count} CUDA device" + ("s" if count != 1 else "")
    try:
        torch.ones(2, device=device).sum().item()
    except RuntimeError as error:
        return f"{device} cannot run this torch: {str(error).strip().splitlines()[0]}"
    return None


def is_alive(device: str) -> bool:
    """Whether the device still answers in this process: some faults of a kernel end its context."""
    if not device.startswith("cuda"):
        return True
    try:
        torch.cuda.synchronize(device)
        torch.ones(1, device=device).sum().item()
    except RuntimeError:
        return False
    return True


def settle(device: str) -> None:
    """Waits for the device, so that a fault shows where it was made. Raises RuntimeError."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def clear_error(device: torch.device) -> None:
    """CUDA tells of a launch that it refused again at the next call, of whatever kind: make one."""
    if device.type == "cuda":
        with suppress(RuntimeError):
            torch.ones(1, device=device)
        with suppress(RuntimeError):
            torch.cuda.synchronize(device)


def device_name(device: str) -> str:
    """The device with its capability, for people: "NVIDIA H200 (sm90)"."""
    if not device.startswith("cuda"):
        return device
    major, minor = torch.cuda.get_device_capability(device)
    return f"{torch.cuda.get_device_name(device)} (sm{major}{minor})"


@contextmanager
def plain_numerics() -> Generator[None]:
    """float32 products in float32, and half-precision sums in float32, as the error bounds take
    for granted; without gradients. One CPU thread: batches are small, and on a busy machine threads
    wait for each other far longer than they work. Put back at the end."""
    matmul = torch.backends.cuda.matmul
    before = (
        matmul.allow_tf32,
        matmul.allow_bf16_reduced_precision_reduction,
        matmul.allow_fp16_reduced_precision_reduction,
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    matmul.allow_tf32 = False
    matmul.allow_bf16_reduced_precision_reduction = False
    matmul.allow_fp16_reduced_precision_reduction = False
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(threads)
        (
            matmul.allow_tf32,
            matmul.allow_bf16_reduced_precision_reduction,
            matmul.allow_fp16_reduced_precision_reduction,
        ) = before
