"""A trace as the plain data that a page can play: where it starts, and for each step what changes.

How a page plays it is in `player`; the layouts that it plays on are in `diagrams`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from .errors import DecodeError
from .trace import GroupView, MemberView, Sent, Step, Trace, View
from .wire import Decoded, decode

SCHEMA = 1

_Row = TypeVar("_Row")

_STREAMS = "streams/src/main/java/org/apache/kafka/streams/"
_CONSUMER = "clients/src/main/java/org/apache/kafka/clients/consumer/"
_GROUP = "core/src/main/scala/kafka/coordinator/group/"
_PATHS = {
    "KafkaStreams": f"{_STREAMS}KafkaStreams.java",
    "StreamsConfig": f"{_STREAMS}StreamsConfig.java",
    "StreamPartitionAssignor": f"{_STREAMS}processor/internals/StreamPartitionAssignor.java",
    "StreamsPartitionAssignor": f"{_STREAMS}processor/internals/StreamsPartitionAssignor.java",
    "StreamsRebalanceListener": f"{_STREAMS}processor/internals/StreamsRebalanceListener.java",
    "StreamThread": f"{_STREAMS}processor/internals/StreamThread.java",
    "SubscriptionInfo": f"{_STREAMS}processor/internals/assignment/SubscriptionInfo.java",
    "AssignmentInfo": f"{_STREAMS}processor/internals/assignment/AssignmentInfo.java",
    "AssignorConfiguration": f"{_STREAMS}processor/internals/assignment/AssignorConfiguration.java",
    "KafkaConsumer": f"{_CONSUMER}KafkaConsumer.java",
    "AbstractCoordinator": f"{_CONSUMER}internals/AbstractCoordinator.java",
    "ConsumerCoordinator": f"{_CONSUMER}internals/ConsumerCoordinator.java",
    "GroupCoordinator": f"{_GROUP}GroupCoordinator.scala",
    "GroupMetadata": f"{_GROUP}GroupMetadata.scala",
    "MemberMetadata": f"{_GROUP}MemberMetadata.scala",
}


def frames(trace: Trace) -> dict[str, object]:
    """The trace as JSON's plain data: the first view whole, then one frame a step with only what changed.

    Members to whom the same happens share an entry, and what repeats (a message, its bytes, a reason, a source)
    stands once, in a table: a notebook keeps these data in its file.
    """
    tables = _Tables({}, {}, {}, {})
    played = [_frame(step, note, tables) for step, note in zip(trace, _notes(trace), strict=True)]
    return {
        "schema": SCHEMA,
        "meta": _meta(trace),
        "first": _view(trace.first),
        "frames": played,
        "messages": [_message(sent, tables.payloads) for sent in tables.messages],
        **_unpacked(tables.payloads),
        "reasons": list(tables.reasons),
        "sources": [[source, source_url(source)] for source in tables.sources],
    }


class _Tables(NamedTuple):
    """What repeats in a run, each with its place: a frame holds the place."""

    messages: dict[Sent, int]
    payloads: dict[str, int]
    reasons: dict[str, int]
    sources: dict[str, int]


def _place(table: dict[_Row, int], value: _Row) -> int:
    return table.setdefault(value, len(table))


def source_url(source: str) -> str:
    """Where to read a source at its tag; empty for a class that is not known here.

    >>> source_url("2.0.0 StreamThread#runLoop").removeprefix("https://github.com/apache/kafka/blob/2.0.0/")
    'streams/src/main/java/org/apache/kafka/streams/processor/internals/StreamThread.java'
    """
    tag, _, rest = source.partition(" ")
    path = _PATHS.get(rest.partition("#")[0].strip(" ,;"))
    return f"https://github.com/apache/kafka/blob/{tag}/{path}" if path else ""


def sides(trace: Trace) -> dict[str, str]:
    """Which side of the upgrade each binary of a run is on: `old`, `new`, or `third`."""
    names = list(_binaries(trace))
    last = [member.binary for member in trace.last.members]
    target = max(names[1:], key=last.count, default="")
    return {name: "old" if name == names[0] else "new" if name == target else "third" for name in names}


def bounces(trace: Trace) -> Iterator[tuple[int, str, str]]:
    """(number of the first step, who is bounced, to which binary) for each bounce."""
    begun = 0
    for step in trace:
        if step.bounce <= begun or not step.member:
            continue
        begun = step.bounce
        changes = (later.after.member(step.member).binary for later in trace.steps[step.number - 1 :])
        now = step.before.member(step.member).binary
        yield step.number, step.member, next((binary for binary in changes if binary != now), now)


def _binaries(trace: Trace) -> dict[str, int]:
    seen: dict[str, int] = {}
    for view in (trace.first, *(step.after for step in trace)):
        for member in sorted(view.members, key=lambda member: member.latest):
            seen.setdefault(member.binary, member.latest)
    return seen


def _meta(trace: Trace) -> dict[str, object]:
    side, members = sides(trace), [member.name for member in trace.first.members]
    order = [(number, f"{who} to {binary}") for number, who, binary in bounces(trace)]
    return {
        "title": " → ".join(side),
        "members": members,
        "binaries": [{"name": name, "latest": latest, "side": side[name]} for name, latest in _binaries(trace).items()],
        "picks": dict(trace.picks),
        "python": f"simulate(Scenario({', '.join(f'{pick}={_python(value)}' for pick, value in trace.picks.items())}))",
        "legend": list(_legend(trace, side)),
        "bounces": [{"frame": number, "text": text} for number, text in order],
        "outcome": {
            "kind": trace.outcome.kind,
            "text": trace.outcome.text,
            "deaths": [
                {"member": death.member, "cause": death.cause, "generation": death.generation, "step": death.step}
                for death in trace.outcome.deaths
            ],
        },
    }


def _python(pick: object) -> str:
    """A pick as it is written in Python: a jar of one's own is made by `releases.teaching`."""
    if isinstance(pick, Mapping):
        name, *rest = pick.items()
        return f"teaching({', '.join([repr(name[1]), *(f'{key}={value!r}' for key, value in rest)])})"
    if isinstance(pick, (list, tuple)):
        return f"({', '.join(map(_python, pick))}{',' * (len(pick) == 1)})"
    return repr(pick)


