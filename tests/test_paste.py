"""Pasted bytes: each form is told apart by itself, three layers are read, and a release's reader is asked."""

from __future__ import annotations

import base64
import contextlib
import json
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import wire
from protocol.errors import DecodeError
from protocol.messages import (
    LATEST_OFFSET,
    Assignment,
    AssignmentInfo,
    Subscription,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
)
from protocol.paste import NotBytes, Part, read_paste, seen_by, taken_apart, unpack
from protocol.paste.layers import GROUP_RECORD, HEAD, meaning_of
from protocol.releases import release

INFO = SubscriptionInfo.of(
    {TaskId(0, 1): LATEST_OFFSET}, version=4, latest_supported_version=5, process_id=bytes(range(16))
)
SUBSCRIPTION = wire.encode_subscription_info(INFO)
ENVELOPE = wire.encode_subscription(Subscription(("orders",), SUBSCRIPTION), version=1)
ANSWER = wire.encode_assignment(Assignment((), wire.encode_assignment_info(AssignmentInfo(4, 4))), version=1)


def xxd(data: bytes) -> str:
    rows = (data[i : i + 16] for i in range(0, len(data), 16))
    return "\n".join(
        f"{16 * i:08x}: {' '.join(textwrap.wrap(row.hex(), 4)):39}  {''.join('.' for _ in row)}"
        for i, row in enumerate(rows)
    )


def hexdump(data: bytes) -> str:
    rows = [data[i : i + 16] for i in range(0, len(data), 16)]
    lines = [
        f"{16 * i:08x}  {' '.join(f'{b:02x}' for b in row[:8])}  {' '.join(f'{b:02x}' for b in row[8:])}  "
        f"|{'.' * len(row)}|"
        for i, row in enumerate(rows)
    ]
    return "\n".join([*lines, f"{len(data):08x}"])


def od(data: bytes) -> str:
    rows = [data[i : i + 16] for i in range(0, len(data), 16)]
    return "\n".join(f"{16 * i:07o} {' '.join(f'{b:02x}' for b in row)}" for i, row in enumerate(rows))


