"""Java's modified UTF-8: the characters that `DataOutputStream.writeUTF` writes.

Where it is written and read is in `scalars`; what a reader makes of damaged characters is in `binary`.
"""

from __future__ import annotations

import struct

LIMIT = 65535
"""The most bytes that one modified UTF-8 text may have: its length is an unsigned 16-bit number."""


def to_modified_utf8(text: str) -> bytes:
    r"""The text as Java writes it: U+0000 in two bytes, what is beyond U+FFFF as two surrogates.

    >>> to_modified_utf8("t1"), to_modified_utf8("\0"), to_modified_utf8("\U0001f600").hex()
    (b't1', b'\xc0\x80', 'eda0bdedb880')
    """
    if text.isascii() and "\0" not in text:
        return text.encode("ascii")
    units = text.encode("utf-16-be")
    single = "".join(map(chr, struct.unpack(f">{len(units) // 2}H", units)))
    return single.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")


def from_modified_utf8(raw: bytes) -> str:
    r"""The text of these bytes; ValueError unless they are what Java would write for a text.

    >>> from_modified_utf8(bytes.fromhex("eda0bdedb880")) == "\U0001f600"
    True
    """
    if 0 in raw:
        raise ValueError("a bare zero byte")
    if raw.isascii():
        return raw.decode("ascii")
    if max(raw) >= 0xF0:
        raise ValueError("a four-byte character")
    single = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return single.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
