"""The numbers of the rebalance metadata, and the generations of code that spell them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from protocol.versions import CODECS, EARLIEST_PROBEABLE, FIRST, LATEST, UNKNOWN, Dialect


def test_the_numbers_are_kafkas() -> None:
    assert (UNKNOWN, FIRST, EARLIEST_PROBEABLE, LATEST) == (-1, 1, 3, 11)


def test_the_generations_of_code_stand_in_the_order_of_their_first_releases() -> None:
    releases = [tuple(int(part) for part in name.split(".")) for name in CODECS]
    assert releases == sorted(releases)
    assert len(set(CODECS)) == len(CODECS)


def test_a_dialect_is_a_value_that_is_made_by_name_only() -> None:
    dialect = Dialect(latest=4, codec="2.2.2", envelope=0)
    assert dialect == Dialect(envelope=0, codec="2.2.2", latest=4)
    assert len({dialect, Dialect(latest=4, codec="2.2.2", envelope=0)}) == 1
    with pytest.raises(FrozenInstanceError):
        dialect.latest = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Dialect(4, "2.2.2", 0)  # type: ignore[misc]
