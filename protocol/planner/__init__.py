"""What an upgrade will do: the verdict with its reasons, the bounces to do, what they cost, and the way back.

The proof over all orders and leaders is in `upgrade`; one run, step by step, in `scenario`.
"""

from __future__ import annotations

from .advice import VERDICTS, Advice, WayBack, plan
from .costs import Cost
from .reason import FEATURES, Reason
from .rounds import Round
from .signs import Sign

__all__ = ["FEATURES", "VERDICTS", "Advice", "Cost", "Reason", "Round", "Sign", "WayBack", "plan"]
