"""How a run ends: whether it goes round in a circle, and what is left of the group.

What happens on the way is in `run`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..trace import Death, Outcome
from . import words
from .thread import Thread

LUCKLESS = 8
"""How often a state must come back, with an election between, before the run is called a loop."""

PATIENCE = 600.0
"""Seconds of unrest after which a run is called a loop, where no limit is given."""


class Watch:
    """Sees a state come back; a state that does so without an election or an operator does so for ever."""

    def __init__(self) -> None:
        self.loop = ""
        """One sentence once a loop is sure, or as good as; else empty."""
        self.repeats = 0
        self._seen: dict[object, tuple[int, int, int]] = {}

    def forget(self) -> None:
        """The operator did something: nothing that follows is a repetition."""
        self._seen.clear()

    def look(self, state: object, *, generation: int, elections: int, scripted: bool) -> None:
        """One more generation ended unquietly in this state, after so many elections."""
        before, held, times = self._seen.get(state, (generation, elections, 0))
        self._seen[state] = (generation, elections, times + 1)
        if not times:
            return
        self.repeats = max(self.repeats, times + 1)
        if held == elections or scripted:
            self.loop = f"The group rebalances for ever: generation {generation} is generation {before} over again."
        elif times + 1 >= LUCKLESS:
            self.loop = f"Generation {generation} is like {times} before it: only another leader can end this loop."

    def outcome(
        self, threads: Iterable[Thread], deaths: tuple[Death, ...], errors: set[int], *, over: bool, until: float | None
    ) -> Outcome:
        """How the run ended; the gravest thing that happened names it."""
        if over and (self.loop or self.repeats > 2):
            return Outcome("loop", self.loop or f"The same state came back {self.repeats} times.", deaths)
        if over and until is None:
            return Outcome("loop", f"No rest for {PATIENCE:.0f} s.", deaths)
        if errors:
            return Outcome("error assignment", f"The leader answered everybody with error code {min(errors)}.", deaths)
        if deaths:
            return Outcome("deaths", words.mourning(deaths), deaths)
        if over:
            return Outcome("cut off", f"Cut off after {until:.0f} s.", deaths)
        return self._calm(list(threads), deaths)

    def _calm(self, threads: list[Thread], deaths: tuple[Death, ...]) -> Outcome:
        """Nobody died: who speaks what, on which jars."""
        if doomed := [thread for thread in threads if not 1 <= thread.used <= thread.binary.latest]:
            who = words.names([thread.name for thread in doomed])
            told = words.versions(thread.used for thread in doomed)
            text = f"{who} {'was' if len(doomed) == 1 else 'were'} told to speak {told}"
            return Outcome("old version", f"{text}, which no such jar can: the next rebalance kills.", deaths)
        goal = min(thread.binary.latest for thread in threads)
        slow = [thread for thread in threads if thread.used < goal]
        if slow:
            who = words.names([thread.name for thread in slow])
            text = f"{who} still {'speaks' if len(slow) == 1 else 'speak'} {words.versions(t.used for t in slow)}"
            return Outcome("old version", f"{text}, though everyone supports v{goal}.", deaths)
        text = f"Everyone speaks v{goal}."
        behind = [thread.name for thread in threads if thread.binary.latest == goal]
        if len(behind) < len(threads):
            runs = f"{words.names(behind)} {words.verb(behind, 'supports', 'support')} no more"
            return Outcome("old version", f"{text[:-1]}: {runs}.", deaths)
        if any(thread.strayed for thread in threads) and all(thread.binary == thread.first for thread in threads):
            return Outcome("rolled back", text, deaths)
        if goal < min(thread.first.latest for thread in threads):
            return Outcome("downgraded", text, deaths)
        return Outcome("upgraded", text, deaths)
