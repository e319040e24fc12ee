"""What a step back finds on disk: which RocksDB opens what another one wrote, and stores with more in them.

What travels between members in a rebalance has nothing to do with it: see `negotiation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..releases import Release
from .reason import Number, Reason, crosses, number

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
    ((4, 0), "9.7.3"),
    ((4, 2), "10.1.3"),
)
"""Since which release which RocksDB is on board.

Source: gradle/dependencies.gradle at the tags up to 3.9; the pom of kafka-streams from 4.0 on.
"""


def rocksdb(row: Release) -> str:
    """The RocksDB of a release."""
    return [version for since, version in _ROCKSDB if since <= number(row)][-1]


def refusal(wrote: str, opens: str) -> str:
    """What an older RocksDB says to the files of a newer one; empty where it opens them.

    Every pair of the versions on board was run: tests/golden/rocksdb_back.tsv.

    >>> refusal("9.7.3", "7.9.2"), refusal("10.1.3", "9.7.3")
    ('Corrupt or unsupported format_version: 6', '')
    """
    newer, older = (tuple(map(int, name.split("."))) for name in (wrote, opens))
    if newer >= (9,) > older >= (6, 29):
        return "Corrupt or unsupported format_version: 6"
    if (newer >= (9,) and older < (6,)) or (newer >= (7,) and older < (5, 14)):
        return "VersionEdit: unknown tag"
    if any(newer >= line > older for line in ((6,), (9,))):
        return "Unknown Footer version"
    return ""


def reasons_of_disk(old: Release, new: Release) -> Iterator[Reason]:
    """What a step back finds on disk."""
    wipe = f"Delete the local state of each instance before {new.name} starts; the changelogs restore it."
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
    if told := refusal(before, after):
        lines = [line for line in ((3, 0), (4, 0)) if crosses(old, new, *line)]
        yield Reason(
            name="RocksDB",
            title=f"{' and '.join(f'{a}.{b}' for a, b in lines)} changed the on-disk format of the stores "
            f"(RocksDB {before} to {after})",
            text=f"The older RocksDB refuses the files (`{told}`). {wipe}",
            source="; ".join(_GUIDES[line] for line in lines) + f"; run with rocksdbjni {before} and {after}",
            feature="persistent stores",
            effect="wipe",
        )
    elif before != after:
        yield Reason(
            name="RocksDB",
            title=f"the older RocksDB opens what the newer one wrote ({before} to {after})",
            text="Both were run on one store with the options of Kafka Streams. A rocksdb.config.setter of your own "
            "was not: try it on one instance.",
            source=f"run with rocksdbjni {before} and {after}; gradle/dependencies.gradle",
            feature="persistent stores",
            effect="note",
        )
    if crosses(old, new, 4, 3):
        yield Reason(
            name="offsets in the stores",
            title="4.3 keeps changelog offsets inside its stores, in one more column family",
            text=f"{new.name} cannot open them (`Column families not opened: offsets`). {wipe} "
            "upgrade.from=4.2 makes 4.3 write the old .checkpoint file when it closes (KAFKA-19710, pull requests "
            "21814 and 22161); the column family stays, so that alone does not help a store in RocksDB.",
            source="KIP-1035; 4.3 upgrade guide; 4.2.1, 4.3.0 RocksDBStore#openRocksDB; run with rocksdbjni 10.1.3",
            feature="persistent stores",
            effect="wipe",
        )


_GUIDES = {(3, 0): "3.0 upgrade guide; facebook/rocksdb#11989", (4, 0): "4.0 upgrade guide (pull request 21397)"}
