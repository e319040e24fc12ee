"""`decode`: what bytes say, field by field, and what a reader of a release makes of them.

The reading is done in `protocol.wire`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from .. import wire
from ..errors import DecodeError
from ..messages import AssignmentInfo, SubscriptionInfo
from ..releases import Release, release
from .answer import Unusable, print_json

TEXT = "What bytes say, field by field."
EXAMPLE = "decode 0000000c0000000c --release 2.3.1"


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument("hex", nargs="?", metavar="HEX|-", help="the bytes in hex, or - for standard input")
    command.add_argument("--file", metavar="FILE", help="a file of the bytes themselves")
    command.add_argument("--as", dest="kind", choices=tuple(_READERS), help="which message it is, if you know")
    command.add_argument("--release", metavar="RELEASE", help="also say what a reader of this release sees")


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    data = _bytes(options)
    reader = release(options.release) if options.release else None
    decoded = wire.decode(data, kind=options.kind)
    sees = _seen_by(decoded, reader) if reader else None
    if options.format == "json":
        print_json({"bytes": len(data), **_layer_json(decoded), **({"reader": sees} if sees else {})})
    else:
        _print_layer(decoded, "")
        if sees:
            print(f"\na reader of {sees['release']} {sees['sees']}")
            for line in sees["log"]:
                print(f"  {line}")
    if problem := decoded.problem:
        raise DecodeError(problem.problem, offset=problem.offset, field=problem.name)
    return 0


def _print_layer(decoded: wire.Decoded, indent: str) -> None:
    print(f"{indent}{decoded.kind}, {len(decoded.data)} bytes: {decoded.reason}")
    if decoded.others:
        print(f"{indent}it could be as well: {', '.join(decoded.others)}")
    for field in decoded.fields:
        if field.name == "user_data" and decoded.inner:
            print(f"{indent}{field.offset:6} {field.length:6}  {field.name}")
            _print_layer(decoded.inner, indent + "    ")
        else:
            said = f"cannot be read: {field.problem}" if field.problem else _said(field.value)
            print(f"{indent}{field.offset:6} {field.length:6}  {field.name} = {said}")


def _said(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else "none" if value is None else str(value)


def _layer_json(decoded: wire.Decoded) -> dict[str, object]:
    told: dict[str, object] = {
        "kind": decoded.kind,
        "reason": decoded.reason,
        "others": list(decoded.others),
        "fields": [
            {
                "name": field.name,
                "offset": field.offset,
                "length": field.length,
                "value": field.value.hex() if isinstance(field.value, bytes) else field.value,
                **({"problem": field.problem} if field.problem else {}),
            }
            for field in decoded.fields
        ],
    }
    if decoded.inner:
        told["payload"] = _layer_json(decoded.inner)
    return told


def _seen_by(decoded: wire.Decoded, reader: Release) -> _Seen:
    """What that release's own code makes of the Streams payload, or of the envelope where there is none."""
    layer = decoded.inner or decoded
    read = _READERS[layer.kind](layer.data, dialect=reader.binary.dialect)
    log = [str(line) for line in read.log]
    if read.failure is not None:
        return {"release": reader.name, "sees": f"throws {read.failure}", "failure": str(read.failure), "log": log}
    if isinstance(read.value, SubscriptionInfo) and read.value.head_only:
        sees = f"sees a future subscription: v{read.value.version}, supports v{read.value.latest_supported_version}"
    elif isinstance(read.value, SubscriptionInfo | AssignmentInfo):
        sees = f"reads v{read.value.version} in full"
    else:
        sees = "reads the envelope"
    return {"release": reader.name, "sees": sees, "failure": "", "log": log}


class _Seen(TypedDict):
    release: str
    sees: str
    failure: str
    log: list[str]


_READERS: dict[str, Callable[..., wire.Read]] = {
    wire.SUBSCRIPTION_INFO: wire.read_subscription_info,
    wire.ASSIGNMENT_INFO: wire.read_assignment_info,
    wire.CONSUMER_SUBSCRIPTION: wire.read_subscription,
    wire.CONSUMER_ASSIGNMENT: wire.read_assignment,
}


def _bytes(options: argparse.Namespace) -> bytes:
    if options.file is not None:
        return Path(options.file).read_bytes()
    if options.hex is None:
        raise Unusable("say which bytes: HEX, --file FILE, or - for standard input")
    text = sys.stdin.read() if options.hex == "-" else options.hex
    digits = "".join(text.split()).removeprefix("0x")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        at = next((i for i, c in enumerate(digits) if c not in "0123456789abcdefABCDEF"), len(digits))
        what = (
            f"{digits[at]!r} at digit {at + 1} is no hex digit" if at < len(digits) else "an odd number of hex digits"
        )
        raise Unusable(f"{what}; bytes are written with two hex digits each") from None
