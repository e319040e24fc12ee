"""What other parts of Kafka, and other software, print into the same log: texts with the releases that have them.

The lines of the rebalance itself are in `own`; what each cause here means and what helps is in `causes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from .shapes import Releases, Shape, everything, merged, span

Row = tuple[str, str, str, str, str, Releases]
"""Kind, words, level, logger, exception, releases."""


def _client() -> Iterator[Row]:
    """The consumer and the thread around the assignor.

    Source: 0.10.0.0 to 3.9.0 AbstractCoordinator, ConsumerCoordinator, AppInfoParser, KafkaStreams, StreamThread.
    """
    joined, finished, died = "Successfully joined group", "Finished assignment for group", "Encountered the following"
    generation = "Generation{generationId={generation}, memberId='{member}', protocol='{protocol}'}"
    probing = "the earliest version that allows version probing {earliest}"
    opted = "exception during processing and the registered exception handler opted to {state}"
    for logger, level, kind, words, since in (
        ("AppInfoParser", "INFO", "version", "Kafka version : {release}", span(last="2.1.1")),
        ("AppInfoParser", "INFO", "version", "Kafka version: {release}", span("2.2.0")),
        ("KafkaStreams", "INFO", "version", "Kafka Streams version: {release}", span("2.4.0")),
        ("AbstractCoordinator", "INFO", "joined", f"{joined} {{group}} with generation {{generation}}", span("", _OLD)),
        ("AbstractCoordinator", "INFO", "joined", f"{joined} with generation {{generation}}", span("1.0.0", "2.6.0")),
        ("AbstractCoordinator", "INFO", "joined", f"{joined} with generation {generation}", span("2.6.1")),
        ("StreamThread", "INFO", "closes", "State transition from {state} to PENDING_SHUTDOWN", everything()),
        ("AbstractCoordinator", "WARN", "poll timeout", "consumer poll timeout has expired", span("2.1.0")),
        ("ConsumerCoordinator", "DEBUG", "leads", f"{finished} {{group}}:", span(last=_OLD)),
        ("ConsumerCoordinator", "DEBUG", "leads", f"{finished}: ", span("1.0.0", "2.3.1")),
        ("ConsumerCoordinator", "INFO", "leads", f"{finished} at generation {{generation}}:", span("2.4.0")),
        ("StreamThread", "ERROR", "dies", "Streams application error during processing", span(last=_OLD)),
        ("StreamThread", "ERROR", "dies", f"{died} error during processing:", span("1.0.0", "2.5.1")),
        ("StreamThread", "ERROR", "dies", f"{died} {_KAFKAS}", span("2.2.0", "2.5.1")),
        ("StreamThread", "ERROR", "dies", f"{died} {_GOING}", span("2.6.0", "2.7.2")),
        ("KafkaStreams", "ERROR", "dies", f"{died} {opted}", span("2.8.0")),
        ("StreamThread", "WARN", "asks to shut down", _STOPS, span("2.8.0")),
        ("StreamThread", "DEBUG", "skips tasks", f"{_SKIPPED}: {{code}}", span("2.1.0", "2.3.1")),
        ("StreamsPartitionAssignor", "DEBUG", _BELOW, f"{_RECEIVED} {probing}", span("2.2.2", "2.2.2") | span("2.3.1")),
        ("StreamsPartitionAssignor", "INFO", "new end point", _END_POINT, span("2.6.0")),
    ):  # fmt: skip
        yield kind, words, level, logger, "", since


_OLD = "0.11.0.3"
_STOPS = "Detected that shutdown was requested. All clients in this app will now begin to shutdown"
_KAFKAS = "unexpected Kafka exception during processing"
_GOING = "exception during processing and the thread is going to shut down"
_BELOW = "below version probing"
_SKIPPED = "Encountered assignment error during partition assignment"
_RECEIVED = "Received an assignment version {received} that is less than"
_END_POINT = "Requested to schedule immediate rebalance to update group with new host endpoint"


def _broker() -> Iterator[Row]:
    """The group coordinator, in a broker's log.

    Source: 0.10.0.0, 2.3.0, 3.0.0, 3.9.0 GroupCoordinator.
    """
    state = "in state {words} with old generation {generation} ({words}) (reason: {reason})"
    for kind, words in (
        ("broker rebalances", f"Preparing to rebalance group {{group}} {state}"),
        ("broker rebalances", "Preparing to rebalance group {group} with old generation {generation}"),
        ("broker rebalanced", "Stabilized group {group} generation {generation}"),
        ("broker assigned", "Assignment received from leader {member} for group {group} for generation {generation}"),
        ("broker assigned", "Assignment received from leader for group {group} for generation {generation}"),
        ("static member back", "Static member with groupInstanceId={member} and unknown member id joins"),
        ("static member back", "Static member {member} with unknown member id rejoins"),
    ):
        yield kind, words, "INFO", "GroupCoordinator", "", everything()


CAUSES = (
    ("foreign-key join", "SubscriptionWrapper is of an incompatible version"),
    ("foreign-key join", "SubscriptionResponseWrapper is of an incompatible version"),
    ("newer state store", "Unknown Footer version. Maybe this file was created with newer version of RocksDB"),
    ("newer state store", "Column families not opened: keyValueWithTimestamp"),
    ("two topologies", "is unknown to the topology. This may happen if different KafkaStreams instances"),
    ("ksqlDB command topic", 'Unrecognized field "orReplace"'),
    ("ksqlDB command topic", 'Unrecognized field "useOffsetAsQueryId"'),
    ("ksqlDB command topic", "incompatible entry in its log"),
    ("ksqlDB command topic", "useOffsetAsQueryId"),
    ("ksqlDB command topic", "orReplace"),
    ("repartition count", "Number of partitions must be at least 1"),
    ("repartition count", "number of partitions must be at least 1"),
    ("named topology", "Named topologies are not compatible with"),
    ("classic group cannot convert", "Cannot upgrade the classic group"),
    ("suppress changelog", "Restoring apparently invalid changelog record"),
    ("repartition format", "for encodingFlag in ChangedDeserializer"),
    ("repartition format", "for isLatestFlag in ChangedDeserializer"),
    ("repartition format", "in ChangeSerializer, which is not allowed"),
    ("another assignor", "supported protocols are incompatible with those of existing members"),
    ("another assignor", "INCONSISTENT_GROUP_PROTOCOL"),
    ("another assignor", "InconsistentGroupProtocolException"),
    ("fenced instance", "FencedInstanceIdException"),
    ("group is full", "GroupMaxSizeReachedException"),
    ("fenced producer", "ProducerFencedException"),
    ("fenced producer", "TaskMigratedException"),
    ("state directory is taken", "Unable to initialize state, this can happen if multiple instances of Kafka Streams"),
    ("missing topic", "Missing source topics"),
    ("missing topic", "is unknown yet during rebalance, please make sure they have been pre-created"),
)
"""Words that name a cause, whoever printed them: (kind, words)."""


@cache
def shapes() -> tuple[Shape, ...]:
    """Every shape of this table, longer words first."""
    causes = tuple((kind, words, "", "", "", everything()) for kind, words in CAUSES)
    return merged((*_client(), *_broker(), *causes))
