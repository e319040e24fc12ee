"""A run as a file that others can show: an animated SVG, a GIF or WebP, a Mermaid sequence diagram.

What steps, scrubs and explains is the page's player, in `player`; the picture it runs over is laid out in `diagrams`.
"""

from __future__ import annotations

from ..errors import VersionProbingError
from ..trace import Trace
from .animated import animated, front_page
from .raster import MissingRasterError, pixels
from .sequence import mermaid

__all__ = ["KINDS", "ExportError", "animated", "front_page", "made", "mermaid", "pixels"]

KINDS = ("svg", "gif", "webp", "mmd")
"""What a run can be filmed to, by the end of a file's name."""


class ExportError(VersionProbingError, ValueError):
    """An export that cannot be made: why, and what could be.

    >>> str(ExportError("no export is called 'mp4'", "svg, gif"))
    "export: no export is called 'mp4' (allowed: svg, gif)"
    """

    def __init__(self, reason: str, allowed: str) -> None:
        super().__init__(f"export: {reason} (allowed: {allowed})")
        self.reason = reason
        self.allowed = allowed


def made(trace: Trace, kind: str) -> bytes:
    """The film of a run, as one of KINDS.

    Raises:
        ExportError: the kind is not known, or needs the extra `export`.
    """
    if kind == "svg":
        return animated(trace).encode()
    if kind == "mmd":
        return mermaid(trace).encode()
    if kind not in KINDS:
        raise ExportError(f"no film is called {kind[:20]!r}", ", ".join(KINDS))
    try:
        return pixels(animated(trace, seconds=1.6), kind)
    except MissingRasterError as error:
        raise ExportError(str(error), "pip install 'version-probing[export]', or svg, mmd, html, json") from None
