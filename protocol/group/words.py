"""What a step says: its title, its one sentence of why, and its source.

The steps themselves are made in `run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..releases import Binary
from ..strategies import is_own, leader_rule, member_rule, quoted
from ..trace import Death, Failure, Sent
from ..versions import UNKNOWN
from .thread import Thread

BROKER = "3.9.0 GroupCoordinator"
COORDINATOR = "coordinator"

NOTICE = "A heartbeat is answered with REBALANCE_IN_PROGRESS, and the member has to join again with a new subscription."
ADMITTED = "The broker admits it under a new id."


def names(members: Sequence[str], *, all_of: int = 0) -> str:
    """Names as a reader says them.

    >>> names(["A"]), names(["A", "B"]), names(["A", "B", "C"]), names(list("ABCDEF"))
    ('A', 'A and B', 'A, B and C', '6 members')
    """
    if len(members) > 4:
        return f"all {len(members)} members" if len(members) == all_of else f"{len(members)} members"
    if len(members) < 2:
        return "".join(members)
    return f"{', '.join(members[:-1])} and {members[-1]}"


def verb(members: Sequence[str], one: str, many: str) -> str:
    """The form of the verb that fits.

    >>> verb(["A"], "joins", "join"), verb(["A", "B"], "joins", "join")
    ('joins', 'join')
    """
    return one if len(members) == 1 else many


def assignor(binary: Binary, method: str) -> str:
    """Tag, class and method of the assignor that this jar runs; a teaching jar cites its rule's source."""
    rule = leader_rule(binary.leader_rule) if method == "assign" else member_rule(binary.member_rule)
    if is_own(rule.name) or (not binary.name[:1].isdigit() and not binary.name.startswith("c310")):
        return rule.source
    cls = "StreamPartitionAssignor" if binary.future_tasks == "refused" else "StreamsPartitionAssignor"
    return f"{binary.name} {cls}#{method}"


def thread(binary: Binary, method: str) -> str:
    """Tag, class and method of the stream thread that this jar runs."""
    tag = binary.name if binary.name[:1].isdigit() else "3.9.0"
    return f"{tag} StreamThread#{method}"


@dataclass(frozen=True, slots=True)
class Told:
    """What one member heard in a SyncGroup answer, and what it made of it."""

    name: str
    binary: Binary
    before: int
    after: int
    """The version it speaks from now on."""
    version: int | None
    """The first int of the assignment."""
    second: int | None
    rejoins: bool

    @property
    def changed(self) -> bool:
        """Whether this member is worth a sentence."""
        return self.rejoins or self.before != self.after

    @property
    def poisoned(self) -> bool:
        """Whether it will speak a version that its jar does not know."""
        return not 1 <= self.after <= self.binary.latest

    @property
    def row(self) -> str:
        """The row that moved it, where its rule is one of a reader's own; else empty."""
        if not is_own(self.binary.member_rule) or self.version is None:
            return ""
        react, second = member_rule(self.binary.member_rule).react, UNKNOWN if self.second is None else self.second
        note = react(latest=self.binary.latest, used=self.before, received=self.version, common=second).note
        return note if is_own(note) else ""


def versions(used: Iterable[int]) -> str:
    """Versions as a reader says them.

    >>> versions([4, 3, 4])
    'v3 and v4'
    """
    return " and ".join(f"v{version}" for version in sorted(set(used)))


def event(told: Told) -> str:
    """The event of `machine.MEMBER` that this answer is."""
    if not told.rejoins:
        return "assigned"
    return "upgrade" if told.after > told.before else "probe"


# What the operator and the members do.


def closing(*, leaves: bool, static: bool, timeout: float) -> str:
    """Why a closed member's id stays, or goes."""
    if leaves:
        return "Its LeaveGroup takes it out of the group at once."
    if static:
        return f"A static member never leaves: the broker keeps its place for {timeout:.0f} s, and waits for it."
    return (
        "Kafka Streams sends no LeaveGroup when it closes: the broker keeps the old id until its session times out, "
        f"up to {timeout:.0f} s later."
    )


