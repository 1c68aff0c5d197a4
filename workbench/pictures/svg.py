"""A canvas that writes SVG, for the report, the command line and the window's exports."""

from __future__ import annotations

import re
import struct
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr
from zlib import compress, crc32

from workbench.model.pragma import Category
from workbench.pictures import letters
from workbench.pictures.canvas import BASELINE, CENTRE, LEFT, Canvas, Points
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.states import PATTERN_FROM_PX, TILES, category_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


class SvgCanvas(Canvas):
    """Collects a drawing. `document` is the whole SVG, for use alone and in a page."""

    def __init__(self, palette: Palette = LIGHT) -> None:
        super().__init__(palette)
        self._parts: list[str] = []
        self._shared: dict[str, str] = {}  # patterns and clips by their id

    def document(self, width: float, height: float, title: str, kind: str = "") -> str:
        """The SVG document, which shrinks with its column in a page, whose style may use its `kind`."""
        styled = f' class="{kind}"' if kind else ""
        return (
            f'<svg{styled} xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
            f' height="{height:g}" role="img" aria-label={quoteattr(title)} font-family="{FONT}"'
            f" style=\"font-feature-settings:'tnum';max-width:100%;height:auto\">"
            f"<title>{escape(title)}</title><defs>{''.join(self._shared.values())}</defs>{''.join(self._parts)}</svg>"
        )

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str = "", edge: str = "", line: float = 1.0,
        radius: float = 0.0,
    ) -> None:  # fmt: skip
        place = f'x="{x:.2f}" y="{y:.2f}" width="{max(width, 0):.2f}" height="{max(height, 0):.2f}"'
        rounded = f' rx="{radius:g}"' if radius else ""
        self._parts.append(f"<rect {place}{rounded}{self._paint(fill, edge, line)}/>")

    def path(self, points: Points, ink: str, line: float = 1.0, dashes: Sequence[float] = ()) -> None:
        dashed = f' stroke-dasharray="{" ".join(f"{d * line:g}" for d in dashes)}"' if dashes else ""
        self._parts.append(f'<polyline points="{_pairs(points)}"{self._paint("", ink, line)}{dashed}/>')

    def shape(self, points: Points, fill: str, edge: str = "", line: float = 1.0) -> None:
        joined = ' stroke-linejoin="round"' if edge else ""
        self._parts.append(f'<polygon points="{_pairs(points)}"{self._paint(fill, edge, line)}{joined}/>')

    def disc(self, x: float, y: float, radius: float, fill: str = "", edge: str = "", line: float = 1.0) -> None:
        self._parts.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}"{self._paint(fill, edge, line)}/>')

    def state(self, x: float, y: float, width: float, height: float, category: Category | None) -> None:
        if width < PATTERN_FROM_PX:
            self._filled(x, y, width, height, self.palette.states[category])
            return
        name = f"state-{self.palette.name}-{category_name(category)}"
        self._shared[name] = self._pattern(name, category)
        self._filled(x, y, width, height, f"url(#{name})")

    def _filled(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
        self._parts.append(f'<rect {place} fill="{fill}"/>')

    def _pattern(self, name: str, category: Category | None) -> str:
        tile, p = TILES[category], self.palette
        path = "".join(f"M{x0:g} {y0:g}L{x1:g} {y1:g}" for x0, y0, x1, y1 in tile.lines)
        drawn = f'<path d="{path}" stroke="{p.pattern}" stroke-width="{tile.line}"/>' if path else ""
        drawn += "".join(f'<circle cx="{x:g}" cy="{y:g}" r="1" fill="{p.pattern}"/>' for x, y in tile.dots)
        return (
            f'<pattern id="{name}" width="{tile.size:g}" height="{tile.size:g}" patternUnits="userSpaceOnUse">'
            f'<rect width="{tile.size:g}" height="{tile.size:g}" fill="{p.states[category]}"/>'
            f'<g opacity="{p.pattern_opacity}">{drawn}</g></pattern>'
        )

    def image(self, x: float, y: float, pixels: NDArray[np.uint32], density: float = 1.0) -> None:
        height, width = (side / density for side in pixels.shape)
        place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" preserveAspectRatio="none"'
        source = b64encode(_png(pixels)).decode("ascii")
        self._parts.append(f'<image {place} href="data:image/png;base64,{source}"/>')

    def icon(self, name: str, x: float, y: float, size: float = 16, ink: str = "second") -> None:
        self._parts.append(
            f'<g transform="translate({x:.2f} {y:.2f}) scale({size / 24:g})"{self._paint("", ink, 2)}'
            f' stroke-linecap="round" stroke-linejoin="round">{_icon(name)}</g>'
        )

    def write(
        self, x: float, middle: float, words: str, ink: str, size: float, weight: int, align: float = LEFT
    ) -> None:
        wide = self.width_of(words, size, weight)  # kept where Inter is not installed
        anchor = "" if align == LEFT else f' text-anchor="{"middle" if align == CENTRE else "end"}"'
        self._parts.append(
            f'<text x="{x:.2f}" y="{middle + BASELINE * size:.2f}" font-size="{size:g}" font-weight="{weight}"'
            f'{anchor} textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs"{self._paint(ink)}>{escape(words)}</text>'
        )

    def width_of(self, words: str, size: float = 12, weight: int = 400) -> float:
        return letters.text_width(words, size, weight)

    @contextmanager
    def placed(self, x: float, y: float, scale: float = 1.0) -> Iterator[None]:
        before = self.scale
        self.scale *= scale
        self._parts.append(f'<g transform="translate({x:.2f} {y:.2f}) scale({scale:g})">')
        yield
        self._parts.append("</g>")
        self.scale = before

    @contextmanager
    def turned(self, x: float, y: float) -> Iterator[None]:
        self._parts.append(f'<g transform="translate({x:.2f} {y:.2f}) rotate(-90)">')
        yield
        self._parts.append("</g>")

    @contextmanager
    def clipped(self, x: float, y: float, width: float, height: float) -> Iterator[None]:
        place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
        name = f"clip-{'-'.join(f'{v:.0f}' for v in (x, y, width, height))}"
        self._shared[name] = f'<clipPath id="{name}"><rect {place}/></clipPath>'
        self._parts.append(f'<g clip-path="url(#{name})">')
        yield
        self._parts.append("</g>")

    @contextmanager
    def named(self, title: str, href: str = "") -> Iterator[None]:
        tag, at = ("a", f" href={quoteattr(href)}") if href else ("g", "")
        self._parts.append(f"<{tag}{at}><title>{escape(title)}</title>")
        yield
        self._parts.append(f"</{tag}>")

    def _paint(self, fill: str, edge: str = "", line: float = 1.0) -> str:
        drawn = [("fill", fill)] + ([("stroke", edge)] if edge else [])
        attributes = ""
        for kind, ink in drawn:
            colour, opacity = self.colour(ink) if ink else ("none", 1.0)
            attributes += f' {kind}="{colour}"' + (f' {kind}-opacity="{opacity:g}"' if opacity < 1 else "")
        return attributes + (f' stroke-width="{line:g}"' if edge else "")


def _pairs(points: Points) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _png(pixels: NDArray[np.uint32]) -> bytes:
    """A PNG file (ISO/IEC 15948) of 0xFFRRGGBB pixels."""
    height, width = pixels.shape
    colours = pixels.astype(">u4").view("u1").reshape(height, width, 4)[..., 1:].reshape(height, -1)
    lines = b"".join(b"\0" + line.tobytes() for line in colours)
    parts = {b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT": compress(lines), b"IEND": b""}
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))
        for kind, data in parts.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@cache
def _icon(name: str) -> str:
    """The contents of a bundled icon's `svg`."""
    source = files("workbench.resources").joinpath("icons", f"{name}.svg").read_text("utf-8")
    match = re.search(r"<svg[^>]*>(.*)</svg>", source, re.DOTALL)
    return " ".join(match[1].split()) if match else ""
