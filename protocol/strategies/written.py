"""The released rules as rows, as a reader would write them: examples to start from.

The tests prove that they answer as the functions of `released` do; how rows are read is in `own`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LEADERS_AS_ROWS: Mapping[str, str] = MappingProxyType(
    {
        "own version": "future -> die; otherwise -> latest, latest",
        "smallest used": "future -> die; otherwise -> smallest_used, latest",
        "leader's version": "used > latest -> latest, latest; otherwise -> smallest_used, latest",
        "smallest supported, not yet encoded": "otherwise -> smallest_used, latest",
        "smallest supported": "otherwise -> smallest_used, smallest_supported",
        "smallest supported of all": "otherwise -> smallest_used, smallest_supported_of_all",
        "mirror": "not future and smallest_used < smallest_supported == latest -> latest, latest; "
        "otherwise -> min(used, latest), latest",
        "proposal": "not future and smallest_used < smallest_supported -> smallest_supported, latest; "
        "otherwise -> min(used, latest), latest",
    }
)
"""Each of `LEADER_RULES` in the words of `own_leader_rule`."""

MEMBERS_AS_ROWS: Mapping[str, str] = MappingProxyType(
    {
        "no check": "otherwise -> used",
        "leader's version": "received > used -> die; received < used -> second, rejoin; second > used -> second; "
        "otherwise -> used",
        "smallest supported": "received > used -> die; second > latest -> die; "
        "second > used or received < used -> second, rejoin; otherwise -> used",
        "mirror": "received != used -> received, rejoin; otherwise -> used",
        "proposal": "received > used -> second, rejoin; received == used -> used; "
        "received == second -> second, rejoin; otherwise -> die",
    }
)
"""Each of `MEMBER_RULES` in the words of `own_member_rule`."""