def starting(threads: Sequence[Thread], who: Sequence[str], *, everyone: int) -> tuple[str, str]:
    """Title and why of a start."""
    first = threads[0]
    title = f"{names(who, all_of=everyone)} {verb(who, 'starts', 'start')}"
    if len({thread.binary.name for thread in threads}) == 1:
        title += f" on {first.binary.name}"
    if first.used != first.binary.latest:
        return title, (
            f"upgrade.from={first.upgrade_from} makes the fresh process speak v{first.used}, "
            f"although its jar supports v{first.binary.latest}."
        )
    return title, (
        f"A fresh process speaks the latest version that its jar supports, {versions(t.used for t in threads)}, "
        "and joins with an empty id."
    )


def noticing(who: Sequence[str], *, everyone: int, joined: bool) -> str:
    """Title of a heartbeat that tells of a rebalance."""
    if not joined:
        return f"{names(who, all_of=everyone)} {verb(who, 'hears', 'hear')} of the rebalance"
    return f"{names(who, all_of=everyone)} {verb(who, 'rejoins', 'rejoin')}"


def resuming(who: Sequence[str], *, static: bool) -> tuple[str, str]:
    """Title and why of a JoinGroup that starts no rebalance."""
    title = f"{names(who)} {verb(who, 'is', 'are')} still in"
    if static:
        return title, (
            "A static member that returns in time is given its old place: no rebalance, and the assignment that was "
            "made for its predecessor."
        )
    return title, (
        "A follower whose metadata did not change starts no rebalance: the broker answers with the current generation."
    )


def rejoining(threads: Sequence[Thread], who: Sequence[str], *, everyone: int) -> tuple[str, str]:
    """Title and why of a rejoin that a member was told to do."""
    title = f"{names(who, all_of=everyone)} {verb(who, 'rejoins', 'rejoin')} with {versions(t.used for t in threads)}"
    if threads[0].binary.rejoin == "leave":
        return title, (
            "Up to 2.5 the thread unsubscribes and subscribes again: it leaves the group and comes back under a new "
            "id, and if it led, somebody else leads now."
        )
    return title, (
        "From 2.6 the thread asks its consumer for a rebalance: it joins again under the same id, and if it leads, "
        "it leads on."
    )


def leaving(threads: Sequence[Thread], who: Sequence[str]) -> tuple[str, str]:
    """Title and why of the first half of a rejoin, where the other half is a step of its own."""
    spoken = versions(thread.used for thread in threads)
    return f"{names(who)} {verb(who, 'leaves', 'leave')} to join again with {spoken}", (
        "Up to 2.5 the thread unsubscribes first, which sends LeaveGroup; the others may complete the rebalance "
        "without it."
    )


def joining(threads: Sequence[Thread], who: Sequence[str]) -> str:
    """Title of a JoinGroup that is admitted."""
    return f"{names(who)} {verb(who, 'joins', 'join')} with {versions(thread.used for thread in threads)}"


def dying(threads: Sequence[Thread], who: Sequence[str]) -> tuple[str, str]:
    """Title and why of a death."""
    title = f"{names(who)} {verb(who, 'dies', 'die')}"
    poisoned = [thread for thread in threads if thread.poisoned_by]
    if not poisoned:
        return title, f"{str(threads[0].failure).rstrip('.')}."
    one = poisoned[0]
    return title, (
        f"Generation {one.poisoned_by} told {names(who)} to speak v{one.used}; the jar supports v{one.binary.latest} "
        f"at most. Nothing failed until this subscription had to be built: {str(one.failure).rstrip('.')}."
    )


# What the broker does.


def expiring(who: Sequence[str], *, led: bool, leads: str) -> tuple[str, str]:
    """Title and why of a session that times out."""
    title = f"The session of {names([f'the old {name}' for name in who])} times out"
    why = "Nobody sent heartbeats for that id, so the broker takes it out of the group."
    if led and leads:
        title += f"; {leads} leads"
        why += " It was the leader's id: the next leader is whoever comes first in the broker's map, new or old."
    return title, why


