"""A log's text as plain text: without colours, control characters and what web pages made of quotes and spaces.

Nothing of a log reaches a terminal that was not here.
"""

from __future__ import annotations

import re

_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]")
_SHOWN = {
    **{code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)},
    **{code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)},
    **dict.fromkeys((*range(0x200B, 0x2010), 0xFEFF), ""),
    **dict.fromkeys((0xA0, 0x202F), " "),
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys((0x201C, 0x201D), '"'),
}
_ENTITIES = (("&#39;", "'"), ("&#x27;", "'"), ("&apos;", "'"), ("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"))


def plain(text: str) -> str:
    """The text as it was meant; line breaks and tabs stay, other control characters are shown by their number.

    >>> plain("\\x1b[31mgroup\\u2019s\\x1b[0m\\x07")
    "group's\\\\x07"
    """
    if not (text.isascii() and text.isprintable()):
        text = _ANSI.sub("", text).translate(_SHOWN)
    if "&" in text:
        for entity, meant in _ENTITIES:
            text = text.replace(entity, meant)
    return text
