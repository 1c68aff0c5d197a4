"""Widgets side by side, one below another, or in rows as words of a text, in one call."""

from typing import Any, Final, TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSizePolicy, QVBoxLayout, QWidget

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


class FlowRow(QWidget):
    """Widgets side by side from the left, and in further rows where one has no room for all.

    It is no layout: one in Python would hold items of Qt after Qt has deleted them.
    """

    def __init__(self, *widgets: QWidget, spacing: int, below: int | None = None) -> None:
        """`below` is the space between rows, `spacing` if not given."""
        super().__init__()
        self._widgets, self._spacing_px = widgets, spacing
        self._below_px = spacing if below is None else below
        for widget in widgets:
            widget.setParent(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def heightForWidth(self, width: int) -> int:
        return max((place.bottom() + 1 for place in self._places(width)), default=0)

    def minimumSizeHint(self) -> QSize:
        """As wide as the widest of them."""
        size = QSize(0, 0)
        for widget in self._widgets:
            size = size.expandedTo(widget.minimumSizeHint())
        return size

    def sizeHint(self) -> QSize:
        """Of one row."""
        hints = [w.sizeHint().expandedTo(w.minimumSize()) for w in self._widgets if not w.isHidden()]
        wide_px = sum(hint.width() for hint in hints) + self._spacing_px * max(len(hints) - 1, 0)
        return QSize(wide_px, max((hint.height() for hint in hints), default=0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place_all()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # one of them wants another size
            self.updateGeometry()
            self._place_all()
        return super().event(event)

    def _place_all(self) -> None:
        for widget, place in zip(self._widgets, self._places(self.width()), strict=True):
            widget.setGeometry(place)

    def _places(self, width: int) -> list[QRect]:
        """Where each of them is in so wide a room, from its top left."""
        at, row_px, places = QPoint(0, 0), 0, list[QRect]()
        for widget in self._widgets:
            if widget.isHidden():
                places.append(QRect())
                continue
            size = widget.sizeHint().expandedTo(widget.minimumSize())
            if at.x() and at.x() + size.width() > width:
                at, row_px = QPoint(0, at.y() + row_px + self._below_px), 0
            places.append(QRect(at, QSize(min(size.width(), max(width, 1)), size.height())))
            at.setX(at.x() + size.width() + self._spacing_px)
            row_px = max(row_px, size.height())
        rows_px: dict[int, int] = {}  # the height of a row, by its top
        for place in places:
            rows_px[place.y()] = max(rows_px.get(place.y(), 0), place.height())
        return [place.translated(0, (rows_px[place.y()] - place.height()) // 2) for place in places]