def completing(generation: int, lead: str) -> tuple[str, str]:
    """Title and why of a join barrier that is satisfied."""
    if not lead:
        return f"Generation {generation}: nobody is left", "Every member left before one came back."
    return (
        f"Generation {generation}: everyone has joined",
        f"The join barrier is satisfied. The broker hands all subscriptions to the leader, {lead}.",
    )


# What the leader says, and what the members make of it.


def assigning(
    lead: str, binary: Binary, sent: Sequence[Sent], *, probing: bool, rows: Sequence[tuple[str, str]] = ()
) -> tuple[str, str]:
    """Title and why of the leader's answers; `rows` is (who, the row of the leader's own rule), one an answer."""
    answer = versions(message.version for message in sent if message.version is not None)
    why = _by_rows(binary, sent, rows, probing=probing) if rows else _because(binary, sent, probing=probing)
    return f"{lead} leads and assigns: {answer}", why


def _by_rows(binary: Binary, sent: Sequence[Sent], rows: Sequence[tuple[str, str]], *, probing: bool) -> str:
    """Which row of the leader's own rule gave whom what."""
    told = [f"It cannot read a subscription newer than v{binary.latest}: this is true version probing."] * probing
    for row in sorted({row for _, row in rows}):
        got: dict[str, list[str]] = {}
        for message, (name, its) in zip(sent, rows, strict=True):
            if its == row:
                got.setdefault(pair(message.version, message.supported), []).append(name)
        each = [f"{numbers} to {names(sorted(who), all_of=len(sent))}" for numbers, who in got.items()]
        told.append(f"It answers {' and '.join(each)}. {quoted(row)}")
    return " ".join(told)


def pair(version: int | None, second: int | None) -> str:
    """The two numbers of an answer.

    >>> pair(4, 3), pair(2, None)
    ('v4 with 3', 'v2')
    """
    return f"v{version}" + ("" if second is None else f" with {second}")


def _because(binary: Binary, sent: Sequence[Sent], *, probing: bool) -> str:
    versions = sorted({message.version for message in sent if message.version is not None})
    seconds = sorted({message.supported for message in sent if message.supported is not None})
    answer = " and ".join(f"v{version}" for version in versions)
    second = " and ".join(f"v{version}" for version in seconds)
    if not sent:
        return "There is nobody to answer."
    if probing and binary.future_tasks == "empty":
        return (
            f"It cannot read a subscription newer than v{binary.latest}: this is true version probing. "
            f"Who sent one gets an empty assignment, in {answer}; the others keep what they had."
        )
    if probing:
        return (
            f"It cannot read a subscription newer than v{binary.latest}: this is true version probing. "
            f"Everyone is answered in {answer}, the newcomer with tasks."
        )
    if binary.leader_rule in ("mirror", "proposal"):
        if len(versions) == 1 and seconds and versions[0] > 2:
            return f"It answers everyone in {answer}, and says v{binary.latest} with it."
        return "It answers each member in the version that the member sent."
    if not seconds:
        return f"It answers everyone in {answer}, which carries no second version."
    if binary.leader_rule.startswith("smallest supported") and binary.dialect.codec != "2.0":
        return f"It answers in {answer}, the smallest version sent, and says that everyone supports {second}."
    return f"It answers in {answer}, the smallest version sent, and says that it supports {second} itself."


def telling(heard: Sequence[Told], everyone: int) -> tuple[str, str, str]:
    """Title, why and tag of a SyncGroup answer: the gravest news first."""
    title, why, tag = _news(heard, everyone)
    told: dict[str, dict[str, list[str]]] = {}
    for one in sorted(heard, key=lambda one: not one.changed):
        if row := one.row:
            got = f"sent v{one.before} and got {pair(one.version, one.second)}"
            told.setdefault(row, {}).setdefault(got, []).append(one.name)
    if told:
        first = next((one for one in heard if one.changed), heard[0])
        quotes = []
        for row, whom in told.items():
            said = "; ".join(f"{names(who, all_of=everyone)} {what}" for what, who in whom.items())
            quotes.append(f"{said[:1].upper()}{said[1:]}. {quoted(row)}")
        why = " ".join(quotes if first.row else [why, *quotes])
        if tag == "poison":
            most = next(one.binary.latest for one in heard if one.poisoned)
            why += f" The jar supports v1 to v{most}. Nothing fails yet: the next subscription will."
    return title, why, tag


