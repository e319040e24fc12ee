"""Rolling upgrades as models for the explorer: every order, every leader, every interruption.

One run with its bytes and log lines is in `scenario`; the walk through states, which knows no Kafka, in `explorer`.
"""

from __future__ import annotations

from . import formulas
from .exploration import REPRESENTATIONS, Exploration, Verdict, explored
from .jars import MODES, ORDERS, RELEADS, SUCCESSIONS, Jar, Modes, Upgrade, jar, strategy_jar, upgrade
from .lifting import Example, examples, lifted
from .report import Ending, Report, explore, report
from .sweep import Cell, Sweep, behaviours, matrix, release_pairs, rule_jar, strategies_matrix, sweep, why

__all__ = [
    "MODES",
    "ORDERS",
    "RELEADS",
    "REPRESENTATIONS",
    "SUCCESSIONS",
    "Cell",
    "Ending",
    "Example",
    "Exploration",
    "Jar",
    "Modes",
    "Report",
    "Sweep",
    "Upgrade",
    "Verdict",
    "behaviours",
    "examples",
    "explore",
    "explored",
    "formulas",
    "jar",
    "lifted",
    "matrix",
    "release_pairs",
    "report",
    "rule_jar",
    "strategies_matrix",
    "strategy_jar",
    "sweep",
    "upgrade",
    "why",
]
