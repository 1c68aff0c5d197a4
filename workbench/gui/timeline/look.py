"""The theme's colours and patterns as arrays, and small things painted the same way all over the timeline."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen

from workbench.gui import theme
from workbench.gui.canvas import font, text_width
from workbench.gui.timeline.raster import PERIOD, BarColours, Image, column_table
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.pictures.canvas import LEAST_CHARACTERS
from workbench.traces.trace import CATEGORIES, NOTHING


def category(code: int) -> Category | None:
    """The category of a code; None is unclassified."""
    name = CATEGORIES[code]
    return None if name == UNCLASSIFIED else Category(name)


def rgb(colour: QColor) -> int:
    return int(colour.rgb()) & 0xFFFFFFFF


def bar_colours(ground: str = "panel", scale: int = 1) -> BarColours:
    """The states' colours and patterns of the theme in force, on one of its grounds."""
    return _bar_colours(theme.palette().name, ground, scale)


@lru_cache(maxsize=16)
def _bar_colours(name: str, ground: str, scale: int) -> BarColours:
    behind = rgb(theme.colour(ground))
    plain = np.full(NOTHING + 1, behind, np.uint32)
    tiles = np.full((NOTHING + 1, PERIOD * scale, PERIOD * scale), behind, np.uint32)
    for code in range(NOTHING):
        plain[code] = rgb(theme.state_colour(category(code)))
        tiles[code] = _tile(code, scale)
    return BarColours(plain, tiles, behind, scale)


@lru_cache(maxsize=64)
def _bar_table(name: str, height: int, ground: str, scale: int, faded: frozenset[int]) -> Image:
    return column_table(height * scale, _bar_colours(name, ground, scale), faded)


def bar_table(height: int, ground: str = "panel", scale: int = 1, faded: frozenset[int] = frozenset()) -> Image:
    """The colour columns of a bar of that height (logical pixels), for the theme in force."""
    return _bar_table(theme.palette().name, height, ground, scale, faded)


def _tile(code: int, scale: int) -> Image:
    image = QImage(PERIOD * scale, PERIOD * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    painter.fillRect(QRectF(0, 0, PERIOD, PERIOD), theme.state_brush(category(code)))
    painter.end()
    return pixels_of(image)


def pixels_of(image: QImage) -> Image:
    """A copy of an image's pixels, shape (height, width), as 0xFFRRGGBB."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return flat[:, : image.width()].copy()


def image_of(pixels: Image, scale: float = 1.0) -> QImage:
    """An image that shares its pixels with an array: keep the array alive while it is used."""
    height, width = pixels.shape
    image = QImage(pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    return image


def label(
    painter: QPainter, rect: QRectF, text: str, colour: str = "text", size: int = 12, weight: int = 400,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> float:  # fmt: skip
    """One line of text, centred upright, elided where it does not fit, left out where too little would stay; its
    width."""
    width = text_width(text, size, weight)
    if width > rect.width():
        text = QFontMetricsF(font(size, weight)).elidedText(text, elide, max(rect.width(), 0))
        if len(text) <= LEAST_CHARACTERS:
            return 0.0
        width = text_width(text, size, weight)
    painter.setFont(font(size, weight))
    painter.setPen(theme.colour(colour))
    painter.drawText(rect, align | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)
    return width


def tag(
    painter: QPainter,
    rect: QRectF,
    text: str,
    edge: str = "accent",
    ground: str = "panel",
    ink: str = "",
    size: int = 11,
    weight: int = 600,
) -> None:
    """A small label in a rounded box."""
    painter.setPen(QPen(theme.colour(edge), 1))
    painter.setBrush(theme.colour(ground))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    label(painter, rect, text, ink or edge, size, weight, Qt.AlignmentFlag.AlignHCenter)
