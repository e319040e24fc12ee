"""An animated SVG as the pictures of a GIF or WebP: the same film, looked at so many times a second."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
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

_SPRITE = 56
"""The side of a token's own picture, in the film's units."""

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
    shown = list(stills(film))
    scale = width / float(ElementTree.fromstring(film).get("width", width))
    grounds = _sheets(dict.fromkeys(still.ground for still in shown), width)
    sprites = _sprites(dict.fromkeys(token.look for still in shown for token in still.tokens), scale)
    pictures = [_composed(still, grounds[still.ground].copy(), sprites, scale) for still in shown]
    durations = [still.milliseconds for still in shown]
    out = io.BytesIO()
    if kind == "gif":
        colours = _colours(pictures)
        pictures = [one.quantize(palette=colours, dither=Image.Dither.NONE) for one in pictures]
    how = {"optimize": True} if kind == "gif" else {"lossless": True, "method": 2}
    pictures[0].save(out, kind.upper(), save_all=True, append_images=pictures[1:], duration=durations, loop=0, **how)
    return out.getvalue()


def _sheets(pictures: Iterable[str], width: int) -> dict[str, Image.Image]:
    """Each picture in pixels, drawn in sheets that have them below one another: fonts are looked for once a sheet."""
    waiting = list(pictures)
    drawn: dict[str, Image.Image] = {}
    root = ElementTree.fromstring(waiting[0])
    wide, high = float(root.get("width", "0")), float(root.get("height", "0"))
    tall = round(high * width / wide)
    for start in range(0, len(waiting), _AT_ONCE):
        some = waiting[start : start + _AT_ONCE]
        sheet = _strip(some, width / wide, width, tall, 0, 0, "#ffffff").convert("RGB")
        drawn |= {one: sheet.crop((0, i * tall, width, (i + 1) * tall)) for i, one in enumerate(some)}
    return drawn


def _sprites(looks: Iterable[str], scale: float) -> dict[str, Image.Image]:
    """Each look of a token in pixels, with nothing behind it; its place is the middle."""
    some, side = list(looks), round(_SPRITE * scale)
    if not some:
        return {}
    sheet = _strip(some, scale, side, side, side / 2, side / 2, None).convert("RGBA")
    return {one: sheet.crop((0, i * side, side, (i + 1) * side)) for i, one in enumerate(some)}


def _strip(
    some: list[str], scale: float, wide: int, tall: int, x: float, y: float, background: str | None
) -> Image.Image:
    """Pictures below one another, the origin of each so far from the corner of its part."""
    sheet = ElementTree.Element(f"{_SVG}svg", {"width": str(wide), "height": str(tall * len(some))})
    for place, one in enumerate(some):
        root = ElementTree.fromstring(one)
        part = ElementTree.SubElement(sheet, f"{_SVG}g", {"font-family": root.get("font-family", "")})
        part.set("transform", f"translate({x} {place * tall + y}) scale({scale})")
        part.extend(root)
    png = resvg_py.svg_to_bytes(svg_string=ElementTree.tostring(sheet, encoding="unicode"), background=background)
    return Image.open(io.BytesIO(bytes(png)))


def _composed(still: Still, ground: Image.Image, sprites: Mapping[str, Image.Image], scale: float) -> Image.Image:
    for token in still.tokens:
        sprite = sprites[token.look]
        corner = (round(token.x * scale - sprite.width / 2), round(token.y * scale - sprite.height / 2))
        ground.paste(sprite, corner, sprite)
    for left, top, right, bottom, fill in still.bars:
        if right > left:
            ground.paste(fill, (round(left * scale), round(top * scale), round(right * scale), round(bottom * scale)))
    return ground


def _colours(pictures: list[Image.Image]) -> Image.Image:
    """One palette for all pictures: a colour that came and went would flicker."""
    some = pictures[:: max(1, len(pictures) // 12)]
    wide, high = some[0].size
    sheet = Image.new("RGB", (wide, high * len(some)))
    for place, one in enumerate(some):
        sheet.paste(one, (0, place * high))
    return sheet.quantize(64)


class Token(NamedTuple):
    """A token in a picture: how it looks, as a drawing of its own, and where its middle is."""

    look: str
    x: float
    y: float


class Still(NamedTuple):
    """One picture of a film. Most of it stands while tokens travel over it, so it is drawn apart from them."""

    ground: str
    tokens: tuple[Token, ...]
    bars: tuple[tuple[float, float, float, float, str], ...]
    """What grows with time: left, top, right, bottom, colour."""
    milliseconds: int


def stills(film: str, *, seconds: float = 1.6) -> Iterator[Still]:
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
                yield _still(root, at, _milliseconds((arrives - begins) * total / _MOVING))
        stands = (2 if step == steps - 2 else 1) / steps - (arrives - begins)
        yield _still(root, (arrives + ends) / 2, _milliseconds(stands * total))


def _milliseconds(seconds: float) -> int:
    return max(20, round(seconds * 100) * 10)  # a GIF counts in hundredths


def _times(part: ElementTree.Element) -> list[float]:
    return [float(time) for time in part.get("keyTimes", "").split(";")]


def _still(film: ElementTree.Element, at: float, milliseconds: int) -> Still:
    """The film as it is at a moment from 0 to 1."""
    root = copy.deepcopy(film)
    travelling, growing = set(), set()
    for parent in list(root.iter()):
        for part in list(parent):
            if part.tag not in (f"{_SVG}animate", f"{_SVG}animateTransform"):
                continue
            if part.tag == f"{_SVG}animateTransform":
                travelling.add(parent)
            elif part.get("calcMode") != "discrete":
                growing.add(parent)
            parent.set(part.get("attributeName", ""), _value(part, at))
            parent.text = (parent.text or "") + (part.tail or "")
            parent.remove(part)
    for part in list(root.iter()):
        for child in list(part):
            if child.get("visibility") == "hidden":  # nothing in a film is visible in what is hidden
                part.remove(child)
    tokens: list[Token] = []
    bars: list[tuple[float, float, float, float, str]] = []

    def lift(parent: ElementTree.Element, x: float, y: float) -> None:
        for part in list(parent):
            dx, dy = map(float, re.findall(r"-?[\d.]+", part.get("transform", "0 0")))
            if part in travelling:
                look = ElementTree.Element(f"{_SVG}svg", {"font-family": root.get("font-family", "")})
                look.extend(part)
                tokens.append(Token(ElementTree.tostring(look, encoding="unicode"), x + dx, y + dy))
            elif part in growing:
                left, top, wide, high = (float(part.get(side, "0")) for side in ("x", "y", "width", "height"))
                bars.append((x + left, y + top, x + left + wide, y + top + high, part.get("fill", "")))
            else:
                lift(part, x + dx, y + dy)
                continue
            parent.remove(part)

    lift(root, 0, 0)
    return Still(ElementTree.tostring(root, encoding="unicode"), tuple(tokens), tuple(bars), milliseconds)


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
