"""A layer as the data of its view: the bytes, a row a field, what each release makes of it.

How they look is in the JavaScript beside this file; what the fields mean is in `paste`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..paste import Layer, seen_by
from ..paste.layers import GROUP_RECORD, meaning_of
from ..releases import releases
from ..wire import CONSUMER_ASSIGNMENT, CONSUMER_SUBSCRIPTION

MOST = 4096
"""So many bytes are shown; the rest is left to `python -m protocol decode`."""

_LONGEST = 120
_SORTS = {GROUP_RECORD: "record", CONSUMER_SUBSCRIPTION: "envelope", CONSUMER_ASSIGNMENT: "envelope"}
_SAID = {
    "record": "what a broker keeps of a group",
    "envelope": "the envelope, which every Kafka consumer has",
    "payload": "the letter, which only Kafka Streams reads",
}


def part_of(layer: Layer, release: str = "") -> dict[str, Any]:
    """What `mount` in `mount.js` takes for one part; the reader of `release` is the one to begin with."""
    rows = [row for row in _rows(layer, 0) if row[1] < MOST or row[6]]
    size = len(layer.data)
    cut = f"The first {MOST} of {size} bytes are shown; `python -m protocol decode` prints all." if size > MOST else ""
    readers = list(_readers(layer))
    return {
        "label": layer.label,
        "kind": layer.kind,
        "size": size,
        "hex": layer.data[:MOST].hex(),
        "rows": rows,
        "notes": list(_notes(layer)),
        "cut": cut,
        "readers": readers,
        "reader": next((i for i, one in enumerate(readers) if release in one["names"]), len(readers) - 1),
    }


def _rows(layer: Layer, depth: int) -> Iterator[list[Any]]:
    """Depth, first byte, byte after the last, name, value, meaning, problem, sort: of the layer and all inside it."""
    sort = _SORTS.get(layer.kind, "payload")
    what = layer.kind if not layer.label else f"{layer.label}: {layer.kind}"
    meaning = _SAID.get(sort, "") if layer.kind != "user data of another assignor" else ""
    yield [depth, layer.start, layer.start + len(layer.data), what, "", meaning, "", sort]
    inside = {one.start: one for one in layer.inner}
    above: list[str] = []
    made: list[list[Any]] = []
    for field in layer.fields:
        while above and not re.match(rf"{re.escape(above[-1])}[.\[]", field.name):
            above.pop()
        name = field.name[len(above[-1]) :].removeprefix(".") if above else field.name
        level = depth + 1 + len(above)
        behind = field.length - len(field.value) if isinstance(field.value, bytes) else 4  # the length before it
        one = inside.pop(field.offset + behind, None) if field.value or field.problem else None
        value = "" if one is not None or (field.problem and field.value is None) else said(field.value)
        means = meaning_of(layer.kind, field) if not field.problem else ""
        end = field.offset + field.length
        made.append([level, field.offset, end, name, value, means, field.problem, ""])
        if one is not None:
            made += _rows(one, level + 1)
        above.append(field.name)
    _stretch(made)
    yield from made


def _stretch(rows: list[list[Any]]) -> None:
    """A row reaches as far as the rows inside it."""
    for place in range(len(rows) - 1, -1, -1):
        for later in rows[place + 1 :]:
            if later[0] <= rows[place][0]:
                break
            rows[place][2] = max(rows[place][2], later[2])


def _notes(layer: Layer) -> Iterator[str]:
    yield from layer.notes
    for one in layer.inner:
        yield from _notes(one)


def _readers(layer: Layer) -> Iterator[dict[str, Any]]:
    """What each release makes of it; neighbours that make the same of it are one. None where there are many letters."""
    if layer.kind == GROUP_RECORD and len(layer.inner) != 1:
        return
    names: list[str] = []
    before: dict[str, Any] = {}
    for row in releases():
        sight = seen_by(layer, row) if row.released else None
        if sight is None:
            continue
        told = {"sees": sight.sees, "fails": bool(sight.failure), "log": list(sight.log), "then": sight.then}
        if names and told != before:
            yield {"names": names, **before}
            names = []
        names, before = [*names, row.name], told
    if names:
        yield {"names": names, **before}


def said(value: object) -> str:
    """A value in one short line, in which nothing can hide.

    >>> said("orders"), said(None), said(-2), said("a\\n\\u202eb"), said(b"\\0\\1")
    ('"orders"', 'none', '-2', '"a\\\\n\\\\u202eb"', '0001')
    """
    if value is None:
        return "none"
    if isinstance(value, bytes):
        text = value.hex()
    elif isinstance(value, str):
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in value)
        text = f'"{shown}"'
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
