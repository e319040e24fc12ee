"""Finding the lines that matter in files of any size, in bounded memory.

What a line says is in `record`; what its words mean is in `own` and `others`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

ANCHORS = (
    b"ersion",
    b"ubscription",
    b"ssignment",
    b"rebalanc",
    b"upgrade",
    b"rror code",
    b"to shutdown",
    b"joined group",
    b"to PENDING_SHUTDOWN",
    b"poll timeout has expired",
    b"during processing",
    b"Stabilized group",
    b"unknown member id",
    b"keyValueWithTimestamp",
    b"unknown to the topology",
    b"useOffsetAsQueryId",
    b"orReplace",
    b"incompatible",
    b"partitions must be at least 1",
    b"Named topologies are not",
    b"apparently invalid changelog",
    b"in Change",
    b"INCONSISTENT_GROUP",
    b"Exception",
    b"initialize state, this can happen",
    b"ource topics",
)
"""Every line of the tables has one of these: a chunk is searched for each, and only lines with a hit are read."""

CHUNK = 1 << 20
_CONTEXT = 1 << 14
"""How far back the first line of a stack trace is looked for."""
_LONGEST = 1 << 16
"""How much of one line is read; what is beyond is looked at around the hit only."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that may matter."""

    number: int
    """Its place in the file, from 1."""
    text: str
    before: Iterable[str]
    """Lines before it, nearest first, as far as they were kept: whose stack trace it is in."""


@dataclass(slots=True)
class Progress:
    """How far the reading of a file has come, and what it tripped over."""

    name: str
    size: int | None = None
    """Bytes of the file on disk; None for a pipe."""
    done: int = 0
    """Bytes of it that were read."""
    unpacked: int = 0
    """Bytes of log that came out of it."""
    lines: int = 0
    problems: list[str] = field(default_factory=list)


def hits(
    stream: BinaryIO, progress: Progress, *, chunk: int = CHUNK, tick: Callable[[Progress], None] | None = None
) -> Iterator[Hit]:
    """The lines of a stream that have an anchor, gzip or not, UTF-8 or UTF-16.

    A line longer than a chunk is taken for several; a damaged end costs what comes after it only.
    """
    context = b""
    carry = b""
    for piece in _chunks(stream, progress, chunk):
        buffer = carry + piece
        end = buffer.rfind(b"\n") + 1
        if not end:
            if len(buffer) < 2 * chunk:
                carry = buffer
                continue
            end = len(buffer)
        yield from _search(context, buffer[:end], progress)
        context = (context + buffer[:end])[-_CONTEXT:]
        carry = buffer[end:]
        if tick:
            tick(progress)
    if carry:
        yield from _search(context, carry + b"\n", progress)
    if tick:
        tick(progress)


def _search(context: bytes, block: bytes, progress: Progress) -> Iterator[Hit]:
    """The hits of a block of whole lines."""
    starts: dict[int, int] = {}
    for anchor in ANCHORS:
        at = block.find(anchor)
        while at >= 0:
            start = block.rfind(b"\n", 0, at) + 1
            starts.setdefault(start, at)
            after = block.find(b"\n", at)
            at = block.find(anchor, after) if after >= 0 else -1
    counted, number = 0, progress.lines
    for start in sorted(starts):
        number += block.count(b"\n", counted, start)
        counted = start
        end = block.find(b"\n", start)
        line = block[start : end if end >= 0 else len(block)]
        if len(line) > _LONGEST:
            middle = starts[start] - start
            line = line[max(0, middle - _LONGEST // 4) : middle + _LONGEST // 4]
        yield Hit(number + 1, _decoded(line), _Before(context, block, start))
    progress.lines += block.count(b"\n")
    progress.unpacked += len(block)


class _Before:
    """The lines before a place, nearest first, read only when somebody asks."""

    __slots__ = ("block", "context", "start")

    def __init__(self, context: bytes, block: bytes, start: int) -> None:
        self.context, self.block, self.start = context, block, start

    def __iter__(self) -> Iterator[str]:
        low = max(0, self.start - _CONTEXT)
        kept = self.block[low : self.start]
        if not low:
            kept = self.context + kept
        for line in reversed(kept[-_CONTEXT:].split(b"\n")[:-1]):
            yield _decoded(line[:_LONGEST])


def _decoded(line: bytes) -> str:
    return line.rstrip(b"\r\n").decode("utf-8", errors="replace")


def _chunks(stream: BinaryIO, progress: Progress, size: int) -> Iterator[bytes]:
    """The bytes of a stream, unpacked and as UTF-8, until its end or its damage."""
    source = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    head = source.peek(4)[:4]
    packed = head[:2] == b"\x1f\x8b"
    reader: BinaryIO = gzip.GzipFile(fileobj=source) if packed else source  # type: ignore[assignment]
    text: codecs.IncrementalDecoder | None = None
    first = True
    while True:
        try:
            piece = reader.read1(size) if packed else reader.read(size)  # type: ignore[attr-defined]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            progress.problems.append(f"{progress.name}: the gzip data ends or breaks here ({error}); read up to there")
            return
        if not piece:
            return
        if first:
            first = False
            if piece[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                text = codecs.getincrementaldecoder("utf-16")(errors="replace")
            elif piece[:3] == codecs.BOM_UTF8:
                piece = piece[3:]
        if progress.size is not None:
            progress.done = source.tell()
        else:
            progress.done += len(piece)
        yield text.decode(piece).encode("utf-8", "replace") if text else piece
