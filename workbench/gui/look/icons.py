"""Lucide icons, drawn from their SVG in the colour of the text beside them."""

from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from workbench.gui.look import theme

_MISSING = "circle"
PROGRAM_ICON_PX = (16, 24, 32, 48, 64, 128)


def _file(name: str) -> Traversable:
    """An icon by its name, or an SVG file that a plugin brings."""
    return Path(name) if name.endswith(".svg") else files("workbench.resources").joinpath("icons", f"{name}.svg")


def is_there(name: str) -> bool:
    return _file(name).is_file()


@lru_cache(maxsize=512)
def _pixmap(name: str, colour: str, size_px: int, ratio: float, filled: bool) -> QPixmap:
    source = (_file(name) if is_there(name) else _file(_MISSING)).read_text("utf-8")
    source = source.replace("currentColor", colour)
    if filled:
        source = source.replace('fill="none"', f'fill="{colour}"')
    pixmap = _rendered(source.encode(), round(size_px * ratio))
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _rendered(svg: bytes, size_px: int) -> QPixmap:
    pixmap = QPixmap(QSize(size_px, size_px))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg)).render(painter, QRectF(pixmap.rect()))
    painter.end()
    return pixmap


def program_icon() -> QIcon:
    """The program's own icon, for the window and the task bar."""
    svg = files("workbench.resources").joinpath("desktop", "rc-workbench.svg").read_bytes()
    icon = QIcon()
    for size_px in PROGRAM_ICON_PX:
        icon.addPixmap(_rendered(svg, size_px))
    return icon


def icon_pixmap(name: str, colour: str = "", size_px: int = 16, ratio: float = 1.0, filled: bool = False) -> QPixmap:
    """The icon as a pixmap; `colour` is #RRGGBB, the second text colour where none is given."""
    return _pixmap(name, colour or theme.palette().second, size_px, ratio, filled)


def draw_icon(
    painter: QPainter, name: str, x: float, y: float, size_px: int = 16, colour: str = "", filled: bool = False
) -> None:
    """Draw the icon with its top left corner at (x, y)."""
    ratio = painter.device().devicePixelRatioF()
    painter.drawPixmap(round(x), round(y), icon_pixmap(name, colour, size_px, ratio, filled))


def icon(name: str, colour: str = "", size_px: int = 16, filled: bool = False, room_px: int = 0) -> QIcon:
    """A QIcon in one colour, for widgets of Qt that want one, with `room_px` of air at its right.

    Take it anew when the theme changes.
    """
    return _icon(name, colour or theme.palette().second, size_px, filled, room_px)


@lru_cache(maxsize=512)
def _icon(name: str, colour: str, size_px: int, filled: bool, room_px: int) -> QIcon:
    icon = QIcon()
    for ratio in (1.0, 2.0):
        pixmap = QPixmap(round((size_px + room_px) * ratio), round(size_px * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.drawPixmap(0, 0, icon_pixmap(name, colour, size_px, ratio, filled))
        painter.end()
        icon.addPixmap(pixmap)
    return icon
