"""Logs of real groups: each line that matters, the members behind it, and what is wrong with them.

What would print such lines is in `leader` and `member`; bytes are taken apart in `wire`.
"""

from __future__ import annotations

from .diagnosis import NAMES, Diagnosis, Noted
from .events import Event
from .explanation import Explanation, NoLog, explain
from .history import Life
from .meaning import meaning, printed_by
from .reading import read
from .search import Progress
from .writing import written

__all__ = [
    "NAMES",
    "Diagnosis",
    "Event",
    "Explanation",
    "Life",
    "NoLog",
    "Noted",
    "Progress",
    "explain",
    "meaning",
    "printed_by",
    "read",
    "written",
]
