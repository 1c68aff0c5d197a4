"""Layouts of widgets side by side, one below another, or in rows as words of a text, in one call."""

from typing import Any, Final, TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QLayoutItem, QVBoxLayout, QWidget

#: Among the parts of a layout: the space that is left over.
STRETCH: Final = object()
_Box = TypeVar("_Box", bound=QBoxLayout)


def row_layout(
    *parts: Any,
    of: QWidget | None = None,
    margins: tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Lay out parts side by side: see `column_layout`."""
    return _filled(QHBoxLayout(of) if of is not None else QHBoxLayout(), parts, margins, spacing)


def column_layout(
    *parts: Any,
    of: QWidget | None = None,
    margins: tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Lay out parts one below another, in the widget `of` if there is one.

    A part is a widget, a layout, `STRETCH`, a gap in pixels, or a tuple of what `addWidget` takes (a widget, its
    stretch, its alignment). Margins (left, top, right, bottom) and spacing are in pixels; the style's if not given.
    """
    return _filled(QVBoxLayout(of) if of is not None else QVBoxLayout(), parts, margins, spacing)


def _filled(box: _Box, parts: tuple[Any, ...], margins: tuple[int, int, int, int] | None, spacing: int | None) -> _Box:
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if part is STRETCH:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        elif isinstance(part, QLayout):
            box.addLayout(part)
        elif isinstance(part, tuple):
            box.addWidget(*part)
        else:
            box.addWidget(part)
    return box


class FlowLayout(QLayout):
    """Widgets side by side from the left, and in further rows where one has no room for all."""

    def __init__(self, *widgets: QWidget, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max((box.bottom() + 1 for box in self._boxes(width)), default=0)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        for item, box in zip(self._items, self._boxes(rect.width()), strict=True):
            item.setGeometry(box.translated(rect.topLeft()))

    def minimumSize(self) -> QSize:
        """As wide as the widest of them."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def sizeHint(self) -> QSize:
        """Of one row."""
        hints = [item.sizeHint() for item in self._items]
        wide = sum(hint.width() for hint in hints) + self.spacing() * max(len(hints) - 1, 0)
        return QSize(wide, max((hint.height() for hint in hints), default=0))

    def _boxes(self, width: int) -> list[QRect]:
        """Where each of them is in so wide a room, from its top left."""
        at, row_px, boxes = QPoint(0, 0), 0, list[QRect]()
        for item in self._items:
            size = item.sizeHint()
            if at.x() and at.x() + size.width() > width:
                at, row_px = QPoint(0, at.y() + row_px + self.spacing()), 0
            boxes.append(QRect(at, QSize(min(size.width(), max(width, 1)), size.height())))
            at.setX(at.x() + size.width() + self.spacing())
            row_px = max(row_px, size.height())
        return boxes
