"""The language of a rule that a reader writes: rows of `when -> what`, tried in order.

A row says no more than whole numbers, names of numbers, `+`, `-`, `min`, `max`, comparisons, `and`, `or`, `not`,
and `a if when else b`; the last row says `otherwise`. Nothing of the text is ever run as Python: it is taken apart,
and each part that is allowed becomes a function of the numbers. What the names mean is in `own`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import ImpossibleScenarioError

LONGEST, MOST_ROWS, DEEPEST = 480, 12, 24
"""Characters of a whole rule, its rows, and how deep one may be nested, as Python counts it."""

LEAST, MOST = -9, 99
"""The numbers that a row can say; beyond them the nearest counts."""

Numbers = Sequence[int]
Number = Callable[[Numbers], int]
Condition = Callable[[Numbers], bool]

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_SAYS = "whole numbers to 99, + - ( ) min max < <= > >= == != and or not, a if … else b"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a leader's rows, or of a member's."""

    what: str
    """`leader rule` or `member rule`."""
    numbers: tuple[str, ...]
    """The names of numbers, in the order in which they are handed over."""
    yes: tuple[str, ...]
    """Names of numbers that are 0 or 1, and so stand where a condition stands."""
    outcome: str
    """What is allowed behind the arrow, in words."""
    shapes: tuple[tuple[int, str], ...]
    """(how many numbers, the word after them) of each outcome."""


class Row(NamedTuple):
    """One row, ready to be asked."""

    text: str
    """`row 2: used > latest -> latest, latest`, in its plainest spelling."""
    when: Condition
    numbers: tuple[Number, ...]
    word: str
    """`die`, `rejoin`, or nothing."""
    names: frozenset[str]
    """The names of numbers that it reads."""

    def says(self, numbers: Numbers) -> tuple[int, ...]:
        """The numbers of its outcome."""
        return tuple([min(max(number(numbers), LEAST), MOST) for number in self.numbers])


def read_rows(text: str, vocabulary: Vocabulary) -> tuple[Row, ...]:
    """The rows of a rule: one a line, or with `;` between them; what follows `#` is a remark.

    Raises: ImpossibleScenarioError, with the row, what is wrong with it, and what is allowed.
    """
    if len(text) > 4 * LONGEST:
        raise ImpossibleScenarioError(vocabulary.what, f"it has {len(text)} characters", f"at most {LONGEST}")
    lines = [line.partition("#")[0].replace("→", "->") for line in text.splitlines()]
    parts = [part.strip() for line in lines for part in line.split(";") if part.strip()]
    if not 1 <= len(parts) <= MOST_ROWS:
        raise ImpossibleScenarioError(vocabulary.what, f"it has {len(parts)} rows", f"1 to {MOST_ROWS}")
    rows = tuple(
        _Reader(vocabulary, number, part).row(last=number == len(parts)) for number, part in enumerate(parts, 1)
    )
    if (length := len(plain(rows))) > LONGEST:
        raise ImpossibleScenarioError(vocabulary.what, f"it has {length} characters", f"at most {LONGEST}")
    return rows


def plain(rows: Sequence[Row]) -> str:
    """The rule in one line, in its plainest spelling."""
    return "; ".join(row.text.partition(": ")[2] for row in rows)


