"""Texts of a window that touch or cover each other, so that two look like one: those of labels and buttons by their
places, and those that views paint themselves by watching `QPainter.drawText`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QCheckBox, QLabel, QRadioButton, QStyle, QStyleOptionButton, QWidget
from shiboken6 import getCppPointer

from workbench.gui.modes.analyse.excerpt import SourceExcerpt
from workbench.gui.widgets.popover import Popover

LEAST_GAP_PX = 3.0  # of two texts on one line: less is a space, or none


@dataclass(frozen=True)
class Text:
    """A text where it is in the window, or in a picture that the window shows."""

    text: str
    box: QRectF
    widget: QWidget | None = None  # None where it is in a picture, which is kept
    picture: int = 0  # which one

    def is_joined(self, other: "Text") -> bool:
        """Whether the other is on the same line, and begins before a gap that can be seen."""
        if self.picture != other.picture:
            return False
        height = min(self.box.bottom(), other.box.bottom()) - max(self.box.top(), other.box.top())
        if height < 0.4 * min(self.box.height(), other.box.height()):
            return False
        return other.box.left() - self.box.right() < LEAST_GAP_PX and other.box.right() > self.box.left()


class Painted:
    """The texts of one painting; `watch` is to be called after each `QPainter.drawText`."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._texts: list[Text] = []

    def watch(self, painter: QPainter, arguments: tuple[Any, ...], _: object) -> None:
        device, text = painter.device(), next((a for a in arguments if isinstance(a, str)), "")
        if not text.strip() or painter.transform().m12() or isinstance(device, SourceExcerpt):
            return  # turned upright; or a piece of a line of code, which is cut where its colour changes
        first = arguments[0]
        if isinstance(first, QRect | QRectF):
            flags = next((a for a in arguments[1:] if not isinstance(a, str)), Qt.AlignmentFlag.AlignLeft)
            box = painter.boundingRect(QRectF(first), int(flags), text)
        else:
            at = first if isinstance(first, QPoint | QPointF) else QPointF(*arguments[:2])
            metrics = QFontMetricsF(painter.font())
            box = QRectF(at.x(), at.y() - metrics.ascent(), metrics.horizontalAdvance(text), metrics.height())
        box = painter.transform().mapRect(box)
        if painter.hasClipping():
            box &= painter.transform().mapRect(painter.clipBoundingRect())
        if isinstance(device, QWidget):
            self._add(Text(text, box, device))
        else:
            self._texts.append(Text(text, box, picture=getCppPointer(device)[0]))

    def _add(self, text: Text) -> None:
        """Where it is in the window, as far as it can be seen there."""
        assert text.widget is not None
        seen = text.box & QRectF(text.widget.visibleRegion().boundingRect())
        if seen.width() > 1 and seen.height() > 1:
            at = QPointF(text.widget.mapTo(self._window, QPoint(0, 0)))
            self._texts.append(replace(text, box=seen.translated(at)))

    def joined(self) -> list[str]:
        """Pairs of texts that look like one."""
        for text in _labels(self._window):
            self._add(text)
        over = [popover for popover in self._window.findChildren(Popover) if popover.isVisible()]
        shown = sorted(filter(lambda text: not _is_covered(text, over, self._window), self._texts),
                       key=lambda text: text.box.left())  # fmt: skip
        return list(_pairs(shown))


def _pairs(texts: Sequence[Text]) -> Iterator[str]:
    """Of texts from left to right."""
    for number, one in enumerate(texts):
        for other in texts[number + 1 :]:
            if other.box.left() - one.box.right() >= LEAST_GAP_PX:
                break
            if one.is_joined(other) and not (one.text == other.text and one.box == other.box):
                where = type(one.widget).__name__ if one.widget else "a picture"
                place = f"{one.box.left():.0f}, {one.box.top():.0f}"
                yield f"'{one.text}' and '{other.text}' are joined in {where} at {place}"


def _is_covered(text: Text, over: Sequence[QWidget], window: QWidget) -> bool:
    return text.widget is not None and any(
        QRectF(QRect(top.mapTo(window, QPoint(0, 0)), top.size())).intersects(text.box)
        and not (top is text.widget or top.isAncestorOf(text.widget))
        for top in over
    )


def _labels(window: QWidget) -> Iterator[Text]:
    """Those that Qt paints: plain labels, boxes to tick. A label of several lines takes its whole room."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.visibleRegion().isEmpty():
            continue
        if type(widget) is QLabel and widget.text() and widget.pixmap().isNull() and "<" not in widget.text():
            align = int(widget.alignment()) | (int(Qt.TextFlag.TextWordWrap) if widget.wordWrap() else 0)
            metrics, room = QFontMetricsF(widget.font()), QRectF(widget.contentsRect())
            yield Text(widget.text(), metrics.boundingRect(room, align, widget.text()), widget)
        elif isinstance(widget, QCheckBox | QRadioButton) and widget.text():
            option = QStyleOptionButton()
            widget.initStyleOption(option)
            room = widget.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, widget)
            width = QFontMetricsF(widget.font()).horizontalAdvance(widget.text())
            yield Text(widget.text(), QRectF(room.left(), room.top(), width, room.height()), widget)
