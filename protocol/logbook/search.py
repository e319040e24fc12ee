"""Finding the lines that matter in files of any size, in bounded memory.

Which words matter is asked of `own` and `others`; what a line says is in `record`.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import BinaryIO

from . import others, own
from .shapes import blank

_RARE = "qjzQXZJxkVYKUHWvGMPLBCbDTASREF"
"""Letters from the rarest in a log on. A needle begins with one: each other byte is passed at once."""
_FREQUENT = (
    "Attempt to heartbeat failed since group is rebalancing (Re-)joining group Found no committed offset for partition "
    "Setting offset for partition to the committed offset Adding newly assigned partitions Revoke previously assigned "
    "Processed total records, ran punctuators, and committed total tasks since the last update Kafka version Notifying "
    "assignor about the new Assignment Resetting offset for partition Cluster ID Discovered group coordinator"
)
"""What every consumer prints day and night: a needle in it would stop the search for nothing."""
_SHORTEST, _LONG = 6, 12
"""Letters of a needle: a short one is taken only where no longer one begins with a letter nearly as rare."""

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
    after: Iterable[str] = ()
    """Lines behind it, as far as they were read: where a wrapped line goes on."""


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
    binary: bool = False
    """Whether its beginning looks like no text."""


def hits(
    stream: BinaryIO, progress: Progress, *, chunk: int = CHUNK, tick: Callable[[Progress], object] | None = None
) -> Iterator[Hit]:
    """The lines of a stream that have an anchor, gzip or not, UTF-8 or UTF-16.

    A line longer than a chunk is taken for several; a damaged end costs what comes after it only.
    """
    context = b""
    carry = b""
    for piece in _ended(_chunks(stream, progress, chunk)):
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
        if tick and tick(progress):
            progress.problems.append(f"{progress.name}: stopped behind line {progress.lines}; the rest was not read")
            return
    if tick:
        tick(progress)


def _ended(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, with the end of a line behind the last."""
    last = b""
    for piece in pieces:
        if last:
            yield last
        last = piece
    if last:
        yield last if last.endswith(b"\n") else last + b"\n"


@cache
def needles() -> tuple[str, ...]:
    """Words that are looked for: every line that matters has one of them.

    Of each shape it is the piece between two slots that begins with the rarest letter.
    """
    found: dict[str, None] = {}
    for shape in (*own.shapes(), *others.shapes()):
        pieces = re.split(r"\{\w*\}", blank(shape.words))
        starts = [
            (
                _RARE.index(piece[at])
                + 4 * max(0, _LONG - len(piece) + at)
                + 99 * (piece[at : at + _LONG] in _FREQUENT),
                piece[at : at + _LONG],
            )
            for piece in pieces
            for at in range(len(piece) - _SHORTEST + 1)
            if piece[at] in _RARE
        ]
        found[min(starts)[1] if starts else max(pieces, key=len)] = None
    return tuple(one for one in found if not any(other != one and one.startswith(other) for other in found))


