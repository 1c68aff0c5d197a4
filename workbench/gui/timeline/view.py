"""The timeline on pyqtgraph: overview, ruler, rows; zoom, pan, markers, folding, a tooltip."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu

from workbench.gui import theme
from workbench.gui.canvas import QtCanvas
from workbench.gui.house_view import HouseView
from workbench.gui.house_view import Row as Cells
from workbench.gui.timeline.hover import draw_tooltip, place_tooltip, tooltip_size
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.drawing import draw_names, draw_timeline
from workbench.pictures.timeline.hits import Hit, hit_at, next_edge
from workbench.pictures.timeline.kept import Kept
from workbench.pictures.timeline.rows import Kind, Row, build_rows
from workbench.pictures.timeline.scale import LEAST_PIXEL_PS, Span, clamped, whole, zoomed
from workbench.pictures.timeline.shown import FOOT_PX, OVERVIEW_PX, RULER_PX, Shown, lanes_box
from workbench.pictures.timeline.table import interval_rows
from workbench.session.files import write_result_table
from workbench.traces.scene import Scene

IDLE_MS = 50
SCROLL_PX, PAN_PART, KEY_ZOOM = 66, 0.15, 1 / 0.7
FILE_DENSITY = 2  # pixels of bars a unit, in files
_CLICK_PX, _DRAG_PX, _GRASP_PX = 4.0, 3.0, 8.0


@dataclass(frozen=True)
class _Drag:
    """A gesture: what it does, where it began, and what was shown then."""

    kind: str
    at: QPointF
    span: Span
    scroll_px: int
    marks: tuple[float, ...]


class TimelineView(HouseView):
    """Shows a scene, and lets it be moved about in. `marks_moved` tells where the markers were before a gesture,
    `work_wanted` is a function that takes long, for a thread."""

    marks_changed = Signal()
    marks_moved = Signal(object)
    chosen_changed = Signal()
    line_wanted = Signal(object)  # Hit
    range_wanted = Signal()
    work_wanted = Signal(object)
    step_wanted = Signal(bool)  # to where what is looked for occurs next, or last where True
    settled = Signal()  # drawn exactly, after things moved
    file_name = "timeline"

    def __init__(self) -> None:
        super().__init__("Timeline")
        self.setMouseTracking(True)
        self.setMinimumSize(360, 200)
        self.traced: Scene | None = None
        self.lines: tuple[Row, ...] = ()
        self._tops: tuple[int, ...] = (0,)
        self.span = Span(0.0, 1.0, 1)
        self.marks: tuple[float, ...] = ()
        self.show_marks = self.show_messages = True
        self.faded: frozenset[int] = frozenset()
        self.chosen: Hit | None = None
        self.chosen_blocks: frozenset[int] = frozenset()
        self.folded: set[str] = set()
        self.filter = ""
        self.hit: Hit | None = None
        self.pointer = QPointF(-1, -1)
        self.moving = False
        self._kept = Kept()
        self._names: tuple[object, QPixmap] = ((), QPixmap())
        self._drag: _Drag | None = None
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._settle)
        self.scene().addItem(self.box)
        self.box.invertY(True)

    # ---- what is shown

    def set_scene(self, scene: Scene | None) -> None:
        self.traced = scene
        self.marks, self.hit, self.chosen, self.folded = (), None, None, set()
        self.refresh(of_all=True)
        self.scroll_to(0)
        self._move()

    def refresh(self, *, of_all: bool = False) -> None:
        """Build the rows anew: after folding, filtering, for another run. `of_all` shows all of its time."""
        scene = self.traced
        self.lines = build_rows(scene.blocks, scene.index, bool(scene.calls), self.folded, self.filter) if scene else ()
        self._tops = tuple(accumulate((row.height for row in self.lines), initial=0))
        self._kept.drop()
        self._arrange(of_all or self._whole)
        self.redraw()

    def shown(self) -> Shown:
        """What is drawn, of a scene."""
        assert self.traced is not None
        return Shown(
            self.traced, self.lines, self._tops, self.span, self.width(), self.height(), self.scroll_px, self.marks,
            self.show_marks, self.show_messages, self.faded, self.chosen, self.chosen_blocks, self.moving,
        )  # fmt: skip

    @property
    def lanes(self) -> Box:
        return lanes_box(self.width(), self.height())

    @property
    def scroll_px(self) -> int:
        """How much of the rows is above what is in view."""
        return round(self.box.viewRange()[1][0])

    @property
    def end_ps(self) -> int:
        return self.traced.index.end_ps if self.traced else 1

    @property
    def _whole(self) -> bool:
        """Whether the whole run is in view: it stays so when the view grows."""
        return self.span.pixel_ps * self.span.width >= self.end_ps * 0.9999

    def _arrange(self, of_all: bool) -> None:
        """Keep a row as high and a pixel as long as ever, whatever room there is; or show all of the run's time."""
        lanes, span, scroll = self.lanes, self.span, self.scroll_px
        wide, room = round(lanes.width), lanes.height
        self.box.setGeometry(QRectF(lanes.x, lanes.y, wide, room))
        high = max(self._tops[-1] + FOOT_PX, room)
        longest = max(float(self.end_ps), LEAST_PIXEL_PS * wide)
        self.box.setLimits(
            xMin=0.0, xMax=longest, minXRange=LEAST_PIXEL_PS * wide, maxXRange=longest,
            yMin=0.0, yMax=high, minYRange=room, maxYRange=room,
        )  # fmt: skip
        self.box.setRange(yRange=(scroll, scroll + room), padding=0)
        self.look_at(whole(self.end_ps, wide) if of_all else replace(span, width=wide))
        self._take_span()  # a range that stays is not told, though a pixel is another part of it

    def _range_changed(self) -> None:
        self._take_span()
        self._move()
        super()._range_changed()

    def _take_span(self) -> None:
        (from_ps, to_ps), _ = self.box.viewRange()
        width = round(self.lanes.width)
        self.span = Span(from_ps, (to_ps - from_ps) / width, width)

    def _move(self) -> None:
        """Draw quickly until things rest."""
        self.moving = True
        self._idle.start()
        self.viewport().update()

    def _settle(self) -> None:
        self.moving = False
        self.redraw()
        if self.isVisible():
            self.viewport().repaint()
        self.settled.emit()

    # ---- zoom and place

    def look_at(self, span: Span) -> None:
        span = clamped(span, self.end_ps)
        self.box.setRange(xRange=(span.from_ps, span.to_ps), padding=0)

    def show_all(self) -> None:
        """The whole run; when it is in view already, what lies between the markers."""
        if self.traced and self._whole and len(self.marks) == 2:
            from_ps, to_ps = self.shown().range_ps()
            self.show_range(from_ps - (to_ps - from_ps) * 0.1, to_ps + (to_ps - from_ps) * 0.1)
        else:
            self.look_at(whole(self.end_ps, self.span.width))

    def show_range(self, from_ps: float, to_ps: float) -> None:
        width = self.span.width
        self.look_at(Span(from_ps, max((to_ps - from_ps) / width, LEAST_PIXEL_PS), width))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        x = self.span.width / 2 if at is None else at.x() - self.lanes.x
        self.look_at(zoomed(self.span, 1 / factor, x, self.end_ps))

    def pan(self, by: QPointF) -> None:
        self.look_at(replace(self.span, from_ps=self.span.from_ps - by.x() * self.span.pixel_ps))
        if by.y():
            self.scroll_to(self.scroll_px - round(by.y()))

    def go_to(self, time_ps: float) -> None:
        """Show a time in the middle; where all is in view, a twentieth of the run around it."""
        length = self.end_ps / 20 if self._whole else self.span.pixel_ps * self.span.width
        self.show_range(time_ps - length / 2, time_ps + length / 2)

    def scroll_to(self, pixels: int) -> None:
        room = self.lanes.height
        top = max(0, min(pixels, round(max(self._tops[-1] + FOOT_PX - room, 0))))
        self.box.setRange(yRange=(top, top + room), padding=0)

    def _time_at(self, x: float) -> float:
        return self.span.time(x - self.lanes.x)

    def _centre_on(self, time_ps: float) -> None:
        self.look_at(replace(self.span, from_ps=time_ps - self.span.pixel_ps * self.span.width / 2))

    # ---- markers and choice

    def set_marks(self, marks: Iterable[float]) -> None:
        self.marks = tuple(min(max(mark, 0.0), float(self.end_ps)) for mark in marks)[:2]
        self.marks_changed.emit()
        self.redraw()

    def move_marks(self, marks: Iterable[float]) -> None:
        """Set markers as one gesture."""
        before = self.marks
        self.set_marks(marks)
        if self.marks != before:
            self.marks_moved.emit(before)

    def mark_at(self, time_ps: float) -> None:
        """Set A, then B; then move whichever is nearer."""
        if len(self.marks) < 2:
            self.move_marks([*self.marks, time_ps])
            return
        near = min((0, 1), key=lambda k: abs(self.marks[k] - time_ps))
        self.move_marks([time_ps if k == near else mark for k, mark in enumerate(self.marks)])

    def choose(self, hit: Hit | None) -> None:
        self.chosen = hit
        self.setAccessibleDescription(", ".join(hit.lines) if hit else "")
        self.chosen_changed.emit()
        self.redraw()

    def show_place(self, block: int, kind: Kind, time_ps: int) -> None:
        """Choose what stands in a block's row at a time, and bring it into view, out of what is folded."""
        if self.traced is None:
            return
        here = [(row, top) for row, top in zip(self.lines, self._tops, strict=False) if row.block == block]
        if not here and self.folded:
            self.folded -= {row.key for row in self.lines if row.kind is Kind.HEAD} | {self.traced.blocks[block].group}
            self.refresh()
            here = [(row, top) for row, top in zip(self.lines, self._tops, strict=False) if row.block == block]
        row, top = next((each for each in here if each[0].kind is kind), (None, 0))
        if row is None:
            return
        room = round(self.lanes.height)
        if not self.scroll_px <= top <= self.scroll_px + room - row.height:
            self.scroll_to(top - room // 2)
        if not self.span.from_ps <= time_ps < self.span.to_ps:
            self._centre_on(time_ps)
        self.choose(hit_at(self.traced, row, time_ps))

    def fold(self, key: str) -> None:
        """Fold or unfold what a key names."""
        self.folded ^= {key}
        self.refresh()

    # ---- painting

    def draw(self, canvas: Canvas) -> None:
        if self.traced is None:
            canvas.rect(0, 0, self.width(), self.height(), "panel")
            return
        density = max(1, round(self.devicePixelRatioF()))
        draw_timeline(canvas, self.shown(), self._kept, density, self._draw_names)

    def draw_picture(self, canvas: Canvas) -> None:
        if self.traced is not None:
            draw_timeline(canvas, replace(self.shown(), moving=False), Kept(), FILE_DENSITY)

    def draw_over(self, canvas: Canvas) -> None:
        if self.hit is not None and self._drag is None:
            lanes, pointer = self.lanes, (self.pointer.x(), self.pointer.y())
            inside = Box(lanes.x, 0, lanes.width, self.height())
            clock = self.shown().row_box(Kind.CLOCK)
            size = tooltip_size(canvas, self.hit)
            draw_tooltip(canvas, place_tooltip(pointer, size, inside, clock), self.hit)

    def _paint_ground(self, painter: QPainter) -> None:
        """At once while things move, so that no frame is copied."""
        if not self.moving:
            super()._paint_ground(painter)
            return
        started = time.perf_counter()
        self.draw(QtCanvas(painter))
        self.frame_ms = (time.perf_counter() - started) * 1e3

    def _draw_names(self, canvas: Canvas, shown: Shown) -> None:
        """From a copy, until they change."""
        assert isinstance(canvas, QtCanvas)
        density, lanes = self.devicePixelRatioF(), shown.lanes
        key = (lanes, density, shown.scroll_px, id(shown.rows), shown.chosen_blocks, theme.palette().name)
        if self._names[0] != key:
            pixmap = QPixmap(QSize(round(lanes.x) - 1, round(lanes.height)) * density)
            pixmap.setDevicePixelRatio(density)
            painter = QPainter(pixmap)
            painter.translate(0, -lanes.y)
            draw_names(QtCanvas(painter), shown)
            painter.end()
            self._names = (key, pixmap)
        canvas.painter.drawPixmap(QPointF(0, lanes.y), self._names[1])

    def sizeHint(self) -> QSize:
        return QSize(900, 600)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._idle.start()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_idle"):  # pyqtgraph resizes it while it is made
            self._arrange(self._whole)
            self.redraw()

    # ---- files

    def rows(self) -> Iterable[Cells] | None:
        """The states and calls of A to B, or of what is in view."""
        return interval_rows(self.traced, *self._told_ps()) if self.traced else None

    def _told_ps(self) -> tuple[int, int]:
        whole_ps = round(max(self.span.from_ps, 0.0)), round(min(self.span.to_ps, self.end_ps))
        return self.shown().range_ps() if len(self.marks) == 2 else whole_ps

    def _write(self, save: Callable[[Path], None], path: Path) -> None:
        """Data may be long."""
        if save == self.save_data and (rows := self.rows()) is not None:
            self.work_wanted.emit(lambda: write_result_table(path, rows))
        else:
            super()._write(save, path)

    def menu(self) -> QMenu:
        menu = super().menu()
        first, at_ps = menu.actions()[0], self._time_at(self.pointer.x())
        own: list[tuple[str, Callable[[], None], bool]] = [
            ("Set a marker here\tM", lambda: self.mark_at(at_ps), self.pointer.x() >= self.lanes.x),
            ("Use A to B as range\tR", self.range_wanted.emit, len(self.marks) == 2),
            ("Clear the markers", lambda: self.move_marks([]), bool(self.marks)),
            ("Open the line\tEnter", self._open_line, self.chosen is not None),
        ]
        for words, do, enabled in own:
            action = menu.addAction(words, do)
            action.setEnabled(enabled)
            menu.insertAction(first, action)
        menu.insertSeparator(first)
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.traced:
            self.pointer = QPointF(event.pos())
            super().contextMenuEvent(event)

    # ---- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if not self.traced or event.button() is not Qt.MouseButton.LeftButton:
            return
        if at.x() < self.lanes.x:
            row = self.shown().row_at(at.y())
            if row and row.key:
                self.fold(row.key)
        elif at.y() < OVERVIEW_PX:
            self._press_overview(at)
        else:
            on_ruler = at.y() < OVERVIEW_PX + RULER_PX
            wants_range = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            near = self._mark_near(at.x()) if on_ruler and len(self.marks) == 2 else None
            if near is not None:  # it goes on from the other one
                at = QPointF(self.lanes.x + self.span.x(self.marks[1 - near]), at.y())
            self._begin("range" if on_ruler or wants_range else "pan", at)

    def _begin(self, kind: str, at: QPointF) -> None:
        self._drag = _Drag(kind, at, self.span, self.scroll_px, self.marks)

    def _press_overview(self, at: QPointF) -> None:
        for event, _, x, box in self._kept.pins(self.shown()):
            if box.x <= at.x() <= box.right or abs(x - at.x()) <= _GRASP_PX:
                span_ps = max(event.span_ps * 40, 1000)
                self.show_range(event.time_ps - span_ps / 2, event.time_ps + span_ps / 2)
                return
        self._begin("overview", at)
        self._centre_on_overview(at.x())

    def _centre_on_overview(self, x: float) -> None:
        self._centre_on((x - self.lanes.x) / self.lanes.width * self.end_ps)

    def _mark_near(self, x: float) -> int | None:
        away = [(abs(self.lanes.x + self.span.x(mark) - x), number) for number, mark in enumerate(self.marks)]
        gap, number = min(away, default=(_GRASP_PX, 0))
        return number if gap < _GRASP_PX else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer, drag = event.position(), self._drag
        if not self.traced:
            return
        if drag is None:
            self._hover()
            return
        moved = self.pointer - drag.at
        if drag.kind == "overview":
            self._centre_on_overview(self.pointer.x())
        elif drag.kind == "range" and abs(moved.x()) > _DRAG_PX:
            self.set_marks([drag.span.time(drag.at.x() - self.lanes.x), self._time_at(self.pointer.x())])
            self._move()
        elif drag.kind == "pan":
            self.hit = None
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            self.look_at(replace(drag.span, from_ps=drag.span.from_ps - moved.x() * drag.span.pixel_ps))
            self.scroll_to(round(drag.scroll_px - moved.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self._drag = self._drag, None
        self.viewport().unsetCursor()
        if drag is None:
            return
        self.pointer = event.position()
        if drag.kind == "pan" and (self.pointer - drag.at).manhattanLength() < _CLICK_PX:
            self._hover()
            self.choose(self.hit)
        elif drag.kind == "range" and self.marks != drag.marks:
            self.marks_moved.emit(drag.marks)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer = event.position()
        self._hover()
        if self.hit:
            self.line_wanted.emit(self.hit)

    def leaveEvent(self, event: QEvent) -> None:
        self.hit, self.pointer = None, QPointF(-1, -1)
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps, sideways = event.angleDelta().y() / 120, event.angleDelta().x() / 120
        if event.position().x() < self.lanes.x:
            self.scroll_to(self.scroll_px - round(steps * SCROLL_PX))
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or sideways:
            self.pan(QPointF((sideways or steps) * self.span.width * 0.1, 0))
        else:
            self.zoom(1.25**steps, event.position())
        event.accept()

    def _hover(self) -> None:
        in_lanes = self.pointer.x() >= self.lanes.x
        row = self.shown().row_at(self.pointer.y())
        hit = hit_at(self.traced, row, self._time_at(self.pointer.x())) if row and in_lanes and self.traced else None
        self.viewport().setToolTip(row.tip if row and not in_lanes else "")
        if hit is not None or self.hit is not None:
            self.viewport().update()
        self.hit = hit

    # ---- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        inside = self.lanes.x <= self.pointer.x() < self.width()
        at = self.pointer if inside else QPointF(self.lanes.centre[0], 0)
        key, step = Qt.Key, self.span.width * PAN_PART
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        actions: dict[Qt.Key, Callable[[], None]] = {
            key.Key_W: lambda: self.zoom(KEY_ZOOM, at),
            key.Key_S: lambda: self.zoom(1 / KEY_ZOOM, at),
            key.Key_A: lambda: self.pan(QPointF(step, 0)),
            key.Key_D: lambda: self.pan(QPointF(-step, 0)),
            key.Key_Left: lambda: self.pan(QPointF(step, 0)),
            key.Key_Right: lambda: self.pan(QPointF(-step, 0)),
            key.Key_Up: lambda: self.scroll_to(self.scroll_px - SCROLL_PX),
            key.Key_Down: lambda: self.scroll_to(self.scroll_px + SCROLL_PX),
            key.Key_M: lambda: self.mark_at(self._time_at(at.x())),
            key.Key_R: self.range_wanted.emit,
            key.Key_N: lambda: self.step_wanted.emit(back),
            key.Key_F3: lambda: self.step_wanted.emit(back),
            key.Key_Escape: self._give_up,
            key.Key_Return: self._open_line,
            key.Key_Enter: self._open_line,
        }
        if self.traced and event.key() in actions:
            actions[key(event.key())]()
            event.accept()
        elif self.traced:
            super().keyPressEvent(event)
        else:
            event.ignore()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes to the next edge of the chosen state; without one it leaves as it does elsewhere."""
        if not (self.traced and self.chosen):
            return super().focusNextPrevChild(forward)
        hit = self.chosen
        edge = next_edge(self.traced, hit.block, hit.state, hit.from_ps, not forward)
        row = next((r for r in self.lines if r.kind is Kind.STATES and r.block == hit.block), None)
        if edge is not None and row is not None:
            self.choose(hit_at(self.traced, row, edge))
            if not self.span.from_ps <= edge <= self.span.to_ps:
                self._centre_on(edge)
        return True

    def _open_line(self) -> None:
        if self.chosen:
            self.line_wanted.emit(self.chosen)

    def _give_up(self) -> None:
        """Esc: the gesture first, then the selection, then the markers."""
        if self._drag:
            marks, self._drag = self._drag.marks, None
            self.set_marks(marks)
        elif self.chosen:
            self.choose(None)
        else:
            self.move_marks([])
