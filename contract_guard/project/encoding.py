"""Facts as bytes: how they travel from workers and lie in the cache. Nothing in it can run."""

from collections.abc import Callable
from sys import intern
from typing import TypeVar

import msgspec
from msgspec.structs import force_setattr

from contract_guard.facts.model import ModuleFacts, Unreadable

Decode = Callable[[bytes], ModuleFacts | Unreadable]
"""`decode`, or `functools.cache(decode)`: then what several trees share is one value."""

_FACTS, _UNREADABLE = b"F", b"U"
_encode = msgspec.msgpack.Encoder().encode
_decode_facts = msgspec.msgpack.Decoder(ModuleFacts).decode
_decode_unreadable = msgspec.msgpack.Decoder(Unreadable).decode

Kept = TypeVar("Kept")

# Reasons that lie in the machine, and not in the bytes of a file.
_PASSING = frozenset({"unreadable", "worker-died", "timeout"})


def encode(facts: ModuleFacts | Unreadable) -> bytes:
    if isinstance(facts, Unreadable):
        return _UNREADABLE + _encode(facts)
    return _FACTS + _encode(facts)


def decode(data: bytes) -> ModuleFacts | Unreadable:
    """Raises msgspec.DecodeError for bytes that `encode` did not make."""
    kind, body = data[:1], memoryview(data)[1:]
    if kind == _FACTS:
        return _decode_facts(body)
    if kind == _UNREADABLE:
        return _decode_unreadable(body)
    raise msgspec.DecodeError(f"unknown kind {kind!r}")


def decode_sharing(data: bytes) -> ModuleFacts | Unreadable:
    """As `decode`; words that many files have are one object for all of them, which takes a sixth
    less memory and half as much time again."""
    facts = decode(data)
    if isinstance(facts, Unreadable):
        return facts
    force_setattr(facts, "loaded_names", frozenset(map(intern, facts.loaded_names)))
    for function in facts.fragments.functions:
        force_setattr(function, "fragments", tuple(map(intern, function.fragments)))
        force_setattr(function, "calls", frozenset(map(intern, function.calls)))
    return facts


def decode_result(data: bytes | None, kind: type[Kept]) -> Kept | None:
    """A kept result, None where there is none or it is damaged: it is made again then."""
    if data is None:
        return None
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.DecodeError:
        return None


def may_be_kept(data: bytes) -> bool:
    """Whether the same source gives the same bytes on every run."""
    return data[:1] == _FACTS or _decode_unreadable(memoryview(data)[1:]).reason not in _PASSING