FORMS = {
    "hex": lambda data: data.hex(),
    "hex with spaces": lambda data: data.hex(" "),
    "hex with 0x": lambda data: "0x" + data.hex(),
    "hex in capitals": lambda data: data.hex(" ", 4).upper(),
    "hex with colons": lambda data: data.hex(":"),
    "Go slice in hex": lambda data: "[]byte{" + ", ".join(hex(byte) for byte in data) + "}",
    "Go slice": lambda data: "[" + " ".join(map(str, data)) + "]",
    "Java array": lambda data: "[" + ", ".join(str(byte - 256 if byte > 127 else byte) for byte in data) + "]",
    "Go string": lambda data: '"' + "".join(f"\\x{byte:02x}" for byte in data) + '"',
    "Java string": lambda data: '"' + "".join(f"\\u{byte:04x}" for byte in data) + '"',
    "Python bytes": repr,
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64 for addresses": lambda data: base64.urlsafe_b64encode(data).decode(),
    "xxd": xxd,
    "hexdump -C": hexdump,
    "od": od,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", [SUBSCRIPTION, ENVELOPE, ANSWER], ids=["payload", "subscription", "assignment"])
def test_every_form_gives_the_same_bytes(form: str, data: bytes) -> None:
    assert unpack(FORMS[form](data)).parts[0].data == data
    assert unpack(FORMS[form](data).encode()).parts[0].data == data


@pytest.mark.parametrize("form", ["hex", "hex with spaces", "Go string", "Java array", "xxd", "hexdump -C", "od"])
@given(data=st.binary(min_size=17, max_size=80))
def test_any_bytes_come_back_from_a_form_that_is_not_ambiguous(form: str, data: bytes) -> None:
    assert unpack(FORMS[form](data)).parts[0].data == data


def test_raw_bytes_are_bytes() -> None:
    assert (unpack(ENVELOPE).form, unpack(ENVELOPE).parts[0].data) == ("bytes", ENVELOPE)


@given(st.one_of(st.text(max_size=200), st.binary(max_size=200)))
def test_anything_else_is_refused_with_a_reason(pasted: str | bytes) -> None:
    try:
        unpack(pasted)
    except NotBytes as error:
        assert str(error)


@pytest.mark.parametrize(
    ("pasted", "why"),
    [
        ("", "nothing"),
        ("000", "odd number of hex digits"),
        ("hello world!", "no hex digit"),
        ("\\u0000\\ufffd\\u0000", "lost"),
        ("\x00\ufffd", "lost"),
        ("[1, 2, 300]", "no byte"),
        ('{"a": 1}', "no bytes of a member"),
        ('{"a": [[[', "begins as JSON does"),
    ],
)
def test_the_reason_of_a_refusal_helps(pasted: str, why: str) -> None:
    with pytest.raises(NotBytes, match=why):
        unpack(pasted)


def test_a_group_description_gives_its_members_with_the_protocol() -> None:
    group = {
        "groupId": "app",
        "protocolType": "consumer",
        "protocol": "stream",
        "members": [
            {
                "memberId": "a",
                "memberMetadata": base64.b64encode(ENVELOPE).decode(),
                "memberAssignment": {"type": "Buffer", "data": list(ANSWER)},
            }
        ],
    }
    paste = unpack(json.dumps(group))
    assert [(part.label, part.role, part.protocol) for part in paste.parts] == [
        ("members[0].memberMetadata", "subscription", "stream"),
        ("members[0].memberAssignment", "assignment", "stream"),
    ]
    assert [taken_apart(part).kind for part in paste.parts] == ["consumer subscription", "consumer assignment"]


def record(*, version: int, protocol: str = "stream") -> bytes:
    """A group's record, as a broker writes it."""
    flexible = version >= 4

    def text(value: str) -> bytes:
        data = value.encode()
        return (bytes((len(data) + 1,)) if flexible else len(data).to_bytes(2, "big")) + data

    def raw(data: bytes) -> bytes:
        if not flexible:
            return len(data).to_bytes(4, "big") + data
        size, low = len(data) + 1, b""
        while size > 127:
            low, size = low + bytes((size & 127 | 128,)), size >> 7
        return low + bytes((size,)) + data

    made = version.to_bytes(2, "big") + text("consumer") + (7).to_bytes(4, "big") + text(protocol) + text("a-1")
    made += (1).to_bytes(8, "big") if version >= 2 else b""
    made += bytes((2,)) if flexible else (1).to_bytes(4, "big")
    made += text("a-1")
    made += (b"\x00" if flexible else b"\xff\xff") if version >= 3 else b""
    made += text("a") + text("/10.0.0.1")
    made += (300000).to_bytes(4, "big") if version >= 1 else b""
    made += (10000).to_bytes(4, "big") + raw(ENVELOPE) + raw(ANSWER)
    return made + (b"\x00\x00" if flexible else b"")


@pytest.mark.parametrize("version", range(5))
def test_a_group_record_is_read_down_to_the_streams_payload(version: int) -> None:
    layer = taken_apart(Part(data=record(version=version)))
    assert layer.kind == GROUP_RECORD and layer.problem is None
    assert [one.kind for one in layer.inner] == ["consumer subscription", "consumer assignment"]
    payload = layer.inner[0].inner[0]
    assert payload.kind == "subscription info"
    version_field = payload.fields[0]
    assert layer.data[version_field.offset : version_field.offset + 4] == (4).to_bytes(4, "big")


@pytest.mark.parametrize("version", [0, 3, 4])
def test_a_record_that_was_cut_is_read_up_to_the_cut(version: int) -> None:
    whole = record(version=version)
    fields = taken_apart(Part(data=whole)).fields
    for cut in range(13, len(whole)):
        *read, last = taken_apart(Part(data=whole[:cut])).fields
        assert last.problem and last.offset + last.length == cut
        assert tuple(read) == fields[: len(read)]


@pytest.mark.parametrize("cut", range(21, len(ENVELOPE)))
def test_an_envelope_that_was_cut_is_one_still_and_so_is_the_letter_in_it(cut: int) -> None:
    layer = taken_apart(Part(data=ENVELOPE[:cut]))
    assert layer.kind == wire.CONSUMER_SUBSCRIPTION and layer.reason != "you said so"
    if 26 <= cut < 18 + len(SUBSCRIPTION):
        assert [field.value for field in layer.inner[0].fields[:2]] == [4, 5]
        assert layer.payload is None, "a reader does not get as far"
    assert bool(layer.problem) == (cut != 18 + len(SUBSCRIPTION))


@pytest.mark.parametrize("cut", range(35, 54))
def test_an_assignment_that_was_cut_within_its_letter_is_no_subscription(cut: int) -> None:
    letter = wire.encode_assignment_info(AssignmentInfo(4, 4))
    whole = wire.encode_assignment(
        Assignment((TopicPartition("orders", 0), TopicPartition("orders", 1)), letter), version=1
    )
    layer = taken_apart(Part(data=whole[:cut]))
    assert layer.kind == wire.CONSUMER_ASSIGNMENT
    assert layer.problem is not None and layer.problem.name == "user_data"


@pytest.mark.parametrize("form", FORMS)
def test_a_paste_of_any_form_is_read_in_one_call(form: str) -> None:
    (layer,) = read_paste(FORMS[form](ENVELOPE))
    assert layer == taken_apart(Part(data=ENVELOPE))


def test_of_many_messages_those_that_can_be_told_are_read_and_the_others_say_why_not() -> None:
    group = {"members": [{"metadata": ENVELOPE.hex()}, {"metadata": "ff"}], "protocol": "stream"}
    good, bad = read_paste(json.dumps(group))
    assert good.problem is None and good.label == "members[0].metadata"
    assert bad.problem is not None and (bad.kind, bad.label) == ("unknown", "members[1].metadata")
    assert "sticky" in read_paste(ENVELOPE, protocol="sticky")[0].inner[0].notes[0]


def test_a_group_of_another_assignor_is_not_read_as_streams() -> None:
    layer = taken_apart(Part(data=record(version=3, protocol="cooperative-sticky")))
    assert "cooperative-sticky" in layer.notes[0]
    assert layer.inner[0].inner[0].kind == "user data of another assignor"


def test_the_bytes_of_each_field_are_those_at_its_offset() -> None:
    layer = taken_apart(Part(data=ENVELOPE))
    payload = layer.inner[0]
    assert b"".join(payload.bytes_of(field) for field in payload.fields) == SUBSCRIPTION
    assert meaning_of(payload.kind, payload.fields[0]) == "the version that the member speaks (used)"


def test_two_ints_alone_are_a_head() -> None:
    layer = taken_apart(Part(data=bytes.fromhex("0000000400000005")))
    assert layer.kind == HEAD
    sight = seen_by(layer, release("2.3.0"), used=4)
    assert sight is not None and sight.then.startswith("Crash at the next rebalance")
    sight = seen_by(layer, release("2.4.0"), used=4)
    assert sight is not None and "goes on with v5" in sight.then


def test_a_reader_that_cannot_read_says_so_and_dies() -> None:
    sight = seen_by(taken_apart(Part(data=SUBSCRIPTION)), release("1.1.1"))
    assert sight is not None and "unable to decode subscription data: version=4" in sight.failure
    sight = seen_by(taken_apart(Part(data=wire.encode_assignment_info(AssignmentInfo(11, 11)))), release("3.1.0"))
    assert sight is not None and "used version: 11; latest supported version: 10" in sight.failure


def test_a_leader_that_sees_a_newer_member_probes() -> None:
    sight = seen_by(taken_apart(Part(data=bytes.fromhex("0000000500000005"))), release("2.3.0"))
    assert sight is not None


def test_an_error_assignment_says_in_whose_version_it_is() -> None:
    layer = taken_apart(Part(data=wire.encode_assignment_info(AssignmentInfo(11, 11, error_code=1))))
    assert "missing" in layer.notes[0] and "leader's own" in layer.notes[0]


def words(data: bytes, *, width: int = 16) -> str:
    """As `hexdump` prints them by itself: the machine's own numbers of two bytes."""
    padded = data + b"\0" * (len(data) % 2)
    rows = [padded[i : i + width] for i in range(0, len(padded), width)]
    lines = [
        f"{width * i:07x} " + " ".join(f"{row[j + 1]:02x}{row[j]:02x}" for j in range(0, len(row), 2))
        for i, row in enumerate(rows)
    ]
    return "\n".join([*lines, f"{len(data):07x}"])


@given(data=st.binary(min_size=17, max_size=80))
def test_words_of_two_bytes_are_turned_round(data: bytes) -> None:
    assert unpack(words(data)).parts[0].data == data


def test_rows_that_a_dump_leaves_out_are_put_back() -> None:
    data = b"\x00\x00\x00\x04" + bytes(92) + b"\x07"
    whole = hexdump(data).splitlines()
    assert whole[2][10:] == whole[3][10:]
    assert unpack("\n".join([*whole[:2], "*", *whole[6:]])).parts[0].data == data
    with pytest.raises(NotBytes, match="line 2 of the dump says offset 20"):
        unpack("00000000: 0000 0004  ....\n00000020: 0000 0004  ....")


OTHER_FORMS: dict[str, Callable[[bytes], str]] = {
    "bytearray": lambda data: f"bytearray({data!r})",
    "fromhex": lambda data: f"bytes.fromhex('{data.hex()}')",
    "hex in quotes": lambda data: f"b'{data.hex()}'",
    "SQL": lambda data: f"X'{data.hex()}'",
    "PostgreSQL": lambda data: f"\\x{data.hex()}",
    "Node.js": lambda data: f"<Buffer {data.hex(' ')}>",
    "Rust": lambda data: "[" + ", ".join(f"{byte}u8" for byte in data) + "]",
    "C#": lambda data: data.hex("-").upper(),
    "Scala": lambda data: "Array(" + ", ".join(map(str, data)) + ")",
    "percent": lambda data: "".join(f"%{byte:02X}" for byte in data),
    "data address": lambda data: f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}",
    "in a line": lambda data: f"2024-05-01 12:00:00 DEBUG user data of app-1: {data.hex()} (60 bytes)",
}


