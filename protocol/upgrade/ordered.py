"""The model in which members are told apart by their place in an order: join order, or the broker's random ranks.

A member that starts gets a new id, and with it a new place; its name is lost. The model by name is in `named`.
"""

from __future__ import annotations

from fractions import Fraction

from .named import _FIRST, BACK, NOBODY, PENDING, Move, Named


class Ordered(Named):
    """The first byte of a state is the oldest member, or the one with the smallest rank.

    The broker draws a rank with each member id, and the smallest leads when the leader's id is gone. So the place of
    a new rank among all that were ever drawn is uniform, and the order of all is the state of an exact chain. An id
    that is gone keeps its place: that somebody was elected before it says how small the elected one's rank is.
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

    def _leave(self, members: bytes, leader: int | None, i: int) -> tuple[bytes, int | None]:
        """The word without the id at place `i`, and where the leader, another one, is in it."""
        if self.modes.succession == "broker":
            return members[:i] + bytes((self.classes.gone,)) + members[i + 1 :], leader
        return members[:i] + members[i + 1 :], leader if leader is None or leader < i else leader - 1

    def _trimmed(self, word: bytes, leader: int) -> bytes:
        """A state without the ranks that cannot matter any more, for nobody will be bounced again."""
        gone, classes = self.classes.gone, self.classes
        if gone >= 0 and gone in word and all(one == gone or classes.jar[one] == self.last for one in word):
            return bytes(one for one in word if one != gone) + bytes((_FIRST + leader - word.count(gone, 0, leader),))
        return word + bytes((_FIRST + leader,))

    def _first_of(self, word: bytes, leader: int | None, among: list[int] | None = None) -> int | None:
        """Who leads if nobody does."""
        if leader is not None:
            return leader
        candidates = [k for k in (range(len(word)) if among is None else among) if self.classes.alive[word[k]]]
        return self._elect(candidates, -1)[0][1] if candidates else None

    def _bounce(self, members: bytes, leader: int, control: int, out: list[Move], i: int, target: int) -> None:
        rest, leads = self._leave(members, None if i == leader else leader, i)
        if self.modes.closing == "leaves":
            leads = self._first_of(rest, leads)
        words = self._insert({(rest, leads): Fraction(1)}, self.classes.fresh[target])
        jar = target if self.last > 1 or control & BACK else None
        for (word, place), share in words.items():
            then = self._first_of(word, place)
            assert then is not None
            action = self._action(
                "bounce", i, jar, by="operator", share=share, then=then if i == leader else None, fair=True
            )
            out.append((action, self._trimmed(word, then) + bytes((control | PENDING,))))

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
        led = leader < len(members) and self.classes.alive[members[leader]]
        rest, leads = self._leave(members, leader if led else None, i)
        jar = target if name != "start" and (self.last > 1 or control & BACK) else None
        for (word, place), share in self._insert({(rest, leads): Fraction(1)}, self.classes.fresh[target]).items():
            then = self._first_of(word, place)
            assert then is not None
            action = self._action(name, i, jar, by=by, share=share, fair=True)
            out.append((action, self._trimmed(word, then) + bytes((control | PENDING,))))

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
        rest, leads = members, None if gives_up else leader
        for k in reversed(leavers):
            rest, leads = self._leave(rest, leads, k)
        words = {(rest, self._first_of(rest, leads)): Fraction(1)}
        for k in leavers:
            words = self._insert(words, members[k])
        for (word, place), part in words.items():
            # when all have left, the first to come back leads, whatever its rank
            who = [place] if place is not None else [k for k, one in enumerate(word) if self.classes.alive[one]]
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
                out.append(
                    (action, (self._trimmed(word, then) if who else word + bytes((NOBODY,))) + bytes((control,)))
                )
