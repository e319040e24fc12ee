"""What a reaction and a refusal mean, in one sentence each.

When they happen is in `released` and `own`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NOTES: Mapping[str, str] = MappingProxyType(
    {
        "same version": "It was answered in the version that it sent, so it takes its tasks and stays.",
        "no check": "A release before 2.0 reads any version that it knows and compares it with nothing.",
        "before probing": "An answer in v1 or v2 means that a member from before 2.0 is in the group: "
        "no probing, and the version it sends stays.",
        "downgrade to received": "It was answered in an older version, so somebody cannot speak its own: "
        "it goes down to the version it received and rejoins.",
        "set to leader's": "It was answered in an older version than the leader supports: "
        "it takes the leader's latest for its own next version and rejoins.",
        "upgrade in silence": "The leader's latest is above what it sends: it will send that version next time, "
        "whether its jar supports it or not, and does not rejoin.",
        "upgrade to common": "All support more than it sends, so the roll is over: it goes up to that and rejoins.",
        "downgrade to common": "It was answered in an older version than it sent: "
        "it goes to the version that all support and rejoins.",
        "upgrade to received": "It was answered in a newer version than it sent, so all support that: "
        "it goes up to it and rejoins.",
        "upgrade to leader's": "It was answered in a newer version, which is the leader's latest: "
        "it goes up to it and rejoins, without a line in the log.",
        "three versions": "It was answered in a newer version that is not the leader's latest: "
        "it warns of a third version, goes to the leader's latest and rejoins.",
    }
)
"""What a member's reaction means, one sentence for each `Reaction.note`."""

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "cannot read the subscription": "The leader is from before version probing and cannot read a newer "
        "subscription, so its thread dies.",
        "too old to probe": "A member ahead of the leader cannot be told to go down to v1 or v2, "
        "so a group that needs both gets no assignment.",
        "cannot read the assignment": "The assignment is in a version above all that this jar can read, "
        "so the thread dies.",
        "higher than sent": "No leader should answer above the version that a member sent, so the member gives up.",
        "cannot upgrade": "The group is said to support more than this jar does; "
        "rather than die later, the member dies now.",
        "cannot write the assignment": "The leader's rule asks for a version that its jar cannot write, "
        "so its thread dies before anybody is answered.",
        "not the leader's version": "An older answer must be in the leader's own latest version; "
        "with three versions in the group it is not, and the member dies.",
    }
)
"""Why a leader or a member gives up, one sentence for each refusal."""


def sentence(key: str) -> str:
    """What a note or a refusal means; a row of a reader's own rule is quoted.

    >>> sentence("row 2: otherwise -> used")
    'Row 2 of its rule says so: “otherwise -> used”.'
    """
    known = NOTES.get(key) or REFUSALS.get(key)
    return known or quoted(key)


def quoted(row: str) -> str:
    """A row of a reader's own rule, quoted."""
    number, _, text = row.partition(": ")
    return f"{number.capitalize()} of its rule says so: “{text}”."