def _view(view: View) -> dict[str, object]:
    return {"members": {member.name: _member(member) for member in view.members}, "group": _group(view.group)}


def _member(member: MemberView) -> dict[str, object]:
    return {
        "state": member.state,
        "jar": member.binary,
        "speaks": member.used,
        "supports": member.latest,
        "tasks": [str(task) for task in member.tasks],
        "id": member.member_id,
        "failure": str(member.failure) if member.failure else "",
    }


def _group(group: GroupView) -> dict[str, object]:
    return {
        "state": group.state,
        "generation": group.generation,
        "leader": group.leader,
        "leader_id": group.leader_id,
        "members": list(group.members),
        "ghosts": list(group.ghosts),
    }


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in after.items() if before.get(key) != value}


def _touched(step: Step) -> list[tuple[MemberView, MemberView]]:
    """The members that a step changed, before and after it."""
    both = ((step.before.member(now.name), now) for now in step.after.members)
    return [(old, now) for old, now in both if old is not now]


def _frame(step: Step, note: str, tables: _Tables) -> dict[str, object]:
    touched = _touched(step)
    changes: list[tuple[dict[str, object], list[str]]] = []
    for old, now in touched:
        changed = _changed(_member(old), _member(now))
        if same := next((names for one, names in changes if one == changed), None):
            same.append(now.name)
        elif changed:
            changes.append((changed, [now.name]))
    moves: dict[str, list[str]] = {}
    for who, key in step.moves:
        moves.setdefault(key, []).append(who)
    logged: dict[tuple[str, str], list[str]] = {}
    for line in step.log:
        logged.setdefault((line.level, f"{line.logger} - {line.text}"), []).append(line.member)
    frame: dict[str, object] = {
        "n": step.number,
        "action": step.action,
        "who": list(step.members),
        "title": step.title,
        "tag": step.tag,
        "bounce": step.bounce,
        "at": round(step.at, 3),
        "members": [[who, changed] for changed, who in changes],
        "group": _changed(_group(step.before.group), _group(step.after.group)),
        "changes": [[who, what] for what, who in _changes(step, touched).items()],
        "moves": [[key, who] for key, who in moves.items()],
        "messages": [_place(tables.messages, sent) for sent in step.messages],
        "log": [{"members": who, "level": level, "text": text} for (level, text), who in logged.items()],
        "why": _place(tables.reasons, step.why),
        "note": _place(tables.reasons, note) if note else "",
        "source": _place(tables.sources, step.source),
    }
    return {key: value for key, value in frame.items() if value not in ("", [], {})}


