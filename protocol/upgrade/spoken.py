"""Which versions members may come to speak: under released rules those of the jars, under a reader's own any.

What becomes of a class of members is in `classes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from ..errors import ImpossibleScenarioError
from ..strategies import is_own, leader_rows, member_rule
from ..strategies.own import LEADER, first
from ..versions import EARLIEST_PROBEABLE, UNKNOWN
from .jars import Jar

MOST_CLASSES = 240
"""Classes that have a number in one byte."""


@lru_cache(maxsize=256)
def spoken(jars: tuple[Jar, ...]) -> tuple[tuple[int, ...], ...]:
    """For each jar the versions that its members may be told to speak, those that will kill them among these.

    Own rules are asked for every answer that some group could get, so that there may be more than occur.

    Raises: ImpossibleScenarioError for rules that tell too many different versions.
    """
    if not any(is_own(rule) for jar in jars for rule in (jar.leader_rule, jar.member_rule)):
        return (tuple(sorted({jar.latest for jar in jars})),) * len(jars)
    heard: list[set[int]] = [{jar.latest} for jar in jars]
    before = 0
    while before < (before := sum(map(len, heard))):
        if before > MOST_CLASSES:
            raise ImpossibleScenarioError("rules", f"they tell members {before} versions", f"at most {MOST_CLASSES}")
        said = [
            {version for version in versions if 1 <= version <= jar.latest}
            for jar, versions in zip(jars, heard, strict=True)
        ]
        for number, used, received, common in _answers(jars, said):
            reaction = member_rule(jars[number].member_rule).react(
                latest=jars[number].latest, used=used, received=received, common=common
            )
            if reaction.refusal is None:
                heard[number].add(reaction.used)
    return tuple(tuple(sorted(versions)) for versions in heard)


def _answers(jars: Sequence[Jar], said: Sequence[set[int]]) -> Iterator[tuple[int, int, int, int]]:
    """(jar, version sent, version received, second int) of every answer that a leader could give."""
    each = [(number, used) for number, versions in enumerate(said) for used in sorted(versions)]
    pairs = {one: (one[1], jars[one[0]].latest if one[1] >= EARLIEST_PROBEABLE else UNKNOWN) for one in each}
    for boss in dict.fromkeys((jar.leader_rule, jar.latest) for jar in jars):
        for one in each:
            yield from ((*one, *answer) for answer in sorted(_replies(*boss, pairs[one], list(pairs.values()))))


def _replies(rule: str, latest: int, mine: tuple[int, int], others: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """What a leader may answer to a member, over all that the rest of its group may say."""
    rows = leader_rows(rule)
    readable = [one for one in others if one[0] <= latest]
    choices = {
        "used": {mine[0]},
        "supported": {mine[1]},
        "latest": {latest},
        "smallest_used": {latest, *(used for used, _ in readable)},
        "smallest_supported": {latest, *(min(can, latest) for _, can in readable)},
        "smallest_supported_of_all": {latest, *(min(can, latest) for _, can in others)},
        "largest_used": {used for used, _ in others},
        "largest_supported": {can for _, can in others},
        "future": {0, int(len(readable) < len(others))},
    }
    read = frozenset[str]().union(*(row.names for row in rows))
    found = set()
    for numbers in product(*(sorted(choices[name]) if name in read else [0] for name in LEADER.numbers)):
        row = first(rows, numbers)
        if row.word:
            continue
        version, second = row.says(numbers)
        if 1 <= version <= latest:
            found.add((version, second if version >= EARLIEST_PROBEABLE else UNKNOWN))
    return found
