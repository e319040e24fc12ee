"""Bytes: the four messages of a rebalance as Kafka writes and reads them, release by release.

What the messages mean is in `messages`; who sends them is in `group`.
"""

from .assignment import decode_assignment_info, encode_assignment_info
from .binary import Read, read_assignment_info, read_subscription_info, write_assignment_info, write_subscription_info
from .client import read_assignment, read_subscription
from .envelope import decode_assignment, decode_subscription, encode_assignment, encode_subscription
from .guess import Guess, identify
from .layout import (
    ASSIGNMENT_INFO,
    CONSUMER_ASSIGNMENT,
    CONSUMER_SUBSCRIPTION,
    ENVELOPE_LATEST,
    SUBSCRIPTION_INFO,
    Field,
    fields,
)
from .subscription import decode_subscription_info, encode_subscription_info
from .tree import Decoded, decode

__all__ = [
    "ASSIGNMENT_INFO",
    "CONSUMER_ASSIGNMENT",
    "CONSUMER_SUBSCRIPTION",
    "ENVELOPE_LATEST",
    "SUBSCRIPTION_INFO",
    "Decoded",
    "Field",
    "Guess",
    "Read",
    "decode",
    "decode_assignment",
    "decode_assignment_info",
    "decode_subscription",
    "decode_subscription_info",
    "encode_assignment",
    "encode_assignment_info",
    "encode_subscription",
    "encode_subscription_info",
    "fields",
    "identify",
    "read_assignment",
    "read_assignment_info",
    "read_subscription",
    "read_subscription_info",
    "write_assignment_info",
    "write_subscription_info",
]
