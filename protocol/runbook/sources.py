"""Where a reason was read: the parts of a source, each with its address where it has one.

Which reason has which source is in `planner`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..frames import source_url

_WIKI = "https://cwiki.apache.org/confluence/"
_KIPS = {
    "258": "display/KAFKA/KIP-258%3A+Allow+to+Store+Record+Timestamps+in+RocksDB",
    "268": "display/KAFKA/KIP-268%3A+Simplify+Kafka+Streams+Rebalance+Metadata+Upgrade",
    "345": "display/KAFKA/KIP-345%3A+Introduce+static+membership+protocol+to+reduce+consumer+rebalances",
    "429": "display/KAFKA/KIP-429%3A+Kafka+Consumer+Incremental+Rebalance+Protocol",
    "447": "display/KAFKA/KIP-447%3A+Producer+scalability+for+exactly+once+semantics",
    "732": "x/zJONCg",
    "735": "display/KAFKA/KIP-735%3A+Increase+default+consumer+session+timeout",
    "741": "display/KAFKA/KIP-741%3A+Change+default+serde+to+be+null",
    "896": "display/KAFKA/KIP-896%3A+Remove+old+client+protocol+API+versions+in+Kafka+4.0",
    "904": "x/P5VbDg",
    "1035": "display/KAFKA/KIP-1035%3A+StateStore+managed+changelog+offsets",
    "1124": "x/y4kgF",
    "1071": "display/KAFKA/KIP-1071%3A+Streams+Rebalance+Protocol",
}
_ALL_KIPS = "display/KAFKA/Kafka+Improvement+Proposals"

_STREAMS = "streams/src/main/java/org/apache/kafka/streams/"
_MORE = {
    "ChangedSerializer": "kstream/internals/ChangedSerializer.java",
    "RocksDBStore": "state/internals/RocksDBStore.java",
    "RocksDBTimestampedStore": "state/internals/RocksDBTimestampedStore.java",
    "SubscriptionStoreReceiveProcessorSupplier": "kstream/internals/foreignkeyjoin/"
    "SubscriptionStoreReceiveProcessorSupplier.java",
}

_PARTS = re.compile(
    r"(?P<kip>KIP-(?P<kip_number>\d+))"
    r"|(?P<issue>(?:KAFKA-\d+))"
    r"|(?P<pull>pull requests? (?P<pull_number>\d+))"
    r"|(?P<other>[\w.-]+/[\w.-]+#\d+)"
    r"|(?P<guide>(?P<line>\d+\.\d+) (?=(?:and \d+\.\d+ )?upgrade guides?)(?:upgrade guides?)?)"
    r"|(?P<notes>(?P<of>\d+\.\d+) upgrade notes)"
    r"|(?P<code>(?P<tag>\d+\.\d+\.\d+(?:\.\d+)?) (?P<class>[A-Z]\w+)(?:#\w+)?)"
)


def parts(source: str) -> list[tuple[str, str]]:
    """The text of a source, cut where an address begins or ends; an address may be empty.

    >>> parts("KIP-735; see there")
    [('KIP-735', 'https://cwiki.apache.org/confluence/display/KAFKA/KIP-735%3A+Increase+default+consumer+session+timeout'),
    ('; see there', '')]
    """
    return list(_parts(source))


def _parts(source: str) -> Iterator[tuple[str, str]]:
    end = 0
    for found in _PARTS.finditer(source):
        if found.start() > end:
            yield source[end : found.start()], ""
        yield found[0], _address(found)
        end = found.end()
    if end < len(source):
        yield source[end:], ""


def _address(found: re.Match[str]) -> str:
    if found["kip"]:
        return _WIKI + _KIPS.get(found["kip_number"], _ALL_KIPS)
    if found["issue"]:
        return f"https://issues.apache.org/jira/browse/{found['issue']}"
    if found["pull"]:
        return f"https://github.com/apache/kafka/pull/{found['pull_number']}"
    if found["other"]:
        return f"https://github.com/{found['other'].replace('#', '/issues/')}"
    if found["guide"]:
        return f"https://kafka.apache.org/{found['line'].replace('.', '')}/streams/upgrade-guide"
    if found["notes"]:
        line = found["of"].replace(".", "")
        return f"https://kafka.apache.org/{line}/getting-started/upgrade"
    if path := _MORE.get(found["class"]):
        return f"https://github.com/apache/kafka/blob/{found['tag']}/{_STREAMS}{path}"
    return source_url(found["code"])
