"""A plot one can point at: lines with bands over linear or logarithmic axes, and handles that can be dragged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui import theme
from workbench.gui.predict.words import trimmed
from workbench.gui.timeline.look import label, tag, text_width

Values = NDArray[np.float64]
Align = Qt.AlignmentFlag
_REACH_PX = 18.0


@dataclass(frozen=True)
class Axis:
    """What an axis is of, how its numbers are said, and whether it is logarithmic."""

    title: str
    text: Callable[[float], str]
    log: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points. `band` are the least and most around it; `ink` is a colour of the palette."""

    name: str
    x: Values
    y: Values
    ink: str = "accent"
    dashed: bool = False
    band: tuple[Values, Values] | None = None
    points: bool = False
    joined: bool = True
    named_at_start: bool = False


@dataclass(frozen=True)
class Mark:
    """A handle at (x, y) with an upright line through it. `y` is on the right axis where the plot has one."""

    name: str
    x: float
    y: float
    ink: str = "text"
    strong: bool = False
    movable: bool = False


class Plot(QWidget):
    """`pointed` and `chosen` tell a line's number and a point's; `moved` tells a mark's number and its new place,
    `dropped` that it stays there."""

    pointed = Signal(int, int)
    chosen = Signal(int, int)
    moved = Signal(int, float, float)
    dropped = Signal()

    def __init__(self, name: str, height: int = 220, left_px: int = 64) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setMinimumSize(220, min(height, 150))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._height, self._left = height, left_px
        self.across, self.up = Axis("", str), Axis("", str)
        self.right: Axis | None = None
        self.lines: tuple[Line, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        self.pinned: tuple[int, int] | None = None
        self.current: tuple[int, int] | None = None
        self.say: Callable[[int, int], str] = lambda line, point: ""
        self._dragged = -1
        self._bounds: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 1.0)
        self._right_bounds = (0.0, 1.0)

    def sizeHint(self) -> QSize:
        return QSize(480, self._height)

    def show_data(
        self, x: Axis, y: Axis, lines: Sequence[Line], marks: Sequence[Mark] = (), right: Axis | None = None
    ) -> None:
        """Show lines and marks. While a mark is dragged the axes keep still."""
        self.across, self.up, self.right = x, y, right
        self.lines, self.marks = tuple(lines), tuple(marks)
        if self._dragged < 0:
            self.pinned = self.current = None
            self._fit()
        self.update()

    # ---- geometry

    def plot_rect(self) -> QRectF:
        right = 66 if self.right else 16
        top = 24 if self.marks else 12
        return QRectF(self._left, top, max(self.width() - self._left - right, 10), max(self.height() - top - 40, 10))

    def _fit(self) -> None:
        xs = [line.x for line in self.lines] + [np.array([m.x for m in self.marks])]
        ys = [line.y for line in self.lines] + [b for line in self.lines if line.band for b in line.band]
        values = [m.y for m in self.marks]
        if self.right is None and values:
            ys.append(np.array(values))
        x0, x1 = _span(np.concatenate(xs), self.across.log, 0.0)
        y0, y1 = _span(np.concatenate(ys) if ys else np.array([1.0]), self.up.log, 0.08)
        if not self.up.log and 0 <= y0 < 0.3 * y1:
            y0 = 0.0
        self._bounds = (x0, x1, y0, y1)
        if self.right:
            self._right_bounds = _span(np.array(values or [1.0]), self.right.log, 0.35)

    def place(self, x: float, y: float, on_right: bool = False) -> QPointF:
        """Where a value stands in the widget."""
        rect = self.plot_rect()
        x0, x1, y0, y1 = self._bounds
        axis, (low, high) = (self.right, self._right_bounds) if on_right and self.right else (self.up, (y0, y1))
        across = (_scaled(x, self.across.log) - x0) / (x1 - x0)
        up = (_scaled(y, axis.log) - low) / (high - low)
        return QPointF(rect.left() + across * rect.width(), rect.bottom() - min(max(up, -2), 3) * rect.height())

    def mark_place(self, number: int) -> QPointF:
        mark = self.marks[number]
        return self.place(mark.x, mark.y, on_right=True)

    def _value(self, at: QPointF) -> tuple[float, float]:
        """The value under a place; y on the right axis where there is one."""
        rect = self.plot_rect()
        x0, x1, y0, y1 = self._bounds
        low, high = self._right_bounds if self.right else (y0, y1)
        axis = self.right or self.up
        across = min(max((at.x() - rect.left()) / rect.width(), 0.0), 1.0)
        up = min(max((rect.bottom() - at.y()) / rect.height(), 0.0), 1.0)
        x, y = x0 + across * (x1 - x0), low + up * (high - low)
        return (10.0**x if self.across.log else x), (10.0**y if axis.log else y)

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.plot_rect()
        painter.fillRect(rect, theme.colour("sunken"))
        self._paint_axes(painter, rect)
        painter.setClipRect(rect.adjusted(-6, -6, 6, 6))
        for line in self.lines:
            self._paint_band(painter, line)
        for line in self.lines:
            self._paint_line(painter, line)
        painter.setClipping(False)
        self._paint_names(painter, rect)
        self._paint_marks(painter, rect)
        for spot, strong in ((self.pinned, True), (self.current, False)):
            if spot:
                self._paint_spot(painter, rect, spot, strong)

    def _paint_axes(self, painter: QPainter, rect: QRectF) -> None:
        x0, x1, y0, y1 = self._bounds
        painter.setPen(QPen(theme.colour("rule"), 1))
        last = -100.0
        for value in ticks(x0, x1, self.across.log, max(int(rect.width() / 84), 2)):
            x = round(self.place(value, 1).x()) + 0.5
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
            text = trimmed(self.across.text(value))
            wide = text_width(text, 11)
            if x - wide / 2 > last:
                box = QRectF(x - wide / 2 - 1, rect.bottom() + 4, wide + 2, 15)
                box.moveRight(min(box.right(), self.width() - 1.0))
                label(painter, box, text, "muted", 11, 400, Align.AlignHCenter)
                last = box.right() + 8
        for value in ticks(y0, y1, self.up.log, max(int(rect.height() / 34), 2)):
            y = round(self.place(1, value).y()) + 0.5
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
            box = QRectF(2, y - 8, rect.left() - 8, 16)
            label(painter, box, trimmed(self.up.text(value)), "muted", 11, 400, Align.AlignRight)
        if self.right:
            low, high = self._right_bounds
            for value in ticks(low, high, self.right.log, max(int(rect.height() / 34), 2)):
                y = self.place(1, value, on_right=True).y()
                box = QRectF(rect.right() + 6, y - 8, self.width() - rect.right() - 8, 16)
                label(painter, box, trimmed(self.right.text(value)), "muted", 11, 400)
        foot = QRectF(rect.left(), rect.bottom() + 21, rect.width(), 16)
        title = f"{self.up.title} by {self.across.title}" + (f"; right: {self.right.title}" if self.right else "")
        label(painter, foot, title, "muted", 11, 400, Align.AlignHCenter)

    def _paint_band(self, painter: QPainter, line: Line) -> None:
        if line.band is None:
            return
        low, high = line.band
        corners = [self.place(x, y) for x, y in zip(line.x, high, strict=True)]
        corners += [self.place(x, y) for x, y in zip(line.x[::-1], low[::-1], strict=True)]
        painter.setPen(Qt.PenStyle.NoPen)
        ground = theme.colour(line.ink)
        ground.setAlphaF(0.20)
        painter.setBrush(ground)
        painter.drawPolygon(QPolygonF(corners))

    def _paint_line(self, painter: QPainter, line: Line) -> None:
        ink = theme.colour(line.ink)
        spots = [self.place(x, y) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if line.joined:
            painter.setPen(QPen(ink, 2, Qt.PenStyle.DashLine if line.dashed else Qt.PenStyle.SolidLine))
            painter.drawPolyline(QPolygonF(spots))
        if line.points:
            painter.setPen(QPen(ink, 1.5))
            painter.setBrush(theme.colour("panel"))
            for spot in spots:
                painter.drawEllipse(spot, 3.5, 3.5)

    def _paint_names(self, painter: QPainter, rect: QRectF) -> None:
        taken: list[QRectF] = []
        named = [line for line in self.lines if line.name and len(line.x)]
        for line in sorted(named, key=lambda line: -float(line.y[-1])):  # from the top, each below the one before
            wide = text_width(line.name, 11, 600) + 4
            end = self.place(float(line.x[-1]), float(line.y[-1]))
            box = QRectF(min(end.x(), rect.right()) - wide - 4, max(end.y() - 19, rect.top() + 1), wide, 15)
            if line.named_at_start:
                start = self.place(float(line.x[0]), float(line.y[0]))
                box.moveTopLeft(QPointF(start.x() + 22, min(start.y() - 12, rect.bottom() - 17)))
            while any(box.intersects(other) for other in taken) and box.bottom() < rect.bottom():
                box.translate(0, 15)
            taken.append(box)
            painter.fillRect(box, theme.colour("sunken"))
            label(painter, box, line.name, line.ink if line.ink != "accent" else "link", 11, 600, Align.AlignRight)

    def _paint_marks(self, painter: QPainter, rect: QRectF) -> None:
        right = -100.0
        for number in sorted(range(len(self.marks)), key=lambda n: self.marks[n].x):
            mark, spot = self.marks[number], self.mark_place(number)
            ink = theme.colour(mark.ink)
            painter.setPen(QPen(ink, 2 if mark.strong else 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(spot.x(), rect.top()), QPointF(spot.x(), rect.bottom()))
            painter.setPen(QPen(theme.colour("panel"), 1.2))
            painter.setBrush(ink)
            painter.drawEllipse(spot, 6, 6)
            if number == self._dragged:
                painter.setPen(QPen(ink, 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(spot, 10, 10)
            wide = min(text_width(mark.name, 11, 600) + 4, rect.width() / max(len(self.marks), 1))
            left = min(max(spot.x() - wide / 2, right, rect.left()), self.width() - wide - 2)
            label(painter, QRectF(left, 4, wide, 16), mark.name, mark.ink, 11, 600, Align.AlignHCenter)
            right = left + wide + 8

    def _paint_spot(self, painter: QPainter, rect: QRectF, spot: tuple[int, int], strong: bool) -> None:
        line = self.lines[spot[0]]
        at = self.place(float(line.x[spot[1]]), float(line.y[spot[1]]))
        ink = theme.colour("accent")
        painter.setPen(QPen(theme.colour("panel"), 1.2))
        painter.setBrush(ink)
        painter.drawEllipse(at, 5, 5)
        if strong:
            painter.setPen(QPen(ink, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, 8.5, 8.5)
        text = self.say(*spot)
        if text:
            box = QRectF(0, 0, text_width(text, 11, 600) + 14, 19)
            box.moveCenter(QPointF(at.x(), at.y() - 22 if at.y() - 34 > rect.top() else at.y() + 22))
            box.moveLeft(min(max(box.left(), rect.left() + 2), rect.right() - box.width() - 2))
            tag(painter, box, text, ink="link")

    # ---- pointer

    def _near(self, at: QPointF) -> tuple[int, int] | None:
        """The point nearest to the pointer: along x for joined lines within the plot, else within reach."""
        if not self.plot_rect().adjusted(-4, -4, 4, 4).contains(at):
            return None
        best, found = math.inf, None
        for number, line in enumerate(self.lines):
            if not line.points and not line.joined:
                continue
            for point, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
                spot = self.place(float(x), float(y))
                gap = abs(spot.x() - at.x()) * (3 if line.joined else 1) + abs(spot.y() - at.y())
                if gap < best and (line.joined or gap < _REACH_PX):
                    best, found = gap, (number, point)
        return found

    def _mark_near(self, at: QPointF) -> int:
        gaps = [(abs(self.mark_place(n).x() - at.x()), n) for n, m in enumerate(self.marks) if m.movable]
        gap, number = min(gaps, default=(math.inf, -1))
        return number if gap < 8 else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._dragged = self._mark_near(event.position())
        spot = self._near(event.position())
        if self._dragged < 0 and spot and event.button() is Qt.MouseButton.LeftButton:
            self.pinned = spot
            self.chosen.emit(*spot)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged >= 0:
            self.moved.emit(self._dragged, *self._value(event.position()))
            return
        on_mark = self._mark_near(event.position()) >= 0
        self.setCursor(Qt.CursorShape.SizeAllCursor if on_mark else Qt.CursorShape.ArrowCursor)
        spot = None if on_mark else self._near(event.position())
        if spot != self.current:
            self.current = spot
            self.pointed.emit(*(spot or (-1, -1)))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        dragged, self._dragged = self._dragged, -1
        if dragged >= 0:
            self.dropped.emit()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        if self.current:
            self.current = None
            self.pointed.emit(-1, -1)
            self.update()


def ticks(low: float, high: float, log: bool, most: int) -> list[float]:
    """Round values between two bounds (log10 of them where `log`), at most about `most`."""
    if not log:
        step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / most))
        step *= next(f for f in (1, 2, 5, 10, 20) if (high - low) / (step * f) <= most)
        first = math.ceil(low / step - 1e-9)
        return [
            round(n * step, 12) if step > 1e-9 else n * step for n in range(first, math.floor(high / step + 1e-9) + 1)
        ]
    decades = range(math.floor(low), math.ceil(high) + 1)
    parts = (1.0,) if high - low >= 2 else (1.0, 2.0, 5.0)
    found = [part * 10.0**d for d in decades for part in parts if low - 1e-9 <= d + math.log10(part) <= high + 1e-9]
    every = max(1, math.ceil(len(found) / most))
    return found[::every]


def _scaled(value: float, log: bool) -> float:
    return math.log10(max(value, 1e-300)) if log else value


def _span(values: Values, log: bool, air: float) -> tuple[float, float]:
    """Bounds of the values, of log10 of them where `log`, with some air."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        values = np.array([1.0])
    low, high = (_scaled(float(v), log) for v in (values.min(), values.max()))
    if high - low < 1e-9 * max(abs(high), 1e-12):
        room = 0.5 if log else abs(high) * 0.5 or 1.0
        return low - room, high + room
    return low - air * (high - low), high + air * (high - low)
