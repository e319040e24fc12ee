"""What can happen: states, the actions that lead from one to the next, and what should hold of them.

How the states are walked is in `discovery`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)
"""A state: any hashable value; equal values are the same state."""

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can happen in a state.

    A model should make each of its actions once and use it again: a graph holds one reference an edge.

    >>> str(Action("pour", (("from", "big"), ("to", "small"))))
    'pour(from=big, to=small)'
    """

    name: str
    parameters: tuple[tuple[str, object], ...] = ()
    by: str = ""
    """Who does it. Loops can be looked for among the actions of some and not of others."""
    cost: int = 0
    ways: int = 1
    """How many concrete choices this one stands for: what an exact count of runs multiplies by."""
    weight: int | Fraction = 1
    """Its chance among the actions of the same state, relative to theirs."""
    fair: bool = False
    """Whether a run that could take it again and again does take it at last."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value}' for key, value in self.parameters)})"


class Model(Protocol[S]):
    """A finite set of states, given by where it starts and what comes next."""

    def initial(self) -> Iterable[tuple[Action, S]]:
        """The states to start from, each with the choice that led to it."""
        ...

    def moves(self, state: S) -> Iterable[tuple[Action, S]]:
        """What can happen in a state, and where it leads; nothing where a run ends."""
        ...

    def describe(self, state: S) -> Mapping[str, object]:
        """The state's variables as plain data, for people and for export."""
        ...


@dataclass(frozen=True, slots=True)
class Property(Generic[S]):
    """A claim about all runs, made of a claim about one state."""

    kind: str
    """`always`, `eventually` or `reachable`."""
    name: str
    holds: Callable[[S], bool]


def always(name: str, holds: Callable[[T], bool]) -> Property[T]:
    """In every reachable state it holds."""
    return Property("always", name, holds)


def eventually(name: str, holds: Callable[[T], bool]) -> Property[T]:
    """On every fair run there comes a state in which it holds."""
    return Property("eventually", name, holds)


def reachable(name: str, holds: Callable[[T], bool]) -> Property[T]:
    """Some run comes to a state in which it holds."""
    return Property("reachable", name, holds)
