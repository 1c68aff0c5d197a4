"""The timeline under a person's hands: mouse, wheel, keys, tooltip, context menu."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu

from workbench.gui.modes.timeline.hover import draw_tooltip, place_tooltip, tooltip_size
from workbench.gui.modes.timeline.marked_view import MarkedView
from workbench.gui.views.house_view import command_given
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.causes import real_cause
from workbench.pictures.timeline.hits import Hit, next_edge
from workbench.pictures.timeline.rows import Kind, Row
from workbench.pictures.timeline.scale import Span, exact_time
from workbench.pictures.timeline.shown import OVERVIEW_PX, RULER_PX
from workbench.session.program.keys import key_of, with_key
from workbench.traces.markers import Marker
from workbench.traces.path import Cause
from workbench.traces.scene import Scene

SCROLL_PX, PAN_PART, KEY_ZOOM, ROW_ZOOM = 66, 0.15, 1 / 0.7, 1.2
PIN_PX = 30  # of a name, from the left: a click there pins its row
_CLICK_PX, _DRAG_PX, _GRASP_PX = 4.0, 3.0, 8.0


@dataclass(frozen=True)
class _Drag:
    """A gesture: what it does, where it began, and what was shown then."""

    kind: str
    at: QPointF
    span: Span
    scroll_px: int
    marks: tuple[float, ...]
    markers: tuple[Marker, ...]
    marker: Marker | None = None  # that is moved


class TimelineView(MarkedView):
    """A scene that is moved about in. `line_wanted` carries a Hit; `step_wanted` asks for where what is looked for
    occurs next, or last where True; `waves_wanted` for a time (ps) in a waveform viewer. `path_wanted`, `waits_wanted`,
    `shares_wanted` and `lists_wanted` ask for what they name, or for no longer showing it."""

    line_wanted = Signal(object)
    range_wanted = Signal()
    step_wanted = Signal(bool)
    path_wanted = Signal()
    waits_wanted = Signal()
    shares_wanted = Signal()
    lists_wanted = Signal()
    waves_wanted = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.hit: Hit | None = None
        self.pointer = QPointF(-1, -1)
        self._drag: _Drag | None = None

    def set_scene(self, scene: Scene | None) -> None:
        self.hit = None
        super().set_scene(scene)

    def draw_over(self, canvas: Canvas) -> None:
        if self.traced is not None and 0 <= self.pointer.x() < self.lanes.x and self._drag is None:
            self._draw_pin(canvas)
        if self.hit is not None and self._drag is None:
            lanes, pointer = self.lanes, (self.pointer.x(), self.pointer.y())
            inside = Box(lanes.x, 0, lanes.width, self.height())
            clock = self.shown().row_box(Kind.CLOCK)
            size = tooltip_size(canvas, self.hit)
            draw_tooltip(canvas, place_tooltip(pointer, size, inside, clock), self.hit)

    def _draw_pin(self, canvas: Canvas) -> None:
        """The pin of the row whose name is under the pointer."""
        for band in self.shown().bands:
            for row, box in band.row_boxes():
                can = row.name and row.kind is not Kind.STACK and row not in self.pinned_lines
                if can and box.y <= self.pointer.y() < box.bottom and band.box.y <= self.pointer.y() < band.box.bottom:
                    canvas.icon("pin", 13, box.centre[1] - 7, 14, "muted")

    def menu(self) -> QMenu:
        menu = super().menu()
        first, at_ps = menu.actions()[0], self._time_at(self.pointer.x())
        row = self._row_here()
        if marker := self.marker_near(self.pointer):
            for words, do in (
                (f"Rename '{marker.name}'", lambda: self.edit_marker(marker)),
                (f"Delete '{marker.name}'", lambda: self.drop_marker(marker)),
            ):
                menu.insertAction(first, menu.addAction(words, do))
            menu.insertSeparator(first)
        shows = "Hide" if self.show_path else "Show"
        own: list[tuple[str, Callable[[], None], bool]] = [
            (
                f"Set a marker here\t{key_of('view_mark')}",
                lambda: self.mark_at(at_ps),
                self.pointer.x() >= self.lanes.x,
            ),
            (
                f"Set a marker with a name\t{key_of('view_name')}",
                lambda: self.name_marker_at(at_ps),
                self.pointer.x() >= self.lanes.x,
            ),
            (f"Use A to B as range\t{key_of('view_range')}", self.range_wanted.emit, len(self.marks) == 2),
            ("Clear A and B", lambda: self.move_marks([]), bool(self.marks)),
            ("Open the line\tEnter", self._open_line, self.chosen is not None),
            (
                f"Show {'this' if self.chosen else 'this moment'} in a waveform viewer\t{key_of('view_waves')}",
                lambda: self.waves_wanted.emit(at_ps),
                True,
            ),
            (f"{shows} the critical path\t{key_of('view_path')}", self.path_wanted.emit, True),
            (f"Go to the cause of this wait\t{key_of('view_cause')}", self.go_to_cause, self._cause() is not None),
            (
                f"Go to what waits for this\tShift+{key_of('view_cause')}",
                self.go_to_waiter,
                self.path is not None and self.chosen is not None,
            ),
        ]
        if row is not None and row.name:
            pinned = row.name in self.pinned
            words = f"{'Unpin' if pinned else 'Pin'} {row.label}\t{key_of('view_pin')}"
            own.insert(0, (words, lambda: self.pin(row), True))
        own.append(("Rows fill the window", self.fill_height, bool(self.row_px)))
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
            elif row and at.x() < PIN_PX:
                self.pin(row)
        elif at.y() < OVERVIEW_PX:
            self._press_overview(at)
        elif marker := self.marker_near(at):
            self._begin("marker", at, marker)
        else:
            on_ruler = at.y() < OVERVIEW_PX + RULER_PX
            wants_range = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            near = self._mark_near(at.x()) if on_ruler and len(self.marks) == 2 else None
            if near is not None:  # it goes on from the other one
                at = QPointF(self.lanes.x + self.span.x(self.marks[1 - near]), at.y())
            self._begin("range" if on_ruler or wants_range else "pan", at)

    def _begin(self, kind: str, at: QPointF, marker: Marker | None = None) -> None:
        self._drag = _Drag(kind, at, self.span, self.scroll_px, self.marks, self.markers, marker)

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
        elif drag.kind == "marker" and drag.marker and abs(moved.x()) > _DRAG_PX:
            time_ps = round(min(max(self._time_at(self.pointer.x()), 0), self.end_ps))
            others = (other for other in drag.markers if other != drag.marker)
            self.set_markers((*others, replace(drag.marker, time_ps=time_ps)))
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
            self.choose(self.hit if self.hit and self.hit.kind is not Kind.SHARES else None)
        elif drag.kind == "range" and self.marks != drag.marks:
            self.marks_moved.emit(drag.marks)
        elif drag.kind == "marker" and self.markers != drag.markers:
            self.markers_moved.emit(drag.markers)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer = event.position()
        if marker := self.marker_near(self.pointer):
            self.edit_marker(marker)
            return
        self._hover()
        if self.hit:
            self.line_wanted.emit(self.hit)

    def leaveEvent(self, event: QEvent) -> None:
        self.hit, self.pointer = None, QPointF(-1, -1)
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps, sideways = event.angleDelta().y() / 120, event.angleDelta().x() / 120
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.resize_rows(ROW_ZOOM if event.angleDelta().y() > 0 else 1 / ROW_ZOOM)
        elif event.position().x() < self.lanes.x:
            self.scroll_to(self.scroll_px - round(steps * SCROLL_PX))
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or sideways:
            self.pan(QPointF((sideways or steps) * self.span.width * 0.1, 0))
        else:
            self.zoom(1.25**steps, event.position())
        event.accept()

    def _hover(self) -> None:
        in_lanes = self.pointer.x() >= self.lanes.x
        row = self.shown().row_at(self.pointer.y())
        hit = self.hit_in(row, self._time_at(self.pointer.x())) if row and in_lanes else None
        self.viewport().setToolTip(self._tip_of(row) if row and not in_lanes else self._flag_tip())
        if hit is not None or self.hit is not None or not in_lanes:
            self.viewport().update()
        self.hit = hit

    def _tip_of(self, row: Row) -> str:
        over_pin = row.name and not row.key and self.pointer.x() < PIN_PX
        if over_pin:
            what = "Unpin this row" if row.name in self.pinned else "Pin this row above the others"
            return with_key(what, "view_pin")
        return row.tip

    def _flag_tip(self) -> str:
        marker = self.marker_near(self.pointer)
        return f"{marker.name}, {exact_time(marker.time_ps)}: drag to move, double-click to rename" if marker else ""

    def _row_here(self) -> Row | None:
        """The row under the pointer, or else that of what is chosen."""
        if self.pointer.y() >= 0 and (row := self.shown().row_at(self.pointer.y())):
            return row
        return self._row_of(self.chosen.block, self.chosen.kind) if self.chosen else None

    # ---- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        inside = self.lanes.x <= self.pointer.x() < self.width()
        at = self.pointer if inside else QPointF(self.lanes.centre[0], 0)
        key, step = Qt.Key, self.span.width * PAN_PART
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        actions: dict[Qt.Key | str, Callable[[], None]] = {
            "view_in": lambda: self.zoom(KEY_ZOOM, at),
            "view_out": lambda: self.zoom(1 / KEY_ZOOM, at),
            "view_left": lambda: self.pan(QPointF(step, 0)),
            "view_right": lambda: self.pan(QPointF(-step, 0)),
            "view_mark": lambda: self.mark_at(self._time_at(at.x())),
            "view_name": lambda: self.name_marker_at(self._time_at(at.x())),
            "view_pin": lambda: self.pin(self._row_here()),
            "view_taller": lambda: self.resize_rows(ROW_ZOOM),
            "view_lower": lambda: self.resize_rows(1 / ROW_ZOOM),
            "view_aggregate": self.shares_wanted.emit,
            "view_waits": self.waits_wanted.emit,
            "view_lists": self.lists_wanted.emit,
            "view_waves": lambda: self.waves_wanted.emit(self._time_at(at.x())),
            "view_range": self.range_wanted.emit,
            "view_next": lambda: self.step_wanted.emit(back),
            "view_path": self.path_wanted.emit,
            "view_step": self.go_to_step,
            "view_cause": self.go_to_waiter if back else self.go_to_cause,
            key.Key_Left: lambda: self.pan(QPointF(step, 0)),
            key.Key_Right: lambda: self.pan(QPointF(-step, 0)),
            key.Key_Up: lambda: self.scroll_to(self.scroll_px - SCROLL_PX),
            key.Key_Down: lambda: self.scroll_to(self.scroll_px + SCROLL_PX),
            key.Key_F3: lambda: self.step_wanted.emit(back),
            key.Key_Escape: self._give_up,
            key.Key_Return: self._open_line,
            key.Key_Enter: self._open_line,
        }
        action = actions.get(command_given(event)) or actions.get(event.keyCombination().key())
        if self.traced and action is not None:
            action()
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
        row = self._row_of(hit.block, Kind.STATES)
        if edge is not None and row is not None:
            self.choose(self.hit_in(row, edge))
            if not self.span.from_ps <= edge <= self.span.to_ps:
                self._centre_on(edge)
        return True

    # ---- along the critical path

    def _cause(self) -> Cause | None:
        """What the chosen wait is for."""
        hit = self.chosen
        if hit is None or self.path is None or hit.kind not in (Kind.STATES, Kind.CALLS):
            return None
        return real_cause(self.path, hit.block, hit.to_ps - 1)

    def go_to_cause(self) -> None:
        cause = self._cause()
        if cause:
            self.show_place(cause.block, Kind.STATES, max(cause.time_ps - 1, 0))

    def go_to_waiter(self) -> None:
        hit = self.chosen
        if hit and self.path and hit.kind in (Kind.STATES, Kind.CALLS):
            waiter = self.path.waiter_of(hit.block, hit.from_ps)
            if waiter:
                self.show_place(waiter[0], Kind.STATES, max(waiter[1] - 1, 0))

    def go_to_step(self) -> None:
        """The next part of the critical path that is in another row, from what is chosen, or else in view."""
        if self.path is None:
            self.path_wanted.emit()
            return
        steps = self.path.steps
        at_ps = self.chosen.from_ps if self.chosen else self.span.from_ps
        here = steps.between(at_ps, at_ps + 1)
        block = int(steps.block[here.start]) if len(here) else -1
        others = steps.block[here.start :] != block
        if others.any():
            step = here.start + int(others.argmax())
            self.show_place(int(steps.block[step]), Kind.STATES, int(steps.begin_ps[step]))

    def _open_line(self) -> None:
        if self.chosen:
            self.line_wanted.emit(self.chosen)

    def _give_up(self) -> None:
        """Esc: the gesture first, then the selection, then the markers."""
        if self._drag:
            drag, self._drag = self._drag, None
            self.set_marks(drag.marks)
            self.set_markers(drag.markers)
        elif self.chosen:
            self.choose(None)
        else:
            self.move_marks([])
