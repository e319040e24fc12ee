"""Hex dumps: lines that begin with the offset of their bytes, as xxd, hexdump and od print them.

Every other form of bytes is in `forms`.
"""

from __future__ import annotations

import re

_OFFSET = re.compile(r"^\s*(?:0x)?([0-9a-fA-F]{3,16})(?::\s|:?\s{1,})")
_ROW = re.compile(r"^((?:[0-9a-fA-F]{2}){1,8}(?: {1,2}(?:[0-9a-fA-F]{2}){1,8})*)(?: {2,}.*| *\|.*)?\s*$")


def dumped(text: str, *, most: int) -> tuple[bytes, str] | None:
    """The bytes of lines of offset, bytes, and perhaps the characters, and how they were read; None for another text.

    No bytes where it is a dump that does not fit together, and why. `most` is how many bytes a `*` may stand for.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    data = bytearray()
    words = repeats = False
    for place, line in enumerate(lines):
        offset = _OFFSET.match(line)
        if offset is None:
            end = re.fullmatch(r"\s*(?:0x)?([0-9a-fA-F]{3,16}):?", line)
            if end and place == len(lines) - 1 and place:
                _repeat(data, int(end.group(1), 16) if repeats else 0, most)
                if words and len(data) - int(end.group(1), 16) == 1:
                    del data[-1]  # half of the last word
                break  # the last line of hexdump is the length alone
            if line.strip() == "*" and place:
                repeats = True
                continue
            return None
        row = _ROW.match(line[offset.end() :].strip())
        if row is None:
            return None
        digits = "".join(row.group(1).split())
        at = int(offset.group(1), 16)
        _repeat(data, at if repeats else 0, most)
        repeats = False
        octal = int(f"{len(data):o}", 16)  # od's own offsets
        if at not in (len(data), octal):
            if place and ":" in offset.group():
                return b"", f"line {place + 1} of the dump says offset {at:x}, and {len(data):x} bytes are before it"
            return None
        if ":" not in offset.group() and re.fullmatch(r"[0-9a-f]{4}(?: [0-9a-f]{4})*", row.group(1)):
            words = True  # hexdump and od -x print pairs of bytes as the machine's own numbers
            digits = "".join(digits[i + 2 : i + 4] + digits[i : i + 2] for i in range(0, len(digits), 4))
        data += bytes.fromhex(digits)
    if len(lines) < 2 and not (lines and re.match(r"^\s*0+:? ", lines[0])):
        return None
    reason = "each line begins with the offset of its bytes"
    if words:
        reason += "; words of two bytes, the second first, as hexdump and od -x print them"
    return (bytes(data), reason) if data else None


def _repeat(data: bytearray, upto: int, most: int) -> None:
    """The rows that a dump leaves out behind a `*`: the last one again and again."""
    if 16 <= len(data) < upto <= most:
        row = bytes(data[-16:])
        data += row * ((upto - len(data)) // 16)
