"""The rounds of bounces that an upgrade takes, with the jar and the configuration of each.

Why a round is needed is in `reasons`; what a round costs is in `costs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..releases import Release
from .reasons import Reason, minor, number, takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One rolling bounce: every instance is stopped and started once."""

    number: int
    release: str
    upgrade_from: str | None
    """The value to set; None: the setting must not be there."""
    why: str
    after: str = ""
    """What to wait for, or to do, before the next round; mostly empty."""
    before_start: str = ""
    """What to do with each instance between its stop and its start; mostly empty."""

    @property
    def configuration(self) -> str:
        """The line of configuration."""
        return f"upgrade.from={self.upgrade_from}" if self.upgrade_from else "no upgrade.from"


def wanted(old: Release, new: Release, reasons: Sequence[Reason]) -> str | None:
    """The `upgrade.from` that a first round should have; None where none is needed."""
    low, high = sorted((old, new), key=number)
    needs = [one for one in reasons if one.effect == "setting"]
    if number(low) < (2, 0) and low.latest < high.latest:
        return minor(low)
    if not needs:
        return None
    value = minor(low)
    if value == "3.4" and not takes(high, value):
        return "3.3"  # 3.5.0 and 3.5.1 choke on 3.4, and their serializers treat both alike
    # The join of 3.3 reads the new records only, and KIP-904 must have the old: 3.4 does both.
    joins = any(one.name == "foreign-key joins" and one.effect == "condition" for one in reasons)
    if joins and value == "3.3" and takes(high, "3.4"):
        return "3.4"
    return value


def rounds(old: Release, new: Release, reasons: Sequence[Reason], setting: str | None) -> tuple[Round, ...]:
    """What to do, in order."""
    up = number(old) <= number(new)
    wipe = next((one.text for one in reasons if one.effect == "wipe"), "")
    wipe = f"If {_feature(reasons, 'wipe')}: {wipe}" if wipe else ""
    if setting is None:
        return (Round(number=1, release=new.name, upgrade_from=None, why="the new jar", before_start=wipe),)
    drained = any(one.name == "KIP-904" for one in reasons) and not up
    if up:
        return (
            Round(
                number=1,
                release=new.name,
                upgrade_from=setting,
                why=f"the new jar, still speaking and writing as {setting} does",
                after="every instance runs the new jar",
            ),
            Round(number=2, release=new.name, upgrade_from=None, why="the same jar, without the setting"),
        )
    return (
        Round(
            number=1,
            release=old.name,
            upgrade_from=setting,
            why=f"the jar that runs, made to speak and write as {setting} does",
            after="every instance runs so"
            + (", and the records in flight in repartition topics are processed" if drained else ""),
        ),
        Round(number=2, release=new.name, upgrade_from=None, why="the older jar", before_start=wipe),
    )


def _feature(reasons: Sequence[Reason], effect: str) -> str:
    return next((one.condition for one in reasons if one.effect == effect and one.condition), "it applies")
