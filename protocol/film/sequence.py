"""A run as the text of a Mermaid sequence diagram."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..trace import Sent, Step, Trace


def mermaid(trace: Trace) -> str:
    """Every message of a run, under the bounce that it belongs to; a wiki that knows Mermaid draws it.

    Names, titles and log texts are written so that Mermaid takes them for text, whatever they hold.
    """
    names = {member.name: f"m{place}" for place, member in enumerate(trace.first.members)}
    lines = ["sequenceDiagram", "  autonumber", "  participant c as group coordinator"]
    lines += [f"  participant {key} as {_text(name)}" for name, key in names.items()]
    everyone = f"c,{list(names.values())[-1]}" if names else "c"
    bounce = 0
    for step in trace:
        if step.bounce > bounce:
            bounce = step.bounce
            lines.append(f"  Note over {everyone}: {_text(f'Bounce {bounce}: {step.title}')}")
        elif step.tag or step.action in ("complete join", "expire", "die"):
            lines.append(f"  Note over {everyone}: {_text(step.title)}")
        lines += _messages(step, names)
    lines.append(f"  Note over {everyone}: {_text(trace.outcome.text)}")
    return "\n".join(lines) + "\n"


def _messages(step: Step, names: dict[str, str]) -> Iterator[str]:
    drawn = set()
    for sent in step.messages:
        ends = (names.get(sent.sender, "c"), names.get(sent.receiver, "c"))
        if (*ends, sent.kind) in drawn:  # a leader's SyncGroup holds a payload for each member
            continue
        drawn.add((*ends, sent.kind))
        arrow = "--)" if sent.probing else "->>"
        yield f"  {ends[0]}{arrow}{ends[1]}: {_text(_said(sent))}"


def _said(sent: Sent) -> str:
    words = [sent.kind]
    if sent.version is not None:
        words.append(f"v{sent.version}" + (f"/{sent.supported}" if (sent.supported or 0) > 0 else ""))
    if sent.kind == "SyncGroup answer":
        words.append(", ".join(map(str, sent.tasks)) or "no tasks")
    return " ".join([*words, "(probing)"] if sent.probing else words)


def _text(text: str) -> str:
    """Text as Mermaid reads it: its own signs, and those of HTML, as character codes.

    >>> _text("<img onerror=x>; a#b")
    '#60;img onerror=x#62;#59; a#35;b'
    """
    return re.sub(r"[#;<>&:{}%$\"`\\]|\s", lambda sign: " " if sign[0].isspace() else f"#{ord(sign[0])};", text)
