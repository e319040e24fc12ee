"""What is due when: the queue of a run's events.

What an event does is in `run`, how long things take in `timetable`.
"""

from __future__ import annotations

import heapq

_FIRST = ("close", "expire", "leave", "first join", "start", "join", "notice", "rejoin", "complete", "assign", "sync")
_RANK = {kind: rank for rank, kind in enumerate(_FIRST)}


class Clock:
    """Events in the order of their time; at one instant in the order of their kind, then as they were put in.

    >>> clock = Clock()
    >>> clock.at(2.0, "start", "B"); clock.at(2.0, "close", "C"); clock.at(2.0, "start", "A")
    >>> clock.batch(), clock.batch(), clock.now
    (('close', ['C']), ('start', ['B', 'A']), 2.0)
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._queue: list[tuple[float, int, int, str, str]] = []
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._queue)

    @property
    def due(self) -> float:
        """When the next event is due."""
        return self._queue[0][0]

    def at(self, due: float, kind: str, who: str = "") -> None:
        """Put an event in."""
        self._count += 1
        heapq.heappush(self._queue, (due, _RANK[kind], self._count, kind, who))

    def batch(self) -> tuple[str, list[str]]:
        """All events of the next kind at the next instant, as one; the clock moves there."""
        due, rank, _, kind, who = heapq.heappop(self._queue)
        self.now = due
        together = [who]
        while self._queue and self._queue[0][:2] == (due, rank):
            together.append(heapq.heappop(self._queue)[4])
        return kind, together

    def waits_for(self, kind: str) -> bool:
        """Whether an event of that kind is due some time."""
        return any(event[3] == kind for event in self._queue)

    def cancel(self, kind: str, who: str) -> None:
        """Take an event out; it may not be there."""
        self._queue = [event for event in self._queue if (event[3], event[4]) != (kind, who)]
        heapq.heapify(self._queue)