def _changes(step: Step, touched: Iterable[tuple[MemberView, MemberView]]) -> dict[str, list[str]]:
    """What a step changed, in words, and for whom; members to whom the same happened share a line, ◆ is the group."""
    lines: dict[str, list[str]] = {}
    for old, now in touched:
        parts = []
        if old.state != now.state:
            parts.append(f"{_words(old.state)} → {_words(now.state)}")
        if old.binary != now.binary:
            parts.append(f"jar {old.binary} → {now.binary}")
        if old.used != now.used:
            parts.append(f"speaks v{old.used} → v{now.used}")
        if old.tasks and not now.tasks:
            parts.append("gives up its tasks")
        elif old.tasks != now.tasks:
            parts.append(f"gets {len(now.tasks)} task{'' if len(now.tasks) == 1 else 's'}")
        if now.member_id and old.member_id != now.member_id:
            parts.append(f"new id {now.member_id}" if old.member_id else f"joins as {now.member_id}")
        if now.failure and now.failure != old.failure:
            parts.append(now.failure.exception)
        if parts:
            lines.setdefault(", ".join(parts), []).append(now.name)
    before, after = step.before.group, step.after.group
    parts = []
    if before.state != after.state:
        parts.append(f"{_words(before.state)} → {_words(after.state)}")
    if before.generation != after.generation:
        parts.append(f"generation {after.generation}")
    if before.leader_id != after.leader_id:
        parts.append(f"{after.leader_id} leads" if after.leader_id else "no leader")
    parts += [f"{ghost} is a ghost" for ghost in after.ghosts if ghost not in before.ghosts]
    parts += [f"{gone} is forgotten" for gone in before.members if gone not in after.members]
    if parts:
        lines[", ".join(parts)] = ["◆"]
    return lines