@pytest.mark.parametrize("form", OTHER_FORMS)
@pytest.mark.parametrize("data", [SUBSCRIPTION, ENVELOPE, ANSWER], ids=["payload", "subscription", "assignment"])
def test_what_languages_write_around_bytes_is_taken_off(form: str, data: bytes) -> None:
    assert unpack(OTHER_FORMS[form](data)).parts[0].data == data


@pytest.mark.parametrize(
    ("pasted", "why"),
    [
        (b"", "nothing"),
        (b" \n\t ", "nothing"),
        ("\\x00\\x00\\x0", "cut in the middle"),
        ("\\x00\\x00\\", "cut in the middle"),
        ("00000004000000...", "cut when it was printed"),
        ("<Buffer 00 00 ... 20 more bytes>", "20 more bytes are missing"),
        ("java.nio.HeapByteBuffer[pos=0 lim=60 cap=60]", "ByteBuffer"),
        ("app::GroupMetadata(groupId=app, generation=7, members=Map(a -> MemberMetadata(memberId=a)))", "without"),
        ("GROUP TOPIC PARTITION CURRENT-OFFSET\napp orders 0 10", "kafka-consumer-groups prints no bytes"),
        ('{"members": [{"clientId": "a", "assignments": [{"topic": "t", "partition": 0}]}]}', "no bytes of a member"),
    ],
)
def test_what_has_no_bytes_says_where_they_are(pasted: str | bytes, why: str) -> None:
    with pytest.raises(NotBytes, match=why):
        unpack(pasted)


