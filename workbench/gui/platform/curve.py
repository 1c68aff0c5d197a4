"""Transfer rate by size on two logarithmic axes: a platform's tables as curves, an application's calls as points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui import fonts, theme
from workbench.model.pragma import Category
from workbench.model.text import NARROW, bytes_text, listed, rate_text

Align = Qt.AlignmentFlag


@dataclass(frozen=True)
class Series:
    """One table: `points` are (bytes, bytes per second), sizes need not grow. `printed` marks those with a source.

    `problem` is the number of a point that is wrong, or -1.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    smooth: tuple[tuple[float, float], ...] = ()
    dashed: bool = False
    printed: tuple[bool, ...] = ()
    problem: int = -1
    show_points: bool = False


@dataclass(frozen=True)
class CallPoint:
    """Calls of one site on the curve: their mean size and rate."""

    label: str
    size: float
    rate: float
    strong: bool = False


class RateCurve(QWidget):
    """The plot. `point_hovered` tells the point of the first series under the pointer, or -1."""

    point_hovered = Signal(int)

    def __init__(self, height: int = 200, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(height)
        self.setMinimumWidth(240)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMouseTracking(True)
        self.setAccessibleName("Transfer rate by size")
        self._height = height
        self.series: tuple[Series, ...] = ()
        self.calls: tuple[CallPoint, ...] = ()
        self.band: tuple[float, float] | None = None
        self.target: tuple[float, float] | None = None
        self.legend = False
        self.current = -1

    def set_data(
        self,
        series: Sequence[Series],
        calls: Sequence[CallPoint] = (),
        band: tuple[float, float] | None = None,
        target: tuple[float, float] | None = None,
    ) -> None:
        """`band` is the range of sizes near the best rate, `target` a (size, rate) that the strong call could reach."""
        self.series, self.calls, self.band, self.target = tuple(series), tuple(calls), band, target
        self.current = -1
        self.update()

    def set_current(self, point: int) -> None:
        """Ring a point of the first series."""
        if point != self.current:
            self.current = point
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, self._height)

    # ---- geometry

    def plot_rect(self) -> QRectF:
        return QRectF(58, 10, max(self.width() - 58 - 14, 10), max(self.height() - 10 - 38, 10))

    def _bounds(self) -> tuple[float, float, float, float]:
        """log10 of the least and greatest size and rate, with a little air."""
        points = [p for s in self.series for p in s.points] + [(c.size, c.rate) for c in self.calls]
        points = [(x, y) for x, y in points if x > 0 and y > 0] or [(4.0, 1e6), (4096.0, 1e8)]
        xs, ys = [math.log10(x) for x, _ in points], [math.log10(y) for _, y in points]
        x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
        if x1 - x0 < 0.5:
            x0, x1 = x0 - 0.5, x1 + 0.5
        if y1 - y0 < 0.5:
            y0, y1 = y0 - 0.5, y1 + 0.5
        return x0 - 0.03 * (x1 - x0), x1 + 0.05 * (x1 - x0), y0 - 0.06 * (y1 - y0), y1 + 0.14 * (y1 - y0)

    def place(self, size: float, rate: float) -> QPointF:
        """Where a size and a rate stand in the widget."""
        x0, x1, y0, y1 = self._bounds()
        rect = self.plot_rect()
        across = (math.log10(max(size, 1e-9)) - x0) / (x1 - x0)
        up = (math.log10(max(rate, 1e-9)) - y0) / (y1 - y0)
        return QPointF(rect.left() + across * rect.width(), rect.bottom() - up * rect.height())

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.plot_rect()
        painter.fillRect(rect, theme.colour("sunken"))
        self._paint_band(painter, rect)
        self._paint_axes(painter, rect)
        self._paint_band_name(painter, rect)
        painter.setClipRect(rect.adjusted(-6, -6, 6, 6))
        for number, series in enumerate(self.series):
            self._paint_series(painter, series, number == 0)
        painter.setClipping(False)
        self._paint_names(painter, rect)
        self._paint_calls(painter, rect)
        painter.end()

    def _paint_band(self, painter: QPainter, rect: QRectF) -> None:
        if self.band is None:
            return
        left = max(self.place(self.band[0], 1).x(), rect.left())
        right = min(self.place(self.band[1], 1).x(), rect.right())
        painter.fillRect(QRectF(left, rect.top(), right - left, rect.height()), theme.colour("good_ground"))

    def _paint_band_name(self, painter: QPainter, rect: QRectF) -> None:
        if self.band is None:
            return
        left = max(self.place(self.band[0], 1).x(), rect.left())
        right = min(self.place(self.band[1], 1).x(), rect.right())
        box = QRectF((left + right) / 2 - 38, rect.bottom() - 24, 76, 16)
        box.moveRight(min(box.right(), rect.right() - 2))
        painter.fillRect(
            box.intersected(QRectF(left, rect.top(), right - left, rect.height())), theme.colour("good_ground")
        )
        _text(painter, box, "95 % of best", "good", 11, 500, Align.AlignHCenter)

    def _paint_axes(self, painter: QPainter, rect: QRectF) -> None:
        x0, x1, y0, y1 = self._bounds()
        powers = [p for p in range(45) if x0 <= p * math.log10(2) <= x1]
        room = max(1, int(rect.width() / 58))
        step = next(s for s in (1, 2, 3, 4, 5, 6, 8, 10, 20, 45) if len(powers) / s <= room)
        for power in [p for p in powers if (p - 2) % step == 0]:
            x = round(self.place(2.0**power, 1).x()) + 0.5
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
            box = QRectF(x - 32, rect.bottom() + 3, 64, 15)
            box.moveRight(min(box.right(), self.width() - 1.0))
            _text(painter, box, bytes_text(2.0**power), "muted", 11, 400, Align.AlignHCenter)
        decades = range(math.ceil(y0), math.floor(y1) + 1)
        for decade in decades:
            y = round(self.place(1, 10.0**decade).y()) + 0.5
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
            _text(
                painter,
                QRectF(0, y - 8, rect.left() - 6, 16),
                axis_rate(decade),
                "muted",
                11,
                400,
                Align.AlignRight,
            )
        foot = QRectF(rect.left(), rect.bottom() + 19, rect.width(), 16)
        axis = "bytes in one call, both axes logarithmic" if foot.width() > 230 else "bytes in one call"
        _text(painter, foot, axis, "muted", 11, 400, Align.AlignHCenter)

    def _ink(self, series: Series) -> QColor:
        return theme.colour("second") if series.dashed else theme.state_colour(Category.SEND)

    def _paint_series(self, painter: QPainter, series: Series, first: bool) -> None:
        ink = self._ink(series)
        line = [self.place(x, y) for x, y in (series.smooth or series.points)]
        style = Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(ink, 2, style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(line))
        if not series.show_points:
            return
        for number, (x, y) in enumerate(series.points):
            bad = number == series.problem
            printed = bool(series.printed) and series.printed[number]
            radius = 5.0 if bad or printed else 3.5
            colour = theme.colour("high") if bad else ink
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(colour if bad or printed else theme.colour("panel"))
            painter.drawEllipse(self.place(x, y), radius, radius)
            if first and number == self.current:
                painter.setPen(QPen(theme.colour("accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(self.place(x, y), radius + 4, radius + 4)

    def _paint_names(self, painter: QPainter, rect: QRectF) -> None:
        if self.legend:
            y = rect.top() + 6
            for series in self.series:
                x = rect.left() + 10
                rows = [(series.name, False, series.dashed)]
                if series.show_points and any(series.printed):
                    rows = [
                        (f"{series.name}, with a source", True, False),
                        (f"{series.name}, interpolated", False, False),
                    ]
                for text, filled, dashed in rows:
                    self._paint_key(painter, QPointF(x + 8, y + 8), series, filled, dashed or not series.show_points)
                    _text(painter, QRectF(x + 24, y, 240, 16), text, "second", 12, 400)
                    y += 20
            return
        taken: list[QRectF] = []
        for series in self.series:
            if series.points:
                end = self.place(*max(series.points))
                box = QRectF(end.x() - 84, end.y() - 19, 80, 15)
                if any(box.intersects(other) for other in taken):
                    box.moveTop(max(end.y(), *(other.bottom() for other in taken)) + 6)
                taken.append(box)
                colour = "second" if series.dashed else "link"
                _text(painter, box, series.name, colour, 11, 600, Align.AlignRight)

    def _paint_key(self, painter: QPainter, at: QPointF, series: Series, filled: bool, line: bool) -> None:
        ink = self._ink(series)
        if line:
            painter.setPen(QPen(ink, 2, Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine))
            painter.drawLine(QPointF(at.x() - 8, at.y()), QPointF(at.x() + 8, at.y()))
            return
        painter.setPen(QPen(ink, 1.5))
        painter.setBrush(ink if filled else theme.colour("panel"))
        painter.drawEllipse(at, 5.0 if filled else 3.5, 5.0 if filled else 3.5)

    def _paint_calls(self, painter: QPainter, rect: QRectF) -> None:
        """The calls, weakest first, each with its label where one fits; those at one place share a label."""
        strong = next((c for c in self.calls if c.strong), None)
        if strong and self.target:
            self._paint_gain(painter, strong)
        taken: list[QRectF] = []
        if self.target:
            goal = self.place(*self.target)
            taken.append(QRectF(goal.x() - 6, goal.y() - 6, 12, 12))
        for call in sorted(self.calls, key=lambda c: c.strong):
            spot = self.place(call.size, call.rate)
            ink = theme.colour("accent") if call.strong else theme.state_colour(Category.WAIT_SEND)
            painter.setPen(QPen(theme.colour("panel"), 1.2))
            painter.setBrush(ink)
            painter.drawEllipse(spot, 5, 5)
            if call.strong:
                painter.setPen(QPen(ink, 1.6))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(spot, 8.5, 8.5)
            taken.append(QRectF(spot.x() - 6, spot.y() - 6, 12, 12))
        for call in sorted(self._named(), key=lambda c: not c.strong):
            self._paint_call_label(painter, rect, call, taken)

    def _named(self) -> list[CallPoint]:
        """One point for each place, the names of all that stand there joined."""
        spots: dict[tuple[int, int], list[CallPoint]] = {}
        for call in self.calls:
            spot = self.place(call.size, call.rate)
            spots.setdefault((round(spot.x() / 9), round(spot.y() / 9)), []).append(call)
        named = []
        for group in spots.values():
            head = next((c for c in group if c.strong), group[0])
            names = list(dict.fromkeys(c.label for c in group))
            text = listed(names)
            if any(c.strong for c in group):
                text = f"{head.label} {bytes_text(head.size)}, {rate_text(head.rate)}"
            named.append(CallPoint(text, head.size, head.rate, head.strong))
        return named

    def _paint_call_label(self, painter: QPainter, rect: QRectF, call: CallPoint, taken: list[QRectF]) -> None:
        spot = self.place(call.size, call.rate)
        font = fonts.ui_font(11, 600 if call.strong else 500)
        painter.setFont(font)
        wide = painter.fontMetrics().horizontalAdvance(call.label) + (16 if call.strong else 6)
        high = 19.0 if call.strong else 15.0
        places = [
            (12, -high / 2),
            (-12 - wide, -high - 6),
            (12, 8),
            (-wide / 2, -high - 12),
            (-12 - wide, 8),
            (-wide / 2, 12),
        ]
        if call.strong:
            places = [places[1], places[3], (14, 12), places[4], (-wide / 2, 14), places[0]]
        for dx, dy in places:
            box = QRectF(spot.x() + dx, spot.y() + dy, wide, high)
            if rect.adjusted(-2, -2, 8, 2).contains(box) and not any(box.intersects(other) for other in taken):
                break
        else:
            if not call.strong:
                return  # no room: its tooltip names it
            box.moveLeft(min(max(box.left(), rect.left() + 2), rect.right() - wide))
        taken.append(box)
        if call.strong:
            painter.setPen(QPen(theme.colour("accent"), 1))
            painter.setBrush(theme.colour("panel"))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        _text(
            painter,
            box,
            call.label,
            "link" if call.strong else "text",
            11,
            600 if call.strong else 500,
            Align.AlignHCenter,
        )

    def _paint_gain(self, painter: QPainter, strong: CallPoint) -> None:
        assert self.target is not None
        goal = self.place(*self.target)
        painter.setPen(QPen(theme.colour("good"), 2))
        painter.setBrush(theme.colour("panel"))
        painter.drawEllipse(goal, 5, 5)

    # ---- pointer

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        near = -1
        if self.series and self.series[0].show_points:
            distances = [(self.place(x, y) - event.position()).manhattanLength() for x, y in self.series[0].points]
            best = min(range(len(distances)), key=distances.__getitem__, default=-1)
            near = best if best >= 0 and distances[best] < 16 else -1
            if near >= 0:
                x, y = self.series[0].points[near]
                self.setToolTip(f"{bytes_text(x)} in one call: {rate_text(y)}")
        here = [c for c in self.calls if (self.place(c.size, c.rate) - event.position()).manhattanLength() < 14]
        if here:
            names = ", ".join(dict.fromkeys(c.label for c in here))
            self.setToolTip(f"{names}: {bytes_text(here[0].size)} in one call, {rate_text(here[0].rate)}")
        elif near < 0:
            self.setToolTip("")
        if near != self.current:
            self.set_current(near)
            self.point_hovered.emit(near)

    def leaveEvent(self, event: QEvent) -> None:
        self.set_current(-1)
        self.point_hovered.emit(-1)


def axis_rate(decade: int) -> str:
    """A power of ten of bytes a second, as short as it goes."""
    for power, unit in ((9, "GB/s"), (6, "MB/s"), (3, "kB/s"), (0, "B/s")):
        if decade >= power:
            return f"{10 ** (decade - power)}{NARROW}{unit}"
    return f"{10.0**decade:g}{NARROW}B/s"


def _text(
    painter: QPainter,
    rect: QRectF,
    text: str,
    colour: str,
    size: int,
    weight: int,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    painter.setFont(fonts.ui_font(size, weight))
    painter.setPen(theme.colour(colour))
    painter.drawText(rect, align | Align.AlignVCenter | Qt.TextFlag.TextSingleLine | Qt.TextFlag.TextDontClip, text)
