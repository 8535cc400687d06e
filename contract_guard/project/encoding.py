"""Facts as bytes: how they travel from workers and lie in the cache. Nothing in it can run."""

from collections.abc import Callable
from sys import intern
from typing import TypeVar

import msgspec
from msgspec.structs import force_setattr

from contract_guard.facts.model import FileFragments, ModuleFacts, Unreadable

Decode = Callable[[bytes], ModuleFacts | Unreadable]
"""`decode`, `decode_plain` or either in `functools.cache`: then what several trees share is one
value."""

# Facts with fragments, facts of which none were taken, and the reason why there are none.
_WHOLE, _PLAIN, _UNREADABLE = b"W", b"P", b"U"
_NO_FRAGMENTS = FileFragments()
_encode = msgspec.msgpack.Encoder().encode
_decode_facts = msgspec.msgpack.Decoder(ModuleFacts).decode
_decode_unreadable = msgspec.msgpack.Decoder(Unreadable).decode

Kept = TypeVar("Kept")

# Reasons that lie in the machine, and not in the bytes of a file.
_PASSING = frozenset({"unreadable", "worker-died", "timeout"})


def encode(facts: ModuleFacts | Unreadable, *, fragments: bool = True) -> bytes:
    """`fragments` is whether they were taken."""
    if isinstance(facts, Unreadable):
        return _UNREADABLE + _encode(facts)
    return (_WHOLE if fragments else _PLAIN) + _encode(facts)


def decode(data: bytes) -> ModuleFacts | Unreadable:
    """Raises msgspec.DecodeError for bytes that `encode` did not make, or without fragments."""
    if data[:1] == _PLAIN:
        raise msgspec.DecodeError("no fragments were taken")
    return _decoded(data)


def decode_plain(data: bytes) -> ModuleFacts | Unreadable:
    """Facts without fragments, whether there are any or not. Raises as `decode`."""
    facts = _decoded(data)
    if data[:1] == _WHOLE:
        force_setattr(facts, "fragments", _NO_FRAGMENTS)
    return facts


def _decoded(data: bytes) -> ModuleFacts | Unreadable:
    kind, body = data[:1], memoryview(data)[1:]
    if kind in (_WHOLE, _PLAIN):
        return _decode_facts(body)
    if kind == _UNREADABLE:
        return _decode_unreadable(body)
    raise msgspec.DecodeError(f"unknown kind {kind!r}")


def sharing(facts: ModuleFacts | Unreadable) -> ModuleFacts | Unreadable:
    """The same facts; words that many files have are one object for all of them, which takes a
    sixth less memory, and half as much time again as decoding them."""
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
    if data[:1] != _UNREADABLE:
        return True
    return _decode_unreadable(memoryview(data)[1:]).reason not in _PASSING
