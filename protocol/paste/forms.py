"""In which form bytes were pasted, told apart by itself, and the bytes that were meant.

What the bytes say is in `layers`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote_to_bytes

from ..errors import VersionProbingError
from ..wire import identify
from .described import members, printed, values
from .dumps import dumped
from .record import looks_like_a_record

_MOST = 64 << 20
"""Longer input is refused: no group has a message of that size."""


class NotBytes(VersionProbingError, ValueError):
    """A text in which no bytes can be found; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One message of what was pasted."""

    data: bytes
    label: str = ""
    """Where it stood, such as `members[0].metadata`; empty for the only part."""
    role: str = ""
    """`subscription` or `assignment`, as the paste calls it; empty where it does not."""
    protocol: str = ""
    """The assignor's name where the paste has it; Kafka Streams' is `stream`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paste:
    """What was pasted."""

    form: str
    """`hex`, `hex dump`, `escaped string`, `base64`, `list of numbers`, `JSON` or `bytes`."""
    reason: str
    parts: tuple[Part, ...]


def unpack(pasted: str | bytes) -> Paste:
    """The bytes in a text, or in a file's content.

    >>> unpack("0x0000000c 0000000c").form, unpack("AAAADAAAAAw=").form, unpack(r"\\x00\\x00\\x00\\x0c").form
    ('hex', 'base64', 'escaped string')

    Raises: NotBytes, with the reason.
    """
    if len(pasted) > _MOST:
        raise NotBytes(f"{len(pasted)} bytes are more than any message of a group has ({_MOST} at most)")
    if isinstance(pasted, bytes):
        if not pasted.strip():
            raise NotBytes("there is nothing in it")
        text = _text(pasted)
        if text is None:
            return Paste(form="bytes", reason="it is no text", parts=(Part(data=pasted),))
    else:
        text = pasted
    text = text.strip().lstrip("\ufeff").strip()
    if not text:
        raise NotBytes("there is nothing in it")
    if text[0] in "{[" and (found := _json(text)) is not None:
        return found
    if text[0] in "{[" and '"' in text and '":' in text.replace(" ", ""):
        raise NotBytes(f"it begins as JSON does, and is none: {_broken(text)}")
    dump = _dump(text)
    if dump is not None:
        return dump
    text = _unwrapped(text)
    for attempt in (_printed, _hex, _numbers, _escaped, _percent, _base64):
        made = attempt(text)
        if made is not None:
            return made
    inside = _inside(text)
    if inside is not None:
        return inside
    raise NotBytes(_why_not(text))


_WRAPPED = re.compile(r"(?:bytes(?:\.fromhex)?|bytearray(?:\.fromhex)?|memoryview)\((.*)\)", re.DOTALL)
_CUT = re.compile(r"\.\.\. ?(\d+) more bytes?>?$|(?:\.\.\.|…)[\"'\])>]*$")


def _unwrapped(text: str) -> str:
    """Without what a language writes around bytes: `bytearray(b'…')`, `<Buffer 00 …>`, `X'00…'`, `\\x00…`."""
    cut = _CUT.search(text)
    if cut:
        more = f": {cut.group(1)} more bytes are missing" if cut.group(1) else ""
        raise NotBytes(f"it was cut when it was printed{more}; take all of it")
    wrapped = _WRAPPED.fullmatch(text)
    text = wrapped.group(1) if wrapped else text
    buffer = re.fullmatch(r"<Buffer ([0-9a-f ]+)>", text)
    literal = re.fullmatch(r"[bBxX]?(['\"])((?:[0-9a-fA-F]{2}[\s:]*)+)\1", text)
    bytea = re.fullmatch(r"\\{1,2}x((?:[0-9a-fA-F]{2}){2,})", text)
    found = buffer or bytea
    if found:
        return found.group(1)
    if literal:
        return literal.group(2)
    encoded = re.fullmatch(r"data:[\w/;=+-]*;base64,(.*)", text, re.DOTALL)
    return encoded.group(1) if encoded else re.sub(r"(?<=\d)u8\b", "", text)


