"""A plot one can point at, zoom and drag, on pyqtgraph: what it shows is described in `workbench.pictures.plot`."""

import math
from collections.abc import Iterable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from workbench.gui.views.house_view import HouseView, Row, handle
from workbench.pictures.canvas import Canvas
from workbench.pictures.plot import (
    FOOT_PX,
    LEFT_PX,
    Axis,
    Plot,
    Spot,
    View,
    fitting,
    plot_box,
    plot_rows,
)
from workbench.pictures.plot_drawing import draw_plot, draw_tag

_REACH_PX = 18.0
_MARK_PX = 8.0
_GRASP_PX = 10.0
_CLICK_PX = 4.0
MOST_ZOOM = 1e4


class PlotView(HouseView):
    """`pointed` and `chosen` tell a line's number and a point's; `moved` carries a mark's number and its new place,
    `dropped` that it stays there; `lifted` carries the point of a line that was dragged, and its new y.

    Promised to plugins: `show_plot`, `show_all`, `ring`, `plot`, `pointed`, `chosen`, `moved`, `dropped`, `lifted`.
    """

    pointed = Signal(int, int)
    chosen = Signal(int, int)
    moved = Signal(int, float, float)
    dropped = Signal()
    lifted = Signal(int, int, float)

    def __init__(self, name: str, height: int = 220, *, in_page: bool = False) -> None:
        super().__init__(name, in_page=in_page)
        self.file_name = name.lower().replace(" ", "-")
        self.setMinimumSize(220, min(height, 150))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._height = height
        self.plot = Plot(Axis("", str), Axis("", str))
        self.ringed: tuple[int, int] | None = None
        self.pinned: tuple[int, int] | None = None
        self.current: tuple[int, int] | None = None
        self._at: QPointF | None = None
        self._pressed: QPointF | None = None
        self._dragged = -1
        self._lifted: tuple[int, int] | None = None
        self._fitted = fitting(self.plot, plot_box(self.plot, 480, height))
        layout = pg.GraphicsLayout()
        layout.layout.setSpacing(0)
        layout.layout.setContentsMargins(0, 0, 0, 0)
        layout.addItem(handle("left", LEFT_PX, self.box), 1, 0)
        layout.addItem(self.box, 1, 1)
        layout.addItem(handle("bottom", FOOT_PX, self.box), 2, 1)
        self._layout = layout.layout
        self.setCentralItem(layout)

    def sizeHint(self) -> QSize:
        return QSize(480, self._height)

    def show_plot(self, plot: Plot) -> None:
        """Show another plot whole. While a mark is dragged the axes keep still."""
        self.plot = plot
        if self._dragged < 0:
            self.pinned = self.current = self.ringed = None
            self.show_all()
        self.redraw()

    def show_all(self) -> None:
        self._arrange()
        view = self._fitted = fitting(self.plot, plot_box(self.plot, self.width(), self.height()))
        (x0, x1), (y0, y1) = view.x, view.y
        wide, high = x1 - x0, y1 - y0
        self.box.setLimits(
            xMin=x0 - wide, xMax=x1 + wide, yMin=y0 - high, yMax=y1 + high,
            minXRange=wide / MOST_ZOOM, minYRange=high / MOST_ZOOM,
        )  # fmt: skip
        self.box.setRange(xRange=view.x, yRange=view.y, padding=0)

    def ring(self, spot: tuple[int, int] | None) -> None:
        """Ring a point: its line's number and its own."""
        if spot != self.ringed:
            self.ringed = spot
            self.redraw()

    def rows(self) -> Iterable[Row]:
        return plot_rows(self.plot)

    # ---- geometry

    def _arrange(self) -> None:
        box = plot_box(self.plot, self.width(), self.height())
        for column, width in enumerate((LEFT_PX, box.width, self.width() - box.right)):
            self._layout.setColumnFixedWidth(column, width)
        for row, height in enumerate((box.y, box.height, FOOT_PX)):
            self._layout.setRowFixedHeight(row, height)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_layout"):
            self._arrange()

    def view(self) -> View:
        """What is shown where; the right axis moves with the left one."""
        x, (y0, y1) = self.box.viewRange()
        (f0, f1), (r0, r1) = self._fitted.y, self._fitted.right
        a, b = ((r0 + (y - f0) / (f1 - f0) * (r1 - r0)) for y in (y0, y1))
        box = plot_box(self.plot, self.width(), self.height())
        return View((x[0], x[1]), (y0, y1), (a, b), box, self._fitted.logs)

    def place(self, x: float, y: float) -> QPointF:
        """Where a value is in the widget."""
        return QPointF(*self.view().place(x, y))

    def mark_place(self, number: int) -> QPointF:
        mark = self.plot.marks[number]
        return QPointF(*self.view().place(mark.x, mark.y, on_right=self.plot.right is not None))

    def point_place(self, spot: tuple[int, int]) -> QPointF:
        line = self.plot.lines[spot[0]]
        return self.place(float(line.x[spot[1]]), float(line.y[spot[1]]))

    # ---- painting

    def draw(self, canvas: Canvas) -> None:
        view = self.view()
        canvas.rect(0, 0, self.width(), self.height(), "panel")
        draw_plot(canvas, self.plot, view, self.width(), ringed=self.ringed)
        if self.pinned:
            place = self.point_place(self.pinned)
            draw_tag(canvas, view.box, place.x(), place.y(), self.plot.say(*self.pinned), strong=True)

    def draw_over(self, canvas: Canvas) -> None:
        view = self.view()
        box = view.box
        if 0 <= self._dragged < len(self.plot.marks):
            place = self.mark_place(self._dragged)
            canvas.disc(place.x(), place.y(), 10, "", self.plot.marks[self._dragged].ink, 1.5)
            return
        if self._at is None or not self._inside(self._at):
            return
        if self._lifted:
            line, point = self._lifted
            size, rate = float(self.plot.lines[line].x[point]), view.value(*self._at.toTuple())[1]
            said = f"{self.plot.x.text(size)}: {self.plot.y.text(rate)}"
            draw_tag(canvas, box, *view.place(size, rate), said, strong=True)
            return
        x, y = self._at.toTuple()
        canvas.path([(x, box.y), (x, box.bottom)], "edge", 1, (3, 3))
        canvas.path([(box.x, y), (box.right, y)], "edge", 1, (3, 3))
        across, up = view.value(x, y)
        for words, left, middle, align in (
            (self.plot.x.text(across), x, box.bottom + 11, 0.5), (self.plot.y.text(up), box.x - 4, y, 1.0),
        ):  # fmt: skip
            wide = canvas.width_of(words, 11, 600) + 8
            start = min(max(left - align * wide, 0.0), self.width() - wide)
            canvas.rect(start, middle - 8, wide, 16, "raised", "edge", radius=3)
            canvas.write(start + 4, middle, words, "text", 11, 600)
        if spot := self._spot_near(self._at):
            said = ", ".join(part for part in (spot.label, spot.detail) if part)
            draw_tag(canvas, box, *view.place(spot.x, spot.y), said)
        elif self.current and self.current != self.pinned:
            place = self.point_place(self.current)
            draw_tag(canvas, box, place.x(), place.y(), self.plot.say(*self.current))

    # ---- pointer

    def _inside(self, at: QPointF) -> bool:
        box = self.view().box
        return QRectF(box.x - 4, box.y - 4, box.width + 8, box.height + 8).contains(at)

    def _near(self, at: QPointF) -> tuple[int, int] | None:
        """The point nearest to the pointer: along x for joined lines within the plot, else within reach."""
        if not self._inside(at):
            return None
        view, best, point = self.view(), math.inf, None
        for number, line in enumerate(self.plot.lines):
            if not len(line.x) or not (line.points or (line.joined and self.plot.say(number, 0))):
                continue
            away = np.abs(view.places(line.x, line.y) - at.toTuple())
            gaps = away[:, 0] * (3 if line.joined else 1) + away[:, 1]
            nearest = int(np.argmin(gaps))
            if gaps[nearest] < best and (line.joined or gaps[nearest] < _REACH_PX):
                best, point = float(gaps[nearest]), (number, nearest)
        return point

    def _spot_near(self, at: QPointF) -> Spot | None:
        view = self.view()
        near = [s for s in self.plot.spots if (QPointF(*view.place(s.x, s.y)) - at).manhattanLength() < 14]
        return next((s for s in near if s.strong), near[0] if near else None)

    def _mark_near(self, at: QPointF) -> int:
        gaps = [(abs(self.mark_place(n).x() - at.x()), n) for n, m in enumerate(self.plot.marks) if m.movable]
        gap, number = min(gaps, default=(math.inf, -1))
        return number if gap < _MARK_PX and self._inside(at) else -1

    def _movable_near(self, at: QPointF) -> tuple[int, int] | None:
        spot = self._near(at)
        movable = spot is not None and self.plot.lines[spot[0]].movable
        return spot if movable and spot and (self.point_place(spot) - at).manhattanLength() < _GRASP_PX else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        left = event.button() is Qt.MouseButton.LeftButton
        self._dragged = self._mark_near(event.position()) if left else -1
        self._pressed = event.position() if left else None
        self._lifted = self._movable_near(event.position()) if left and self._dragged < 0 else None
        if self._dragged < 0 and self._lifted is None:
            super().mousePressEvent(event)
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._dragged >= 0:
            across, up = self.view().value(at.x(), at.y(), on_right=self.plot.right is not None)
            self.moved.emit(self._dragged, across, up)
            return
        if self._lifted is not None:
            self._at = at
            self.viewport().update()
            return
        super().mouseMoveEvent(event)
        on_mark = self._mark_near(at) >= 0
        shape = Qt.CursorShape.SizeVerCursor if self._movable_near(at) else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(Qt.CursorShape.SizeAllCursor if on_mark else shape)
        self._at = None if on_mark else at
        self._point(None if on_mark else self._near(at))
        self.viewport().update()

    def _point(self, spot: tuple[int, int] | None) -> None:
        if spot != self.current:
            self.current = spot
            self.pointed.emit(*(spot or (-1, -1)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        dragged, self._dragged = self._dragged, -1
        pressed, self._pressed = self._pressed, None
        lifted, self._lifted = self._lifted, None
        if dragged >= 0:
            self.dropped.emit()
        elif lifted and pressed and abs(event.position().y() - pressed.y()) > _CLICK_PX:
            self.lifted.emit(*lifted, self.view().value(*event.position().toTuple())[1])
        elif lifted:
            self._choose(event.position())
        else:
            super().mouseReleaseEvent(event)
            if pressed is not None and (event.position() - pressed).manhattanLength() <= _CLICK_PX:
                self._choose(event.position())
        self.viewport().update()

    def _choose(self, at: QPointF) -> None:
        if spot := self._near(at):
            self.pinned = spot
            self.redraw()
            self.chosen.emit(*spot)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = None
        self._point(None)
        self.viewport().update()
