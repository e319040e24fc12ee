"""Why an upgrade is more than new jars: everything beside the metadata version, with where it was read.

What the metadata version does is proved in `upgrade`; how the reasons become rounds of bounces is in `rounds`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..releases import Release, releases
from .disk import reasons_of_disk
from .modes import reasons_of_modes
from .reason import Reason, crosses, held, minor, number


def reasons(old: Release, new: Release, *, uses: frozenset[str] | None = None) -> tuple[Reason, ...]:
    """Every reason of this pair beside its versions; those that hang on a feature that is not used are left out."""
    found = (*_rebalance_protocol(old, new), *_formats(old, new), *reasons_of_modes(old, new), *_bugs(old, new))
    return tuple(one for one in found if uses is None or not one.feature or one.feature in uses)


def _rebalance_protocol(old: Release, new: Release) -> Iterator[Reason]:
    low, high = sorted((old, new), key=number)
    if not crosses(old, new, 2, 4):
        return
    if number(high) >= (4, 0):
        yield Reason(
            name="eager is gone in 4.0",
            title="4.0 speaks COOPERATIVE only, and releases before 2.4 EAGER only",
            text="No member of 4.0 or later can share a group with one before 2.4, and upgrade.from takes no value "
            "below 2.4. Stop over at 3.9 (any of 3.5 to 3.9): there with upgrade.from first, then without.",
            source="KAFKA-12822 (pull request 18988); KIP-1124; 4.0.0 AssignorConfiguration#rebalanceProtocol",
            effect="impossible",
        )
        return
    yield Reason(
        name="eager to cooperative" if number(old) < number(new) else "cooperative to eager",
        title="2.4 changed the rebalance protocol from EAGER to COOPERATIVE",
        text=f"Members of {high.name} keep their partitions while they join; a leader before 2.4 does not see "
        "that, and a "
        "partition may have two owners for a generation. The group forms all the same, and nothing complains. "
        f"upgrade.from={minor(low)} on {high.name} keeps it EAGER; it changes no version unless it is 1.1 or older.",
        source="KIP-429; 2.4.0 AssignorConfiguration#rebalanceProtocol; 2.4 upgrade guide",
        effect="setting",
    )


def _formats(old: Release, new: Release) -> Iterator[Reason]:
    up = number(old) < number(new)
    low, high = sorted((old, new), key=number)
    yield from _not_there_yet(old, new)
    yield from _foreign_key_joins(old, new)
    if crosses(old, new, 3, 5):
        value = held(low, high)
        text = (
            f"Repartition records of tables are written in a new format since 3.5 (KIP-904), and {low.name} cannot "
            f"read it. upgrade.from={value} on {high.name} makes it write the old one. "
        )
        text += (
            "Set it in the first of two rolling bounces. There is no version to negotiate for that: no change of the "
            "metadata version does not mean one bounce."
            if up
            else f"First bounce {high.name} with it, wait until the records in flight are processed, then bounce "
            f"to {low.name}."
        )
        yield Reason(
            name="KIP-904",
            title="3.5 changed the format of tables' repartition topics",
            text=text,
            source="KIP-904; 3.5.0 ChangedSerializer#configure; 3.5 upgrade guide",
            feature="table repartition",
            effect="setting",
        )
        if minor(low) == "3.4" != value:
            yield Reason(
                name="3.5.0 and 3.5.1 choke on 3.4",
                title=f"{high.name} does not start with upgrade.from=3.4, so this plan says 3.3",
                text="StreamsConfig accepts 3.4, the assignor throws `Unknown configuration value for parameter "
                "'upgrade.from': 3.4`. 3.3 takes the same branch of the serializer. 3.5.2 and later take 3.4: "
                "going there is better.",
                source="KAFKA-15281 (pull request 14103); 3.5.0 AssignorConfiguration#rebalanceProtocol",
                feature="table repartition",
                effect="note",
            )
    for line, name in (((2, 5, 1), "v3"), ((2, 3), "v2"), ((2, 2), "v1")):
        if crosses(old, new, *line) and number(low) >= (2, 1):
            yield Reason(
                name="suppress changelog",
                title=f"the changelog of suppress() has a newer format ({name}) since {'.'.join(map(str, line))}",
                text=(
                    "Threads of old instances that restore it, or hold a standby of it, die of what upgraded ones "
                    "wrote. "
                    "Finishing the roll heals it; do it without a pause."
                    if up
                    else "The older jar cannot restore what the newer wrote: the buffer's changelog topic must be "
                    "emptied "
                    "or reset, with its records lost, or the way back is closed."
                ),
                source="KAFKA-10336, KAFKA-10173; InMemoryTimeOrderedKeyValueBuffer#restoreBatch at 2.2.0, 2.3.0, "
                "2.5.1",
                feature="suppress",
                effect="condition" if up else "unsafe",
                todo="finish the roll without a pause, for old instances cannot restore what upgraded ones wrote"
                if up
                else "",
            )
            break
    if not up:
        yield from reasons_of_disk(old, new)


def _not_there_yet(old: Release, new: Release) -> Iterator[Reason]:
    """What a topology may use, and an older release has not."""
    for line, feature, what, kip in (
        ((2, 1), "suppress", "suppress()", "KIP-328"),
        ((2, 4), "foreign-key joins", "foreign-key joins of tables", "KIP-213"),
    ):
        if number(new) < line <= number(old):
            yield Reason(
                name=f"no {feature}",
                title=f"{new.name} has no {what}",
                text=f"{kip} came with {line[0]}.{line[1]}: the topology does not even compile on the older jar.",
                source=kip,
                feature=feature,
                effect="unsafe",
            )


def _foreign_key_joins(old: Release, new: Release) -> Iterator[Reason]:
    low, high = sorted((old, new), key=number)
    source = "KAFKA-13769, KAFKA-14646; 3.3.2, 3.4.0 SubscriptionStoreReceiveProcessorSupplier#process"
    if number(low) < (2, 4):
        return
    if crosses(old, new, 3, 3) and number(high) < (3, 4):
        yield Reason(
            name="foreign-key joins",
            title=f"no roll between {low.name} and {high.name} works with a foreign-key join",
            text="3.3 writes the subscription records of such joins in a new version, and its readers take that "
            "one only: "
            "with upgrade.from the upgraded instances fail, without it the old ones, with `SubscriptionWrapper is "
            "of an "
            "incompatible version.` Never stop at 3.3: go to 3.4.0 or later, or stop everything.",
            source=source,
            feature="foreign-key joins",
            effect="unsafe",
        )
    elif crosses(old, new, 3, 3):
        yield Reason(
            name="foreign-key joins",
            title="3.3 changed the serialization of foreign-key joins",
            text=f"upgrade.from={minor(low)} on {high.name} makes it write the old version, which {low.name} can read; "
            "readers since 3.4 take both. In the project's own tests such joins are left out for starts from 2.4 "
            "to 3.3.",
            source=source,
            feature="foreign-key joins",
            effect="setting",
        )
    elif number(low) >= (3, 3) and crosses(old, new, 3, 4):
        yield Reason(
            name="foreign-key joins",
            title="readers of 3.3 take the new version of a foreign-key join's records only",
            text=f"upgrade.from={minor(low)} would make {high.name} write the old one, and {low.name} fail on it: "
            "leave it "
            "out" + (", or use 3.4, which KIP-904 heeds and the join does not." if number(high) >= (3, 5, 2) else "."),
            source=source,
            feature="foreign-key joins",
            effect="condition",
            todo="leave upgrade.from out, or use 3.4" if number(high) >= (3, 5, 2) else "leave upgrade.from out",
        )


def _bugs(old: Release, new: Release) -> Iterator[Reason]:
    if new.name == "2.4.0":
        yield Reason(
            name="KAFKA-9335",
            title="2.4.0 fails on repartition topics one after the other",
            text="`Number of partitions must be at least 1`, from the assignor. 2.4.1 has the fix: go there.",
            source="KAFKA-9335",
            feature="chained repartition",
            effect="unsafe",
        )
    if new.name in _LEAKS:
        issue, better = _LEAKS[new.name]
        yield Reason(
            name=issue,
            title=f"{new.name} leaks native memory: go to {better}",
            text=_LEAKING[issue],
            source=f"{issue}; {new.name[:3]} upgrade guide",
            feature="persistent stores",
            effect="note",
        )
    if number(old) < (3, 0) <= number(new):
        yield Reason(
            name="defaults of 3.0",
            title="3.0 changed two defaults that can stop an application when it starts",
            text="default.key.serde and default.value.serde are null: where ByteArraySerde was relied on, name it. "
            "replication.factor is -1, the broker's default, which brokers before 2.4 refuse: there, set a number.",
            source="KIP-741, KIP-733; 3.0 upgrade guide",
            effect="note",
        )
    if new.name == "2.6.0" or old.name == "2.6.0":
        yield Reason(
            name="KAFKA-10455",
            title="on 2.6.0 a follower's probing rebalance may do nothing",
            text="Its bytes do not change, so the broker starts no rebalance; v8 of 2.6.1 has a field for that, "
            "which is "
            "written only when everybody speaks v8. Version probing itself is not affected.",
            source="KAFKA-10455; 2.6.1 SubscriptionInfo",
            effect="note",
        )
    if number(old) < (3, 0) <= number(new) or number(new) < (3, 0) <= number(old):
        yield Reason(
            name="session timeout",
            title="session.timeout.ms is 45 s by default since 3.0, and was 10 s before",
            text="Kafka Streams sends no LeaveGroup when it closes, so the first rebalance of each bounce waits "
            "until the "
            "old member id expires: up to 45 s for an instance of 3.0 or later.",
            source="KIP-735",
            effect="note",
        )
    if number(old) < (2, 6, 2) and number(new) >= (2, 8):
        yield Reason(
            name="state.dir lock",
            title="two processes can no longer share one state.dir",
            text="Enforced since 2.6.2, 2.7.1 and 2.8.0: an instance that is started before its predecessor has "
            "ended, on "
            "the same volume, does not start.",
            source="KAFKA-10716; 2.8 upgrade guide",
            effect="note",
        )


_LEAKS = {"4.1.0": ("KAFKA-19748", "4.1.1"), "4.3.0": ("KAFKA-20616", "4.3.1")}
_LEAKING = {
    "KAFKA-19748": "Range scans, session and sliding windows, and joins of two streams or by foreign key lose memory "
    "that the JVM does not see.",
    "KAFKA-20616": "Each close of a store loses memory that the JVM does not see, and a rebalance closes stores.",
}


def stopovers(old: Release, new: Release) -> tuple[str, ...]:
    """Releases that know both sides of 4.0: to go by where the way over it is closed."""
    if (number(old) < (4, 0)) == (number(new) < (4, 0)):
        return ()
    bridges = [row for row in releases() if row.released and (3, 9) <= number(row) < (4, 0)]
    return (bridges[-1].name,) if old not in bridges and new not in bridges else ()
