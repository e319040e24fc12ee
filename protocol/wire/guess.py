"""Which of the four messages given bytes are, and why.

The layouts that it tries are in `layout`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import DecodeError
from ..messages import Assignment, AssignmentInfo, Subscription, SubscriptionInfo
from ..versions import LATEST
from .assignment import decode_assignment_info
from .envelope import decode_assignment, decode_subscription
from .layout import (
    ASSIGNMENT_INFO,
    CONSUMER_ASSIGNMENT,
    CONSUMER_SUBSCRIPTION,
    LAYOUTS,
    SUBSCRIPTION_INFO,
    end,
)
from .subscription import decode_subscription_info

_HIGHEST = 1000
"""A first int above this is no version of anything."""

Message = SubscriptionInfo | AssignmentInfo | Subscription | Assignment

_DECODERS: dict[str, Callable[[bytes], Message]] = {
    SUBSCRIPTION_INFO: decode_subscription_info,
    ASSIGNMENT_INFO: decode_assignment_info,
    CONSUMER_SUBSCRIPTION: decode_subscription,
    CONSUMER_ASSIGNMENT: decode_assignment,
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


def identify(data: bytes) -> Guess:
    """Tell the four messages apart by their bytes.

    >>> identify(bytes.fromhex("0000000c0000000c"))
    Guess(kind='subscription info', reason='reads to its end as the head of a future version', others=())
    >>> identify(b"").kind
    ''

    A message that reads to its last byte and means something comes before one that leaves bytes over, and
    that before one that means nothing. Several of the same rank are all named.
    """
    data = bytes(data)
    ranked: dict[str, tuple[int, str]] = {}
    refused: list[str] = []
    for kind in LAYOUTS:
        try:
            ranked[kind] = _rank(data, kind)
        except DecodeError as error:
            refused.append(f"no {kind} ({error})")
    if not ranked:
        return Guess("", "; ".join(refused))
    best = min(rank for rank, _ in ranked.values())
    kinds = tuple(kind for kind, (rank, _) in ranked.items() if rank == best)
    if len(kinds) == 1:
        return Guess(kinds[0], ranked[kinds[0]][1])
    text = "; ".join(f"as {kind} it {ranked[kind][1]}" for kind in kinds)
    return Guess(kinds[0], f"the bytes do not decide: {text}", kinds[1:])


def _rank(data: bytes, kind: str) -> tuple[int, str]:
    """How well the bytes read as this kind, 0 for best, and why."""
    left = len(data) - end(data, kind)
    value = _DECODERS[kind](data)
    doubt = _doubt(value)
    future = isinstance(value, SubscriptionInfo) and value.head_only
    if left and not future:
        over = f"leaves {left} of {len(data)} bytes over"
        return (3, f"{over}, and {doubt}") if doubt else (1, over)
    text = "reads to its end" + (" as the head of a future version" if future else "")
    if doubt:
        return 2, f"{text}, but {doubt}"
    if isinstance(value, Subscription | Assignment) and value.user_data:
        inside = SUBSCRIPTION_INFO if isinstance(value, Subscription) else ASSIGNMENT_INFO
        if inside in _inside(value.user_data):
            return 0, f"{text}, with a Streams payload inside"
    return 0, text


def _inside(payload: bytes) -> tuple[str, ...]:
    found = identify(payload)
    return (found.kind, *found.others)


def _doubt(value: Message) -> str:
    """Why no real group would send this; empty where one might."""
    if isinstance(value, SubscriptionInfo):
        return _doubtful_versions(value.version, value.latest_supported_version, "supports")
    if isinstance(value, AssignmentInfo):
        return _doubtful_versions(value.version, value.commonly_supported_version, "has as commonly supported")
    topics = value.topics if isinstance(value, Subscription) else tuple(topic for topic, _ in value.partitions)
    if any(not topic.isprintable() or not topic for topic in topics):
        return "a topic's name is not printable"
    return ""


def _doubtful_versions(version: int, second: int, verb: str) -> str:
    if version > _HIGHEST:
        return f"{version} is no likely version"
    if version >= 3 and not version <= second <= max(_HIGHEST, LATEST):
        return f"it speaks v{version} and {verb} {second}"
    return ""
