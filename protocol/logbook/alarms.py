"""Looks for what only looks like version probing, or is a matter of settings, protocols, brokers and others.

The diseases of the version itself are in `diseases`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..scenario import Scenario
from .causes import CAUSES
from .diagnosis import CERTAIN, LIKELY, Diagnosis, Lines, does, most_repeats, names_of, shown
from .events import Event
from .history import History
from .meaning import meaning
from .shapes import span


def _settings(lines: Lines, history: History) -> Iterator[Diagnosis]:
    rejected = lines.of("upgrade.from rejected")
    if rejected:
        value = rejected[0].word("value")
        remedy = "Use a value that the release lists; `python -m protocol releases RELEASE` shows them."
        if "no longer supported" in rejected[0].text:
            remedy = "Go to 3.9 first, with upgrade.from in the first of two bounces; then to 4.0 without it."
        elif "Unknown configuration value" in rejected[0].text and value == "3.4":
            remedy = "Use 3.5.2 or 3.6.0 and later, whose assignor takes 3.4."
        yield Diagnosis(
            name="upgrade.from rejected",
            title=f"the release does not take upgrade.from={value}",
            certainty=CERTAIN,
            grave=True,
            what=meaning(rejected[0]) + f" Releases that say so: {rejected[0].printed_by}.",
            evidence=shown(rejected),
            cure=remedy,
            source="KAFKA-15281; 3.5.0 AssignorConfiguration#rebalanceProtocol; StreamsConfig"
            if value == "3.4"
            else "StreamsConfig#UPGRADE_FROM_CONFIG",
        )
    left = [life for life in history.now() if life.upgrade_from and life.dead is None]
    still = [life for life in left if (life.used is not None and life.used < 3) or life.protocol == "EAGER"]
    if still:
        spoken = sorted({life.used for life in still if life.used is not None and life.used < 3})
        version = (
            f" The whole group speaks v{spoken[0]}, without probing, error codes and offset sums." if spoken else ""
        )
        yield Diagnosis(
            name="second bounce is missing",
            title=f"{names_of(still)} still {does(still, 'runs', 'run')} with upgrade.from",
            certainty=LIKELY,
            grave=False,
            what="In the first of two rolling bounces that is as it should be; after the second it must be gone."
            + version,
            evidence=shown(lines.of("upgrade.from lowers", "starts eager", "eager is deprecated")),
            cure="Once every member runs the new release: take upgrade.from out and bounce each instance once more.",
            decides="Whether the first round is over: all members on the new release.",
            scenario=Scenario(old="1.1.1", new="2.8.0", upgrade_from="1.1", second_bounce=False) if spoken else None,
            source="KIP-268, KIP-429; 3.9 upgrade guide",
        )

    low = [event for event in lines.of("smallest used", "below version probing") if _below_3(event)]
    if low and not lines.of("upgrade.from lowers", "pre-2.0 beside future", "pre-2.0 beside future, answered"):
        least = min(event.number("smallest") or event.number("received") or 2 for event in low)
        yield Diagnosis(
            name="group below version 3",
            title=f"the whole group speaks v{least}, because somebody in it does",
            certainty=LIKELY,
            grave=False,
            what="A member of before 2.0 is in the group, or one that upgrade.from holds there; a subscription of that "
            "version does not say what its jar supports. Until it is gone there is no probing, no error code and no "
            "offset sum.",
            evidence=shown(low),
            cure="In the first of two rolling bounces that is as it should be. After the second, look for the instance "
            "that still has upgrade.from, or the old jar.",
            decides="The start-up lines of each member (`Kafka version`, `Downgrading metadata version`), or "
            "`python -m protocol decode` on the group's description.",
            source="KIP-268; 2.3.1 StreamsPartitionAssignor#assign",
        )


def _below_3(event: Event) -> bool:
    return (event.number("smallest") or event.number("received") or 3) < 3


_COOPERATIVE = span("2.4.0")


def _protocols(lines: Lines, history: History) -> Iterator[Diagnosis]:
    lives = history.all()
    old = [life for life in lives if life.possible and not life.possible & _COOPERATIVE]
    able = [
        life
        for life in lives
        if life.protocol == "COOPERATIVE" and any(one.places[1] > life.places[0] for one in old if one is not life)
    ]
    eager = [one for one in old if any(one.places[1] > life.places[0] for life in able)]
    if able and eager:
        yield Diagnosis(
            name="eager beside cooperative",
            title=f"{names_of(able)} {does(able, 'keeps', 'keep')} partitions in a rebalance, and {names_of(eager)} "
            f"{does(eager, 'does', 'do')} not know of that",
            certainty=CERTAIN,
            grave=True,
            what="The versions are negotiated well and nothing complains, for the protocol's name is `stream` on both "
            "sides. A member of 2.4 or later without upgrade.from keeps its partitions while it joins; a leader before "
            "2.4 does not see that, so a partition may have two owners for a generation.",
            evidence=shown(lines.of("starts cooperative")),
            cure="Bounce the new members once more with upgrade.from set to the old line, and take it out when no "
            "member before 2.4 is left.",
            source="KIP-429; 2.4.0 AssignorConfiguration#rebalanceProtocol",
        )
    other = [event for event in lines.of("joined") if event.word("protocol") not in ("", "stream", "null")]
    if other:
        yield Diagnosis(
            name="not a Streams group",
            title=f"the group's protocol is {other[0].word('protocol')!r}",
            certainty=CERTAIN,
            grave=False,
            what="Kafka Streams calls its protocol `stream`. Version probing does not apply to other assignors, "
            "and their "
            "two-bounce rules differ by client.",
            evidence=shown(other),
            cure="Look into the notes of that client and assignor.",
            source="KIP-429",
        )


def _followups(lines: Lines, history: History) -> Iterator[Diagnosis]:
    withheld = [event for event in lines.of("rejoins for withheld tasks") if most_repeats(history, event) >= 5]
    if withheld:
        yield Diagnosis(
            name="follow-up loop",
            title=f"{names_of(withheld)} {does(withheld, 'rejoins', 'rejoin')} again and again for tasks that are "
            "withheld",
            certainty=LIKELY,
            grave=True,
            what="Each such rebalance should end with the task given up. Where it does not, owners do not revoke: on "
            "2.6.0 a follower's rejoin with unchanged bytes is no rebalance (KAFKA-10455), or members come and go.",
            evidence=shown([*withheld, *lines.of("task withheld")]),
            cure="On 2.6.0 go to 2.6.1 or later. Otherwise see which member keeps joining or leaving.",
            decides="The release, and whether members come and go in the broker's log.",
            source="KAFKA-10455; 2.6.0 StreamsPartitionAssignor#maybeScheduleFollowupRebalance",
        )


def _warm_ups(lines: Lines, history: History) -> Iterator[Diagnosis]:
    checks = lines.of("warm-up check", "warm-up planned")
    begun = [event for event in lines.of("followup begins") if "KIP-441" in meaning(event)]
    if not (checks or begun):
        return
    old = any(not event.possible & ~span("2.6.0", "2.6.0") for event in checks + begun)
    count = lines.times("warm-up check", "warm-up planned", "followup begins")
    yield Diagnosis(
        name="warm-up probing",
        title="probing rebalances of KIP-441: warm-up replicas are not caught up yet",
        certainty=CERTAIN,
        grave=False,
        what=f"{meaning((checks or begun)[0])} Such lines here: {count}."
        + (" On 2.6.0 a follower's check may do nothing (KAFKA-10455)." if old else ""),
        evidence=shown([*checks, *begun]),
        cure="None: they end when the replicas are caught up. acceptable.recovery.lag, max.warmup.replicas and "
        "probing.rebalance.interval.ms set how soon and how often.",
        source="KIP-441; 2.6.0, 3.4.0 StreamsPartitionAssignor#maybeScheduleFollowupRebalance",
    )


def _broker(lines: Lines, history: History) -> Iterator[Diagnosis]:
    joins = [
        one for one in lines.by_kind.get("broker rebalances", ()) if "Adding new member" in one.event.word("reason")
    ]
    if sum(one.times for one in joins) >= 5:
        yield Diagnosis(
            name="broker restarts the rebalance",
            title="the coordinator prepares a rebalance for a new member again and again",
            certainty=LIKELY,
            grave=True,
            what="Not version probing. Broker 2.3.0 gives a client that speaks JoinGroup v0 a rebalance timeout "
            "of 0, so the "
            "rebalance ends before the others are there and starts again (KAFKA-8653). Clients of other languages "
            "are hit.",
            evidence=shown(one.event for one in joins),
            cure="Upgrade the broker to 2.3.1, or the client to one that speaks JoinGroup v1.",
            decides="The broker's release, and the JoinGroup version of the client.",
            source="KAFKA-8653",
        )


def _foreign(lines: Lines, history: History) -> Iterator[Diagnosis]:
    for kind, cause in CAUSES.items():
        found = lines.of(kind)
        if not found or (kind == "missing topic" and lines.of("unreadable assignment")):
            continue
        yield Diagnosis(
            name="not version probing",
            title=cause.title,
            certainty=LIKELY if cause.doubt else CERTAIN,
            grave=cause.grave,
            what=f"Not version probing. {cause.why}",
            evidence=shown(found),
            cure=cause.cure,
            decides=cause.doubt,
            source=cause.source,
        )
    asked = lines.of("told to shut down", "asks to shut down")
    if asked:
        yield Diagnosis(
            name="shutdown requested",
            title="a member asked the whole application to stop",
            certainty=CERTAIN,
            grave=True,
            what="Not version probing: an exception handler answered SHUTDOWN_APPLICATION. The request travels "
            "only while "
            "the group speaks v9 or later; in a mixed group before that it is lost.",
            evidence=shown(asked),
            cure="Find the exception on the member that asked: it is in its log just before.",
            source="KIP-671; 2.8.0 StreamsPartitionAssignor#assign",
        )


LOOKS = (_settings, _protocols, _followups, _warm_ups, _broker, _foreign)
"""Every look of this room, in the order in which they are told."""
