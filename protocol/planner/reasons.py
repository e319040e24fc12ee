"""Why an upgrade is more than new jars: everything beside the metadata version, with where it was read.

What the metadata version does is proved in `upgrade`; how the reasons become rounds of bounces is in `rounds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .. import member
from ..releases import Release, releases

FEATURES = {
    "foreign-key joins": "the topology has a foreign-key join of two tables (KTable#join with a key extractor)",
    "table repartition": "the topology groups or re-keys a table (KTable#groupBy and what builds on it)",
    "suppress": "the topology uses suppress()",
    "persistent stores": "state is kept on disk (the default, RocksDB)",
    "exactly_once": "processing.guarantee is exactly_once (EOS version 1)",
    "exactly_once_beta": "processing.guarantee is exactly_once_beta (EOS version 2 under its old name)",
    "exactly_once_v2": "processing.guarantee is exactly_once_v2",
    "chained repartition": "the topology has repartition topics one after the other",
}
"""What an application may use, and a reason may depend on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason, and whether it applies."""

    name: str
    title: str
    text: str
    source: str
    feature: str = ""
    """The key of FEATURES that decides whether it applies; empty where it applies in any case."""
    effect: str
    """`versions`, `setting` (upgrade.from in a first round), `impossible`, `unsafe`, `wipe`, `condition` or `note`."""

    @property
    def condition(self) -> str:
        """When it applies."""
        return FEATURES[self.feature] if self.feature else ""


Number = tuple[int, ...]


def number(row: Release) -> Number:
    """A release's version for comparison; of a commit on a trunk, that of the trunk."""
    if row.name.startswith("c310"):
        return (2, 3, 99)
    return tuple(int(part) for part in re.findall(r"\d+", row.name.split("-")[0]))


def minor(row: Release) -> str:
    """The value of `upgrade.from` that stands for a release.

    >>> from protocol.releases import release
    >>> minor(release("0.10.2.1")), minor(release("3.4.1"))
    ('0.10.2', '3.4')
    """
    parts = number(row)
    return ".".join(map(str, parts[:3] if parts[0] == 0 else parts[:2]))


def takes(row: Release, value: str) -> bool:
    """Whether a process of that release starts with this `upgrade.from`."""
    return any(one.value == value for one in row.upgrade_from) and not member.configure(row.binary, value).failure


def crosses(old: Release, new: Release, *line: int) -> bool:
    """Whether one is before that release and the other is not."""
    return (number(old) < line) != (number(new) < line)


_ROCKSDB: tuple[tuple[Number, str], ...] = (
    ((0, 10, 0), "4.4.1"),
    ((0, 10, 1), "4.9.0"),
    ((0, 11), "5.0.1"),
    ((1, 0), "5.7.3"),
    ((2, 1), "5.14.2"),
    ((2, 2), "5.15.10"),
    ((2, 3), "5.18.3"),
    ((2, 6), "5.18.4"),
    ((3, 0), "6.19.3"),
    ((3, 1), "6.22.1.1"),
    ((3, 2), "6.29.4.1"),
    ((3, 3, 2), "7.1.2"),
    ((3, 5, 2), "7.9.2"),
)
"""Since which release which RocksDB is on board. Source: gradle/dependencies.gradle at the tags; 4.x was not read."""


def rocksdb(row: Release) -> str:
    """The RocksDB of a release."""
    return [version for since, version in _ROCKSDB if since <= number(row)][-1]


def reasons(old: Release, new: Release, *, uses: frozenset[str] | None = None) -> tuple[Reason, ...]:
    """Every reason of this pair beside its versions; those that hang on a feature that is not used are left out."""
    found = (*_rebalance_protocol(old, new), *_formats(old, new), *_modes(old, new), *_bugs(old, new))
    return tuple(one for one in found if uses is None or not one.feature or one.feature in uses)


def _rebalance_protocol(old: Release, new: Release) -> Iterator[Reason]:
    low, high = sorted((old, new), key=number)
    if not crosses(old, new, 2, 4):
        return
    if number(high) >= (4, 0):
        yield Reason(
            name="eager is gone in 4.0",
            title="4.0 speaks COOPERATIVE only, and releases before 2.4 EAGER only",
            text="No member of 4.0 or later can share a group with one before 2.4, and upgrade.from takes no "
            "value below "
            "2.4. Stop over at 3.9 (any of 3.5 to 3.9): there with upgrade.from first, then without.",
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
    yield from _foreign_key_joins(old, new)
    if crosses(old, new, 3, 5):
        value = minor(low)
        text = (
            f"Repartition records of tables are written in a new format since 3.5 (KIP-904). upgrade.from={value} on "
            f"{high.name} makes it write the old one. "
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
        if value == "3.4" and number(high) in ((3, 5, 0), (3, 5, 1)):
            yield Reason(
                name="3.5.0 and 3.5.1 choke on 3.4",
                title=f"{high.name} does not start with upgrade.from=3.4",
                text="StreamsConfig accepts the value, the assignor throws `Unknown configuration value for parameter "
                "'upgrade.from': 3.4`. Go to 3.5.2 or later instead; 3.3 is a stop-gap, by the same branch of the "
                "serializer.",
                source="KAFKA-15281 (pull request 14103); 3.5.0 AssignorConfiguration#rebalanceProtocol",
                feature="table repartition",
                effect="condition",
            )
    for line, name in (((2, 2), "v1"), ((2, 3), "v2"), ((2, 5, 1), "v3")):
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
            )
            break
    if not up:
        yield from _state(old, new)


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
        )