@cache
def _pattern() -> re.Pattern[bytes]:
    by_first: dict[str, list[str]] = {}
    for needle in needles():
        by_first.setdefault(needle[0], []).append(re.escape(needle[1:]))
    return re.compile("|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in by_first.items()).encode())


def _search(context: bytes, block: bytes, progress: Progress) -> Iterator[Hit]:
    """The hits of a block of whole lines."""
    pattern = _pattern()
    counted, number = 0, progress.lines
    found = pattern.search(block)
    while found:
        start = block.rfind(b"\n", 0, found.start()) + 1
        end = block.find(b"\n", found.start())
        end = end if end >= 0 else len(block)
        number += block.count(b"\n", counted, start)
        counted = start
        for line in _parts(block[start:end], pattern, found.start() - start):
            yield Hit(number + 1, _decoded(line), _Before(context, block, start), _After(block, end + 1))
        found = pattern.search(block, end)
    progress.lines += block.count(b"\n")
    progress.unpacked += len(block)


def _parts(line: bytes, pattern: re.Pattern[bytes], at: int) -> Iterator[bytes]:
    """The line; of a whole JSON array in one line, each element that matters; of an endless line what is near."""
    if _ARRAY.match(line) and _BETWEEN.search(line):
        pieces = _BETWEEN.split(line)
        for index, piece in enumerate(pieces):
            if not pattern.search(piece):
                continue
            piece = piece if index else piece[piece.index(b"{", piece.index(b"[")) + 1 :]
            piece = piece if index < len(pieces) - 1 else piece.rstrip(b" \r]}")
            yield from _near(b"{" + piece + b"}", pattern)
    elif len(line) <= _LONGEST:
        yield line
    else:
        yield from _near(line, pattern, at)


_ARRAY = re.compile(rb'\s*(?:\{\s*"\w+"\s*:\s*)?\[\s*\{')
_BETWEEN = re.compile(rb"\}\s*,\s*\{(?=\s*\")")


def _near(line: bytes, pattern: re.Pattern[bytes], at: int = 0) -> Iterator[bytes]:
    if len(line) <= _LONGEST:
        yield line
        return
    found = pattern.search(line, at)
    while found:
        yield line[max(0, found.start() - _LONGEST // 8) : found.start() + _LONGEST // 8]
        found = pattern.search(line, found.start() + _LONGEST // 8)


class _After:
    """The lines behind a place in a block."""

    __slots__ = ("at", "block")

    def __init__(self, block: bytes, at: int) -> None:
        self.block, self.at = block, at

    def __iter__(self) -> Iterator[str]:
        for line in self.block[self.at : self.at + _CONTEXT].split(b"\n")[:-1]:
            yield _decoded(line)


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


_PACKED: tuple[tuple[bytes, str, Callable[[BinaryIO], object]], ...] = (
    (b"\x1f\x8b", "gzip", lambda source: gzip.GzipFile(fileobj=source)),
    (b"BZh", "bzip2", bz2.BZ2File),
    (b"\xfd7zXZ", "xz", lzma.LZMAFile),
)
_FOREIGN = ((b"PK\x03\x04", "a zip archive"), (b"\x28\xb5\x2f\xfd", "packed with zstd"), (b"\x04\x22\x4d\x18", "LZ4"))
_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


def _chunks(stream: BinaryIO, progress: Progress, size: int) -> Iterator[bytes]:
    """The bytes of a stream, unpacked and as UTF-8, until its end or its damage."""
    source = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    head = source.peek(6)[:6]
    packer, packed = next(((name, opened) for magic, name, opened in _PACKED if head.startswith(magic)), ("", None))
    foreign = next((name for magic, name in _FOREIGN if head.startswith(magic)), None)
    if foreign:
        progress.problems.append(f"{progress.name}: it is {foreign}; unpack it first")
        return
    reader = source if packed is None else packed(source)
    read = source.read if packed is None else reader.read1  # type: ignore[attr-defined]
    text: codecs.IncrementalDecoder | None = None
    first = True
    while True:
        try:
            piece = read(size)
        except (*_DAMAGE, OSError) as error:
            if packed is None or (isinstance(error, OSError) and error.errno):
                raise
            progress.problems.append(
                f"{progress.name}: the {packer} data ends or breaks here ({error}); read up to there"
            )
            return
        if not piece:
            return
        if first:
            first = False
            text = _decoder(piece)
            piece = piece.removeprefix(codecs.BOM_UTF8)
            if text is None and _is_binary(piece):
                progress.binary = True
        if progress.size is not None:
            progress.done = source.tell()
        else:
            progress.done += len(piece)
        yield text.decode(piece).encode("utf-8", "replace") if text else piece


def _decoder(piece: bytes) -> codecs.IncrementalDecoder | None:
    """What reads UTF-16, with its mark or without; None for everything else."""
    name = ""
    if piece[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        name = "utf-16"
    elif len(piece) >= 64:
        sample = piece[:4096]
        for zeros, letters, code in (
            (sample[1::2], sample[::2], "utf-16-le"),
            (sample[::2], sample[1::2], "utf-16-be"),
        ):
            if zeros.count(0) > 0.9 * len(zeros) and sum(8 < one < 127 for one in letters) > 0.9 * len(letters):
                name = code
    return codecs.getincrementaldecoder(name)(errors="replace") if name else None


def _is_binary(piece: bytes) -> bool:
    sample = piece[:4096]
    odd = sum(byte < 9 or 13 < byte < 27 or byte > 127 for byte in sample)
    return odd > len(sample) // 3 and not _is_text(sample)


def _is_text(sample: bytes) -> bool:
    try:
        sample[:-3].decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in sample