def _news(heard: Sequence[Told], everyone: int) -> tuple[str, str, str]:
    poisoned = [one for one in heard if one.poisoned]
    down = [one for one in heard if one.rejoins and one.after < one.before]
    up = [one for one in heard if one.rejoins and one.after > one.before]
    again = [one for one in heard if one.rejoins and one.after == one.before]
    silent = [one for one in heard if not one.rejoins and one.after != one.before and not one.poisoned]
    if poisoned:
        one, who = poisoned[0], [p.name for p in poisoned]
        return (
            f"{names(who)} {verb(who, 'is', 'are')} told to speak {versions(p.after for p in poisoned)}",
            f"The second int of the assignment is {one.second}, and the jar takes it over unchecked, although it "
            f"supports v{one.binary.latest} at most. Nothing fails yet: the next subscription will.",
            "poison",
        )
    if down:
        one, who = down[0], [p.name for p in down]
        return (
            f"{names(who)} {verb(who, 'is', 'are')} told to downgrade to {versions(p.after for p in down)}",
            f"It sent v{one.before} and was answered in v{one.version}: it keeps its jar, speaks v{one.after} from "
            f"now on, and joins again.",
            "probing",
        )
    if up:
        one, who = up[0], [p.name for p in up]
        return (
            f"{names(who, all_of=everyone)} {verb(who, 'moves', 'move')} up to {versions(p.after for p in up)}",
            f"The assignment came in v{one.version} and says v{one.second}: everyone supports it, so the old version "
            f"is no longer needed. The end of the upgrade costs one more rebalance.",
            "upgrading",
        )
    if again:
        one, who = again[0], [p.name for p in again]
        quiet = f" {names([s.name for s in silent])} will speak v{silent[0].after} then." if silent else ""
        return (
            f"{names(who)} {verb(who, 'joins', 'join')} again with {versions(p.after for p in again)}",
            f"It sent v{one.before} and was answered in v{one.version} with v{one.second}: its version stays, but it "
            f"asks for another rebalance.{quiet}",
            "probing",
        )
    if silent:
        one, who = silent[0], [p.name for p in silent]
        return (
            f"{names(who, all_of=everyone)} will speak {versions(p.after for p in silent)}",
            f"The second int of the assignment is {one.second}: from the next rebalance on the member speaks it. "
            f"Nobody joins again for that.",
            "upgrading",
        )
    who = [one.name for one in heard]
    return (
        f"{names(who, all_of=everyone)} {verb(who, 'gets its', 'get their')} tasks",
        "The versions agree; processing goes on.",
        "",
    )


_HOW = {
    "poison": "{who} died in the rebalance after generation {cause}, of the version that it was told to speak",
    "refusal": "{who} died of the assignment of generation {cause}",
    "leading": "{who} died leading generation {cause}",
    "start": "{who} did not start",
}


def mourning(deaths: Sequence[Death]) -> str:
    """Who died, of what, and which generation was the cause."""
    alike: dict[tuple[str, int, Failure], list[str]] = {}
    for death in deaths:
        cause = 0 if death.how == "start" else death.cause
        who = alike.setdefault((death.how, cause, death.failure), [])
        if death.member not in who:
            who.append(death.member)
    told = []
    for (how, cause, failure), who in alike.items():
        sentence = _HOW[how].format(who=names(who), cause=cause)
        if len(who) > 1:
            sentence = sentence.replace("it was told", "they were told")
        told.append(f"{sentence}: {str(failure).rstrip('.')}.")
    return " ".join(told)