class _Reader:
    """Takes one row apart."""

    def __init__(self, vocabulary: Vocabulary, number: int, text: str) -> None:
        self.vocabulary, self.number, self.text = vocabulary, number, text
        self.names: set[str] = set()

    def wrong(self, reason: str, allowed: str) -> ImpossibleScenarioError:
        return ImpossibleScenarioError(f"{self.vocabulary.what}, row {self.number}", reason, allowed)

    def row(self, *, last: bool) -> Row:
        strange = re.search(r"[^a-z0-9_ \t()+\-<>=!,]", self.text)
        if strange:
            raise self.wrong(f"{strange[0]!r} means nothing here", _SAYS)
        if self.text.count("->") != 1:
            raise self.wrong(
                f"“{self.text[:60]}” does not have exactly one arrow", f"when -> {self.vocabulary.outcome}"
            )
        before, after = (half.strip() for half in self.text.split("->"))
        if last != (before == "otherwise"):
            where = "the last row does not say it" if last else "it is not the last row"
            raise self.wrong(
                f"`otherwise` is for the last row, and {where}", "otherwise -> … at the end, and only there"
            )
        when: Condition = _always
        spelled = before
        if not last:
            tree = self.parsed(before)
            when, spelled = self.condition(tree), ast.unparse(tree)
        numbers, word, told = self.outcome(after)
        text = f"row {self.number}: {spelled} -> {told}"
        return Row(text, when, numbers, word, frozenset(self.names))

    def parsed(self, text: str) -> ast.expr:
        if re.search(r"\d[a-z_]|_\d|\b0\d", text):
            raise self.wrong(f"“{text[:60]}” glues a number to something", _SAYS)
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.wrong(f"“{text[:60]}” cannot be read", _SAYS) from None
        level: list[ast.AST] = [tree]
        depth = 0
        while level:
            level, depth = [child for node in level for child in ast.iter_child_nodes(node)], depth + 1
        if depth > DEEPEST:
            raise self.wrong("it is nested too deep", f"{DEEPEST} deep")
        return tree

    def outcome(self, text: str) -> tuple[tuple[Number, ...], str, str]:
        tree = self.parsed(text)
        parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
        word = parts[-1].id if isinstance(parts[-1], ast.Name) else ""
        if word in {word for _, word in self.vocabulary.shapes if word}:
            parts = parts[:-1]
        else:
            word = ""
        if (len(parts), word) not in self.vocabulary.shapes:
            raise self.wrong(f"“{text[:60]}” is no answer", self.vocabulary.outcome)
        numbers = tuple(self.value(part) for part in parts)
        return numbers, word, ", ".join([*map(ast.unparse, parts), *([word] if word else [])])

    def value(self, node: ast.expr) -> Number:
        """A number."""
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool) and value <= MOST:
                return lambda _: value
            case ast.Name(id=name):
                return self.named(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                minus = self.value(operand)
                return lambda numbers: -minus(numbers)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                one, two = self.value(left), self.value(right)
                if isinstance(sign, ast.Add):
                    return lambda numbers: one(numbers) + two(numbers)
                return lambda numbers: one(numbers) - two(numbers)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, _, *_] as args, keywords=[]):
                parts = [self.value(arg) for arg in args]
                pick = min if name == "min" else max
                return lambda numbers: pick([part(numbers) for part in parts])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                when = self.condition(test)
                yes, no = self.value(body), self.value(orelse)
                return lambda numbers: yes(numbers) if when(numbers) else no(numbers)
        raise self.strange(node, "a number")

    def condition(self, node: ast.expr) -> Condition:
        """Something that is so, or is not."""
        match node:
            case ast.Name(id=name) if name in self.vocabulary.yes:
                place = self.named(name)
                return lambda numbers: place(numbers) > 0
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.condition(operand)
                return lambda numbers: not inner(numbers)
            case ast.BoolOp(op=sign, values=values):
                conditions = [self.condition(value) for value in values]
                if isinstance(sign, ast.And):
                    return lambda numbers: all(condition(numbers) for condition in conditions)
                return lambda numbers: any(condition(numbers) for condition in conditions)
            case ast.Compare(left=left, ops=[how], comparators=[right]) if type(how) in _COMPARISONS:
                one, two, compare = self.value(left), self.value(right), _COMPARISONS[type(how)]
                return lambda numbers: compare(one(numbers), two(numbers))
            case ast.Compare(left=left, ops=hows, comparators=comparators) if _COMPARISONS.keys() >= set(
                map(type, hows)
            ):
                chain = [self.value(part) for part in (left, *comparators)]
                compares = [_COMPARISONS[type(how)] for how in hows]
                return lambda numbers: _chained([value(numbers) for value in chain], compares)
        raise self.strange(node, "a condition")

    def named(self, name: str) -> Number:
        if name not in self.vocabulary.numbers:
            raise self.wrong(f"“{name[:40]}” is not known", ", ".join(self.vocabulary.numbers))
        self.names.add(name)
        return operator.itemgetter(self.vocabulary.numbers.index(name))

    def strange(self, node: ast.expr, wanted: str) -> ImpossibleScenarioError:
        if isinstance(node, ast.Name):
            self.named(node.id)
        return self.wrong(f"“{ast.unparse(node)[:60]}” is not {wanted}", _SAYS)


def _always(_: Numbers) -> bool:
    return True


def _chained(values: list[int], compares: list[Callable[[int, int], bool]]) -> bool:
    return all(compare(values[i], values[i + 1]) for i, compare in enumerate(compares))