def _text(data: bytes) -> str | None:
    """The bytes as text, if that is what they are: printable, without zeros."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.strip() and all(char.isprintable() or char in "\r\n\t\f" for char in text) else None


def _one(form: str, reason: str, data: bytes) -> Paste:
    return Paste(form=form, reason=reason, parts=(Part(data=data),))


# Hex.


def _dump(text: str) -> Paste | None:
    made = dumped(text, most=_MOST)
    if made is None:
        return None
    data, reason = made
    if not data:
        raise NotBytes(reason)
    return _one("hex dump", reason, data)


def _hex(text: str) -> Paste | None:
    text = re.sub(r"^(?:\[\]\s*(?:byte|uint8)|new byte\s*\[\s*\])\s*(?=\{)", "", text)
    bare = re.sub(r"0[xX](?=[0-9a-fA-F])", " ", text)
    digits = re.sub(r"[\s:,;_-]|\\\n", "", bare).strip("\"'`<>[]{}()")
    if re.fullmatch(r"[0-9a-fA-F]+", digits) is None or (re.search(r"[ ,]\d{3,}", text) and len(digits) % 2):
        return None
    if re.fullmatch(r"[\[{(]?\s*-?\d{1,3}(?:\s*,\s*-?\d{1,3})*\s*[\])}]?", text) and "," in text:
        return None  # a list of decimal numbers
    if re.fullmatch(r"\[\s*\d{1,3}(?:\s+\d{1,3})+\s*\]", text):
        return None
    singles = re.findall(r"0[xX][0-9a-fA-F](?![0-9a-fA-F])", text)
    if singles:  # 0x0, 0x1, as Go prints a slice
        pairs = re.findall(r"0[xX]([0-9a-fA-F]{1,2})(?![0-9a-fA-F])", text)
        return _one("hex", "numbers with 0x before each", bytes(int(pair, 16) for pair in pairs))
    if len(digits) % 2:
        raise NotBytes(f"an odd number of hex digits ({len(digits)}); bytes are written with two hex digits each")
    data = bytes.fromhex(digits)
    if len(digits) % 4 == 0 and digits == text and not _is_message(data):
        other = _base64(text)
        if other is not None and _is_message(other.parts[0].data):
            return replace(other, reason="hex digits only, which are a message as base64 and none as hex")
    return _one("hex", "hex digits only", data)


# Numbers, escapes, base64.


def _numbers(text: str) -> Paste | None:
    """`[0 1 0 255]`, `[0, 1, -1]`, `bytes{0, 1}`: one number a byte, signed or not."""
    body = re.fullmatch(r"(?:\w|\[\]|\s)*[\[{(]([-\d\s,]+)[\]})]|([-\d]+(?:\s*,\s*[-\d]+)+)", text)
    if body is None:
        return None
    said = re.findall(r"-?\d+", body.group(1) or body.group(2))
    return _one("list of numbers", "one decimal number a byte", _bytes_of([int(number) for number in said]))


def _bytes_of(numbers: Sequence[object]) -> bytes:
    wrong = next((one for one in numbers if not isinstance(one, int) or not -128 <= one <= 255), None)
    if wrong is not None:
        raise NotBytes(f"{wrong!r} is no byte (-128 to 255)")
    return bytes(int(one) % 256 for one in numbers)  # type: ignore[call-overload]


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([0-7]{1,3})|(.))", re.DOTALL)
_NAMED = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "a": 7, "v": 11, "\\": 92, '"': 34, "'": 39, "0": 0, "/": 47}


def _escaped(text: str) -> Paste | None:
    if not re.search(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{1,3}|[ntrbfav])", text):
        return None
    return _one("escaped string", "backslash escapes, as Go, Java or Python print bytes", _unescaped(text))


def _unescaped(text: str) -> bytes:
    quoted = re.fullmatch(r"b?(['\"`])(.*)\1", text, re.DOTALL)
    body = quoted.group(2) if quoted else re.sub(r"^b?['\"`]", "", text)
    if re.search(r"(?<!\\)(?:\\\\)*\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3})?$", body):
        raise NotBytes("it was cut in the middle of its last escape; take all of it")
    data = bytearray()
    at = 0
    for escape in _ESCAPE.finditer(body):
        data += _plain(body[at : escape.start()])
        at = escape.end()
        pair, unit, octal, name = escape.groups()
        if pair:
            data.append(int(pair, 16))
        elif unit:
            data += _unit(int(unit, 16))
        elif octal:
            value = int(octal, 8)
            if value > 255:
                raise NotBytes(f"\\{octal} is no byte")
            data.append(value)
        elif name in _NAMED:
            data.append(_NAMED[name])
        else:
            raise NotBytes(f"\\{name} is no escape that Go, Java or Python knows")
    data += _plain(body[at:])
    return bytes(data)


def _unit(value: int) -> bytes:
    if value == 0xFFFD:
        raise NotBytes(
            "it holds \\ufffd: bytes that were no text were lost when it was printed; take the bytes in hex or base64"
        )
    if value > 255:
        return chr(value).encode("utf-8", errors="surrogatepass")
    return bytes((value,))


def _plain(text: str) -> bytes:
    if "\ufffd" in text:
        raise NotBytes(
            "it holds the replacement character U+FFFD: bytes were lost when it was printed; take them in hex or base64"
        )
    return text.encode("utf-8", errors="surrogateescape")


def _percent(text: str) -> Paste | None:
    """Percent signs before each byte that is no letter, as addresses have them."""
    if not re.fullmatch(r"(?:%[0-9a-fA-F]{2}|[\w.~+-])+", text) or text.count("%") < 3:
        return None
    return _one("escaped string", "percent signs before hex digits, as in addresses", unquote_to_bytes(text))


def _printed(text: str) -> Paste | None:
    parts = tuple(Part(**one) for one in printed(text, _value))
    return Paste(form="printed objects", reason="names, and bytes behind them", parts=parts) if parts else None


def _inside(text: str) -> Paste | None:
    """The one run of hex digits in a line of text."""
    runs = re.findall(r"(?<![0-9a-zA-Z])(?:0x)?((?:[0-9a-fA-F]{2}){8,})(?![0-9a-zA-Z])", text)
    if len(runs) != 1:
        return None
    return _one("hex", "the only hex digits in the text", bytes.fromhex(runs[0]))


def _base64(text: str) -> Paste | None:
    digits = "".join(text.split()).strip("\"'`")
    if re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", digits) is None or len(digits) < 4:
        return None
    bare = digits.rstrip("=")
    if len(bare) % 4 == 1 or (digits != bare and len(digits) % 4):
        return None
    padded = bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4)
    try:
        data = base64.b64decode(padded, validate=True)
    except binascii.Error:
        return None
    return _one("base64", "letters of base64 only", data)


_ASK = (
    "take the group's record (kafka-console-consumer on __consumer_offsets with the formatter "
    "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter of 3.9 and later) or a debugger's bytes"
)
_NO_BYTES = (
    (r"java\.nio\.(?:Heap|Direct)ByteBuffer", "a ByteBuffer prints where it stands and not what it holds"),
    (r"System\.Byte\[\]|\[B@[0-9a-f]+", "an array's name was printed and not what it holds"),
    (r"GroupMetadata\(|MemberMetadata\(|MemberDescription\(", "the group was printed without its members' bytes"),
    (r"(?i)\bCONSUMER-ID\b|\bCURRENT-OFFSET\b", "kafka-consumer-groups prints no bytes of a member"),
)


def _why_not(text: str) -> str:
    digits = re.sub(r"\s", "", text)
    if "\ufffd" in text:
        return "it holds the replacement character U+FFFD: bytes were lost when it was printed; take hex or base64"
    for words, why in _NO_BYTES:
        if re.search(words, text):
            return f"{why}; {_ASK}"
    at = next((i for i, char in enumerate(digits) if char not in "0123456789abcdefABCDEF"), len(digits))
    shown = digits[at : at + 1]
    return (
        f"{shown!r} at digit {at + 1} is no hex digit, and it is no dump, escaped string, base64, list of numbers "
        "or JSON "
        "of a group either"
    )


# JSON.


def _json(text: str) -> Paste | None:
    try:
        value = json.loads(text)
    except RecursionError:
        raise NotBytes("the JSON is nested too deeply") from None
    except ValueError:
        value = values(text)
        if value is None:
            return None
    if isinstance(value, list) and value and all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        return _one("list of numbers", "one decimal number a byte", _bytes_of(value))
    parts = tuple(Part(**one) for one in members(value, _value))
    if not parts:
        raise NotBytes(f"the JSON has no bytes of a member: no metadata, subscription, assignment or user data; {_ASK}")
    return Paste(form="JSON", reason="the members of a group description", parts=parts)


def _broken(text: str) -> str:
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return "it has another shape"


def _value(value: object) -> bytes | None:
    """The bytes of a JSON value: a list of numbers, a Node.js buffer, or a string in any form; None for none."""
    if isinstance(value, Mapping) and value.get("type") == "Buffer":
        value = value.get("data")
    if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
        return _bytes_of(value)
    if not isinstance(value, str) or not value:
        return None
    if any(ord(char) < 32 for char in value):  # JSON's own escapes were already read
        made = _latin(value)
        if any(ord(char) > 127 for char in value) and not _reads(made):
            other = value.encode("utf-8", "surrogatepass")
            return other if _reads(other) else made
        return made
    for attempt in (_hex, _escaped, _base64):
        try:
            found = attempt(value)
        except NotBytes:
            continue
        if found is not None and (attempt is not _base64 or identify(found.parts[0].data).kind):
            return found.parts[0].data
    return None


def _is_message(data: bytes) -> bool:
    """Whether the bytes are a message beyond doubt."""
    guess = identify(data)
    return bool(guess.kind) and "no likely" not in guess.reason and "do not decide" not in guess.reason


def _reads(data: bytes) -> bool:
    return bool(identify(data).kind) or looks_like_a_record(data)


def _latin(value: str) -> bytes:
    return b"".join(_unit(ord(char)) for char in value)
