"""The rounds of bounces that an upgrade takes, with the jar and the configuration of each.

Why a round is needed is in `reasons`; what a round costs is in `costs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..releases import Release
from .reason import Reason, held, minor, number


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
    more: tuple[str, ...] = ()
    """Further lines of configuration."""

    @property
    def configuration(self) -> str:
        """The lines of configuration, in one."""
        first = f"upgrade.from={self.upgrade_from}" if self.upgrade_from else "no upgrade.from"
        return ", ".join((first, *self.more))


def wanted(old: Release, new: Release, reasons: Sequence[Reason]) -> str | None:
    """The `upgrade.from` that a first round should have; None where none is needed."""
    low, high = sorted((old, new), key=number)
    needs = [one for one in reasons if one.effect == "setting"]
    if number(low) < (2, 0) and low.latest < high.latest:
        return minor(low)
    if not needs:
        return None
    return held(low, high)


def rounds(
    old: Release, new: Release, reasons: Sequence[Reason], setting: str | None, uses: frozenset[str] | None = None
) -> tuple[Round, ...]:
    """What to do, in order; what hangs on a feature is in it where the application is known to use that."""
    up = number(old) <= number(new)
    wipe = next((one for one in reasons if one.effect == "wipe"), None)
    told = f"where {wipe.condition}, and it restores from the changelogs, which takes time and traffic" if wipe else ""
    wiped = f"delete the instance's local state (its directory in state.dir), {told}" if wipe else ""
    sure = [one for one in reasons if one.feature and one.feature in (uses or ())]
    first = next((one.first for one in sure if one.first), "")
    more = (first,) if first else tuple(one.with_it for one in sure if one.with_it)
    todo = []
    if first:
        todo.append(
            Round(
                number=1, release=old.name, upgrade_from=None, more=(first,), why="the jar that runs, in another mode"
            )
        )
    if setting is None:
        why = "the same jar" if old is new else "the new jar" if up else "the older jar"
        last = Round(number=1, release=new.name, upgrade_from=None, why=why, before_start=wiped, more=more)
        return _numbered((*todo, last))
    drained = any(one.name == "KIP-904" for one in reasons) and not up
    if up:
        why = f"the new jar, still speaking and writing as {setting} does"
        done = "every instance runs the new jar"
        todo += [
            Round(number=1, release=new.name, upgrade_from=setting, why=why, after=done, more=more),
            Round(number=2, release=new.name, upgrade_from=None, why="the same jar, without the setting", more=more),
        ]
        return _numbered(todo)
    done = "every instance runs so"
    if drained:
        done += ", and the records in flight in repartition topics are processed"
    why = f"the jar that runs, made to speak and write as {setting} does"
    if todo:  # one bounce can change both
        todo = [replace(todo[0], upgrade_from=setting, why=f"{why}, in another mode", after=done)]
    else:
        todo = [Round(number=1, release=old.name, upgrade_from=setting, why=why, after=done)]
    last = Round(number=2, release=new.name, upgrade_from=None, why="the older jar", before_start=wiped, more=more)
    return _numbered((*todo, last))


def _numbered(found: Sequence[Round]) -> tuple[Round, ...]:
    return tuple(replace(one, number=i + 1) for i, one in enumerate(found))
