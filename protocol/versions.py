"""The numbers that Kafka Streams' rebalance metadata is versioned by, with the way a binary spells them.

Which release uses which number is in `releases`; what a group does with the numbers is in `strategies`.
"""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = -1
"""The supported version that v1 and v2 bytes do not carry (Kafka: `UNKNOWN`)."""

FIRST = 1
"""The metadata version of Kafka Streams 0.10.0.0."""

EARLIEST_PROBEABLE = 3
"""The first version with which a group can probe (Kafka: `EARLIEST_PROBEABLE_VERSION`, KIP-268)."""

LATEST = 11
"""The latest metadata version that this package can read and write, spoken since 3.2.0."""

CODECS = ("0.10.0", "0.10.1", "0.10.2.2", "2.0", "2.2.2", "2.5", "2.8.2", "4.2.2", "4.3.1")
"""Generations of Kafka's own reading and writing code, each named by the lowest release that has it.

What each does is in `wire`. `0.10.1` reports every assignment that it reads as v2; `0.10.2.2` (and
0.11.0.3, 1.0.2, 1.1.1) reports the version it read. `2.0` puts the writer's own latest version into
the second int whatever the object holds; `2.2.2` (KAFKA-9053) writes the object's. `2.5` is the
generated code; `2.8.2` (and 3.0.2, 3.1.2, 3.2.2, 3.3.0 and later) is the generated code that refuses a
collection or a byte array longer than the bytes that are left. `4.2.2` (and 4.4.0) refuses absurd counts
in an assignment as well, and has one text for every damaged envelope; `4.3.1` has the first of these only.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one binary reads and writes bytes: a latest supported version, and a generation of code.

    >>> Dialect(latest=4, codec="2.2.2", envelope=0).latest
    4
    """

    latest: int
    codec: str
    envelope: int
    """The consumer envelope's version that the binary's client writes: 0, 1 or 3."""
