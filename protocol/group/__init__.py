"""The mechanics of a group: who joins, who leads, what travels as bytes, and what each makes of it.

What the operator picks is in `scenario`; the rules that leaders and members follow are in `leader` and `member`.
"""

from __future__ import annotations

import gc

from ..trace import Trace
from .plan import Bounce, Place, Plan
from .recorder import name_of
from .run import Run
from .timetable import Timetable

__all__ = ["Bounce", "Place", "Plan", "Timetable", "name_of", "play"]


def play(plan: Plan) -> Trace:
    """Run a plan to its end.

    The same plan gives the same trace, always: chance is drawn from `Plan.seed` only.
    """
    # A run makes some 10^5 values that all live on in the trace, and no cycle: looking for garbage among them
    # takes a quarter of the time and finds none.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return Run(plan).play()
    finally:
        if collecting:
            gc.enable()
