"""The mistakes of a user, as exceptions; what fails inside a simulated group is data, and lives in `trace`.

Each says what, where, and what was allowed; rooms higher up add a leaf of their own where they need one:

    VersionProbingError
    ├── DecodeError (ValueError)              bytes that no reader could have meant
    ├── EncodeError (ValueError)              a value that has no bytes
    ├── UnknownReleaseError (LookupError)     a release that is not in the catalogue
    └── ImpossibleScenarioError (ValueError)  picks that contradict one another
"""

from __future__ import annotations

from collections.abc import Sequence


class VersionProbingError(Exception):
    """Anything that this package tells its user; the message is one sentence."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback: who made the mistake does not read our source."""
        return [f"{type(self).__name__}: {self}"]


class DecodeError(VersionProbingError, ValueError):
    """Bytes that cannot be read: at which offset, in which field, and why.

    >>> str(DecodeError("needs 4 bytes, 1 is left", offset=7, field="version"))
    'at byte 7, version: needs 4 bytes, 1 is left'
    """

    def __init__(self, reason: str, *, offset: int, field: str) -> None:
        super().__init__(f"at byte {offset}, {field}: {reason}")
        self.reason = reason
        self.offset = offset
        self.field = field


class EncodeError(VersionProbingError, ValueError):
    """A value that cannot be written: which field, and what was allowed."""

    def __init__(self, reason: str, *, field: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.reason = reason
        self.field = field


class UnknownReleaseError(VersionProbingError, LookupError):
    """A release that the catalogue does not hold, with the nearest that it does."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = f"; the nearest known are {', '.join(nearest)}" if nearest else ""
        super().__init__(f"no Kafka Streams release is called {name!r}{hint}")
        self.name = name
        self.nearest = tuple(nearest)


class ImpossibleScenarioError(VersionProbingError, ValueError):
    """Picks that contradict one another: which pick, why, and what was allowed.

    >>> str(ImpossibleScenarioError("order", "A is bounced twice", "each member once"))
    'order: A is bounced twice (allowed: each member once)'
    """

    def __init__(self, pick: str, reason: str, allowed: str = "") -> None:
        super().__init__(f"{pick}: {reason}" + (f" (allowed: {allowed})" if allowed else ""))
        self.pick = pick
        self.reason = reason
        self.allowed = allowed
