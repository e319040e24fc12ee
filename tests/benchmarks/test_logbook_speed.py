"""How fast a log is read: megabytes a second of ordinary log, beside grep with the same words in the same run."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol.logbook import Progress, read
from protocol.logbook.search import needles

LAYOUTS = (
    "2024-05-01 12:00:0{a},{b:03} INFO  [app-{u}-StreamThread-{a}] org.apache.kafka.streams.processor.internals."
    "StreamTask - stream-thread [app-{u}-StreamThread-{a}] task [0_{a}] Processed {b} records, committed offset {b}{b}",
    "2024-05-01 12:00:0{a},{b:03} DEBUG [main] com.example.orders.OrderService - Order {u} accepted for customer {b}",
    "2024-05-01 12:00:0{a},{b:03} INFO  [http-nio-8080-exec-{a}] c.e.web.RequestLog - GET /orders/{u} 200 in {b} ms",
    "2024-05-01 12:00:0{a},{b:03} INFO  [producer-network-thread] org.apache.kafka.clients.Metadata - Cluster ID: {u}",
)
PROBED = (
    "2024-05-01 12:00:01,000 INFO [app-1-StreamThread-1] x - Sent a version 4 subscription and got version 3 "
    "assignment back (successful version probing). Downgrading subscription metadata to received version and "
    "trigger new rebalance."
)
SIZE = 64 << 20


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ordinary log: one line in ten thousand is of a rebalance."""
    draw = random.Random(1)
    lines = [
        draw.choice(LAYOUTS).format(a=draw.randrange(10), b=draw.randrange(1000), u=f"{draw.getrandbits(128):032x}")
        for _ in range(10_000)
    ]
    block = ("\n".join([*lines, PROBED]) + "\n").encode()
    path = tmp_path_factory.mktemp("log") / "ordinary.log"
    path.write_bytes(block * (SIZE // len(block)))
    return path


def seconds(action: Callable[[], object]) -> float:
    """Seconds of one core, of this process and of those it started: what others do on the machine does not count."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    began = used()
    action()
    return used() - began


@pytest.mark.needs("grep")
def test_an_ordinary_log_is_read_nearly_as_fast_as_grep_reads_it(
    ordinary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The goal is 50 MB/s on a free core; the bound is a ratio, for a machine that is busy."""
    size = ordinary.stat().st_size / 1e6
    words = "\n".join(needles())
    grep = shutil.which("grep") or "grep"

    def by_grep() -> None:
        subprocess.run([grep, "-c", "-F", words, str(ordinary)], capture_output=True, check=True)

    found: list[int] = []
    ours = min(seconds(lambda: found.append(sum(1 for _ in read(ordinary)))) for _ in range(3))
    theirs = min(seconds(by_grep) for _ in range(3))
    progress = Progress("")
    list(read(ordinary, progress=progress))
    assert set(found) == {progress.unpacked // (progress.unpacked // found[0])}
    with capsys.disabled():
        print(f"\nexplain reads {size / ours:.0f} MB/s, grep -c -F {size / theirs:.0f} MB/s: {theirs / ours:.2f} of it")
    assert theirs / ours > 0.1
