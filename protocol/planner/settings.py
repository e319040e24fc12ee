"""The `upgrade.from` that a plan has or that was asked for: whether it starts, whether it does what is needed.

Which value is needed is in `rounds`; why, in `reasons`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import member
from ..releases import Release, releases
from ..versions import EARLIEST_PROBEABLE
from .reason import Reason, minor, number, takes
from .rounds import wanted


def setting_of(old: Release, new: Release, found: Sequence[Reason], asked: str | None) -> str | None:
    """The value of the first round: the one asked for, or the one that is needed; None for none."""
    if asked is None:
        return wanted(old, new, found)
    return None if asked.lower() in ("none", "null", "") else asked


def reasons_of_setting(
    old: Release, new: Release, found: Sequence[Reason], asked: str | None, setting: str | None
) -> list[Reason]:
    """What is to be said of the setting that the plan has, or that was asked for."""
    low, high = sorted((old, new), key=number)
    needed = wanted(old, new, found)
    told: list[Reason] = []
    if any(one.effect == "impossible" for one in found):
        return told
    if setting is not None and not takes(high, setting):
        started = member.configure(high.binary, setting)
        if not high.upgrade_from:
            text = f"{high.name} knows no upgrade.from: it cannot be told to speak an older version."
            closed = low.latest < EARLIEST_PROBEABLE
            targets = ", ".join(row.name for row in _targets(low, high))
            return [
                Reason(
                    name="no upgrade.from",
                    title=f"{high.name} cannot be started as an older release",
                    text=f"{text} {'Stop all instances and start them new, or go to ' + targets if targets else ''}.",
                    source="KAFKA-6054; 0.10.2.2, 0.11.0.3, 1.0.2, 1.1.1 StreamsConfig",
                    effect="impossible" if closed and asked is None else "unsafe",
                )
            ]
        failure = started.failure
        reason = Reason(
            name="upgrade.from rejected",
            title=f"{high.name} does not start with upgrade.from={setting}",
            text=f"{failure}." if failure else "The value is rejected.",
            source="StreamsConfig#UPGRADE_FROM_CONFIG"
            if failure and failure.exception == "ConfigException"
            else "3.5.0 AssignorConfiguration#rebalanceProtocol; KAFKA-15281",
            effect="unsafe",
            feature="" if asked is not None else _only_feature(found),
        )
        if not any(one.name.startswith("3.5.0 and 3.5.1") for one in found) or asked is not None:
            told.append(reason)
        return told
    if asked is None:
        return told
    if setting is None and needed is not None:
        for one in found:
            if one.effect == "setting":
                told.append(
                    Reason(
                        name=f"without upgrade.from: {one.name}",
                        title="without upgrade.from EAGER and COOPERATIVE members share a group, and nothing complains"
                        if one.name.startswith(("eager", "cooperative"))
                        else f"nothing keeps {high.name} to the old format",
                        text=one.text,
                        source=one.source,
                        feature=one.feature,
                        effect="unsafe",
                    )
                )
    if setting is not None and needed is None:
        told.append(
            Reason(
                name="upgrade.from without need",
                title=f"upgrade.from={setting} is not needed here",
                text="It does no harm, and costs a second round of bounces to take it out again."
                if used_with(high, setting) is None
                else f"It makes the whole group speak v{used_with(high, setting)} until it is taken out again.",
                source="KIP-268, KIP-429",
                effect="note",
            )
        )
    if setting is not None and needed is not None and not _does(high, setting, needed):
        told.append(
            Reason(
                name="upgrade.from of another line",
                title=f"upgrade.from={setting} does not do what {needed} does",
                text=f"The older release is of {minor(low)}: set upgrade.from={needed}.",
                source="AssignorConfiguration#rebalanceProtocol, #configuredMetadataVersion",
                effect="unsafe",
            )
        )
    return told


def _only_feature(found: Sequence[Reason]) -> str:
    needs = [one for one in found if one.effect == "setting"]
    return needs[0].feature if needs and all(one.feature for one in needs) else ""


def used_with(row: Release, value: str) -> int | None:
    """The version that the value makes a release speak; None for its latest."""
    return next((one.used for one in row.upgrade_from if one.value == value), None)


def _does(row: Release, value: str, needed: str) -> bool:
    """Whether one value has the effects of another on version and protocol, and is of no younger line."""
    mine, wished = (next((one for one in row.upgrade_from if one.value == name), None) for name in (value, needed))
    if mine is None or wished is None:
        return mine is not None and takes(row, value)
    same = (mine.used, mine.protocol) == (wished.used, wished.protocol)
    return same and _line(value) <= max(_line(needed), (3, 4))


def _line(value: str) -> tuple[int, ...]:
    return tuple(int(part) for part in value.split(".") if part.isdigit())


def _targets(low: Release, high: Release) -> list[Release]:
    """Releases near the target that can be started as the older one."""
    value = minor(low)
    rows = [row for row in releases() if row.released and takes(row, value) and number(row) > number(low)]
    same = [row for row in rows if number(row)[:-1] == number(high)[:-1]]
    return (same or [row for row in rows if number(row) >= number(high)] or rows)[:3]