def _state(old: Release, new: Release) -> Iterator[Reason]:
    """What a step back finds on disk."""
    wipe = (
        f"Before {new.name} starts, delete the instance's local state (state.dir of the application); it restores from "
    )
    wipe += "the changelogs, which takes time and traffic."
    if crosses(old, new, 2, 3):
        yield Reason(
            name="timestamped stores",
            title="2.3 keeps timestamps in its stores, in a second column family",
            text=f"{new.name} cannot open them (`Column families not opened: keyValueWithTimestamp`). {wipe}",
            source="KIP-258; 2.3.0 RocksDBTimestampedStore#openRocksDB",
            feature="persistent stores",
            effect="wipe",
        )
    before, after = rocksdb(old), rocksdb(new)
    if crosses(old, new, 3, 0) or crosses(old, new, 4, 0):
        line = "3.0" if crosses(old, new, 3, 0) else "4.0"
        versions = f" (RocksDB {before} to {after})" if line == "3.0" and number(old) < (4, 0) else ""
        yield Reason(
            name="RocksDB",
            title=f"{line} changed the on-disk format of its stores{versions}",
            text=f"The older RocksDB cannot read the files (`Unknown Footer version`). {wipe}",
            source="3.0 upgrade guide; facebook/rocksdb#11989"
            if line == "3.0"
            else "4.0 upgrade guide (pull request 21397)",
            feature="persistent stores",
            effect="wipe",
        )
    elif before != after:
        yield Reason(
            name="RocksDB",
            title=f"an older RocksDB opens what a newer one wrote ({before} to {after})",
            text="No upgrade guide says that it cannot, and none that it can: try it on one instance. If it "
            f"cannot: {wipe}",
            source="gradle/dependencies.gradle at both tags",
            feature="persistent stores",
            effect="condition",
        )
    if crosses(old, new, 4, 3):
        yield Reason(
            name="checkpoint file",
            title="4.3 writes its checkpoints in a new way",
            text=f"{new.name} reads them only if {old.name} was closed with upgrade.from={minor(new)}: bounce it "
            "once with "
            "that first. Otherwise the state is restored from the changelogs.",
            source="4.3 upgrade guide (pull requests 22161 and 21814)",
            feature="persistent stores",
            effect="setting",
        )


def _modes(old: Release, new: Release) -> Iterator[Reason]:
    up = number(old) < number(new)
    if up and crosses(old, new, 4, 0):
        for feature in ("exactly_once", "exactly_once_beta"):
            first = (
                "on the old release, if it is 3.0 or later" if number(old) >= (3, 0) else "on a release of 3.0 to 3.9"
            )
            yield Reason(
                name="EOS mode",
                title=f"4.0 does not know processing.guarantee={feature}",
                text=f"Switch to exactly_once_v2 {first}, in a rolling bounce of its own, before this upgrade; brokers "
                "must be 2.5 or later.",
                source="KAFKA-16331; 3.0 upgrade guide",
                feature=feature,
                effect="condition",
            )
    if up and crosses(old, new, 3, 0) and number(new) < (4, 0):
        yield Reason(
            name="EOS mode",
            title="exactly_once_beta is called exactly_once_v2 since 3.0",
            text="Both names work until 3.9; change it during this roll, or later. A change from exactly_once to "
            "exactly_once_v2 needs a rolling bounce of its own, after this one.",
            source="KIP-732; 3.0 upgrade guide",
            feature="exactly_once_beta",
            effect="note",
        )
    if not up and crosses(old, new, 3, 0):
        yield Reason(
            name="EOS mode",
            title=f"{new.name} does not know exactly_once_v2",
            text="Set exactly_once_beta, the same mode by its old name, if the target is 2.6 or later."
            if number(new) >= (2, 6)
            else f"First bounce {old.name} with processing.guarantee=exactly_once, then go back.",
            source="KIP-732; 3.0 upgrade guide",
            feature="exactly_once_v2",
            effect="condition",
        )
    needs = next((text for line, text in _BROKERS if number(new) >= line and not number(old) >= line), "")
    if needs:
        yield Reason(
            name="brokers",
            title=f"{new.name} needs brokers of {needs} or later",
            text="A client that is too new for its brokers does not start: where they are older, upgrade them first.",
            source="KIP-896 (4.0); upgrade guides of 2.3 and 0.10.1",
            effect="note",
        )
    if number(new) >= (4, 1):
        yield Reason(
            name="streams protocol",
            title="group.protocol=streams (KIP-1071) is no part of this upgrade",
            text="It replaces version probing, and a classic group can be moved to it offline only: stop all "
            "members, then "
            "start them with it. Not with brokers of 4.2.0, which have a bug there: 4.2.1 or later.",
            source="KIP-1071; KAFKA-20254; 4.2 upgrade guide",
            effect="note",
        )


_BROKERS = (((4, 0), "2.1"), ((2, 2, 1), "0.11.0"), ((0, 10, 1), "0.10.1"))


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


def stopovers(old: Release, new: Release) -> tuple[str, ...]:
    """Releases to go by where the way from one to the other is closed; empty where it is open."""
    known = {row.name for row in releases()}
    if (number(old) < (2, 4) and number(new) >= (4, 0)) or (number(new) < (2, 4) and number(old) >= (4, 0)):
        return tuple(name for name in ("3.9.1",) if name in known)
    return ()
