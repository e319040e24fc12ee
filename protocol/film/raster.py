"""An animated SVG as the pictures of a GIF or WebP: the same film, looked at so many times a second."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator
from xml.etree import ElementTree

try:
    import resvg_py
    from PIL import Image

    _HERE = True
except ImportError:  # the extra `export`; all other exports need nothing
    _HERE = False

_SVG = "{http://www.w3.org/2000/svg}"
_AT_ONCE = 12
"""Pictures that are drawn together."""

_MOVING = 5
"""Pictures in which a token travels."""


class MissingRasterError(ImportError):
    """The packages that draw pixels are not here."""


def pixels(film: str, kind: str, *, width: int = 880) -> bytes:
    """A film of `animated` as a GIF (64 colours) or a WebP (lossless), so many pixels wide; it plays for ever.

    Raises:
        MissingRasterError: pillow and resvg-py are not installed.
    """
    if not _HERE:
        raise MissingRasterError(f"a {kind} needs the packages pillow and resvg-py")
    pictures: list[Image.Image] = []
    shown = list(stills(film))
    for place in range(0, len(shown), _AT_ONCE):
        some = [still for still, _ in shown[place : place + _AT_ONCE]]
        pictures += _drawn(some, width)
    durations = [milliseconds for _, milliseconds in shown]
    out = io.BytesIO()
    if kind == "gif":
        colours = _colours(pictures)
        pictures = [one.quantize(palette=colours, dither=Image.Dither.NONE) for one in pictures]
    how = {"optimize": True} if kind == "gif" else {"lossless": True, "method": 2}
    pictures[0].save(out, kind.upper(), save_all=True, append_images=pictures[1:], duration=durations, loop=0, **how)
    return out.getvalue()


def _drawn(some: list[str], width: int) -> list[Image.Image]:
    """Pictures from one sheet that has them below one another: the fonts are looked for once a sheet."""
    root = ElementTree.fromstring(some[0])
    wide, high = float(root.get("width", "0")), float(root.get("height", "0"))
    tall = round(high * width / wide)
    sheet = ElementTree.Element(f"{_SVG}svg", {"width": str(width), "height": str(tall * len(some))})
    for place, one in enumerate(some):
        part = ElementTree.SubElement(sheet, f"{_SVG}g", {"font-family": root.get("font-family", "")})
        part.set("transform", f"translate(0 {place * tall}) scale({width / wide})")
        part.extend(ElementTree.fromstring(one))
    png = resvg_py.svg_to_bytes(svg_string=ElementTree.tostring(sheet, encoding="unicode"), background="#ffffff")
    drawn = Image.open(io.BytesIO(bytes(png))).convert("RGB")
    return [drawn.crop((0, place * tall, width, (place + 1) * tall)) for place in range(len(some))]


def _colours(pictures: list[Image.Image]) -> Image.Image:
    """One palette for all pictures: a colour that came and went would flicker."""
    some = pictures[:: max(1, len(pictures) // 12)]
    wide, high = some[0].size
    sheet = Image.new("RGB", (wide, high * len(some)))
    for place, one in enumerate(some):
        sheet.paste(one, (0, place * high))
    return sheet.quantize(64)


def stills(film: str, *, seconds: float = 1.6) -> Iterator[tuple[str, int]]:
    """Each picture of a film of so many seconds a step, and for how many milliseconds it is to be seen."""
    root = ElementTree.fromstring(film)
    total = next(float(part.get("dur", "0s").rstrip("s")) for part in root.iter(f"{_SVG}animate"))
    steps = round(total / seconds)
    travels = [_times(part) for part in root.iter(f"{_SVG}animateTransform")]
    for step in range(steps - 1):  # the last view stands for two
        begins, ends = step / steps, (step + 1) / steps
        arrives = max((time for times in travels for time in times if begins < time < ends), default=begins)
        if arrives > begins:
            for place in range(_MOVING):
                at = begins + (arrives - begins) * place / _MOVING
                yield _still(root, at), _milliseconds((arrives - begins) * total / _MOVING)
        stands = (2 if step == steps - 2 else 1) / steps - (arrives - begins)
        yield _still(root, (arrives + ends) / 2), _milliseconds(stands * total)


def _milliseconds(seconds: float) -> int:
    return max(20, round(seconds * 100) * 10)  # a GIF counts in hundredths


def _times(part: ElementTree.Element) -> list[float]:
    return [float(time) for time in part.get("keyTimes", "").split(";")]


def _still(film: ElementTree.Element, at: float) -> str:
    """The film as it is at a moment from 0 to 1, with nothing in it that moves."""
    root = copy.deepcopy(film)
    for parent in list(root.iter()):
        for part in list(parent):
            if part.tag not in (f"{_SVG}animate", f"{_SVG}animateTransform"):
                continue
            parent.set(part.get("attributeName", ""), _value(part, at))
            parent.text = (parent.text or "") + (part.tail or "")
            parent.remove(part)
    for part in list(root.iter()):
        for child in list(part):
            if child.get("visibility") == "hidden":  # nothing in a film is visible in what is hidden
                part.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def _value(part: ElementTree.Element, at: float) -> str:
    if part.get("from") is not None:
        low, high = float(part.get("from", "0")), float(part.get("to", "0"))
        return f"{low + (high - low) * at:.0f}"
    times, values = _times(part), part.get("values", "").split(";")
    place = max(place for place, time in enumerate(times) if time <= at)
    if part.get("calcMode") == "discrete":
        return values[place]
    after = min(place + 1, len(times) - 1)
    share = (at - times[place]) / (times[after] - times[place]) if times[after] > times[place] else 0.0
    ends = zip(values[place].split(), values[after].split(), strict=True)
    x, y = (float(a) + (float(b) - float(a)) * share for a, b in ends)
    return f"translate({x:.1f} {y:.1f})"
