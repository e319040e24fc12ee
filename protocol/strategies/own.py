"""A rule of a reader's own: what its rows may read, and what goes on around them whatever they say.

How rows are taken apart is in `language`; rules that exist already are in `released`.

A leader's rows are tried for each member, and say the version and the second number of its answer, or `die`:

    used > latest -> latest, latest
    otherwise     -> smallest_used, latest

They read `used` and `supported` of this member, the leader's `latest`, `smallest_used` and `smallest_supported` of
the members that the leader can read (never above its latest), `smallest_supported_of_all`, `largest_used` and
`largest_supported` of all members, and `future`: somebody speaks a version above the leader's latest.

A member's rows say the version that it speaks from now on, with `rejoin` if it joins again at once, or `die`:

    received > used   -> die
    second > latest   -> die
    second != used    -> second, rejoin
    otherwise         -> used

They read its `latest`, the version that it `used`, and the two numbers of its answer, `received` and `second`.

A rule sees which versions there are and never how many members have each, and it has no memory. What no rule
decides is left to the frame, as in every release: a leader of v3 and later refuses a group in which somebody is
ahead of it and somebody speaks v1 or v2; below v3 an answer has no second number (`second` is -1), and what such
members support is not known (-1); a member cannot read an answer above its latest, and one in v1 or v2 that is not
above what it sent changes nothing. A leader that is to write a version outside of 1 to its latest dies; a member
that is to speak one outside of 1 to its latest dies at its next subscription.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ..errors import ImpossibleScenarioError
from ..versions import EARLIEST_PROBEABLE, UNKNOWN
from .language import Numbers, Row, Vocabulary, plain, read_rows
from .released import LEADER_RULES, MEMBER_RULES, survey, too_old
from .signatures import LeaderRule, MemberRule, Reaction, Refusal, Verdict
from .written import LEADERS_AS_ROWS

LEADER = Vocabulary(
    "leader rule",
    (
        "used",
        "supported",
        "latest",
        "smallest_used",
        "smallest_supported",
        "smallest_supported_of_all",
        "largest_used",
        "largest_supported",
        "future",
    ),
    ("future",),
    "version, second number; or die",
    ((2, ""), (0, "die")),
)
MEMBER = Vocabulary(
    "member rule",
    ("latest", "used", "received", "second"),
    (),
    "version; or version, rejoin; or die",
    ((1, ""), (1, "rejoin"), (0, "die")),
)

_SOURCE = "a rule of one's own"


def own_leader_rule(rows: str | Sequence[str]) -> str:
    """A leader's rule of one's own, as the text that a jar is made with: `teaching(…, leader_rule=…)`.

    >>> own_leader_rule(["used>latest -> latest, latest", "otherwise -> smallest_used, latest"])
    'used > latest -> latest, latest; otherwise -> smallest_used, latest'

    Raises: ImpossibleScenarioError, with the row, what is wrong with it, and what is allowed.
    """
    return leader_rule(_text(rows)).name


def own_member_rule(rows: str | Sequence[str]) -> str:
    """A member's rule of one's own, as the text that a jar is made with: `teaching(…, member_rule=…)`.

    >>> own_member_rule("received > used -> die; otherwise -> min(second, latest)")
    'received > used -> die; otherwise -> min(second, latest)'

    Raises: ImpossibleScenarioError, as `own_leader_rule`.
    """
    return member_rule(_text(rows)).name


def _text(rows: str | Sequence[str]) -> str:
    return rows if isinstance(rows, str) else "\n".join(map(str, rows))


def _read(text: str, vocabulary: Vocabulary, known: Mapping[str, object]) -> tuple[Row, ...]:
    if not is_own(text):
        allowed = f"{', '.join(known)}, or rows of `when -> {vocabulary.outcome}`"
        raise ImpossibleScenarioError(vocabulary.what, f"{text[:60]!r} is not known", allowed)
    return read_rows(text, vocabulary)


@cache
def leader_rule(rule: str) -> LeaderRule:
    """The rule of that name, or the one that the text says.

    Raises: ImpossibleScenarioError for a name that is not known, and for a text that cannot be read.
    """
    if rule in LEADER_RULES:
        return LEADER_RULES[rule]
    rows = _read(rule, LEADER, LEADER_RULES)

    def answer(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
        return _answer(rows, said, latest)

    return LeaderRule(plain(rows), "each member as the first row that fits says", answer, _SOURCE)


@cache
def member_rule(rule: str) -> MemberRule:
    """The rule of that name, or the one that the text says.

    Raises: ImpossibleScenarioError for a name that is not known, and for a text that cannot be read.
    """
    if rule in MEMBER_RULES:
        return MEMBER_RULES[rule]
    rows = _read(rule, MEMBER, MEMBER_RULES)

    def react(*, latest: int, used: int, received: int, common: int) -> Reaction:
        return _react(rows, latest, used, received, common)

    return MemberRule(plain(rows), "does what the first row that fits says", react, _SOURCE)


@cache
def leader_rows(rule: str) -> tuple[Row, ...]:
    """The rows of a leader's rule; those of a released one say the same as its function."""
    return read_rows(LEADERS_AS_ROWS.get(rule, rule), LEADER)


def is_own(rule: str) -> bool:
    """Whether this is the text of a rule, and not a name."""
    return "->" in rule or "→" in rule


def first(rows: Sequence[Row], numbers: Numbers) -> Row:
    """The first row that fits; the last one always does."""
    return next(row for row in rows if row.when(numbers))


def _answer(rows: tuple[Row, ...], said: Sequence[tuple[int, int]], latest: int) -> Verdict:
    lowest, common, common_of_all, future = survey(said, latest)
    probing = future != UNKNOWN
    if probing and lowest < EARLIEST_PROBEABLE:
        return too_old(lowest, common, future)
    rest = (lowest, common, common_of_all, max(used for used, _ in said), max(can for _, can in said), int(probing))
    known: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
    for one in said:
        if one in known:
            continue
        numbers = (*one, latest, *rest)
        row = first(rows, numbers)
        if row.word == "die":
            return Verdict((), probing, Refusal(row.text, future, lowest), lowest, common, future)
        version, second = row.says(numbers)
        if not 1 <= version <= latest:
            refusal = Refusal("cannot write the assignment", future, lowest, version, row.text)
            return Verdict((), probing, refusal, lowest, common, future)
        known[one] = (version, second if version >= EARLIEST_PROBEABLE else UNKNOWN), row.text
    return Verdict(
        tuple([known[one][0] for one in said]),
        probing,
        None,
        lowest,
        common,
        future,
        tuple([known[one][1] for one in said]),
    )


def _react(rows: tuple[Row, ...], latest: int, used: int, received: int, common: int) -> Reaction:
    if received > latest:
        return Reaction(used, False, "cannot read the assignment", "")
    if received < EARLIEST_PROBEABLE and received <= used:
        return Reaction(used, False, None, "same version" if received == used else "before probing")
    numbers = (latest, used, received, common)
    row = first(rows, numbers)
    if row.word == "die":
        return Reaction(used, False, row.text, "")
    return Reaction(row.says(numbers)[0], row.word == "rejoin", None, row.text)
