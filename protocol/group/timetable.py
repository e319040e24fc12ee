"""When things happen: heartbeats, session timeouts, latencies, and how much of it is chance.

What happens then is in `run`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """Seconds. In lockstep nothing is left to chance but the broker's ranks; else each latency has its jitter.

    Source: the defaults of 2.0.0 to 3.9.0 ConsumerConfig (heartbeat.interval.ms, session.timeout.ms) and
    3.9.0 StreamsConfig (poll.ms); the latencies of a request and of an assignment are assumptions.
    """

    lockstep: bool = True
    heartbeat: float = 3.0
    heartbeat_jitter: float = 0.1
    poll: float = 0.1
    """A thread notices that it must rejoin when its poll returns."""
    rejoin: float = 0.01
    first_join: float = 0.01
    """From LeaveGroup to the first JoinGroup of a KIP-394 join."""
    second_join: float = 0.05
    """From LeaveGroup to the JoinGroup that is admitted."""
    assign: float = 0.03
    sync: float = 0.005
    initial_delay: float = 3.0
    """`group.initial.rebalance.delay.ms`: an empty group waits for more members."""
    settle: float = 6.1
    """How long the operator looks at a quiet group before the next bounce: two heartbeats and a bit."""

    def tick(self, phase: float, now: float, draw: random.Random) -> float:
        """The next heartbeat after `now` of a consumer whose timer was reset at `phase`."""
        beats = int((now - phase) // self.heartbeat) + 1
        due = phase + beats * self.heartbeat
        return due if self.lockstep else due + draw.uniform(0.0, self.heartbeat_jitter)

    def rejoin_at(self, now: float, draw: random.Random) -> float:
        """When a member that was told to rejoin does so."""
        return now + self.rejoin + (0.0 if self.lockstep else draw.uniform(0.0, self.poll))

    def close_at(self, now: float, draw: random.Random) -> float:
        """When the operator closes the next instance of a group that became quiet at `now`."""
        return now + self.settle + (0.0 if self.lockstep else draw.uniform(0.0, self.heartbeat))
