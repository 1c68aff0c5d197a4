"""A traced run against time, on pyqtgraph: what is in view, the markers, what is folded and chosen, what files hold."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, QTimer, Signal
from PySide6.QtGui import (
    QPainter,
    QPixmap,
    QResizeEvent,
    QShowEvent,
)

from workbench.api.window import palette
from workbench.gui.views.canvas import QtCanvas
from workbench.gui.views.house_view import HouseView
from workbench.gui.views.house_view import Row as Cells
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.causes import with_cause
from workbench.pictures.timeline.drawing import draw_names, draw_timeline
from workbench.pictures.timeline.hits import Hit, hit_at
from workbench.pictures.timeline.kept import DrawingCache
from workbench.pictures.timeline.rows import (
    GROWING,
    HEIGHTS,
    LEAST_ROW_PX,
    NAMED_FROM_PX,
    Kind,
    Row,
    fitted,
)
from workbench.pictures.timeline.scale import LEAST_PIXEL_PS, Span, clamped, whole_span, zoomed
from workbench.pictures.timeline.shown import FOOT_PX, PINNED_GAP_PX, VisiblePart, bands_of, lanes_box, rows_of, tops_of
from workbench.pictures.timeline.table import interval_rows
from workbench.session.program.files import write_result_table
from workbench.traces.markers import Marker
from workbench.traces.path import RunPath
from workbench.traces.scene import Scene

IDLE_MS = 50
FILE_DENSITY = 2  # pixels of bars a unit, in files


class SceneView(HouseView):
    """A scene, as much of it as is in view. `work_wanted` carries
    a function that takes long, for a thread. `pinned` holds the names of rows that stay above the others."""

    rows_changed = Signal()  # built anew
    chosen_changed = Signal()
    work_wanted = Signal(object)
    settled = Signal()  # drawn exactly, after things moved
    file_name = "timeline"

    def __init__(self) -> None:
        super().__init__("Timeline")
        self.setMouseTracking(True)
        self.setMinimumSize(360, 200)
        self.traced: Scene | None = None
        self.path: RunPath | None = None  # the critical path and what waits are for, where either is shown
        self.show_path = self.show_waits = self.aggregate = False
        self.row_px = 0  # of rows that grow; 0: as the window allows
        self.pinned: tuple[str, ...] = ()
        self.markers: tuple[Marker, ...] = ()
        self.lines: tuple[Row, ...] = ()  # in the order they are shown, those that are pinned apart
        self.pinned_lines: tuple[Row, ...] = ()
        self._built: tuple[tuple[Row, ...], tuple[Row, ...]] = (), ()  # as they are without more room
        self._tops: tuple[int, ...] = (0,)
        self.span = Span(0.0, 1.0, 1)
        self.marks: tuple[float, ...] = ()
        self.show_marks = self.show_messages = True
        self.faded: frozenset[int] = frozenset()
        self.chosen: Hit | None = None
        self.chosen_blocks: frozenset[int] = frozenset()
        self.folded: set[str] = set()
        self.filter = ""
        self.moving = False
        self._kept = DrawingCache()
        self._names: tuple[object, QPixmap] = ((), QPixmap())
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._settle)
        self.scene().addItem(self.box)
        self.box.invertY(True)

    # ---- what is shown

    def set_scene(self, scene: Scene | None) -> None:
        self.traced = scene
        self.marks, self.chosen, self.folded, self.path = (), None, set(), None
        self.pinned, self.markers = (), ()
        self.refresh(of_all=True)
        self.scroll_to(0)
        self._move()

    def show_causes(self, path: RunPath | None, *, line: bool, waits: bool) -> None:
        """What waits were for, with the critical path's line and each row's slack, with arrows, or with none."""
        self.path, self.show_path, self.show_waits = path, line, waits
        self._arrange(self._whole)
        self.redraw()

    def refresh(self, *, of_all: bool = False) -> None:
        """Build the rows anew: after folding, filtering, for another run. `of_all` shows all of its time."""
        scene = self.traced
        rows = rows_of(scene, self.folded, self.filter, shares=self.aggregate) if scene else ()
        named = {row.name: row for row in rows if row.name}
        pinned = tuple(named[name] for name in self.pinned if name in named)
        self._built = tuple(row for row in rows if row not in pinned) if pinned else rows, pinned
        self._kept.drop()
        self._arrange(of_all or self._whole)
        self.redraw()
        self.rows_changed.emit()

    def shown(self) -> VisiblePart:
        """What is drawn, of a scene."""
        assert self.traced is not None
        return VisiblePart(
            self.traced, self.lines, self._tops, self.span, self.width(), self.height(), self.scroll_px, self.marks,
            self.show_marks, self.show_messages, self.faded, self.chosen, self.chosen_blocks, self.moving,
            self.path, self.show_path, self.show_waits, self.pinned_lines, self.markers,
        )  # fmt: skip

    @property
    def lanes(self) -> Box:
        return lanes_box(self.width(), self.height(), slack=self.path is not None and self.show_path)

    @property
    def scrolled(self) -> Box:
        """Where the rows are that scroll."""
        return bands_of(self.lanes, self.lines, self._tops, 0, self.pinned_lines)[0].box

    def _fit_rows(self) -> None:
        """Rows as high as the room that all of them have allows, or as a person chose."""
        rows, pinned = self._built
        gap = FOOT_PX + (PINNED_GAP_PX if pinned else 0)
        both = fitted((*pinned, *rows), round(self.lanes.height) - gap, self.row_px)
        lines = both[len(pinned) :]
        if self.row_px:
            both = fitted(pinned, 0, max(self.row_px, NAMED_FROM_PX))
        if lines != self.lines:  # the same object stays, for what is kept of it
            self.lines, self._tops = lines, tops_of(lines)
        self.pinned_lines = both[: len(pinned)]

    def resize_rows(self, factor: float) -> None:
        """Make rows higher or lower, whatever the window's height; `show_all` makes them fill it again."""
        here = next((row.height for row in self.lines if row.kind in GROWING), HEIGHTS[Kind.STATES][0])
        most = max(GROWING.values()) if self.aggregate else GROWING[Kind.STATES]
        wanted = max(round(here * factor), here + 1) if factor > 1 else min(round(here * factor), here - 1)
        self._set_row_px(min(max(wanted, LEAST_ROW_PX), most))

    def fill_height(self) -> None:
        self._set_row_px(0)

    def _set_row_px(self, pixels: int) -> None:
        middle = (self.scroll_px + self.scrolled.height / 2) / max(self._tops[-1], 1)
        self.row_px = pixels
        self._arrange(self._whole)
        self.scroll_to(round(middle * self._tops[-1] - self.scrolled.height / 2))
        self.redraw()

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
        self._fit_rows()
        lanes, span, scroll = self.scrolled, self.span, self.scroll_px
        wide, room = round(lanes.width), lanes.height
        self.box.setGeometry(QRectF(lanes.x, lanes.y, wide, room))
        high = max(self._tops[-1] + FOOT_PX, room)
        longest = max(float(self.end_ps), LEAST_PIXEL_PS * wide)
        self.box.setLimits(
            xMin=0.0, xMax=longest, minXRange=LEAST_PIXEL_PS * wide, maxXRange=longest,
            yMin=0.0, yMax=high, minYRange=room, maxYRange=room,
        )  # fmt: skip
        self.box.setRange(yRange=(scroll, scroll + room), padding=0)
        self.look_at(whole_span(self.end_ps, wide) if of_all else replace(span, width=wide))
        self._take_span()  # a range that stays is not reported, though a pixel is another part of it

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
        """The whole run, in rows that fill the window; when it is in view already, what lies between A and B."""
        if self.row_px:
            self.fill_height()
        if self.traced and self._whole and len(self.marks) == 2:
            from_ps, to_ps = self.shown().range_ps()
            self.show_range(from_ps - (to_ps - from_ps) * 0.1, to_ps + (to_ps - from_ps) * 0.1)
        else:
            self.look_at(whole_span(self.end_ps, self.span.width))

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
        room = self.scrolled.height
        top = max(0, min(pixels, round(max(self._tops[-1] + FOOT_PX - room, 0))))
        self.box.setRange(yRange=(top, top + room), padding=0)

    def _time_at(self, x: float) -> float:
        return self.span.time(x - self.lanes.x)

    def _centre_on(self, time_ps: float) -> None:
        self.look_at(replace(self.span, from_ps=time_ps - self.span.pixel_ps * self.span.width / 2))

    # ---- choice

    def choose(self, hit: Hit | None) -> None:
        self.chosen = hit
        self.setAccessibleDescription(", ".join(hit.lines) if hit else "")
        self.chosen_changed.emit()
        self.redraw()

    def show_place(self, block: int, kind: Kind, time_ps: int) -> None:
        """Choose what is in a block's row at a time, and bring it into view, out of what is folded."""
        if self.traced is None:
            return
        if self._row_of(block, kind) is None and self.folded:
            self.folded -= {row.key for row in self.lines if row.kind is Kind.HEAD} | {self.traced.blocks[block].group}
            self.refresh()
        row = self._row_of(block, kind)
        if row is None:
            return
        room = round(self.scrolled.height)
        if row in self.lines:
            top = self._tops[self.lines.index(row)]
            if not self.scroll_px <= top <= self.scroll_px + room - row.height:
                self.scroll_to(top - room // 2)
        if not self.span.from_ps <= time_ps < self.span.to_ps:
            self._centre_on(time_ps)
        self.choose(self.hit_in(row, time_ps) if row.kind is not Kind.SHARES else None)

    def _row_of(self, block: int, kind: Kind) -> Row | None:
        """A block's row of a kind, or else that of its states, alone or with others."""
        here = [row for row in (*self.pinned_lines, *self.lines) if row.block == block]
        here += [row for row in self.lines if row.kind is Kind.SHARES and block in row.members]
        return next((row for row in here if row.kind is kind), here[0] if here else None)

    def hit_in(self, row: Row, time_ps: float) -> Hit | None:
        """What a row shows at a time, with what is known of it."""
        scene = self.traced
        if scene is None:
            return None
        return with_cause(scene, self.path, hit_at(scene, row, time_ps, self.span.pixel_ps), time_ps)

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
            draw_timeline(canvas, replace(self.shown(), moving=False), DrawingCache(), FILE_DENSITY)

    def _paint_ground(self, painter: QPainter) -> None:
        """At once while things move, so that no frame is copied."""
        if not self.moving:
            super()._paint_ground(painter)
            return
        started = time.perf_counter()
        self.draw(QtCanvas(painter))
        self.frame_ms = (time.perf_counter() - started) * 1e3

    def _draw_names(self, canvas: Canvas, shown: VisiblePart) -> None:
        """From a copy, until they change."""
        assert isinstance(canvas, QtCanvas)
        density, lanes = self.devicePixelRatioF(), shown.lanes
        rows = id(shown.rows), shown.pinned, id(shown.path) * shown.show_path
        key = (lanes, density, shown.scroll_px, rows, shown.chosen_blocks, palette().name)
        if self._names[0] != key:
            pixmap = QPixmap(QSize(round(lanes.x) - 1, round(lanes.height)) * density)
            pixmap.setDevicePixelRatio(density)
            with QPainter(pixmap) as painter:
                painter.translate(0, -lanes.y)
                draw_names(QtCanvas(painter), shown)
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
