"""Speedup estimates on pyqtgraph: bars of the findings on one axis that zooms, with the times that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QWheelEvent

from workbench.gui.house_view import HouseView, Row
from workbench.model.text import ratio_text, time_text
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.plot import Range
from workbench.pictures.speedups import (
    FOOT_PX,
    HEAD_PX,
    ROW_PX,
    Estimate,
    bar_box,
    draw_estimates,
    estimate_rows,
    whole_range,
)

_CLICK_PX = 4.0


class SpeedupView(HouseView):
    """`chosen` tells the id of a finding that was clicked. The wheel scrolls the rows, with Ctrl it zooms."""

    chosen = Signal(str)
    file_name = "speedups"

    def __init__(self) -> None:
        super().__init__("Speedup estimates", in_page=True)
        self.setMouseTracking(True)
        self.rows_shown: tuple[Estimate, ...] = ()
        self.time_s = 0.0
        self.current = ""
        self._at: QPointF | None = None
        self._pressed: QPointF | None = None
        self.scene().addItem(self.box)
        self.box.invertY(True)
        self._arrange()

    def show_estimates(self, rows: Sequence[Estimate], time_s: float) -> None:
        """Show estimates for a run that takes `time_s`, all of their axis and from the first on."""
        self.rows_shown, self.time_s = tuple(rows), time_s
        self.show_all()

    def set_current(self, finding: str) -> None:
        self.current = finding
        self.redraw()

    def rows(self) -> Iterable[Row]:
        return estimate_rows(self.rows_shown)

    # ---- zoom and place

    def _arrange(self) -> None:
        """Keep the rows as high as ever, whatever room there is."""
        box = bar_box(self.width(), self.height())
        self.box.setGeometry(QRectF(box.x, box.y, box.width, box.height))
        room = box.height / ROW_PX
        self.box.setLimits(
            xMin=0.0, xMax=whole_range(self.rows_shown)[1], minXRange=0.01,
            yMin=0.0, yMax=max(len(self.rows_shown), room), minYRange=room, maxYRange=room,
        )  # fmt: skip
        first = self.box.viewRange()[1][0]
        self.box.setRange(yRange=(first, first + room), padding=0)

    def show_all(self) -> None:
        self._arrange()
        self.box.setRange(xRange=whole_range(self.rows_shown), yRange=(0, self._room()), padding=0)
        self.redraw()

    def _room(self) -> float:
        return bar_box(self.width(), self.height()).height / ROW_PX

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        spot = self.box.mapSceneToView(at) if at is not None else None
        self.box.scaleBy(x=1 / factor, center=spot)

    def shown(self) -> Range:
        low, high = self.box.viewRange()[0]
        return low, high

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_pressed"):  # pyqtgraph resizes it while it is made
            self._arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1.25 ** (event.angleDelta().y() / 120), event.position())
        else:
            self.box.translateBy(y=-event.angleDelta().y() / 120)
        event.accept()

    def row_at(self, at: QPointF) -> Estimate | None:
        box = bar_box(self.width(), self.height())
        number = int(self.box.viewRange()[1][0] + (at.y() - box.y) / ROW_PX)
        inside = box.y <= at.y() < box.bottom and 0 <= number < len(self.rows_shown)
        return self.rows_shown[number] if inside else None

    # ---- painting

    def draw(self, canvas: Canvas) -> None:
        first = self.box.viewRange()[1][0]
        size = self.width(), self.height()
        draw_estimates(canvas, self.rows_shown, self.shown(), first, *size, self.time_s, self.current)

    def picture_size(self) -> QSize:
        return QSize(self.width(), round(HEAD_PX + FOOT_PX + ROW_PX * max(len(self.rows_shown), 1)))

    def draw_picture(self, canvas: Canvas) -> None:
        size = self.picture_size()
        draw_estimates(canvas, self.rows_shown, self.shown(), 0.0, size.width(), size.height(), self.time_s)

    def draw_over(self, canvas: Canvas) -> None:
        """The speedup under the pointer, and the time it leads to."""
        box = bar_box(self.width(), self.height())
        if self._at is None or not (box.x <= self._at.x() <= box.right and box.y <= self._at.y() <= box.bottom):
            return
        x, (low, high) = self._at.x(), self.shown()
        ratio = 10 ** (low + (x - box.x) / box.width * (high - low))
        canvas.path([(x, box.y), (x, box.bottom)], "edge", 1, (3, 3))
        said = f"{ratio_text(ratio)}: {time_text(self.time_s)} becomes {time_text(self.time_s / ratio)}"
        wide = canvas.width_of(said, 11, 600) + 12
        left = min(max(x - wide / 2, 0.0), self.width() - wide)
        canvas.rect(left, box.bottom + 2, wide, 18, "raised", "edge", radius=3)
        canvas.write(left + wide / 2, box.bottom + 11, said, "text", 11, 600, CENTRE)

    # ---- pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._at = event.position()
        row = self.row_at(self._at)
        self.viewport().setToolTip(f"{row.title}, {row.where}" if row else "")
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        super().mouseReleaseEvent(event)
        row = self.row_at(event.position())
        if row and pressed is not None and (event.position() - pressed).manhattanLength() <= _CLICK_PX:
            self.chosen.emit(row.id)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = None
        self.viewport().update()
