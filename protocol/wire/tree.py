"""Bytes taken apart in layers: the consumer's envelope, and the Streams payload inside it.

The fields of one layer are in `layout`; which message it is, is told in `guess`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DecodeError
from .guess import identify
from .layout import (
    ASSIGNMENT_INFO,
    CONSUMER_ASSIGNMENT,
    CONSUMER_SUBSCRIPTION,
    LAYOUTS,
    SUBSCRIPTION_INFO,
    Field,
    fields,
)

_PAYLOAD = {CONSUMER_SUBSCRIPTION: SUBSCRIPTION_INFO, CONSUMER_ASSIGNMENT: ASSIGNMENT_INFO}


@dataclass(frozen=True, slots=True)
class Decoded:
    """One layer of bytes, field by field, and the layer inside it."""

    kind: str
    reason: str
    """Why the bytes are taken for this message."""
    others: tuple[str, ...]
    """What they could be as well."""
    fields: tuple[Field, ...]
    """Offsets count from the first byte of all that was given."""
    data: bytes
    inner: Decoded | None = None
    """The Streams payload of an envelope; None where there is none."""

    @property
    def problem(self) -> Field | None:
        """The field that could not be read, of this layer or the one inside; None where all could."""
        last = next((field for field in self.fields if field.problem), None)
        return last or (self.inner.problem if self.inner else None)


def decode(data: bytes, *, kind: str | None = None) -> Decoded:
    """Take bytes apart; damaged ones up to the damage, which is then a field with a `problem`.

    Bytes that are none of the four messages are taken for the one that they read furthest as.

    Raises DecodeError where none stands out, and ValueError for an unknown `kind`.

    >>> decode(bytes.fromhex("0000000c0000000c")).kind
    'subscription info'
    """
    if kind is not None and kind not in LAYOUTS:
        raise ValueError(f"no message is called {kind!r} (allowed: {', '.join(LAYOUTS)})")
    guess = identify(data)
    chosen = kind or guess.kind or guess.nearest
    if not chosen:
        raise DecodeError(guess.reason, offset=0, field="version")
    told = guess.reason if kind is None or kind == guess.kind else "you said so"
    return _layer(data, chosen, told, guess.others if kind is None else (), 0)


def _layer(data: bytes, kind: str, reason: str, others: tuple[str, ...], at: int) -> Decoded:
    found = fields(data, kind, at=at)
    inner = None
    payload = next((field for field in found if field.name == "user_data"), None)
    if payload is not None and isinstance(payload.value, bytes) and payload.value and not payload.problem:
        start = payload.offset + payload.length - len(payload.value)
        inner = _layer(payload.value, _PAYLOAD[kind], f"it is the payload of a {kind}", (), start)
    return Decoded(kind, reason, others, found, data, inner)
