"""Kafka Streams version probing: the rules of every release, a group that follows them, and its bytes.

This is the public face; each name is explained where it lives. It needs the standard library only, and
loads a room when one of its names is first used.
"""

from __future__ import annotations

from importlib import import_module

# Not when first used: the room has the name of its function, and would take its place once it is loaded.
from .releases import Binary, Release, release, releases, teaching

TYPE_CHECKING = False  # typing itself takes longer to import than everything here
if TYPE_CHECKING:
    from .errors import (
        DecodeError,
        EncodeError,
        ImpossibleScenarioError,
        UnknownReleaseError,
        VersionProbingError,
    )
    from .logbook import Diagnosis, Event, Explanation, explain
    from .paste import Layer, read_paste
    from .planner import Advice, plan
    from .scenario import Ending, Scenario, endings, simulate
    from .strategies import STRATEGIES, Strategy
    from .trace import Outcome, Step, Trace
    from .upgrade import Modes, Report, explore
    from .wire import Decoded, Field, decode

_ROOMS = {
    "errors": (
        "DecodeError",
        "EncodeError",
        "ImpossibleScenarioError",
        "UnknownReleaseError",
        "VersionProbingError",
    ),
    "logbook": ("Diagnosis", "Event", "Explanation", "explain"),
    "paste": ("Layer", "read_paste"),
    "planner": ("Advice", "plan"),
    "scenario": ("Ending", "Scenario", "endings", "simulate"),
    "strategies": ("STRATEGIES", "Strategy"),
    "trace": ("Outcome", "Step", "Trace"),
    "upgrade": ("Modes", "Report", "explore"),
    "wire": ("Decoded", "Field", "decode"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "STRATEGIES",
    "Advice",
    "Binary",
    "DecodeError",
    "Decoded",
    "Diagnosis",
    "EncodeError",
    "Ending",
    "Event",
    "Explanation",
    "Field",
    "ImpossibleScenarioError",
    "Layer",
    "Modes",
    "Outcome",
    "Release",
    "Report",
    "Scenario",
    "Step",
    "Strategy",
    "Trace",
    "UnknownReleaseError",
    "VersionProbingError",
    "decode",
    "endings",
    "explain",
    "explore",
    "plan",
    "read_paste",
    "release",
    "releases",
    "simulate",
    "teaching",
]


def __getattr__(name: str) -> object:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{room}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
