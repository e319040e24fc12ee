"""Which of the four messages given bytes are, and why.

The layouts that it tries are in `layout`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import DecodeError
from ..messages import Assignment, AssignmentInfo, Subscription, SubscriptionInfo
from ..versions import LATEST
from . import assignment, envelope, subscription
from .layout import (
    ASSIGNMENT_INFO,
    CONSUMER_ASSIGNMENT,
    CONSUMER_SUBSCRIPTION,
    ENVELOPE_LATEST,
    LAYOUTS,
    SUBSCRIPTION_INFO,
    reason,
)
from .scalars import INT

_HIGHEST = 1000
"""A first int above this is no version of anything."""

Message = SubscriptionInfo | AssignmentInfo | Subscription | Assignment

_PARSERS: dict[str, Callable[[bytes], tuple[Message, int]]] = {
    SUBSCRIPTION_INFO: subscription.parse,
    ASSIGNMENT_INFO: assignment.parse,
    CONSUMER_SUBSCRIPTION: lambda data: envelope.parse_subscription(data, known=ENVELOPE_LATEST),
    CONSUMER_ASSIGNMENT: envelope.parse_assignment,
}


@dataclass(frozen=True, slots=True)
class Guess:
    """Which message bytes are, as far as they tell."""

    kind: str
    """One of the four kinds; empty when they are none of them."""
    reason: str
    """One sentence: what speaks for it, or against all four."""
    others: tuple[str, ...] = ()
    """What they could be as well: not empty means that the bytes do not decide."""
    nearest: str = ""
    """Where they are none of the four: the one that they read furthest as; empty where none stands out."""


def identify(data: bytes) -> Guess:
    """Tell the four messages apart by their bytes.

    A message that reads to its last byte comes first, best with a Streams payload inside; then one that leaves
    bytes over; last one that means nothing. Every other reading is in the reason, one of equal rank in `others`.

    >>> guess = identify(bytes.fromhex("0000000c0000000c"))
    >>> guess.kind, guess.reason
    ('subscription info', 'it reads to its end as the head of a future version')
    """
    data = bytes(data)
    ranked: dict[str, tuple[int, str]] = {}
    refused: dict[str, DecodeError] = {}
    for kind in LAYOUTS:
        try:
            value, end = _PARSERS[kind](data)
        except (struct.error, ValueError):
            refused[kind] = reason(data, kind)
        else:
            ranked[kind] = _rank(data, kind, value, len(data) - end)
    if not ranked:
        nearest = _nearest(refused)
        if nearest:
            return Guess("", f"none of the four reads to an end; furthest does {nearest}", (), nearest)
        return Guess("", "; ".join(f"no {kind} ({error})" for kind, error in refused.items()))
    kinds = sorted(ranked, key=lambda kind: ranked[kind][0])
    equal = tuple(kind for kind in kinds[1:] if ranked[kind][0] == ranked[kinds[0]][0])
    if equal:
        text = "the bytes do not decide: " + "; ".join(f"as {kind} it {ranked[kind][1]}" for kind in kinds)
    else:
        rest = (f"; as {kind} it {ranked[kind][1]}" for kind in kinds[1:])
        text = f"it {ranked[kinds[0]][1]}" + "".join(rest)
    return Guess(kinds[0], text, equal)


def _nearest(refused: dict[str, DecodeError]) -> str:
    """The kind whose reading got further than any other's, and past its version."""
    reached = sorted((error.offset for error in refused.values()), reverse=True)
    if reached[0] < 4 or reached[0] == reached[1]:
        return ""
    return next(kind for kind, error in refused.items() if error.offset == reached[0])


def _rank(data: bytes, kind: str, value: Message, left: int) -> tuple[int, str]:
    """How well the bytes read as this kind, 0 for best, and why."""
    doubt = _doubt(value)
    if left and not (isinstance(value, SubscriptionInfo) and value.head_only):
        if kind in (SUBSCRIPTION_INFO, ASSIGNMENT_INFO) and _has_body_of_v2(data, kind):
            return 1, "reads to its end as v1 with the body of v2, which 0.10.1 to 1.1.1 write"
        over = f"leaves {left} of {len(data)} bytes over"
        return (4, f"{over}, and {doubt}") if doubt else (2, over)
    text = "reads to its end"
    if isinstance(value, SubscriptionInfo) and value.head_only:
        text += " as the head of a future version"
    if doubt:
        return 3, f"{text}, but {doubt}"
    payload = value.user_data if isinstance(value, Subscription | Assignment) else None
    if payload and _is_whole(payload, SUBSCRIPTION_INFO if isinstance(value, Subscription) else ASSIGNMENT_INFO):
        return 0, f"{text} with a Streams payload inside"
    return 1, text


def _has_body_of_v2(data: bytes, kind: str) -> bool:
    if data[:4] != INT.pack(1):
        return False
    try:
        return _PARSERS[kind](INT.pack(2) + data[4:])[1] == len(data)
    except (struct.error, ValueError):
        return False


def _is_whole(payload: bytes, kind: str) -> bool:
    try:
        value, end = _PARSERS[kind](payload)
    except (struct.error, ValueError):
        return False
    return _rank(payload, kind, value, len(payload) - end)[0] == 1


def _doubt(value: Message) -> str:
    """Why no real group would send this; empty where one might."""
    if isinstance(value, SubscriptionInfo):
        return _doubtful_versions(value.version, value.latest_supported_version, "supports")
    if isinstance(value, AssignmentInfo):
        return _doubtful_versions(value.version, value.commonly_supported_version, "has as commonly supported")
    words = value.topics if isinstance(value, Subscription) else tuple(topic for topic, _ in value.partitions)
    if isinstance(value, Subscription) and value.rack_id:
        words = (*words, value.rack_id)
    if not all(word.isprintable() for word in words):
        return "a name in it is not printable"
    return ""


def _doubtful_versions(version: int, second: int, verb: str) -> str:
    if version > _HIGHEST:
        return f"{version} is no likely version"
    if version >= 3 and not version <= second <= max(_HIGHEST, LATEST):
        return f"it speaks v{version} and {verb} {second}"
    return ""
