"""How fast a SubscriptionInfo v8 is read and written, beside the peers that can be taught its layout.

The peers are development packages only; where one is missing, its tests say so and are skipped.
"""

from __future__ import annotations

import gc
import io
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import pytest

from protocol import wire
from protocol.messages import SubscriptionInfo


def subscription(*, tasks: int, subtopologies: int) -> SubscriptionInfo:
    each = tasks // subtopologies
    sums = tuple(
        (subtopology, tuple(number for partition in range(each) for number in (partition, 1000 * partition)))
        for subtopology in range(subtopologies)
    )
    return SubscriptionInfo(8, 8, bytes(range(1, 17)), "localhost:8080", (), (), sums, 5)


SIZES = {
    "1 kB": subscription(tasks=80, subtopologies=2),
    "100 kB": subscription(tasks=8500, subtopologies=10),
}
BYTES = {size: wire.encode_subscription_info(info) for size, info in SIZES.items()}


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to read and write the layout."""

    name: str
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]


def ours() -> Codec:
    return Codec("ours", wire.decode_subscription_info, wire.encode_subscription_info)


def kafka_python_schema() -> Codec:
    types = pytest.importorskip("kafka.protocol.old.types")
    schema = types.Schema(
        ("version", types.Int32),
        ("latest_supported_version", types.Int32),
        ("process_id", types.UUID),
        ("user_end_point", types.Bytes),
        (
            "task_offset_sums",
            types.Array(
                ("subtopology", types.Int32),
                ("partitions", types.Array(("partition", types.Int32), ("offset_sum", types.Int64))),
            ),
        ),
        ("unique_field", types.Int8),
    )
    return Codec("kafka-python Schema", lambda data: schema.decode(io.BytesIO(data)), schema.encode)


def kafka_python_json() -> Codec:
    pytest.importorskip("kafka.protocol.schemas.fields")
    struct = pytest.importorskip("kafka.protocol.schemas.fields.struct")

    def row(name: str, kind: str, *fields: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "type": kind, "versions": "8+", **({"fields": list(fields)} if fields else {})}

    layout = struct.StructField(
        {
            "name": "SubscriptionInfoData",
            "type": "data",
            "versions": "8",
            "fields": [
                row("version", "int32"),
                row("latestSupportedVersion", "int32"),
                row("processId", "uuid"),
                row("userEndPoint", "bytes"),
                row(
                    "taskOffsetSums",
                    "[]TaskOffsetSum",
                    row("topicGroupId", "int32"),
                    row("partitionToOffsetSum", "[]P", row("partition", "int32"), row("offsetSum", "int64")),
                ),
                row("uniqueField", "int8"),
            ],
        }
    )
    return Codec(
        "kafka-python JSON",
        lambda data: layout.decode(io.BytesIO(data), version=8),
        lambda value: layout.encode(value, version=8),
    )


def _construct() -> Any:
    c = pytest.importorskip("construct")
    pair = c.Struct("partition" / c.Int32sb, "offset_sum" / c.Int64sb)
    return c.Struct(
        "version" / c.Int32sb,
        "latest_supported_version" / c.Int32sb,
        "process_id" / c.Bytes(16),
        "user_end_point" / c.Prefixed(c.Int32sb, c.GreedyBytes),
        "task_offset_sums"
        / c.PrefixedArray(
            c.Int32sb, c.Struct("subtopology" / c.Int32sb, "partitions" / c.PrefixedArray(c.Int32sb, pair))
        ),
        "unique_field" / c.Int8sb,
    )


def construct() -> Codec:
    layout = _construct()
    return Codec("construct", layout.parse, layout.build)


def construct_compiled() -> Codec:
    layout = _construct().compile()
    return Codec("construct compiled", layout.parse, layout.build)


def kio() -> Codec:
    serial = pytest.importorskip("kio.serial")
    from kio.static.constants import EntityType
    from kio.static.primitive import i8, i16, i32, i64

    def entity(name: str, kind: Any, *rows: tuple[str, Any, str]) -> Any:
        return make_dataclass(
            name,
            [(row, of, field(metadata={"kafka_type": wire_type} if wire_type else {})) for row, of, wire_type in rows],
            namespace={"__type__": kind, "__version__": i16(8), "__flexible__": False},
            frozen=True,
            slots=True,
            kw_only=True,
        )

    pair = entity("P", EntityType.nested, ("partition", i32, "int32"), ("offset_sum", i64, "int64"))
    task = entity("T", EntityType.nested, ("topic_group_id", i32, "int32"), ("partitions", tuple[pair, ...], ""))
    layout = entity(
        "S",
        EntityType.data,
        ("version", i32, "int32"),
        ("latest_supported_version", i32, "int32"),
        ("process_id", uuid.UUID | None, "uuid"),
        ("user_end_point", bytes, "bytes"),
        ("task_offset_sums", tuple[task, ...], ""),
        ("unique_field", i8, "int8"),
    )
    reader, writer = serial.entity_reader(layout), serial.entity_writer(layout)

    def encode(value: Any) -> bytes:
        buffer = io.BytesIO()
        writer(buffer, value)
        return buffer.getvalue()

    return Codec("kio", lambda data: reader(data, 0)[0], encode)


MAKERS = (ours, kafka_python_schema, kafka_python_json, construct, construct_compiled, kio)
each_codec = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
each_size = pytest.mark.parametrize("size", SIZES)


@each_size
@each_codec
def test_all_codecs_read_and_write_the_same_bytes(make: Callable[[], Codec], size: str) -> None:
    codec = make()
    assert codec.encode(codec.decode(BYTES[size])) == BYTES[size]


@each_size
@each_codec
def test_decode(benchmark: Any, make: Callable[[], Codec], size: str) -> None:
    codec = make()
    benchmark.group = f"decode {size}"
    benchmark(codec.decode, BYTES[size])


@each_size
@each_codec
def test_encode(benchmark: Any, make: Callable[[], Codec], size: str) -> None:
    codec = make()
    value = codec.decode(BYTES[size])
    benchmark.group = f"encode {size}"
    benchmark(codec.encode, value)


# ------------------------------------------- promises that a busy machine keeps


@contextmanager
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def once(call: Callable[[], object], calls: int) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - started) / calls


def best_ratio(first: Callable[[], object], second: Callable[[], object], *, calls: int, wanted: float) -> float:
    """How many times as long the second takes at its best, measured in turns, so that a busy machine slows both.

    Where that is not what is wanted, more turns are given: both bests can only come closer to the truth.
    """
    deadline = time.monotonic() + 20
    mine = theirs = float("inf")
    with no_collector():
        while True:
            for _ in range(25):
                mine, theirs = min(mine, once(first, calls)), min(theirs, once(second, calls))
            if theirs / mine >= wanted or time.monotonic() > deadline:
                return theirs / mine


def settles_below(call: Callable[[], object], seconds: float, *, calls: int) -> bool:
    """Whether one turn of many takes less than this: a busy machine is given time."""
    deadline = time.monotonic() + 20
    with no_collector():
        while time.monotonic() < deadline:
            if once(call, calls) <= seconds:
                return True
    return False


def test_the_sizes_are_those_of_the_promise() -> None:
    assert [len(data) for data in BYTES.values()] == [1023, 102127]


@pytest.mark.parametrize(
    ("size", "way", "seconds"),
    [("1 kB", "decode", 15e-6), ("100 kB", "decode", 2e-3), ("100 kB", "encode", 1.5e-3)],
)
def test_a_subscription_is_read_and_written_in_the_promised_time(size: str, way: str, seconds: float) -> None:
    codec, info = ours(), SIZES[size]
    call = (lambda: codec.decode(BYTES[size])) if way == "decode" else (lambda: codec.encode(info))
    assert settles_below(call, seconds, calls=100 if size == "1 kB" else 3)


@pytest.mark.parametrize("way", ["decode", "encode"])
@pytest.mark.parametrize(
    ("make", "times"),
    [(kafka_python_schema, 10), (kafka_python_json, 10), (construct, 10), (construct_compiled, 10), (kio, 0.67)],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_peer_takes_at_least_ten_times_as_long(make: Callable[[], Codec], times: float, way: str) -> None:
    """But not kio: its reader is native code, and about level is enough."""
    peer, mine, data, info = make(), ours(), BYTES["1 kB"], SIZES["1 kB"]
    theirs = peer.decode(data)
    if way == "decode":
        ratio = best_ratio(lambda: mine.decode(data), lambda: peer.decode(data), calls=20, wanted=times)
    else:
        ratio = best_ratio(lambda: mine.encode(info), lambda: peer.encode(theirs), calls=20, wanted=times)
    assert ratio >= times, f"{peer.name}: {ratio:.1f} times"