def test_a_group_that_python_or_go_printed_gives_its_members() -> None:
    python = (
        f"DescribeGroupsResponse_v3(group='app', protocol_type='consumer', protocol='stream', members=[(member_id='a', "
        f"member_metadata={ENVELOPE!r}, member_assignment={ANSWER!r})])"
    )
    go = f"{{Protocol:stream ProtocolMetadata:{list(ENVELOPE)} MemberAssignment:{list(ANSWER)}}}".replace(",", "")
    for pasted in (python, go):
        parts = unpack(pasted).parts
        assert [(part.role, part.protocol, part.data) for part in parts] == [
            ("subscription", "stream", ENVELOPE),
            ("assignment", "stream", ANSWER),
        ]


def test_one_json_value_behind_another_is_read() -> None:
    text = "\n".join(json.dumps({"memberMetadata": base64.b64encode(data).decode()}) for data in (ENVELOPE, ENVELOPE))
    assert [part.label for part in unpack(text).parts] == ["[0].memberMetadata", "[1].memberMetadata"]


def test_hex_digits_that_are_a_message_as_base64_only_are_base64() -> None:
    letters = "AAAA" + "BAAA" + "AEAA" * 0
    assert unpack(letters).form == "hex", "neither is a message: hex is the nearer guess"
    assert unpack("ffffffffffffffff").form == "hex"


@pytest.mark.parametrize(
    "seed", ["a", "\\", "\\x", "[", "{", "=:", "a=", "a='", "00000000: 0000\n", "%00", '"', "0x00,"]
)
def test_time_grows_with_the_length_only(seed: str) -> None:
    with contextlib.suppress(NotBytes):
        unpack((seed * 100_000)[:100_000])


@pytest.mark.parametrize("data", [b"\x00", b"\x00\x01", b"\x01", b"\x00\x01\x00"])
def test_a_few_bytes_are_a_decode_error(data: bytes) -> None:
    with pytest.raises(DecodeError):
        taken_apart(Part(data=data))


@pytest.mark.parametrize(
    ("name", "text"), [("0.10.0.1", "Unknown assignment data version: 5"), ("2.3.1", "used version: 5; latest")]
)
def test_two_ints_are_refused_in_the_words_of_the_release(name: str, text: str) -> None:
    seen = seen_by(taken_apart(Part(data=bytes.fromhex("0000000500000005"))), release(name))
    assert seen is not None and text in seen.failure and len(seen.log) == 1
