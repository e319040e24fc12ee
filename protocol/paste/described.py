"""A group as tools describe it: JSON of any shape, or objects as Python and Go print them; the bytes of its members.

In which form the bytes themselves stand is asked of the caller (`forms`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypedDict

Reader = Callable[[object], bytes | None]
"""The bytes of a value, in whatever form it has; None where it has none."""


class Found(TypedDict):
    """Bytes of a description, and what it calls them."""

    data: bytes
    label: str
    role: str
    protocol: str


_GROUP_KEYS = re.compile(r"protocol(?!type|_?version)(?:_?name)?|assignor|partition_?assignor|strategy", re.IGNORECASE)
_SUBSCRIPTION_KEYS = re.compile(r"(?:member_?)?meta_?data|subscription|protocol_?metadata", re.IGNORECASE)
_ASSIGNMENT_KEYS = re.compile(r"(?:member_?)?assignment", re.IGNORECASE)
_EITHER_KEYS = re.compile(r"user_?data|bytes|data|value|payload|raw", re.IGNORECASE)
_DEEPEST = 40


def members(value: object, read: Reader, path: str = "", protocol: str = "", depth: int = 0) -> Iterator[Found]:
    """The bytes in a JSON value, each with its place."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from members(one, read, f"{path}[{index}]", protocol, depth + 1)
        return
    if not isinstance(value, Mapping):
        return
    named = next((str(one) for key, one in value.items() if _GROUP_KEYS.fullmatch(key) and isinstance(one, str)), "")
    for key, one in value.items():
        at = f"{path}.{key}" if path else str(key)
        role = role_of(str(key))
        data = None if role is None else read(one)
        if data:
            yield Found(data=data, label=at, role=role or "", protocol=named or protocol)
        else:
            yield from members(one, read, at, named or protocol, depth + 1)


def role_of(key: str) -> str | None:
    """What a key calls its bytes: `subscription`, `assignment`, or empty; None where it is no key of bytes."""
    if _SUBSCRIPTION_KEYS.fullmatch(key):
        return "subscription"
    if _ASSIGNMENT_KEYS.fullmatch(key):
        return "assignment"
    return "" if _EITHER_KEYS.fullmatch(key) else None


def values(text: str) -> list[object] | None:
    """One JSON value behind another, as kcat and the console consumer print them; None where they are not."""
    found, at, decoder = [], 0, json.JSONDecoder()
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            found.append(value)
            at = end
            while at < len(text) and text[at] in " \t\r\n,":
                at += 1
    except (ValueError, RecursionError):
        return None
    return found if len(found) > 1 else None


_PRINTED = re.compile(
    r"\b(\w{1,40})\s{0,9}[=:]\s{0,9}(b?'(?:[^'\\]|\\.)*'|b?\"(?:[^\"\\]|\\.)*\"|\[\d{1,3}(?:,? \d{1,3})+\])", re.DOTALL
)
_PROTOCOL = re.compile(r"\b(?:[pP]rotocol(?:_?[nN]ame)?|partition_?assignor)\s*[=:]\s*['\"]?([\w-]+)")


def printed(text: str, read: Reader) -> Iterator[Found]:
    """The bytes in a text of printed objects: `member_metadata=b'…'`, `ProtocolMetadata:[0 1 …]`."""
    protocol = _PROTOCOL.search(text)
    counts: dict[str, int] = {}
    for key, said in _PRINTED.findall(text):
        role = role_of(key)
        if role is None:
            continue
        data = read([int(one) for one in re.findall(r"\d+", said)] if said[0] == "[" else said)
        if data:
            index = counts[key] = counts.get(key, -1) + 1
            yield Found(data=data, label=f"{key}[{index}]", role=role, protocol=protocol.group(1) if protocol else "")
