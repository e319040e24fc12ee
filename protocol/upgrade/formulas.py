"""Closed forms: what a roll of N members costs, as a function of when leadership first sits on a new binary.

The explorer agrees with each of them, up to 60 members, in its tests. All are for the settled mode, two versions,
and a bounce that is over before the group rebalances; chances are those of a uniform draw at each election.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial


def smallest_supported(*, members: int) -> int:
    """Rebalances of what shipped: two a bounce, whoever leads.

    A member that was just bounced speaks the new version and somebody else the old one, or at the last bounce
    everybody else does, so each bounce needs its second rebalance; after that all speak the same.

    >>> [smallest_supported(members=n) for n in (1, 2, 3, 10)]
    [1, 4, 6, 20]
    """
    return 1 if members == 1 else 2 * members


def mirror(*, members: int, first: int) -> int:
    """Rebalances of the proposal, `first` being the bounce at which leadership first sits on a new binary.

    An old leader sends each newcomer down, which costs a second rebalance; a new leader lets each speak its own
    version. The last bounce costs one more if anybody was ever sent down.

    >>> [mirror(members=5, first=p) for p in (1, 2, 3, 4, 5)]
    [5, 7, 8, 9, 10]
    """
    return members if first == 1 else members + first


def leaders_version(*, members: int, first: int) -> int:
    """Rebalances of what 2.0.0 to 2.3.0 shipped; `members - first` members die on the way.

    >>> [leaders_version(members=5, first=p) for p in (1, 2, 3, 4, 5)]
    [6, 7, 8, 9, 10]
    """
    return members + first


def saved(*, members: int, first: int) -> int:
    """Rebalances that the proposal saves against what shipped.

    Nothing if leadership reaches a new binary only at the last bounce, half of all if it does at the first.

    >>> [saved(members=5, first=p) for p in (1, 2, 3, 4, 5)]
    [5, 3, 2, 1, 0]
    """
    return smallest_supported(members=members) - mirror(members=members, first=first)


def still_old(*, members: int, bounces: int) -> Fraction:
    """The chance that an old binary still leads after so many bounces in random order.

    Each bounce that spares the leader, or hands the lead to a member that is still old, multiplies it.

    >>> still_old(members=3, bounces=2)
    Fraction(16, 27)
    """
    n, k = members, bounces
    return Fraction(n - k, n) * Fraction(n + 1, n) ** k


def first_new_leader(*, members: int) -> tuple[Fraction, ...]:
    """The chance of each bounce, from the first, that it is the one at which leadership first sits on a new binary.

    >>> first_new_leader(members=3) == (Fraction(1, 9), Fraction(8, 27), Fraction(16, 27))
    True
    """
    left = [still_old(members=members, bounces=k) for k in range(members)]
    return tuple(left[k - 1] - (left[k] if k < members else 0) for k in range(1, members + 1))


def survival(*, members: int) -> Fraction:
    """The chance that an upgrade from 2.0 to 2.1, 2.2.0, 2.2.1 or 2.3.0 kills nobody: about e / N.

    >>> survival(members=3), float(survival(members=50)).__round__(3)
    (Fraction(16, 27), 0.053)
    """
    return still_old(members=members, bounces=members - 1)


def survival_slow(*, members: int) -> Fraction:
    """The same if each member is back only after the group has rebalanced without it, so that it cannot lead at once.

    >>> survival_slow(members=3)
    Fraction(3, 4)
    """
    n = members
    return Fraction(1, n) * Fraction(n, n - 1) ** (n - 1) if n > 1 else Fraction(1)


def expected_saved(*, members: int) -> Fraction:
    """How many rebalances the proposal saves on average; one in seven for a large group.

    >>> float(expected_saved(members=100) / smallest_supported(members=100)).__round__(2)
    0.14
    """
    chances = first_new_leader(members=members)
    return sum((share * saved(members=members, first=p) for p, share in enumerate(chances, 1)), Fraction(0))


def runs(*, members: int) -> int:
    """Bounce orders times choices of leader, the first one included.

    >>> [runs(members=n) for n in (3, 4, 5, 6)]
    [102, 1176, 15480, 231120]
    """
    return factorial(members) * (((members - 1) << members) + 1)


def runs_without_deaths(*, members: int) -> int:
    """Those of them in which an upgrade by the leader's version kills nobody.

    >>> [runs_without_deaths(members=n) for n in (3, 4, 5, 6)]
    [72, 768, 9600, 138240]
    """
    return members * factorial(members) << (members - 1)


def states(strategy: str, representation: str, *, members: int) -> int:
    """How many states the explorer finds, for the two strategies that kill nobody.

    >>> states("smallest supported", "named", members=8), states("mirror", "counted", members=8)
    (12280, 136)
    """
    n = members
    known = {
        ("smallest supported", "named"): n * ((n + 4 << n) // 2 - 1),
        ("smallest supported", "counted"): 7 * n - 3,
        ("smallest supported", "presence"): 7 * n - 3,
        ("mirror", "named"): n * (4 * int(3 ** (n - 1)) + (n - 5 << n) // 4 + 1),
        ("mirror", "counted"): 2 * n * n + n,
        ("mirror", "presence"): 9 * n - 8,
    }
    return known[strategy, representation]