@functools.cache
def _words(state: str) -> str:
    """A state as prose has it.

    >>> _words("PreparingRebalance")
    'preparing rebalance'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", state).lower()


def _legend(trace: Trace, side: Mapping[str, str]) -> Iterator[list[str]]:
    """What the signs of this run mean: each pair of a jar and a version spoken, then what else there is to see."""
    views = [trace.first, *(step.after for step in trace)]
    latest = sorted({(member.latest, side[member.binary]) for view in views for member in view.members})
    spoken = dict.fromkeys(
        (member.binary, member.used, member.latest)
        for view in views
        for member in view.members
        if member.alive and not member.poisoned
    )
    for binary, used, most in spoken:
        says = side[binary] if used == most else next((one for version, one in latest if version >= used), side[binary])
        yield [f"dot jar-{side[binary]} says-{says}", f"{binary}{', speaks' if used == most else ' speaking'} v{used}"]
    if any(view.group.ghosts for view in views):
        yield ["sign ghost", "gone, but the broker still waits for it"]
    if any(member.poisoned for view in views for member in view.members):
        yield ["sign poisoned", "poisoned: told a version that its jar cannot speak"]
    if any(sent.probing for step in trace for sent in step.messages):
        yield ["sign probe", "probing answer"]


def _message(sent: Sent, payloads: dict[str, int]) -> dict[str, object]:
    message: dict[str, object] = {"kind": sent.kind, "from": sent.sender, "to": sent.receiver}
    if sent.version is not None:
        message["version"] = sent.version
    if sent.supported is not None:
        message["supported"] = sent.supported
    if sent.tasks:
        message["tasks"] = [str(task) for task in sent.tasks]
    if sent.probing:
        message["probing"] = True
    if label := _label(sent):
        message["label"] = label
    if sent.data:
        message["data"] = _place(payloads, sent.data.hex())
    return message


def _unpacked(payloads: Iterable[str]) -> dict[str, object]:
    """Each payload with the place of its shape; a shape is a list of [field, type, bytes], and many share one."""
    shapes: dict[str, int] = {}
    placed = [[payload, _place(shapes, json.dumps(_shape(bytes.fromhex(payload))))] for payload in payloads]
    return {"payloads": placed, "shapes": [json.loads(shape) for shape in shapes]}


@functools.lru_cache(maxsize=4096)  # the next pick sends mostly what the last one sent
def _shape(data: bytes) -> tuple[tuple[str, str, int], ...]:
    try:
        return tuple(_fields(decode(data)))
    except DecodeError:
        return (("bytes", "", len(data)),)


def _fields(decoded: Decoded) -> Iterator[tuple[str, str, int]]:
    for field in decoded.fields:
        if decoded.inner is not None and field.name == "user_data":
            yield field.name, "open", field.length - len(decoded.inner.data)
            yield from _fields(decoded.inner)
        elif field.length:
            yield field.name, _type(field.value, field.length), field.length


def _type(value: object, length: int) -> str:
    """How the page reads a field: `int`, `text` with the size of the length before it, `null`, else nothing."""
    if isinstance(value, bool) or value is None:
        return "null" if value is None else ""
    if isinstance(value, int):
        return "int"
    prefix = length - len(value.encode()) if isinstance(value, str) else 0
    return f"text{prefix}" if prefix in (2, 4) else ""


def _label(sent: Sent) -> str:
    """A message in a few characters: the two ints of its payload, and the tasks.

    >>> _label(Sent("JoinGroup", "C", "coordinator", 4, 4))
    'joins v4/4'
    """
    if sent.kind == "LeaveGroup" or sent.version is None:
        return "leaves" if sent.kind == "LeaveGroup" else ""
    ints = f"v{sent.version}" + (f"/{sent.supported}" if sent.supported is not None and sent.supported >= 0 else "")
    if sent.receiver == "coordinator":
        return f"{'assigns' if sent.kind == 'SyncGroup' else 'joins'} {ints}"
    tasks = f"{len(sent.tasks)} tasks" if len(sent.tasks) > 2 else " ".join(map(str, sent.tasks))
    return f"{ints}, {tasks or 'no tasks'}"


def _notes(trace: Trace) -> Iterator[str]:
    """For each step what a reader must not miss: who will die of what was told, and when the dead were told it."""
    told: dict[str, int] = {}
    for step in trace:
        poisoned = [member for member in step.after.members if member.poisoned]
        told = {member.name: told.get(member.name, step.generation) for member in poisoned}
        death = next((death for death in trace.outcome.deaths if death.step == step.number), None)
        if poisoned:
            first = poisoned[0]
            jar = f"{first.binary} speaks at most v{first.latest}"
            yield (
                f"{', '.join(told)} poisoned in generation {told[first.name]}."
                f" Told v{first.used}, while {jar}: the next subscription kills."
            )
        elif death and step.tag == "death":
            seen = (
                "was seen one generation later" if death.cause < death.generation else "showed in the next subscription"
            )
            yield f"The cause is generation {death.cause}. It {seen}."
        else:
            yield ""
