"""The broker's side of a classic group: who is in it, who leads it, when a generation is complete.

It knows ids and opaque metadata only: what the bytes say, and when a member sends them, is in `group`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from .machine import GROUP


@dataclass(frozen=True, slots=True)
class Seat:
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

    every_generation: bool
    """Whether a scripted coordinator picks anew at each completed join; the broker's leader is sticky."""

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The id that leads, out of one seat or more in join order."""
        ...


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The group as the broker holds it; each method returns the next value.

    Source: 3.9.0 GroupMetadata, GroupCoordinator#doJoinGroup, #onCompleteJoin, #doSyncGroup, #removeMemberAndUpdateGroup.
    """

    succession: Succession
    state: str = "Empty"
    generation: int = 0
    leader: str = ""
    seats: tuple[Seat, ...] = ()
    pending: tuple[str, ...] = ()
    """Ids that were handed out and have not joined yet (KIP-394): they hold the barrier open."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The member ids in join order."""
        return tuple(seat.id for seat in self.seats)

    def seat(self, member_id: str) -> Seat | None:
        """The seat of that id; None if the broker does not know it."""
        return next((seat for seat in self.seats if seat.id == member_id), None)

    def static(self, instance: str) -> Seat | None:
        """The seat of a static member; None if there is none."""
        return next((seat for seat in self.seats if seat.instance and seat.instance == instance), None)

    @property
    def barrier(self) -> bool:
        """Whether the join phase can complete: every known id has joined, and no id is pending."""
        return (
            self.state == "PreparingRebalance"
            and not self.pending
            and all(seat.waiting == "join" for seat in self.seats)
        )

    def expect(self, member_id: str) -> Coordinator:
        """First step of a KIP-394 join: the id is minted and pending."""
        return replace(self, pending=(*self.pending, member_id))

    def admit(self, seat: Seat) -> Coordinator:
        """A new member joins: it is parked, and a rebalance is prepared."""
        return replace(
            self._prepare("join"),
            leader=self.leader or seat.id,
            seats=(*self._unsynced(), replace(seat, waiting="join")),
            pending=tuple(other for other in self.pending if other != seat.id),
        )

    def rejoin(self, member_id: str, *, metadata: bytes) -> Coordinator:
        """A known member sends JoinGroup.

        In Stable only the leader, or changed metadata, starts a rebalance; in CompletingRebalance only
        changed metadata does. Otherwise nothing changes, and the sender is answered with the current generation.

        Source: 3.9.0 GroupCoordinator#doCurrentMemberJoinGroup.
        """
        seat = self.seat(member_id)
        assert seat is not None, member_id
        same = seat.metadata == metadata
        if self.state == "Stable" and same and member_id != self.leader:
            return self
        if self.state == "CompletingRebalance" and same:
            return self
        return replace(
            self._prepare("join"),
            seats=tuple(
                replace(other, metadata=metadata, waiting="join") if other.id == member_id else other
                for other in self._unsynced()
            ),
        )

    def replace_static(self, instance: str, *, member_id: str, rank: float, metadata: bytes) -> Coordinator:
        """A static member is back under a new id: silent in Stable, leadership and assignment included.

        Source: KIP-345; 3.9.0 GroupCoordinator#updateStaticMemberAndRebalance.
        """
        old = self.static(instance)
        assert old is not None, instance
        waiting = "join" if self.state == "PreparingRebalance" else ""
        seats = tuple(
            replace(seat, id=member_id, rank=rank, metadata=metadata, waiting=waiting) if seat is old else seat
            for seat in self.seats
        )
        return replace(self, seats=seats, leader=member_id if self.leader == old.id else self.leader)

    def remove(self, member_id: str) -> Coordinator:
        """An id goes, by LeaveGroup or because its session expired; if it led, somebody else leads.

        Source: 3.9.0 GroupMetadata#remove, GroupCoordinator#removeMemberAndUpdateGroup.
        """
        seats = tuple(seat for seat in self._unsynced() if seat.id != member_id)
        leader = self.leader
        if leader == member_id:
            leader = self.succession.pick(seats) if seats else ""
        return replace(self._prepare("leave"), seats=seats, leader=leader)

    def complete(self) -> Coordinator:
        """The join barrier is satisfied: the generation grows, and everyone waits for the leader's SyncGroup."""
        if not self.seats:
            return replace(self, state="Empty", generation=self.generation + 1, leader="")
        leader = self.leader
        if self.succession.every_generation or not self.seat(leader):
            leader = self.succession.pick(self.seats)
        return replace(
            self,
            state="CompletingRebalance",
            generation=self.generation + 1,
            leader=leader,
            seats=tuple(replace(seat, waiting="sync") for seat in self.seats),
        )

    def sync(self, assignments: Mapping[str, bytes]) -> Coordinator:
        """The leader's SyncGroup: each id has its assignment, and all parked members are answered at once."""
        return replace(
            self,
            state="Stable",
            seats=tuple(
                replace(seat, waiting="", assignment=assignments.get(seat.id, b"")) for seat in self.seats
            ),
        )

    def _prepare(self, event: str) -> Coordinator:
        target = GROUP.target(self.state, event) or GROUP.target(self.state, "leave")
        return replace(self, state=target or "PreparingRebalance")

    def _unsynced(self) -> tuple[Seat, ...]:
        if self.state != "CompletingRebalance":
            return self.seats
        return tuple(replace(seat, waiting="") if seat.waiting == "sync" else seat for seat in self.seats)


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
