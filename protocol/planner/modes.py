"""Modes of processing and brokers: what one release knows by name, or needs, and the other does not.

What changes in a rebalance is in `negotiation`, what changes in the records in `reasons`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..releases import Release
from .reason import Reason, crosses, number


def reasons_of_modes(old: Release, new: Release) -> Iterator[Reason]:
    """Modes that must change first or together, and brokers that are too old."""
    up = number(old) < number(new)
    if up and crosses(old, new, 4, 0):
        early = number(old) < (3, 0)
        yield Reason(
            name="EOS mode",
            title="4.0 does not know processing.guarantee=exactly_once",
            text="A process with it does not start. EOS version 1 and 2 are changed for one another in a rolling "
            "bounce of its own, without a new jar; "
            + ("stop over at 3.9 for that" if early else f"{old.name} knows both")
            + ". Brokers must be 2.5 or later.",
            source="KAFKA-16331; 3.0 and 4.0 upgrade guides",
            feature="exactly_once",
            effect="unsafe" if early else "condition",
            todo=f"first bounce {old.name} with processing.guarantee=exactly_once_v2",
            first="" if early else "processing.guarantee=exactly_once_v2",
        )
        yield Reason(
            name="EOS mode",
            title="4.0 does not know processing.guarantee=exactly_once_beta",
            text="exactly_once_v2 is the same mode under its new name, so the name may change together with the jar.",
            source="KIP-732; KAFKA-16331; 3.0 and 4.0 upgrade guides",
            feature="exactly_once_beta",
            effect="condition",
            todo="set processing.guarantee=exactly_once_v2 together with the new jar",
            with_it="processing.guarantee=exactly_once_v2",
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
    if not up:
        yield from _modes_down(old, new)
    for line, java, more in _JAVA:
        if up and crosses(old, new, *line):
            yield Reason(
                name="Java",
                title=f"{line[0]}.{line[1]} needs Java {java} or later",
                text=f"On an older one the process does not start.{more}",
                source=f"{line[0]}.{line[1]} upgrade notes",
                effect="note",
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


def _modes_down(old: Release, new: Release) -> Iterator[Reason]:
    """Names of modes that the older release has not heard of."""
    source = "KIP-732; 3.0 upgrade guide"
    if crosses(old, new, 2, 6):
        for feature in ("exactly_once_beta", "exactly_once_v2"):
            if feature == "exactly_once_v2" and number(old) < (3, 0):
                continue
            gone = number(old) >= (4, 0)
            yield Reason(
                name="EOS mode",
                title=f"{new.name} knows EOS version 1 only, processing.guarantee=exactly_once",
                text="The two versions are changed for one another in a rolling bounce of its own, without another "
                "jar" + (f", and {old.name} knows version 2 only: stop over at 3.9 for that." if gone else "."),
                source="KIP-447; 3.0 upgrade guide",
                feature=feature,
                effect="unsafe" if gone else "condition",
                todo=f"first bounce {old.name} with processing.guarantee=exactly_once",
                first="" if gone else "processing.guarantee=exactly_once",
            )
    elif crosses(old, new, 3, 0):
        yield Reason(
            name="EOS mode",
            title=f"{new.name} does not know the name exactly_once_v2",
            text="exactly_once_beta is the same mode under its old name, so the name may change together with the jar.",
            source=source,
            feature="exactly_once_v2",
            effect="condition",
            todo=f"set processing.guarantee=exactly_once_beta together with the jar of {new.name}",
            with_it="processing.guarantee=exactly_once_beta",
        )
    if crosses(old, new, 0, 11):
        yield Reason(
            name="EOS mode",
            title=f"{new.name} knows no exactly-once",
            text="Transactions came with 0.11.0; with at_least_once, records may be processed twice from there on.",
            source="KIP-129",
            feature="exactly_once",
            effect="condition",
            todo=f"set no processing.guarantee together with the jar of {new.name}",
        )


_JAVA = (
    ((2, 0), "8", ""),
    (
        (4, 0),
        "11",
        " 4.0 also lacks the APIs and settings that were deprecated up to 3.5: what compiles and runs on 3.9 without "
        "a warning of that kind is ready (KAFKA-12822).",
    ),
)
_BROKERS = (((4, 0), "2.1"), ((2, 2, 1), "0.11.0"), ((0, 10, 1), "0.10.1"))
