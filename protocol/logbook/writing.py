"""The log of a simulated run, as its releases would write it; `explain` reads it back.

What the lines say is decided in `leader` and `member`; the layout around them is that of `simulate --log`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..trace import Failure, Step, Trace

_PACKAGES = {
    "TaskAssignmentException": "org.apache.kafka.streams.errors.",
    "MissingSourceTopicException": "org.apache.kafka.streams.errors.",
    "ConfigException": "org.apache.kafka.common.config.",
    "BufferUnderflowException": "java.nio.",
}
_KAFKA = frozenset(_PACKAGES) - {"BufferUnderflowException"}


def written(trace: Trace) -> Iterator[str]:
    """The lines of the run, one by one; a death comes as the thread's line with the exception behind it.

    >>> from protocol.scenario import Scenario, simulate
    >>> next(written(simulate(Scenario(old="2.0.0", new="2.1.0", leader="A", order="C"))))[12:38]
    'A: INFO SubscriptionInfo -'
    """
    for step in trace:
        for line in step.log:
            yield f"[{step.at:9.3f}] {line.member}: {line}"
        yield from _deaths(step)


def _deaths(step: Step) -> Iterator[str]:
    if step.action != "die":
        return
    for name in step.members:
        after = step.after.member(name)
        if after.failure is not None and after.failure.exception != "shutdown" and not after.alive:
            yield f"[{step.at:9.3f}] {name}: ERROR StreamThread - {last_words(after.binary, after.failure)}"


def last_words(release: str, failure: Failure) -> str:
    """What the thread of that release prints when an exception ends it, on one line.

    Source: 0.10.0.0, 1.0.0, 2.2.0, 2.6.0, 2.8.0 StreamThread#run;
    2.8.0, 3.1.0, 3.2.1 KafkaStreams#handleStreamsUncaughtException.
    """
    numbers = tuple(int(part) for part in release.split("-")[0].split(".") if part.isdigit()) or (2, 3)
    if numbers[0] == 0:
        words = "Streams application error during processing: "
    elif numbers < (2, 2) or (numbers < (2, 6) and failure.exception not in _KAFKA):
        words = "Encountered the following error during processing: "
    elif numbers < (2, 6):
        words = (
            "Encountered the following unexpected Kafka exception during processing, "
            "this usually indicate Streams internal errors: "
        )
    elif numbers < (2, 8):
        words = "Encountered the following exception during processing and the thread is going to shut down: "
    else:
        who = "Kafka Streams" if (3, 1) <= numbers <= (3, 2, 0) else "the registered exception handler"
        words = (
            f"Encountered the following exception during processing and {who} opted to SHUTDOWN_CLIENT. "
            "The streams client is going to shut down now. "
        )
    return f"{words}{_PACKAGES.get(failure.exception, 'java.lang.')}{failure}"
