"""The plan as a Markdown runbook, and the sentences that it shares with the page.

What the plan says is in `planner`; how the page looks is in `sheet.js`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from ..planner import Advice, Round, Sign


def capital(text: str) -> str:
    """The text with a capital at its beginning, unless it begins with the name of a setting.

    >>> capital("bounce it"), capital("upgrade.from=2.3 is set")
    ('Bounce it', 'upgrade.from=2.3 is set')
    """
    return text if re.match(r"\w+[._]\w", text) else text[:1].upper() + text[1:]


def title(advice: Advice) -> str:
    """The pair, and how many instances."""
    threads = f" of {advice.threads} threads" if advice.threads > 1 else ""
    static = ", static members" if advice.static else ""
    return f"{advice.old} → {advice.new}, {advice.members} instances{threads}{static}"


def sentence(headline: str, verdict: str) -> str:
    """Why, in one sentence that may stand behind the verdict.

    >>> sentence("safe if upgrade.from=2.3 is set (and 1 more)", "safe if")
    'upgrade.from=2.3 is set.'
    """
    told = re.sub(r" \(and \d+ more\)$", "", headline).removeprefix(f"{verdict}: ")
    return capital(told.removeprefix("safe if ").removeprefix("safe, but ")) + "."


def headline(text: str) -> str:
    """The headline as a sentence; how many conditions more there are is seen below it."""
    return re.sub(r" \(and \d+ more\)$", "", capital(text)) + "."


def conditions(all_of_them: Sequence[str]) -> list[str]:
    """The conditions after the one that the sentence has."""
    return [f"{capital(one)}." for one in all_of_them[1:]]


def bounced(one: Round, rounds: Sequence[Round], advice: Advice) -> str:
    """What a round does."""
    before = next((other for other in rounds if other.number == one.number - 1), None)
    each = f"Bounce each of the {advice.members} instances"
    if before is None and len(rounds) > 1 and rounds[1].release != one.release:
        what = f"{each}, one by one, on the {one.release} that it runs"
    elif before is not None and before.release == one.release:
        what = f"{each} once more"
    else:
        what = f"{each}, one by one, to {one.release}"
    if one.upgrade_from:
        return f"{what}, with upgrade.from={one.upgrade_from}"
    return f"{what}, without upgrade.from" if before is not None and before.upgrade_from else what


def settings(one: Round) -> list[str]:
    """The lines of configuration that a round needs."""
    return [*([f"upgrade.from={one.upgrade_from}"] if one.upgrade_from else []), *one.more]


def without(one: Round, rounds: Sequence[Round]) -> str:
    """What to do about upgrade.from where a round has none."""
    if one.upgrade_from:
        return ""
    had = any(other.upgrade_from for other in rounds if other.number < one.number)
    return "Take upgrade.from out of the configuration." if had else "Set no upgrade.from."


def quiet() -> str:
    """What to wait for after each bounce."""
    return "State transition from REBALANCING to RUNNING"


def command(picked: Mapping[str, object]) -> str:
    """The words for a shell that give the same plan."""
    words = ["python", "-m", "protocol", "plan", str(picked["old"]), str(picked["new"])]
    for name, usual in (("members", 3), ("threads", 1)):
        words += [f"--{name}", str(picked[name])] if picked[name] != usual else []
    words += ["--upgrade-from", str(picked["upgrade_from"])] if picked["upgrade_from"] else []
    words += ["--static"] if picked["static"] else []
    words += ["--leaves"] if picked["closing"] else []
    if (uses := picked["uses"]) is not None:
        words += ["--uses", ",".join(map(str, uses)) or "none"]  # type: ignore[call-overload]
    return shlex.join(words)


def expected(advice: Advice) -> str:
    """Rebalances and time of the whole; empty where nobody should try."""
    if advice.cost is None:
        return ""
    late = f" ({advice.cost.late} if every instance is back late)" if advice.cost.late else ""
    return f"{_rebalances(advice.cost.rebalances)}{late}, {_time(*advice.cost.seconds)}"


def cost_of_round(one: Round, advice: Advice) -> str:
    """Rebalances and time of one round."""
    if advice.cost is None or one.number > len(advice.cost.rounds):
        return ""
    rebalances, seconds = advice.cost.rounds[one.number - 1]
    return f"{_rebalances(rebalances)}, {_time(*seconds)}"


def _rebalances(count: tuple[int, int | None]) -> str:
    low, high = count
    return f"{low} rebalance{'' if low == 1 else 's'}" if low == high else f"{low} to {high} rebalances"


def _time(low: float, high: float) -> str:
    """A range of seconds, in minutes where they are many.

    >>> _time(36.2, 60.0), _time(170.6, 329.8)
    ('36 to 60 s', '3 to 5 min')
    """
    if high < 120:
        return f"{low:.0f} s" if round(low) == round(high) else f"{low:.0f} to {high:.0f} s"
    low, high = low / 60, high / 60
    return f"{low:.0f} min" if round(low) == round(high) else f"{low:.0f} to {high:.0f} min"


def markdown(advice: Advice) -> str:
    """The plan as Markdown, to paste into a ticket: one box a bounce."""
    return "\n".join(_lines(advice)) + "\n"


def _lines(advice: Advice) -> Iterator[str]:
    yield f"# {title(advice)}: {advice.verdict}"
    yield ""
    yield headline(advice.headline)
    yield from (f"- {one}" for one in conditions(advice.conditions))
    if advice.depends:
        yield advice.depends
    if expected(advice) and advice.ok:
        yield ""
        yield f"Expected: {expected(advice)}."
    if advice.ok:
        for one in advice.rounds:
            yield from _round(one, advice)
        yield from _signs("Done when", [sign for sign in advice.signs if sign.when == "done"])
        yield from _signs("Stop if you see", [sign for sign in advice.signs if sign.when == "wrong"])
    if advice.instead:
        yield from ("", "## Instead", "")
        yield from (f"- {capital(way)}." for way in advice.instead)
    if advice.way_back is not None:
        back = advice.way_back
        yield from ("", "## The way back", "", f"From {advice.new} to {advice.old}: {back.headline}.")
        yield from (f"- {one}" for one in conditions(back.conditions))
        if back.ok:
            yield from ("", *(f"{one.number}. {bounced(one, back.rounds, advice)}." for one in back.rounds))
        if back.half:
            yield from ("", back.half)
        if back.blocks:
            yield from ("", "What it meets:", "")
        for block in back.blocks:
            where = f" (where {block.condition})" if block.feature else ""
            yield f"- {capital(block.title)}{where}. {block.text}"
    yield from ("", "## Why", "")
    for reason in advice.reasons:
        where = f" Applies where {reason.condition}." if reason.feature else ""
        yield f"- **{capital(reason.title)}.** {reason.text}{where} Source: {reason.source}."


def _round(one: Round, advice: Advice) -> Iterator[str]:
    yield from ("", f"## Round {one.number}: {bounced(one, advice.rounds, advice)}", "", capital(one.why) + ".", "")
    if settings(one):
        yield from ("```properties", *settings(one), "```", "")
    if told := without(one, advice.rounds):
        yield told
    cost = cost_of_round(one, advice)
    if one.before_start:
        yield f"Before each start: {one.before_start}."
    yield f"After each bounce wait for `{quiet()}`{f'; expected: {cost}' if cost else ''}."
    yield ""
    yield from (f"- [ ] instance {n}" for n in range(1, advice.members + 1))
    yield from _signs("", [sign for sign in advice.signs if sign.round == one.number])
    if one.after:
        yield from ("", f"Go on when {one.after}.")


def _signs(heading: str, found: Sequence[Sign]) -> Iterator[str]:
    if not found:
        return
    yield from ("", f"## {heading}", "") if heading else ("",)
    for sign in found:
        when = "" if heading else f"{sign.when}, "
        yield f"- {when}{sign.who}: `{sign.grep}`{f' ({sign.meaning})' if sign.meaning else ''}"
