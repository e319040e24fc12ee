"""The model in which members are told apart by their place in an order: join order, or the broker's random ranks.

A member that starts gets a new id, and with it a new place; its name is lost. The model by name is in `named`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from ..explorer import Action, Path
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


def with_names(model: Ordered, path: Path[bytes]) -> tuple[Named, Path[bytes]]:
    """The same run by name: who is at which place is followed along the path, so that each election is kept."""
    named = Named(replace(model.upgrade, modes=replace(model.modes, succession="any")))
    words = [bytes(one for one in state[:-2] if one != model.classes.gone) for state in path.states]
    leads = [_leader_among(model, state) for state in path.states]
    if path.loop is not None:
        words.append(words[path.loop])
        leads.append(leads[path.loop])
    places = list(range(model.n))
    states = [_by_name(words[0], places, leads[0], path.states[0][-1])]
    actions = [next(action for action, state in named.initial() if state == states[0])]
    for i, word in enumerate(words[1:], 1):
        before = path.states[i - 1]
        control = path.states[i if i < len(path.states) else path.loop or 0][-1]
        for moved in _followers(model, before, path.actions[i], places, word):
            goal = _by_name(word, moved, leads[i], control)
            found = next((one for one in named.moves(states[-1]) if one[1] == goal), None)
            if found is not None:
                places = moved
                actions.append(found[0])
                states.append(goal)
                break
        else:
            raise AssertionError("every step by place is a step by name")
    if path.loop is None:
        return named, Path(tuple(states), tuple(actions))
    return named, Path(tuple(states[:-1]), tuple(actions), loop=path.loop)


def _leader_among(model: Ordered, state: bytes) -> int:
    """The leader's place among those who are not gone; -1 for nobody."""
    if state[-2] == NOBODY:
        return -1
    place = state[-2] - _FIRST
    return place - state.count(model.classes.gone, 0, place) if model.classes.gone >= 0 else place


def _by_name(word: bytes, places: list[int], leader: int, control: int) -> bytes:
    """A state by name: the member at place k of the word is `places[k]`."""
    members = bytearray(len(word))
    for one, name in zip(word, places, strict=True):
        members[name] = one
    return bytes(members) + bytes((_FIRST + places[leader] if leader >= 0 else NOBODY, control))


def _followers(model: Ordered, before: bytes, action: Action, places: list[int], word: bytes) -> Iterator[list[int]]:
    """The orders that names may have after a step: those who got a new id moved, the others kept their order."""
    gone = model.classes.gone
    told = dict(action.parameters)
    if "member" in told and action.name in ("bounce", "start", "restart"):
        place = int(str(told["member"]).rstrip(".")) - 1
        place -= before.count(gone, 0, place) if gone >= 0 else 0
        rest = places[:place] + places[place + 1 :]
        yield from ([*rest[:k], places[place], *rest[k:]] for k in range(len(rest), -1, -1))
        return
    yield list(places)
    for count in range(1, len(places) + 1):
        for leavers in combinations(places, count):
            rest = [name for name in places if name not in leavers]
            for spots in combinations(range(len(places)), count):
                merged, stay, go = [], iter(rest), iter(leavers)
                for k in range(len(places)):
                    merged.append(next(go) if k in spots else next(stay))
                yield merged
