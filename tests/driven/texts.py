"""Text that a person cannot read, found by asking the widgets and by watching what is painted.

A text is clipped where it needs more room than its box has; where its shortened form leaves too little to tell it by;
where two different texts of one widget look alike once they are shortened; and where a widget lies outside of what
holds it; or where it is painted smaller than 11 pixels. Texts that touch are looked for by `joined`.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from driven.joined import Painted
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QCheckBox,
    QComboBox,
    QDockWidget,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSplitter,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from workbench.gui.views.house_view import HouseView
from workbench.gui.widgets import ElidedLabel, WholeLabel, shortened
from workbench.gui.widgets.popover import Popover
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.sign_field import placeholder_px

#: Characters that a shortened text must keep.
ENOUGH = 6
LEAST_PX = 10.95
_SLACK_PX = 1.5
_WRAPS = int(Qt.TextFlag.TextWordWrap) | int(Qt.TextFlag.TextWrapAnywhere)


def clipped(window: QWidget) -> list[str]:
    """What cannot be read in a window, one line each."""
    return list(dict.fromkeys([*_labels(window), *_outside(window), *_sideways(window), *_painted(window)]))


def _parts(window: QWidget) -> Iterator[QWidget]:
    yield from (w for w in window.findChildren(QWidget) if w.isVisibleTo(window) and not w.isWindow())


def _name(widget: QWidget) -> str:
    names = []
    at: QWidget | None = widget
    while at is not None and len(names) < 3:
        if type(at).__name__ not in ("QWidget", "QStackedWidget"):
            names.append(type(at).__name__)
        at = at.parentWidget()
    return " in ".join(names)


def _labels(window: QWidget) -> Iterator[str]:
    for widget in _parts(window):
        if widget.visibleRegion().isEmpty():
            continue
        if isinstance(widget, ElidedLabel):
            short = widget.shown()
            if short not in ("", widget.text()) and len(short.replace("…", "").strip()) < min(
                ENOUGH, len(widget.text()) - 1
            ):
                yield f"{_name(widget)}: '{widget.text()}' is shortened to '{short}'"
            for other in widget.beside:
                if other != widget.text() != short and short == _as(widget, other):
                    yield f"{_name(widget)}: '{widget.text()}' looks like '{other}' beside it"
        elif type(widget) in (QLabel, WholeLabel) and widget.text() and widget.pixmap().isNull():
            inside = widget.contentsRect()
            if widget.wordWrap():
                needs = widget.heightForWidth(widget.width())
                if needs > widget.height() + _SLACK_PX:
                    yield f"{_name(widget)}: '{widget.text()}' is {widget.height()} px high of {needs}"
            elif widget.sizeHint().width() > widget.width() + _SLACK_PX:
                yield f"{_name(widget)}: '{widget.text()}' has {inside.width()} px of {widget.sizeHint().width()}"
        elif isinstance(widget, QPushButton | QCheckBox | QRadioButton) and widget.text():
            if widget.sizeHint().width() > widget.width() + _SLACK_PX:
                yield f"{_name(widget)}: '{widget.text()}' has {widget.width()} px of {widget.sizeHint().width()}"
        elif isinstance(widget, QComboBox) and not widget.isEditable():
            option = QStyleOptionComboBox()
            widget.initStyleOption(option)
            complex_, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
            room = widget.style().subControlRect(complex_, option, field, widget).width()
            shown = option.currentText
            if widget.fontMetrics().horizontalAdvance(shown) > room or too_short(widget.currentText(), shown):
                yield f"{_name(widget)}: '{widget.currentText()}' has {room} px"
        elif isinstance(widget, QLineEdit) and not widget.text() and widget.placeholderText():
            room = placeholder_px(widget)
            if widget.fontMetrics().horizontalAdvance(widget.placeholderText()) > room:
                yield f"{_name(widget)}: '{widget.placeholderText()}' has {room} px"


def too_short(whole: str, short: str) -> bool:
    return short != whole and len(short.replace("…", "").strip()) < min(ENOUGH, len(whole) - 1)


def _as(widget: ElidedLabel, other: str) -> str:
    """How the text beside a label looks in the same room."""
    return shortened(other, widget.fontMetrics(), widget.contentsRect().width(), (widget.text(),))


def _outside(window: QWidget) -> Iterator[str]:
    """Widgets that stick out of what holds them, at the right or below, where nothing scrolls to them."""
    for widget in _parts(window):
        parent = widget.parentWidget()
        if parent is None or widget.size().isEmpty() or isinstance(parent, QSplitter) or isinstance(widget, Popover):
            continue  # what floats has its shadow around it
        area = parent.parentWidget()
        if isinstance(area, QScrollArea) and area.viewport() is parent:
            hidden = area.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            if hidden and widget.width() > parent.width():
                yield f"{_name(widget)}: {widget.width()} px wide in {parent.width()}"
            continue
        if isinstance(area, QAbstractScrollArea) and area.viewport() is parent:
            continue
        box = widget.geometry()
        if box.right() > parent.width() + 1 or box.left() < -1:
            yield f"{_name(widget)}: lies at {box.left()} to {box.right()} of {parent.width()} px"


def _sideways(window: QWidget) -> Iterator[str]:
    """What has to be scrolled sideways in a panel beside or below a mode; code may be longer than its line."""
    for dock in window.findChildren(QDockWidget):
        for area in dock.findChildren(QAbstractScrollArea) if dock.isVisible() else ():
            bar = area.horizontalScrollBar()
            if area.isVisible() and bar.isVisible() and not isinstance(area, QPlainTextEdit):
                yield f"{_name(area)}: '{area.accessibleName()}' scrolls sideways by {bar.maximum()} px"


def _painted(window: QWidget) -> list[str]:
    """Paint the window once more, pictures that are kept too, and look at every text on the way."""
    for view in window.findChildren(HouseView):
        if view.isVisible():
            view.redraw()
    seen, placed = Seen(window), Painted(window)
    with_patches = [
        (QPainter, "drawText", lambda *drawn: (seen.draw_text(*drawn), placed.watch(*drawn))),
        (QFontMetrics, "elidedText", seen.elided_text),
        (QFontMetricsF, "elidedText", seen.elided_text),
    ]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in with_patches]
    for (owner, name, watch), (_, _, original) in zip(with_patches, kept, strict=True):
        setattr(owner, name, _watched(original, watch))
    try:
        window.grab()
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)
    return [*seen.faults(), *_cells(window), *placed.joined()]


def _cells(window: QWidget) -> Iterator[str]:
    """Cells of tables that look alike once they are shortened."""
    for view in window.findChildren(RowView):
        for (column, _), cuts in view.cuts.items() if view.isVisible() else ():
            whole = defaultdict(set)
            for text, short in cuts.items():
                whole[short].add(text)
            for short, texts in whole.items():
                if len(texts) > 1:
                    named = " and ".join(sorted(map(repr, texts)))
                    yield f"{view.accessibleName()}, column {column}: {named} look like '{short}'"


def _watched(original: Callable[..., Any], watch: Callable[..., None]) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any) -> Any:
        answer = original(self, *arguments)
        watch(self, arguments, answer)
        return answer

    return call


class Seen:
    """The texts of one painting."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._cut: list[str] = []
        self._shortened: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def draw_text(self, painter: QPainter, arguments: tuple[Any, ...], _: object) -> None:
        text = next((a for a in arguments if isinstance(a, str)), "")
        if not text.strip():
            return
        size = painter.font().pixelSize() * painter.worldTransform().m22()
        if 0 < size < LEAST_PX:
            self._cut.append(f"{_painting()}: '{text}' is painted at {size:.1f} px")
        box, metrics = arguments[0], QFontMetricsF(painter.font())
        if isinstance(box, QRect | QRectF) and any(isinstance(a, int) and a & _WRAPS for a in arguments[1:2]):
            high = metrics.boundingRect(QRectF(box), int(arguments[1]), text).height()
            if high > box.height() + _SLACK_PX:
                self._cut.append(f"{_painting()}: '{text}' has {box.height():.0f} px of {high:.0f} in height")
        elif isinstance(box, QRect | QRectF):
            needs = metrics.horizontalAdvance(text)
            if needs > box.width() + _SLACK_PX and "\n" not in text and "…" not in text:
                self._cut.append(f"{_painting()}: '{text}' has {box.width():.0f} px of {needs:.0f}")

    def elided_text(self, _: object, arguments: tuple[Any, ...], answer: str) -> None:
        whole = arguments[0]
        if any(name in _painting() for name in ("shortened", "ElidedLabel")):
            return  # the labels are asked for themselves
        if not answer:
            return  # left out for want of room, as the label of a narrow bar
        self._shortened[_painting()][answer].add(whole)
        if too_short(whole, answer):
            self._cut.append(f"{_painting()}: '{whole}' is shortened to '{answer}'")

    def faults(self) -> list[str]:
        alike = [
            f"{where}: {' and '.join(sorted(repr(w) for w in whole))} both look like '{short}'"
            for where, texts in self._shortened.items()
            for short, whole in texts.items()
            if len(whole) > 1
        ]
        return self._cut + alike


def _painting() -> str:
    """The function that paints, above the helpers here and those that write a text."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.endswith((__file__, "look/painting.py", "views/canvas.py")):
        frame = frame.f_back  # type: ignore[assignment]
    place = frame.f_code
    return f"{place.co_filename.rpartition('/gui/')[2]} {place.co_qualname}"
