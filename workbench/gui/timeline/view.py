"""The timeline itself: one widget, painted from numpy. Overview, ruler, rows; zoom, pan, markers, a tooltip."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from workbench.gui import theme
from workbench.gui.timeline.caches import Caches
from workbench.gui.timeline.hover import Hit, hit_at, next_edge
from workbench.gui.timeline.paint import paint_overview, paint_timeline
from workbench.gui.timeline.rows import Kind, build_rows
from workbench.gui.timeline.scale import Span, clamped, whole, zoomed
from workbench.gui.timeline.shown import OVERVIEW_PX, RULER_PX, Shown
from workbench.traces.scene import RareEvent, Scene

IDLE_MS = 50


class TimelineView(QWidget, Shown):
    """Shows a scene, and lets it be moved about in."""

    span_changed = Signal()
    marks_changed = Signal()
    chosen_changed = Signal()
    line_wanted = Signal(object)  # Hit
    range_wanted = Signal()
    settled = Signal()  # drawn exactly, after things moved

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Timeline")
        self.setMinimumSize(360, 200)
        self.folded: set[str] = set()
        self.filter = ""
        self.frame_ms = 0.0
        self._whole = True  # the whole run is in view, and stays so when the widget grows
        self._drag: tuple[str, QPointF, float, int] | None = None
        self.caches = Caches(self)
        self._pins: list[tuple[QRectF, RareEvent]] = []
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._settle)

    # ---- what is shown

    def set_scene(self, scene: Scene | None) -> None:
        self.scene = scene
        self.marks, self.hit, self.chosen, self.scroll_px = (), None, None, 0
        self.folded, self._whole = set(), True
        self.refresh()
        self.fit()

    def refresh(self) -> None:
        """Build the rows anew: after folding, filtering, a change of theme."""
        scene = self.scene
        self.rows = build_rows(scene.blocks, scene.index, bool(scene.calls), self.folded, self.filter) if scene else ()
        self.tops = tuple(accumulate((row.height for row in self.rows), initial=0))
        self.caches.drop()
        self.scroll_to(self.scroll_px)

    def set_span(self, span: Span) -> None:
        if self.scene:
            self.span = clamped(replace(span, width=self.canvas().width()), self.scene.index.end_ps)
            self._whole = self.span.pixel_ps * self.span.width >= self.scene.index.end_ps * 0.9999
            self.moving = True
            self._idle.start()
            self.span_changed.emit()
            self.update()

    def fit(self) -> None:
        """The whole run; when it is in view already, what lies between the markers."""
        if self.scene and self._whole and len(self.marks) == 2:
            from_ps, to_ps = self.range_ps()
            self.show_range(from_ps - (to_ps - from_ps) * 0.1, to_ps + (to_ps - from_ps) * 0.1)
        elif self.scene:
            self.set_span(whole(self.scene.index.end_ps, self.canvas().width()))

    def show_range(self, from_ps: float, to_ps: float) -> None:
        width = self.canvas().width()
        self.set_span(Span(from_ps, max((to_ps - from_ps) / width, 1.0), width))

    def set_marks(self, marks: Iterable[float]) -> None:
        end = float(self.scene.index.end_ps) if self.scene else 0.0
        self.marks = tuple(min(max(m, 0.0), end) for m in marks)[:2]
        self.marks_changed.emit()
        self.update()

    def mark_at(self, time_ps: float) -> None:
        """Set A, then B; then move whichever is nearer."""
        if len(self.marks) < 2:
            self.set_marks([*self.marks, time_ps])
            return
        near = min((0, 1), key=lambda k: abs(self.marks[k] - time_ps))
        self.set_marks([time_ps if k == near else m for k, m in enumerate(self.marks)])

    def zoom(self, factor: float, at_x: float | None = None) -> None:
        if self.scene:
            x = self.span.width / 2 if at_x is None else at_x
            self.set_span(zoomed(self.span, factor, x, self.scene.index.end_ps))

    def go_to(self, time_ps: float) -> None:
        """Show a time in the middle; where all is in view, a twentieth of the run around it."""
        if self.scene:
            in_view = self.span.pixel_ps * self.span.width
            length = self.scene.index.end_ps / 20 if self._whole else in_view
            self.show_range(time_ps - length / 2, time_ps + length / 2)

    def pan(self, pixels: float) -> None:
        self.set_span(replace(self.span, from_ps=self.span.from_ps + pixels * self.span.pixel_ps))

    def scroll_to(self, pixels: int) -> None:
        overflow = self.tops[-1] + 8 - self.canvas().height()
        self.scroll_px = max(0, min(pixels, overflow))
        self.update()

    def choose(self, hit: Hit | None) -> None:
        self.chosen = hit
        self.chosen_changed.emit()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(900, 600)

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        started = time.perf_counter()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        if self.scene:
            caches = self.caches
            self._pins = paint_overview(painter, self, self.scene, caches.overview())
            paint_timeline(painter, self, self.scene, caches.surface(), caches.labels(), caches.most_at_work)
            if self.hasFocus():
                painter.setPen(QPen(theme.colour("accent"), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()
        self.frame_ms = (time.perf_counter() - started) * 1e3

    def _settle(self) -> None:
        self.moving = False
        if self.isVisible():
            self.repaint()
        self.settled.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._idle.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self.scene:
            if self._whole:
                self.set_span(whole(self.scene.index.end_ps, self.canvas().width()))
            else:
                self.set_span(self.span)
            self.scroll_to(self.scroll_px)

    # ---- mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if not self.scene or event.button() is not Qt.MouseButton.LeftButton:
            return
        in_lanes = position.x() >= self.label_width()
        row = self.row_at(position.y())
        if not in_lanes:
            if row and row.key:
                self.folded ^= {row.key}
                self.refresh()
            return
        if position.y() < OVERVIEW_PX:
            pinned = next((e for rect, e in self._pins if rect.contains(position)), None)
            if pinned:
                span = max(pinned.span_ps * 40, 1000)
                self.show_range(pinned.time_ps - span / 2, pinned.time_ps + span / 2)
                return
            kind = "overview"
            self._centre_on(position.x())
        elif position.y() < OVERVIEW_PX + RULER_PX or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            kind = "range"
        else:
            kind = "pan"
        self._drag = (kind, position, self.span.from_ps, self.scroll_px)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer = event.position()
        if not self.scene:
            return
        if self._drag is None:
            self._hover()
            return
        kind, start, from_ps, scroll = self._drag
        moved = self.pointer - start
        if kind == "overview":
            self._centre_on(self.pointer.x())
        elif kind == "range" and abs(moved.x()) > 3:
            self.set_marks([self.time_at(start.x()), self.time_at(self.pointer.x())])
        elif kind == "pan":
            self.hit = None
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.scroll_to(round(scroll - moved.y()))
            self.set_span(replace(self.span, from_ps=from_ps - moved.x() * self.span.pixel_ps))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self._drag = self._drag, None
        self.unsetCursor()
        if drag and drag[0] == "pan" and (event.position() - drag[1]).manhattanLength() < 4:
            self.pointer = event.position()
            self._hover()
            self.choose(self.hit)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer = event.position()
        self._hover()
        if self.hit:
            self.line_wanted.emit(self.hit)

    def leaveEvent(self, event: QEvent) -> None:
        self.hit, self.pointer = None, QPointF(-1, -1)
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps, sideways = event.angleDelta().y() / 120, event.angleDelta().x() / 120
        if event.position().x() < self.label_width():
            self.scroll_to(self.scroll_px - round(steps * 66))
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or sideways:
            self.pan(-(sideways or steps) * self.span.width * 0.1)
        else:
            self.zoom(0.8**steps, event.position().x() - self.label_width())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        x = self.pointer.x() - self.label_width()
        at_x = x if 0 <= x < self.span.width else self.span.width / 2
        key = Qt.Key
        actions = {
            key.Key_W: lambda: self.zoom(0.7, at_x),
            key.Key_S: lambda: self.zoom(1 / 0.7, at_x),
            key.Key_A: lambda: self.pan(-self.span.width * 0.15),
            key.Key_D: lambda: self.pan(self.span.width * 0.15),
            key.Key_Left: lambda: self.pan(-self.span.width * 0.15),
            key.Key_Right: lambda: self.pan(self.span.width * 0.15),
            key.Key_Up: lambda: self.scroll_to(self.scroll_px - 66),
            key.Key_Down: lambda: self.scroll_to(self.scroll_px + 66),
            key.Key_M: lambda: self.mark_at(self.span.time(at_x)),
            key.Key_R: self.range_wanted.emit,
            key.Key_F: self.fit,
            key.Key_Escape: self._give_up,
            key.Key_Return: self._open_line,
            key.Key_Enter: self._open_line,
        }
        if self.scene and event.key() in actions:
            actions[key(event.key())]()
            event.accept()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes to the next edge of the chosen state; without one it leaves as it does elsewhere."""
        if not (self.scene and self.chosen):
            return super().focusNextPrevChild(forward)
        hit = self.chosen
        edge = next_edge(self.scene, hit.block, hit.state, hit.from_ps, not forward)
        row = next((r for r in self.rows if r.kind is Kind.STATES and r.block == hit.block), None)
        if edge is not None and row is not None:
            self.choose(hit_at(self.scene, row, edge))
            if not self.span.from_ps <= edge <= self.span.to_ps:
                self.set_span(replace(self.span, from_ps=edge - self.span.pixel_ps * self.span.width / 2))
        return True

    def _centre_on(self, x: float) -> None:
        assert self.scene is not None
        share = (x - self.label_width()) / max(self.canvas().width(), 1)
        middle = share * self.scene.index.end_ps
        self.set_span(replace(self.span, from_ps=middle - self.span.pixel_ps * self.span.width / 2))

    def _hover(self) -> None:
        row = self.row_at(self.pointer.y()) if self.pointer.x() >= self.label_width() else None
        self.hit = hit_at(self.scene, row, self.time_at(self.pointer.x())) if row and self.scene else None
        self.setToolTip(row.tip if row and self.pointer.x() < self.label_width() else "")
        self.update()

    def _open_line(self) -> None:
        if self.chosen:
            self.line_wanted.emit(self.chosen)

    def _give_up(self) -> None:
        """Esc: the gesture first, then the selection, then the markers."""
        if self._drag:
            self._drag = None
        elif self.chosen:
            self.choose(None)
        else:
            self.set_marks([])
