"""The model in which members are told apart by their place in an order: join order, or the broker's random ranks.

A member that starts gets a new id, and with it a new place; its name is lost. The model by name is in `named`.
"""

from __future__ import annotations

from fractions import Fraction

from .named import _FIRST, NOBODY, PENDING, Move, Named


class Ordered(Named):
    """The first byte of a state is the oldest member, or the one with the smallest rank.

    The broker draws a rank with each member id, and the smallest leads when the leader's id is gone. So the place
    of a new id among the others is uniform, and what is known of the other ranks is their order: the chain is exact.
    Members that leave to rejoin do so at the same instant, as in the simulator's lockstep.
    """

    _moves_leavers = True

    def _who(self, place: int) -> str:
        return f"{place + 1}."

    def _insert(
        self, words: dict[tuple[bytes, int | None], Fraction], fresh: int
    ) -> dict[tuple[bytes, int | None], Fraction]:
        """Give one more member its place in every word; the leader's place moves along."""
        found: dict[tuple[bytes, int | None], Fraction] = {}
        one = bytes((fresh,))
        for (word, leader), share in words.items():
            places = range(len(word) + 1) if self.modes.succession == "broker" else (len(word),)
            part = share / len(places)
            for place in places:
                leads = leader if leader is None or leader < place else leader + 1
                key = (word[:place] + one + word[place:], leads)
                found[key] = found.get(key, Fraction(0)) + part
        return found

    def _first_of(self, word: bytes, leader: int | None, among: list[int] | None = None) -> int | None:
        """Who leads if nobody does."""
        if leader is not None:
            return leader
        candidates = [k for k in (range(len(word)) if among is None else among) if self.classes.alive[word[k]]]
        return self._elect(candidates, -1)[0][1] if candidates else None

    def _bounce(self, members: bytes, leader: int, control: int, out: list[Move], i: int, target: int) -> None:
        rest = members[:i] + members[i + 1 :]
        leads = None if i == leader else leader - (leader > i)
        if self.modes.closing == "leaves":
            leads = self._first_of(rest, leads)
        words = self._insert({(rest, leads): Fraction(1)}, self.classes.fresh[target])
        jar = target if self.last > 1 or control & 2 else None
        for (word, place), share in words.items():
            then = self._first_of(word, place)
            assert then is not None
            action = self._action(
                "bounce", i, jar, by="operator", share=share, then=then if i == leader else None, fair=True
            )
            out.append((action, word + bytes((_FIRST + then, control | PENDING))))

    def _restart(
        self,
        name: str,
        members: bytes,
        leader: int,
        control: int,
        out: list[Move],
        i: int,
        target: int,
        by: str = "operator",
    ) -> None:
        rest = members[:i] + members[i + 1 :]
        leads = leader - (leader > i) if 0 <= leader < self.n and self.classes.alive[members[leader]] else None
        jar = target if name != "start" and (self.last > 1 or control & 2) else None
        for (word, place), share in self._insert({(rest, leads): Fraction(1)}, self.classes.fresh[target]).items():
            then = self._first_of(word, place)
            assert then is not None
            action = self._action(name, i, jar, by=by, share=share, fair=True)
            out.append((action, word + bytes((_FIRST + then, control | PENDING))))

    def _gives_up(
        self,
        members: bytes,
        leader: int,
        leavers: list[int],
        control: int,
        out: list[Move],
        share: Fraction,
        first: int | None,
        missing: tuple[int, ...],
        gives_up: bool,
    ) -> None:
        fair = self.modes.lossy and not missing
        going = set(leavers)
        staying = [k for k in range(self.n) if k not in going]
        rest = bytes(members[k] for k in staying)
        leads = None if gives_up else staying.index(leader)
        words = {(rest, self._first_of(rest, leads)): Fraction(1)}
        for k in leavers:
            words = self._insert(words, members[k])
        for (word, place), part in words.items():
            # when all have left, the first to come back leads, whatever its rank
            who = [place] if place is not None else [k for k in range(self.n) if self.classes.alive[word[k]]]
            for then in who or [NOBODY - _FIRST]:
                action = self._action(
                    "rebalance",
                    cost=1,
                    share=share * part / max(1, len(who)),
                    first=first,
                    then=then if gives_up else None,
                    missing=missing,
                    fair=fair,
                )
                out.append((action, word + bytes((_FIRST + then, control))))
