"""Text that several tables paint in the same way.

Not by the canvas of `workbench.pictures`: cells are in no report, are elided at their middle as well as at their end,
and are painted by hundreds while a table scrolls, which is Qt's own metrics' work.
"""

import re

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from workbench.gui.look import theme
from workbench.gui.views.canvas import font, text_width
from workbench.pictures.canvas import LEAST_CHARACTERS

_PART_OF_NAME = re.compile(r"[._/](?=\w)")
_ONE_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)  # Python joins flags slowly


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
    painter.drawText(rect, int(align) | _ONE_LINE, text)
    return width


def wrapped_label(
    painter: QPainter, rect: QRectF, text: str, size: int = 13, weight: int = 400, ink: str = "text"
) -> bool:
    """A text in several lines, centred upright, where it needs them and has the height; else nothing, and False."""
    metrics, words, anywhere = QFontMetricsF(font(size, weight)), Qt.TextFlag.TextWordWrap, Qt.TextFlag.TextWrapAnywhere
    in_names = _PART_OF_NAME.sub("\\g<0>\u200b", text)  # a line may end after a dot
    for wrapped, lines in ((words, text), (words, in_names), (anywhere, text)):
        needs = metrics.boundingRect(rect, wrapped, lines)
        if metrics.height() < needs.height() <= rect.height() and needs.width() <= rect.width():
            painter.setFont(font(size, weight))
            painter.setPen(theme.colour(ink))
            painter.drawText(rect, wrapped | Qt.AlignmentFlag.AlignVCenter, lines)
            return True
    return False


def paint_focus(view: QAbstractScrollArea) -> None:
    """A frame around what a view shows, while it has the keyboard."""
    if view.hasFocus():
        draw_focus(view.viewport())


def draw_focus(widget: QWidget) -> None:
    """The frame of what has the keyboard, along a widget's edge; stronger in high contrast."""
    palette, ink = theme.palette(), theme.colour("accent")
    ink.setAlphaF(1.0 if palette.is_strong else 0.6)
    wide = 2 if palette.is_strong else 1
    with QPainter(widget) as painter:
        painter.setPen(QPen(ink, wide))
        painter.drawRect(QRectF(widget.rect()).adjusted(wide / 2, wide / 2, -wide / 2, -wide / 2))
