"""The broker's side of a classic group: who is in it, who leads it, when a generation is complete.

It knows ids and opaque metadata only: what the bytes say, and when a member sends them, is in `group`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from .machine import GROUP


class Seat(NamedTuple):
    """One member id at the broker; its process may be gone (a ghost)."""

    id: str
    rank: float
    """Uniform, drawn once with the id: the place of a random UUID in the broker's hash map."""
    metadata: bytes
    waiting: str = ""
    """`join` or `sync` while its request is parked; else empty."""
    assignment: bytes = b""
    instance: str = ""
    """`group.instance.id` of a static member; else empty."""
    standing: int = 0
    """What the succession `highest version` compares; the broker itself does not look."""


class Succession(Protocol):
    """Who leads when the leader's id is gone."""

    @property
    def every_generation(self) -> bool:
        """Whether a scripted coordinator picks anew at each completed join; the broker's leader is sticky."""
        ...

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The id that leads, out of one seat or more in join order."""
        ...


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The group as the broker holds it; each method returns the next value.

    Source: 3.9.0 GroupMetadata, GroupCoordinator#doJoinGroup, #onCompleteJoin, #doSyncGroup.
    """

    succession: Succession
    state: str = "Empty"
    generation: int = 0
    leader: str = ""
    seats: Mapping[str, Seat] = field(default_factory=dict)
    """By member id, in join order."""
    pending: frozenset[str] = frozenset()
    """Ids that were handed out and have not joined yet (KIP-394): they hold the barrier open."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The member ids in join order."""
        return tuple(self.seats)

    def static(self, instance: str) -> Seat | None:
        """The seat of a static member; None if there is none."""
        return next((seat for seat in self.seats.values() if seat.instance and seat.instance == instance), None)

    @property
    def barrier(self) -> bool:
        """Whether the join phase can complete: every known id has joined, and no id is pending."""
        return (
            self.state == "PreparingRebalance"
            and not self.pending
            and all(seat.waiting == "join" for seat in self.seats.values())
        )

    def expect(self, member_id: str) -> Coordinator:
        """First step of a KIP-394 join: the id is minted and pending."""
        return self._with(pending=self.pending | {member_id})

    def admit(self, seat: Seat) -> Coordinator:
        """A new member joins: it is parked, and a rebalance is prepared."""
        return self._with(
            state=self._prepared("join"),
            leader=self.leader or seat.id,
            seats={**self._unsynced(), seat.id: seat._replace(waiting="join")},
            pending=self.pending - {seat.id},
        )

    def rejoin(self, member_id: str, *, metadata: bytes) -> Coordinator:
        """A known member sends JoinGroup.

        In Stable only the leader, or changed metadata, starts a rebalance; in CompletingRebalance only
        changed metadata does. Otherwise nothing changes, and the sender is answered with the current generation.

        Source: 3.9.0 GroupCoordinator#doCurrentMemberJoinGroup.
        """
        seat = self.seats[member_id]
        same = seat.metadata == metadata
        if self.state == "Stable" and same and member_id != self.leader:
            return self
        if self.state == "CompletingRebalance" and same:
            return self
        seats = {**self._unsynced(), member_id: seat._replace(metadata=metadata, waiting="join")}
        return self._with(state=self._prepared("join"), seats=seats)

    def rejoin_all(self, metadata: Mapping[str, bytes]) -> Coordinator:
        """Several known members send JoinGroup, one after the other."""
        if self.state != "PreparingRebalance":
            broker = self
            for member_id, data in metadata.items():
                broker = broker.rejoin(member_id, metadata=data)
            return broker
        parked = {
            member_id: self.seats[member_id]._replace(metadata=data, waiting="join")
            for member_id, data in metadata.items()
        }
        return self._with(seats={**self.seats, **parked})

    def replace_static(self, instance: str, *, member_id: str, rank: float, metadata: bytes) -> Coordinator:
        """A static member is back under a new id: silent in Stable, leadership and assignment included.

        Source: KIP-345; 3.9.0 GroupCoordinator#updateStaticMemberAndRebalance.
        """
        old = self.static(instance)
        assert old is not None, instance
        waiting = "join" if self.state == "PreparingRebalance" else ""
        new = old._replace(id=member_id, rank=rank, metadata=metadata, waiting=waiting)
        seats = {new.id if seat is old else seat.id: new if seat is old else seat for seat in self.seats.values()}
        return self._with(seats=seats, leader=member_id if self.leader == old.id else self.leader)

    def remove(self, member_id: str) -> Coordinator:
        """An id goes, by LeaveGroup or because its session expired; if it led, somebody else leads.

        Source: 3.9.0 GroupMetadata#remove, GroupCoordinator#removeMemberAndUpdateGroup.
        """
        seats = {other: seat for other, seat in self._unsynced().items() if other != member_id}
        leader = self.leader
        if leader == member_id:
            leader = self.succession.pick(tuple(seats.values())) if seats else ""
        return self._with(state=self._prepared("leave"), seats=seats, leader=leader)

    def complete(self) -> Coordinator:
        """The join barrier is satisfied: the generation grows, and everyone waits for the leader's SyncGroup."""
        generation = self.generation + 1
        if not self.seats:
            return self._with(state="Empty", generation=generation, leader="")
        leader = self.leader
        if self.succession.every_generation or leader not in self.seats:
            leader = self.succession.pick(tuple(self.seats.values()))
        seats = {member_id: seat._replace(waiting="sync") for member_id, seat in self.seats.items()}
        return self._with(state="CompletingRebalance", generation=generation, leader=leader, seats=seats)

    def sync(self, assignments: Mapping[str, bytes]) -> Coordinator:
        """The leader's SyncGroup: each id has its assignment, and all parked members are answered at once."""
        seats = {
            member_id: seat._replace(waiting="", assignment=assignments.get(member_id, b""))
            for member_id, seat in self.seats.items()
        }
        return self._with(state="Stable", seats=seats)

    def led_by(self, member_id: str) -> Coordinator:
        """The same group with another leader: the operator's pick of who leads first."""
        return self._with(leader=member_id)

    def _with(
        self,
        *,
        state: str | None = None,
        generation: int | None = None,
        leader: str | None = None,
        seats: Mapping[str, Seat] | None = None,
        pending: frozenset[str] | None = None,
    ) -> Coordinator:
        # dataclasses.replace costs ten times as much, and this is called for every request.
        return Coordinator(
            self.succession,
            self.state if state is None else state,
            self.generation if generation is None else generation,
            self.leader if leader is None else leader,
            self.seats if seats is None else seats,
            self.pending if pending is None else pending,
        )

    def _prepared(self, event: str) -> str:
        return GROUP.target(self.state, event) or "PreparingRebalance"

    def _unsynced(self) -> Mapping[str, Seat]:
        if self.state != "CompletingRebalance":
            return self.seats
        return {
            member_id: seat._replace(waiting="") if seat.waiting == "sync" else seat
            for member_id, seat in self.seats.items()
        }


@dataclass(frozen=True, slots=True)
class BrokerSuccession:
    """The broker's rule: the leader is sticky; the next one is the first key of a hash map, so the smallest rank.

    Source: 3.9.0 GroupMetadata#remove (`members.keys.headOption`).
    """

    every_generation: bool = False

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The smallest rank of all ids in the group, just-joined ones included."""
        return min(seats, key=lambda seat: seat.rank).id


@dataclass(frozen=True, slots=True)
class Oldest:
    """A scripted coordinator: the member that joined first leads."""

    every_generation: bool = True

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The first in join order."""
        return seats[0].id


@dataclass(frozen=True, slots=True)
class Newest:
    """A scripted coordinator: the member that joined last leads."""

    every_generation: bool = True

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The last in join order."""
        return seats[-1].id


@dataclass(frozen=True, slots=True)
class HighestVersion:
    """The idea in KIP-429's text: the member with the highest supported version leads; the oldest of several."""

    every_generation: bool = True

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The highest standing, the earliest of equals."""
        return max(seats, key=lambda seat: seat.standing).id
