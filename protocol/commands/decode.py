"""`decode`: what pasted bytes say, field by field, and what a reader of a release makes of them.

The forms are told apart and the layers read in `protocol.paste`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from .. import wire
from ..errors import DecodeError
from ..paste import Layer, Sight, read_parts, seen_by, unpack
from ..paste.layers import meaning_of
from ..releases import Release, release
from .answer import Unusable, print_json

TEXT = "What bytes say, field by field: hex, hex dumps, escaped strings, base64, numbers, or JSON of a group."
EXAMPLE = "decode 0000000c0000000c --release 2.3.1"

_KINDS = (wire.SUBSCRIPTION_INFO, wire.ASSIGNMENT_INFO, wire.CONSUMER_SUBSCRIPTION, wire.CONSUMER_ASSIGNMENT)


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument(
        "bytes", nargs="*", metavar="BYTES|-", help="hex, dump, escaped string, base64, numbers or JSON; - reads them"
    )
    command.add_argument("--file", metavar="FILE", help="a file of the bytes themselves, or of any of these forms")
    command.add_argument("--as", dest="kind", choices=_KINDS, help="which message it is, if you know")
    command.add_argument(
        "--protocol", metavar="NAME", help="the assignor's name, if you know; Kafka Streams' is stream"
    )
    command.add_argument("--release", metavar="RELEASE", help="also say what a reader of this release sees and does")
    command.add_argument(
        "--used", type=int, metavar="N", help="the version that this reader spoke (default: its latest)"
    )


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    pasted = unpack(_input(options))
    reader = release(options.release) if options.release else None
    layers = read_parts(pasted, kind=options.kind, protocol=options.protocol or "")
    sights = [_sight(layer, reader, options.used) for layer in layers]
    if options.format == "json":
        told = {
            "form": pasted.form,
            "bytes": sum(len(part.data) for part in pasted.parts),
            **_layer_json(layers[0], sights[0]),
        }
        if len(layers) > 1:
            told["parts"] = [_layer_json(layer, sight) for layer, sight in zip(layers, sights, strict=True)]
        print_json(told)
    else:
        for layer, sight in zip(layers, sights, strict=True):
            for line in _lines(layer, sight):
                print(line)
    problem = next((layer.problem for layer in layers if layer.problem), None)
    if problem:
        raise DecodeError(problem.problem, offset=problem.offset, field=problem.name)
    return 0


def _input(options: argparse.Namespace) -> str | bytes:
    if options.file is not None:
        return Path(options.file).read_bytes()
    if not options.bytes:
        raise Unusable("say which bytes: BYTES, --file FILE, or - for standard input")
    if options.bytes == ["-"]:
        return sys.stdin.buffer.read()
    return " ".join(options.bytes)


def _sight(layer: Layer, reader: Release | None, used: int | None) -> Sight | None:
    return None if reader is None else seen_by(layer, reader, used=used)


def _lines(layer: Layer, sight: Sight | None, indent: str = "") -> Iterator[str]:
    label = f"{layer.label}: " if layer.label else ""
    yield f"{indent}{label}{layer.kind}, {len(layer.data)} bytes: {layer.reason}"
    if layer.others:
        yield f"{indent}it could be as well: {', '.join(layer.others)}"
    inside = {one.start: one for one in layer.inner}
    for field in layer.fields:
        at = field.offset + field.length - (len(field.value) if isinstance(field.value, bytes) else 0)
        one = inside.pop(at, None) if isinstance(field.value, bytes) and field.value else None
        if one is not None:
            yield f"{indent}{field.offset:6} {field.length:6}  {field.name}"
            yield from _lines(one, None, indent + "    ")
        else:
            said = f"cannot be read: {field.problem}" if field.problem else _said(field.value)
            means = meaning_of(layer.kind, field)
            said += f"   ({means})" if means else ""
            yield f"{indent}{field.offset:6} {field.length:6}  {field.name} = {said}"
    for note in layer.notes:
        yield f"{indent}  note: {note}"
    if sight is not None:
        yield ""
        yield f"a reader of {sight.release} {sight.sees}"
        yield from (f"  {line}" for line in sight.log)
        if sight.then:
            yield f"  {sight.then}"


def _said(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else "none" if value is None else str(value)


def _layer_json(layer: Layer, sight: Sight | None = None) -> dict[str, object]:
    told: dict[str, object] = {
        "kind": layer.kind,
        "reason": layer.reason,
        "others": list(layer.others),
        "label": layer.label,
        "notes": list(layer.notes),
        "fields": [
            {
                "name": field.name,
                "offset": field.offset,
                "length": field.length,
                "bytes": layer.bytes_of(field).hex(),
                "value": field.value.hex() if isinstance(field.value, bytes) else field.value,
                "meaning": meaning_of(layer.kind, field),
                **({"problem": field.problem} if field.problem else {}),
            }
            for field in layer.fields
        ],
    }
    if layer.kind in _KINDS and layer.inner:
        told["payload"] = _layer_json(layer.inner[0])
    elif layer.inner:
        told["layers"] = [_layer_json(one) for one in layer.inner]
    if sight is not None:
        told["reader"] = {
            "release": sight.release,
            "sees": sight.sees,
            "failure": sight.failure,
            "log": list(sight.log),
            "then": sight.then,
        }
    return told
