"""The rules by which a leader picks versions and a member answers them: arithmetic on integers.

No member, task or byte is known here: who sends what is in `leader` and `member`, which release has which
rule is in `releases`. Rules that were written in Java are in `released`; how a reader writes one of their own, as
a few rows of text, is in `own`, and what such a row may say is in `language`.
"""

from __future__ import annotations

from .own import is_own, leader_rows, leader_rule, member_rule, own_leader_rule, own_member_rule
from .released import LEADER_RULES, MEMBER_RULES, STRATEGIES
from .sentences import NOTES, REFUSALS, quoted, sentence
from .signatures import Answering, LeaderRule, MemberRule, Reacting, Reaction, Refusal, Strategy, Verdict
from .written import LEADERS_AS_ROWS, MEMBERS_AS_ROWS

__all__ = [
    "LEADERS_AS_ROWS",
    "LEADER_RULES",
    "MEMBERS_AS_ROWS",
    "MEMBER_RULES",
    "NOTES",
    "REFUSALS",
    "STRATEGIES",
    "Answering",
    "LeaderRule",
    "MemberRule",
    "Reacting",
    "Reaction",
    "Refusal",
    "Strategy",
    "Verdict",
    "is_own",
    "leader_rows",
    "leader_rule",
    "member_rule",
    "own_leader_rule",
    "own_member_rule",
    "quoted",
    "sentence",
]
