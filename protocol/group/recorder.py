"""The steps of a run, each with the group before and after it.

What makes a step is in `run`, what it says in `words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..coordinator import Coordinator
from ..trace import GroupView, LogLine, MemberView, Sent, Step, View
from .thread import Thread


def name_of(member_id: str) -> str:
    """The member whose id this is, or was.

    >>> name_of("A-1#2")
    'A-1'
    """
    return member_id.rsplit("#", 1)[0]


class Recorder:
    """Writes steps down; of the members it looks only at those that a step names."""

    def __init__(self, threads: Mapping[str, Thread], broker: Coordinator) -> None:
        self.threads = threads
        self.steps: list[Step] = []
        self.place = {name: place for place, name in enumerate(threads)}
        self._members: list[MemberView] = [thread.view() for thread in threads.values()]
        self._frozen = tuple(self._members)
        self._alive = dict.fromkeys(threads, "")
        self.view = self._look(broker, ())

    def in_order(self, threads: Iterable[Thread]) -> list[str]:
        """Their names in the order of the operator's list."""
        names = {thread.name for thread in threads}
        if len(names) == len(self.place):
            return list(self.place)
        return sorted(names, key=self.place.__getitem__)

    def step(
        self,
        broker: Coordinator,
        *,
        action: str,
        who: Sequence[str],
        at: float,
        bounce: int,
        title: str,
        why: str,
        source: str,
        tag: str = "",
        moves: tuple[tuple[str, str], ...] = (),
        messages: tuple[Sent, ...] = (),
        log: tuple[LogLine, ...] = (),
    ) -> None:
        """One more step; `who` are all the members that it changed."""
        before, self.view = self.view, self._look(broker, who)
        number = len(self.steps) + 1
        self.steps.append(
            Step(
                number, action, tuple(who), before, self.view, at, bounce, title, why, source, tag, moves, messages, log
            )
        )

    def since(self, prelude: int, origin: float) -> tuple[Step, ...]:
        """The steps after the first so many, numbered from 1, their clock set to 0 at the origin."""
        return tuple(
            replace(step, number=step.number - prelude, at=round(step.at - origin, 3)) for step in self.steps[prelude:]
        )

    def _look(self, broker: Coordinator, who: Iterable[str]) -> View:
        for name in who:
            view = self._members[self.place[name]] = self.threads[name].view()
            self._alive[name] = view.member_id if view.alive else ""
        if who:
            self._frozen = tuple(self._members)
        ids, alive = broker.ids, set(self._alive.values())
        ghosts = tuple(member_id for member_id in ids if member_id not in alive) if not alive.issuperset(ids) else ()
        leader = name_of(broker.leader)
        return View(self._frozen, GroupView(broker.state, broker.generation, leader, broker.leader, ids, ghosts))
