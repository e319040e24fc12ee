"""What an engineer pastes: hex, dumps, escaped strings, base64, JSON of a group; the bytes in it, and what they say.

The layouts of the messages themselves are in `wire`; what a group makes of them is in `leader` and `member`.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import DecodeError
from .forms import NotBytes, Part, Paste, unpack
from .layers import Layer, notes, taken_apart, unreadable
from .reader import Sight, seen_by

__all__ = [
    "Layer",
    "NotBytes",
    "Part",
    "Paste",
    "Sight",
    "notes",
    "read_parts",
    "read_paste",
    "seen_by",
    "taken_apart",
    "unpack",
]


def read_paste(pasted: str | bytes, *, kind: str | None = None, protocol: str = "") -> tuple[Layer, ...]:
    """Bytes in any form, read: one layer for each message in it, with the layers inside.

    `kind` is one of `wire`'s four messages and `protocol` the assignor's name, where you know them. A message that
    cannot be told is a layer with a `problem`, beside others that can.

    >>> [layer.kind for layer in read_paste("AAAADAAAAAw=")]
    ['subscription info']

    Raises: NotBytes where there are no bytes in it, DecodeError where no part of it is a message.
    """
    return read_parts(unpack(pasted), kind=kind, protocol=protocol)


def read_parts(pasted: Paste, *, kind: str | None = None, protocol: str = "") -> tuple[Layer, ...]:
    """As `read_paste`, of what was told apart already."""
    layers: list[Layer] = []
    failed: list[DecodeError] = []
    for part in pasted.parts:
        named = replace(part, protocol=protocol or part.protocol)
        try:
            layers.append(taken_apart(named, kind=kind))
        except DecodeError as error:
            failed.append(error)
            layers.append(unreadable(named, 0, error))
    if len(failed) == len(layers):
        raise failed[0]
    return tuple(layers)
