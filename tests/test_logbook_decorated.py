"""The log of a simulated run in the layouts of the field names the diseases that the run had, for every release."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from protocol.errors import ImpossibleScenarioError
from protocol.logbook import explain, written
from protocol.logbook.record import record
from protocol.releases import releases
from protocol.scenario import Scenario, simulate
from protocol.trace import Trace

NAMES = [row.name for row in releases()]
Printed = Callable[[str, str, str, str, str], list[str]]


def at(seconds: float, mark: str = ",") -> str:
    moment = datetime.fromtimestamp(1_700_000_000 + seconds, tz=UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}{mark}{moment.microsecond // 1000:03}"


def log4j(when: str, thread: str, level: str, text: str, exception: str) -> list[str]:
    trace = [exception, "\tat org.apache.kafka.Some.thing(Some.java:1)"] if exception else []
    return [f"[{when}] {level} stream-thread [{thread}-consumer] {text} (org.apache.kafka.X)", *trace]


def spring(when: str, thread: str, level: str, text: str, exception: str) -> list[str]:
    head = f"{when.replace(',', '.')}  {level:5} 1 --- [-StreamThread-1] o.a.k.s.p.i.X"
    return [f"\x1b[2m{head} : stream-thread [{thread}] {text}\x1b[0m\r", *([exception] if exception else [])]


def logstash(when: str, thread: str, level: str, text: str, exception: str) -> list[str]:
    said = {"@timestamp": when.replace(",", ".").replace(" ", "T") + "Z", "level": level, "thread_name": thread}
    return [json.dumps(said | {"message": text} | ({"stack_trace": f"{exception}\n\tat a.B"} if exception else {}))]


def docker(*said: str) -> list[str]:
    when = said[0].replace(",", ".").replace(" ", "T") + "Z"
    return [json.dumps({"log": f"{one}\n", "stream": "stdout", "time": when}) for one in log4j(*said)]


def kubernetes(*said: str) -> list[str]:
    when = said[0].replace(",", ".").replace(" ", "T") + "000000Z"
    return [f"{when} stdout F {one}" for one in log4j(*said)]


LAYOUTS: tuple[Printed, ...] = (log4j, spring, logstash, docker, kubernetes)


def decorated(trace: Trace, layout: Printed) -> Iterator[str]:
    for line in written(trace):
        made = record(line)
        assert made.time is not None
        text, _, exception = made.text.partition(": java.lang.")
        thread = f"app-{made.member.lower() * 4}-StreamThread-1"
        said = text + ":" * bool(exception)
        yield from layout(at(made.time), thread, made.level, said, f"java.lang.{exception}" if exception else "")
        yield f"{at(made.time)} INFO [http-1] an order of version 3 was kept in balance"


def drawn(index: int) -> Iterator[Scenario]:
    """A few scenarios around one release, always the same."""
    draw = random.Random(index)
    for _ in range(4):
        upgrade = draw.random() < 0.5
        yield Scenario(
            old=draw.choice(NAMES) if upgrade else NAMES[index],
            new=NAMES[index] if upgrade else draw.choice(NAMES),
            members=draw.randint(2, 3),
            seed=draw.randrange(99),
            succession=draw.choice(["broker", "oldest", "newest"]),
            supervisor=15.0 if draw.random() < 0.2 else None,
            until=400.0,
        )


@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_a_decorated_log_names_what_the_run_had(index: int) -> None:
    for number, scenario in enumerate(drawn(index)):
        try:
            trace = simulate(scenario)
        except ImpossibleScenarioError:
            continue
        told = explain(decorated(trace, LAYOUTS[(index + number) % len(LAYOUTS)]))
        names = {one.name for one in told.diagnoses}
        grave = {one.name for one in told.diagnoses if one.grave}
        assert names == {one.name for one in explain(written(trace)).diagnoses}, scenario
        if trace.outcome.kind in ("deaths", "error assignment", "loop"):
            assert grave - {"eager beside cooperative"}, scenario
        if trace.outcome.ok:
            assert not grave - {"eager beside cooperative"}, scenario
        if trace.outcome.kind == "loop":
            assert "rebalance loop" in names, scenario


def test_a_trace_whose_lines_are_records_of_their_own_belongs_to_the_thread_of_its_pod() -> None:
    death = "java.lang.IllegalArgumentException: version must be between 1 and 3; was: 4"
    dies = "Encountered the following error during processing:"
    lines = [
        f"[pod/app-0/main] {at(0)} ERROR stream-thread [a-StreamThread-1] {dies}",
        f"[pod/app-1/main] {at(0)} INFO stream-thread [b-StreamThread-1] a version is kept in balance",
        f"[pod/app-0/main] {death}",
        "[pod/app-0/main] \tat a.B.c(B.java:1)",
    ]
    assert explain(lines).diagnoses[0].title.startswith("a-StreamThread-1 died")
