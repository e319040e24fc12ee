"""One reason for or against an upgrade, and the comparisons of releases that reasons hang on.

The reasons themselves are in `reasons`, `disk` and `modes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import member
from ..releases import Release

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
    todo: str = ""
    """What a `condition` asks for, as a clause: `set processing.guarantee=exactly_once_beta with the jar of 2.8.0`."""
    first: str = ""
    """A line of configuration that the running release needs in a rolling bounce of its own, before all others."""
    with_it: str = ""
    """A line of configuration that the new jar needs."""

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


def held(low: Release, high: Release) -> str:
    """The `upgrade.from` that makes one release write what another reads.

    For 3.3 that is 3.4: it keeps the old records of KIP-904 and, of a foreign-key join, the new ones that 3.3 must
    have. 3.5.0 and 3.5.1 do not start with 3.4, and their serializers treat 3.3 alike.
    """
    value = minor(low)
    if value in ("3.3", "3.4"):
        return "3.4" if takes(high, "3.4") else "3.3"
    return value


def crosses(old: Release, new: Release, *line: int) -> bool:
    """Whether one is before that release and the other is not."""
    return (number(old) < line) != (number(new) < line)
