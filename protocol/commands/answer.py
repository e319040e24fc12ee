"""What every command's answer has: one JSON form, and one kind of refusal.

The answers themselves are made in the rooms beside this one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..errors import VersionProbingError

SCHEMA = 1
"""The number in every JSON answer; it grows when a key changes its meaning or goes."""


class Unusable(VersionProbingError):
    """Words on the command line that do not fit together."""


def print_json(answer: Mapping[str, object]) -> None:
    """The answer for programs, on standard output."""
    print(json.dumps({"schema": SCHEMA, **answer}, ensure_ascii=False, indent=1))
