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
    opted_to = "opted to {state}"
    opted = f"exception during processing and the registered exception handler {opted_to}"
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
        ("KafkaStreams", "ERROR", "dies", f"{died} exception during processing and Kafka Streams {opted_to}", _OPTED),
        ("KafkaStreams", "ERROR", "all threads died", "All stream threads have died", span("0.10.2.2", "2.7.2")),
        ("KafkaStreams", "INFO", "all threads died", "State transition from {state} to ERROR", span("0.10.2.0")),
        ("KafkaStreams", "ERROR", "thread replaced", "Replacing thread in the streams uncaught", span("3.1.0")),
        ("StreamThread", "WARN", "asks to shut down", _STOPS, span("2.8.0")),
        ("StreamThread", "WARN", "lost its place", "Detected that the thread is being fenced", span("2.6.0")),
        ("StreamThread", "INFO", "lost its place", "partitions {words} lost due to missed rebalance", span("2.4.0")),
        ("AbstractCoordinator", "INFO", "lost its place", _NOT_VALID, span("1.0.0", "2.5.1")),
        ("AbstractCoordinator", "INFO", "lost its place", f"{_STALE} due to {{reason}}, resetting", span("2.6.0")),
        ("AbstractCoordinator", "INFO", "asks to join", "Request joining group due to: {reason}", span("3.0.0")),
        ("AbstractCoordinator", "INFO", "leaves the group", f"{_LEAVES} {{words}} due to {{reason}}", span("2.4.0")),
        ("AbstractCoordinator", "INFO", "leaves the group", _LEAVES, span("2.2.0", "2.3.1")),
        ("StreamsConfig", "INFO", "upgrade.from is set", "\tupgrade.from = {value}", span("0.10.2.2")),
        ("ConsumerConfig", "INFO", "static or not", "\tgroup.instance.id = {member}", span("2.3.0")),
        ("StreamThread", "DEBUG", "skips tasks", f"{_SKIPPED}: {{code}}", span("2.1.0", "2.3.1")),
        ("StreamsPartitionAssignor", "DEBUG", _BELOW, f"{_RECEIVED} {probing}", span("2.2.2", "2.2.2") | span("2.3.1")),
        ("StreamsPartitionAssignor", "INFO", "new end point", _END_POINT, span("2.6.0")),
        ("StreamsPartitionAssignor", "INFO", "cut answer", _CUT, span("2.0.0")),
        ("StreamsPartitionAssignor", "DEBUG", "smallest so far", _SO_FAR, _FIXED),
        ("StreamsPartitionAssignor", "DEBUG", "leads", "Current minimum supported version remains at {least}", _FIXED),
        ("StreamsPartitionAssignor", "INFO", "warm-up planned", f"{_LATER} {_CAUGHT}", span("2.6.0", "2.6.3")),
        ("StreamsPartitionAssignor", "INFO", "warm-up planned", f"{_LATER_BY} {_CAUGHT}", span("2.7.0")),
        ("StreamThread", "ERROR", "dies", "StreamsException: {words}Failed to rebalance", span(last="2.5.1")),
    ):  # fmt: skip
        yield kind, words, level, logger, "", since


_OLD = "0.11.0.3"
_OPTED = span("3.1.0", "3.2.0")
_NOT_VALID = "Attempt to heartbeat failed for since member id {member} is not valid"
_STALE = "Attempt to heartbeat with {words} and group instance id {words}"
_LEAVES = "Member {member} sending LeaveGroup request to coordinator"
_STOPS = "Detected that shutdown was requested. All clients in this app will now begin to shutdown"
_KAFKAS = "unexpected Kafka exception during processing"
_GOING = "exception during processing and the thread is going to shut down"
_BELOW = "below version probing"
_SKIPPED = "Encountered assignment error during partition assignment"
_RECEIVED = "Received an assignment version {received} that is less than"
_FIXED = span("2.2.2", "2.2.2") | span("2.3.1")
_SO_FAR = "Downgrade the current minimum supported version {highest} to the smaller seen supported version {supported}"
_LATER = "Requesting followup rebalance be scheduled for {when}"
_LATER_BY = "Requesting followup rebalance be scheduled by {member} for {when}"
_CAUGHT = "to probe for caught-up"
_CUT = "Sent a version {used} subscription and got version {received} assignment back"
_END_POINT = "Requested to schedule immediate rebalance to update group with new host endpoint"


