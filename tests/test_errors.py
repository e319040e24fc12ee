"""What the package tells its user: which mistake, where, and what was allowed."""

from __future__ import annotations

import pytest

from protocol.errors import (
    DecodeError,
    EncodeError,
    ImpossibleScenarioError,
    UnknownReleaseError,
    VersionProbingError,
)

EACH = [
    (DecodeError("needs 4 bytes, 1 is left", offset=7, field="version"), ValueError),
    (EncodeError("v12 is no known version (1 to 11)", field="version"), ValueError),
    (UnknownReleaseError("2.3.7", ("2.3.1", "2.3.0")), LookupError),
    (ImpossibleScenarioError("order", "A is bounced twice", "each member once"), ValueError),
]
each = pytest.mark.parametrize(("error", "builtin"), EACH, ids=lambda part: getattr(part, "__name__", ""))


@each
def test_every_mistake_is_caught_at_any_grain(error: VersionProbingError, builtin: type[Exception]) -> None:
    for wanted in (type(error), VersionProbingError, builtin):
        with pytest.raises(wanted):
            raise error


@each
def test_a_mistake_is_one_sentence_on_one_line(error: VersionProbingError, builtin: type[Exception]) -> None:
    assert str(error)
    assert "\n" not in str(error)
    assert issubclass(type(error), builtin)


@each
def test_a_notebook_shows_the_sentence_and_no_traceback(error: VersionProbingError, builtin: type[Exception]) -> None:
    assert error._render_traceback_() == [f"{type(error).__name__}: {error}"]


def test_a_decode_error_tells_where_and_in_which_field() -> None:
    error = DecodeError("needs 4 bytes, 1 is left", offset=7, field="version")
    assert str(error) == "at byte 7, version: needs 4 bytes, 1 is left"
    assert (error.reason, error.offset, error.field) == ("needs 4 bytes, 1 is left", 7, "version")


def test_an_encode_error_tells_the_field() -> None:
    error = EncodeError("too long", field="topics")
    assert (str(error), error.reason, error.field) == ("topics: too long", "too long", "topics")


def test_an_unknown_release_comes_with_the_nearest_known_ones() -> None:
    error = UnknownReleaseError("2.3.7", ["2.3.1", "2.3.0"])
    assert str(error) == "no Kafka Streams release is called '2.3.7'; the nearest known are 2.3.1, 2.3.0"
    assert (error.name, error.nearest) == ("2.3.7", ("2.3.1", "2.3.0"))
    assert str(UnknownReleaseError("x", ())) == "no Kafka Streams release is called 'x'"


def test_an_impossible_scenario_tells_the_pick_and_what_was_allowed() -> None:
    error = ImpossibleScenarioError("order", "A is bounced twice")
    assert (str(error), error.pick, error.allowed) == ("order: A is bounced twice", "order", "")
    assert str(ImpossibleScenarioError("members", "0 is too few", "2 to 12")).endswith("(allowed: 2 to 12)")
