"""What an engineer pastes: hex, dumps, escaped strings, base64, JSON of a group; the bytes in it, and what they say.

The layouts of the messages themselves are in `wire`; what a group makes of them is in `leader` and `member`.
"""

from __future__ import annotations

from .forms import NotBytes, Part, Paste, unpack
from .layers import Layer, notes, taken_apart
from .reader import Sight, seen_by

__all__ = ["Layer", "NotBytes", "Part", "Paste", "Sight", "notes", "seen_by", "taken_apart", "unpack"]