def _broker() -> Iterator[Row]:
    """The group coordinator, in a broker's log.

    Source: 0.10.0.0, 2.3.0, 3.0.0, 3.9.0 GroupCoordinator; 3.9.0 GroupMetadataManager.
    """
    state = "in state {words} with old generation {generation}"
    for kind, words in (
        ("broker rebalances", f"Preparing to rebalance group {{group}} {state} ({{words}}) (reason: {{reason}})"),
        ("broker rebalances", f"Preparing to rebalance group {{group}} {state} (reason: {{reason}})"),
        ("broker rebalances", "Preparing to rebalance group {group} with old generation {generation}"),
        ("broker rebalanced", "Stabilized group {group} generation {generation}"),
        ("broker assigned", "Assignment received from leader {member} for group {group} for generation {generation}"),
        ("broker assigned", "Assignment received from leader for group {group} for generation {generation}"),
        ("static member back", "Static member with groupInstanceId={member} and unknown member id joins"),
        ("static member back", "Static member {member} with unknown member id rejoins"),
        ("static member back", "Static member {member} of group {group} with unknown member id rejoins"),
        ("static member back", "Static member which joins during Stable stage and doesn't affect"),
        ("broker removes", "Member {member} in group {group} has failed, removing it from the group"),
        ("broker removes", "Group {group} removed dynamic members who haven't joined"),
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
    ("end offsets", "Failed to fetch end offsets for changelogs, will return previous assignment"),
    ("corrupted task", "Active task(s) got corrupted. Triggering a rebalance"),
    ("corrupted task", "TaskCorruptedException"),
    ("no assignment", "There are insufficient bytes available to read assignment from the sync-group response"),
    ("no assignment", "Sending empty assignment to member"),
    ("state lock", "Failed to lock the state directory for"),
    ("missed rebalance", "Commit cannot be completed since the group has already rebalanced"),
    ("two jars", "NoSuchMethodError: {words}org.apache.kafka."),
    ("two jars", "NoSuchFieldError: {words}org.apache.kafka."),
    ("two jars", "NoClassDefFoundError: org/apache/kafka/"),
    ("two jars", "ClassNotFoundException: org.apache.kafka."),
    ("repartition topic", "has invalid partitions: expected: {expected}; actual: {actual}"),
    ("cooperative rule", "Assignor supporting the COOPERATIVE protocol violates its requirements"),
    ("not authorised", "Not authorized to access group"),
    ("streams protocol fails", "StreamsGroupHeartbeatRequest failed"),
    ("streams protocol", "group.protocol = streams"),
)
"""Words that name a cause, whoever printed them: (kind, words)."""


def _missing_topics() -> Iterator[Row]:
    """The leader finds no metadata of a source topic.

    Source: 2.2.0, 2.4.0, 2.6.0 StreamsPartitionAssignor#assign; 2.8.0, 3.0.1, 3.2.0, 3.7.0 RepartitionTopics#setup.
    """
    for words, since in (
        ("Missing source topic {value} durign assignment", span("2.2.0", "2.3.1")),
        ("Missing source topic {value} during assignment", span("2.4.0", "2.5.1")),
        ("Source topic {value} is missing/unknown during rebalance", span("2.6.0", "2.7.2")),
        ("The following source topics are missing/unknown: {words}.", span("2.8.0", "3.1.2")),
        ("Subtopology {words} was missing source topics", span("3.2.0", "3.6.2")),
        ("Subtopology {words} has missing source topics", span("3.7.0")),
        ("Unable to determine the number of partitions of all repartition topics", span("3.0.1")),
    ):
        yield "missing topic", words, "ERROR", "StreamsPartitionAssignor", "", since


def _exceptions() -> Iterator[Row]:
    """Ends of a thread that no rule of the model reaches.

    Source: 2.0.0, 2.3.1, 3.8.0 StreamsPartitionAssignor#onAssignment; 2.5.0 SubscriptionInfo; StreamsConfig.
    """
    counts = "Number of assigned partitions {partitions} is not equal to the number of active taskIds {tasks}"
    unknown = "Only versions 1 and 2 are expected to use an UNKNOWN (-1) latest supported version. Got {used}."
    encoded = "Should never try to encode a SubscriptionInfo with version [{used}] > LATEST_SUPPORTED_VERSION [{own}]"
    future = "Received a future (version probing) subscription (version: {future})"
    old = "and an incompatible pre Kafka 2.0 subscription (version: {smallest}) at the same time."
    for kind, words, exception, since in (
        ("mispaired tasks", counts, "TaskAssignmentException", span("0.10.2.0")),
        ("foreign bytes", unknown, "IllegalArgumentException", span("2.5.0")),
        ("foreign bytes", encoded, "IllegalStateException", span("2.5.0")),
        ("foreign bytes", "Failed to decode AssignmentInfo", "TaskAssignmentException", everything()),
        ("upgrade.from rejected", _REJECTED, "ConfigException", span("0.10.2.2")),
        (
            "pre-2.0 beside future, answered",
            f"{future} {old}",
            "TaskAssignmentException",
            span("2.7.0"),
        ),
    ):
        yield kind, words, "", "", exception, since


_REJECTED = "Invalid value {value} for configuration upgrade.from: "


@cache
def shapes() -> tuple[Shape, ...]:
    """Every shape of this table, longer words first."""
    causes = tuple((kind, words, "", "", "", everything()) for kind, words in CAUSES)
    return merged((*_client(), *_missing_topics(), *_exceptions(), *_broker(), *causes))
