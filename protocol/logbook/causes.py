"""Causes of trouble in an upgrade that are not the metadata version: what each is, and what helps.

By which words a log shows them is in `others`; the causes that are, are in `diseases`.
"""

from __future__ import annotations

from typing import NamedTuple


class Cause(NamedTuple):
    """Why a log looks as it does, though no version is to blame."""

    title: str
    why: str
    cure: str
    source: str
    grave: bool = True
    doubt: str = ""
    """What would decide, where the line alone does not."""


CAUSES: dict[str, Cause] = {
    "foreign-key join": Cause(
        "foreign-key joins changed their serialization in 3.3",
        "Instances of before and of 3.3 read each other's subscription records of a foreign-key join. In 3.3.x a "
        "reader takes its own format only, even with upgrade.from set.",
        "Never stop at 3.3.x: go to 3.4.0 or later, in two rolling bounces with upgrade.from set in the first.",
        "KAFKA-13769, KAFKA-14646; 3.3.2 SubscriptionStoreReceiveProcessorSupplier#process",
    ),
    "newer state store": Cause(
        "the local state was written by a newer RocksDB or a newer store format",
        "The group negotiated its version well; the files in state.dir are what the older jar cannot open.",
        "Stop the instance, delete its local state (the state.dir of the application), start it: it restores from "
        "the changelogs.",
        "3.9 upgrade guide (downgrading from 3.0); facebook/rocksdb#11989; KIP-258 for the stores of 2.3",
    ),
    "two topologies": Cause(
        "two topologies share one application.id",
        "The instances join one group, since the protocol name is the same, and get tasks of a topology that they do "
        "not have.",
        "Give the new topology a new application.id, or keep the topologies compatible while both run.",
        "3.8.0 StreamsPartitionAssignor; KAFKA-17978",
    ),
    "ksqlDB command topic": Cause(
        "ksqlDB's command topic holds entries that this version cannot read",
        "ksqlDB replays its command topic at start; several of its releases cannot be upgraded in place, or not in a "
        "rolling way.",
        "Follow ksqlDB's own upgrade notes for this pair of versions: mostly a new cluster and replayed statements.",
        "confluentinc/ksql#6304, #7277, #7310",
    ),
    "repartition count": Cause(
        "a bug of 2.4.0 with chained repartition topics",
        "The assignor of 2.4.0 asks for a repartition topic before it knows its number of partitions (KAFKA-9335).",
        "Go to 2.4.1 instead.",
        "KAFKA-9335; 2.4.0 InternalTopologyBuilder",
    ),
    "named topology": Cause(
        "a named topology in a group that speaks less than v10",
        "A member of before 3.0 keeps the group below v10, whose task ids have no topology name.",
        "Finish the upgrade to 3.0 before named topologies are used.",
        "3.0.0 SubscriptionInfo#setTaskOffsetSumDataFromTaskOffsetSumMap",
    ),
    "classic group cannot convert": Cause(
        "the broker cannot convert a classic group whose assignment has user data",
        "Kafka Streams puts its metadata there, and so do custom assignors; the online conversion needs it empty.",
        "Stop all members and migrate offline; Kafka Streams' own new protocol is KIP-1071.",
        "KAFKA-18134",
    ),
    "suppress changelog": Cause(
        "the changelog of suppress() has a newer format than this jar",
        "An upgraded instance wrote it; a standby or restoring task on an old instance cannot read it. The versions "
        "were negotiated well.",
        "Finish the roll: the threads that die are those of old instances.",
        "KAFKA-10336, KAFKA-10173; 2.3.0 InMemoryTimeOrderedKeyValueBuffer#restoreBatch",
    ),
    "repartition format": Cause(
        "repartition records in the format of 3.5 (KIP-904)",
        "An instance before 3.5 reads records of a table's repartition topic that a newer one wrote, or the reverse.",
        "Up: two rolling bounces, upgrade.from set in the first. Down: bounce the new jar with upgrade.from set, "
        "wait until the records in flight are processed, then the old jar.",
        "KIP-904; 3.5.0 ChangedDeserializer#deserialize",
    ),
    "another assignor": Cause(
        "a client with another assignor or protocol joined the group",
        "Every Kafka Streams release calls its protocol 'stream', so two Streams releases never do that.",
        "Look for another application with the same application.id as its group.id.",
        "3.9.0 GroupCoordinator#doJoinGroup",
    ),
    "fenced instance": Cause(
        "two processes with one group.instance.id",
        "The broker keeps the newer one and fences the older.",
        "Give each instance its own group.instance.id; start the new process after the old one ended.",
        "KIP-345",
    ),
    "group is full": Cause(
        "the group has reached group.max.size",
        "A bounced instance needs a second place until its old id expires.",
        "Raise group.max.size on the brokers, or bounce more slowly.",
        "KIP-389",
    ),
    "fenced producer": Cause(
        "a producer was fenced or a task has moved",
        "A normal answer to a rebalance that a thread missed; the thread rejoins by itself. With exactly_once it also "
        "shows that two members held one task for a moment.",
        "None, unless it repeats: then look for stalls longer than max.poll.interval.ms or transaction.timeout.ms.",
        "3.9.0 StreamThread#handleTaskMigrated",
        grave=False,
        doubt="Whether it repeats.",
    ),
    "state directory is taken": Cause(
        "two processes use one state.dir",
        "Since 2.6.2, 2.7.1 and 2.8.0 the directory is locked; the old process still runs, or a second one was placed "
        "on the same volume.",
        "Wait for the old process to end, or give each its own state.dir.",
        "3.9.0 StateDirectory#initializeProcessId",
    ),
    "missing topic": Cause(
        "a source topic is missing",
        "The leader answers everybody with error code 1, encoded in its own latest version; members that cannot read "
        "that version report an undecodable assignment instead.",
        "Create the topic, then restart the instances.",
        "2.1.0, 3.8.0 StreamsPartitionAssignor#errorAssignment",
    ),
    "poll timeout": Cause(
        "a thread did not poll in time and left the group",
        "Long processing or restoring: more than max.poll.interval.ms between two polls.",
        "Raise max.poll.interval.ms, or lower max.poll.records.",
        "3.9.0 AbstractCoordinator.HeartbeatThread",
    ),
    "new end point": Cause(
        "a member came back with another application.server",
        "The group has to learn the new end point: one immediate rebalance.",
        "None.",
        "KAFKA-9568; 2.6.0 StreamsPartitionAssignor#maybeScheduleFollowupRebalance",
        grave=False,
    ),
    "lost its place": Cause(
        "a member was put out of the group and joins anew",
        "Its heartbeats or its rejoin came too late: a long pause of the JVM, a slow commit or restore, a broker that "
        "was away. Each such loss is a rebalance for everybody.",
        "Look at pauses of the process at that moment; raise session.timeout.ms or max.poll.interval.ms if they are "
        "normal.",
        "3.9.0 StreamThread#handleTaskMigrated, AbstractCoordinator.HeartbeatResponseHandler",
        grave=False,
        doubt="Whether it repeats, and the broker's reason for the removal in its own log.",
    ),
    "broker removes": Cause(
        "the broker removed members that gave no sign for session.timeout.ms",
        "Kafka Streams does not leave the group when it is closed, so in a bounce this is the old process; outside a "
        "bounce it is a process that stands still or is cut off.",
        "In a bounce: none. To wait less, restart within the session timeout, or use static membership.",
        "3.9.0 GroupCoordinator#onExpireHeartbeat",
        grave=False,
        doubt="Whether the process was bounced just before.",
    ),
    "missed rebalance": Cause(
        "a commit came after the group had moved on",
        "The thread was longer away from poll() than max.poll.interval.ms, or lost its heartbeats, and its partitions "
        "are another member's now.",
        "Raise max.poll.interval.ms or lower max.poll.records; look for pauses of the process.",
        "3.9.0 CommitFailedException",
        grave=False,
        doubt="Whether it repeats, and whether the member was paused or processed for long.",
    ),
    "end offsets": Cause(
        "the leader could not read the end offsets of the changelogs",
        "It then repeats the previous assignment and asks for another rebalance, again and again until the brokers "
        "answer.",
        "Look at the brokers and at the permissions of the application's admin client; the loop ends with the cause.",
        "2.6.0 StreamsPartitionAssignor#fetchEndOffsetsSum",
    ),
    "corrupted task": Cause(
        "a task's local state was found corrupted and is built anew",
        "A checkpoint or a changelog offset does not fit (deleted changelog records, an unclean stop with "
        "exactly_once); the task restores from the start, and since 3.1 an active one asks for a rebalance.",
        "None once; where it repeats, look at the changelog's retention and at unclean stops.",
        "3.1.0 StreamThread#runLoop; KAFKA-12486",
        grave=False,
        doubt="Whether it repeats.",
    ),
    "no assignment": Cause(
        "a member got an assignment of no bytes",
        "The leader's answer had nothing for this member, or the broker gave a static member nothing: mostly the "
        "leader died while it assigned, or two programs with other assignors share the group.",
        "Look at the group leader's log at that moment; restart the member.",
        "3.0.0 ConsumerCoordinator#onJoinComplete; 2.5.0 GroupMetadataManager#storeGroup",
        doubt="The group leader's log at that moment, and whether group.instance.id is set.",
    ),
    "state lock": Cause(
        "another thread or process still holds the lock of a task's directory",
        "For a moment that is normal while a task moves between threads. It lasts where two processes share one "
        "state.dir; and while a leader of 2.0.0 to 2.2.1 or 2.3.0 probes, every thread of an instance gets the "
        "tasks of all its threads (KAFKA-8649's companion).",
        "Wait for the next rebalance; give each process its own state.dir.",
        "3.9.0 StateDirectory#lock; 2.3.0 StreamsPartitionAssignor#versionProbingAssignment",
        grave=False,
        doubt="Whether it goes on after the next rebalance, and the release of the leader.",
    ),
    "two jars": Cause(
        "two versions of Kafka's jars are on one class path",
        "A class or method of Kafka is missing at run time: kafka-streams and kafka-clients of different releases, as "
        "dependency management (Spring Boot's, mostly) puts them together. The metadata version has no part in it.",
        "Bring kafka-streams and kafka-clients to one version, and build again.",
        "JVMS 5.4.3 (linkage errors)",
    ),
    "repartition topic": Cause(
        "an internal topic has another number of partitions than the topology asks for",
        "The topology or the partitions of a source topic changed; the assignor refuses the old internal topic.",
        "Stop all instances and reset the application, or give it a new application.id.",
        "0.10.2.0, 3.9.0 InternalTopicManager#validateTopics",
    ),
    "cooperative rule": Cause(
        "the leader moved a partition that another member still owned",
        "A COOPERATIVE consumer checks the answer of its leader since 2.4. An EAGER member in the group, or a defect "
        "of the assignor, breaks the rule.",
        "See that every member is past the first of the two bounces across 2.4; otherwise report it.",
        "KIP-429; 2.4.0 ConsumerCoordinator#validateCooperativeAssignment",
        doubt="Whether a member of before 2.4, or with upgrade.from set, is in the group.",
    ),
    "not authorised": Cause(
        "the client may not use this group",
        "The broker refuses the group's id to this principal (an ACL).",
        "Allow READ on the group whose name is the application.id.",
        "3.9.0 GroupAuthorizationException",
    ),
    "streams protocol": Cause(
        "the new streams group protocol (KIP-1071), not the classic one",
        "With group.protocol=streams the broker assigns: there is no leader, no metadata version and no version "
        "probing.",
        "None. A classic group becomes a streams group offline only, with all members stopped.",
        "KIP-1071; 4.2 streams developer guide",
        grave=False,
    ),
    "streams protocol fails": Cause(
        "the new streams group protocol (KIP-1071) failed, not the classic one",
        "With group.protocol=streams the broker assigns: there is no leader, no metadata version and no version "
        "probing. The error of the broker is in the same line.",
        "Read that error: a broker that is too old or has the protocol off, a topology that differs between members, "
        "or a classic group of the same name. A classic group becomes a streams group offline only.",
        "KIP-1071; 4.2.0 StreamsGroupHeartbeatRequestManager",
    ),
}
"""By the kind of the event that shows it."""
