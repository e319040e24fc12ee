"""Questions worth asking, each with the picks that ask it.

What the picks mean is in `scenario`, the buttons that show them are in `header.js`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..scenario import Scenario


@dataclass(frozen=True, slots=True)
class Preset:
    """A question, the run that answers it, and the run to hold beside it."""

    title: str
    scenario: Scenario
    pinned: Scenario | None = None


def _old_leads(new: str = "2.1.0") -> Scenario:
    return Scenario(old="2.0.0", new=new, leader="C", order="A,B,C", succession="newest")


def _new_leads(new: str = "2.1.0") -> Scenario:
    return Scenario(old="2.0.0", new=new, leader="A", order="A,B,C", succession="newest")


PRESETS: Mapping[str, Preset] = {
    "probing": Preset("An old leader probes", Scenario(old="2.0.0", new="2.1.0", leader="A", order="C,B,A")),
    "kafka-8649": Preset("A new one: KAFKA-8649", _new_leads()),
    "both": Preset("Old against new", _new_leads(), _old_leads()),
    "fixed": Preset("Fix against bug", _new_leads("2.3.1"), _new_leads()),
    "two bounces": Preset(
        "Two bounces", Scenario(old="1.1.0", new="2.0.0", leader="A", order="A,B,C", upgrade_from="1.1")
    ),
}
"""The buttons above the pickers; the runs of the two comparisons differ in one pick."""
