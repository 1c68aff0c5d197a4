"""A timeline with what a person puts on it: A and B, markers with names, rows that stay above the others."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, Signal

from workbench.gui.modes.timeline.scene_view import SceneView
from workbench.gui.widgets.name_field import NameField
from workbench.pictures.timeline.marks import FLAG_PX, flags
from workbench.pictures.timeline.rows import Row
from workbench.traces.markers import Marker, next_name

EDITOR_PX = 160


class MarkedView(SceneView):
    """`marks_moved` carries the places of A and B before a gesture, `markers_moved` the named markers before it, and
    `pinned_moved` the names of pinned rows before."""

    marks_changed = Signal()
    marks_moved = Signal(object)
    markers_moved = Signal(object)
    pinned_moved = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._editor: NameField | None = None
        self.view_changed.connect(self._end_editing)

    # ---- A and B

    def set_marks(self, marks: Iterable[float]) -> None:
        self.marks = tuple(min(max(mark, 0.0), float(self.end_ps)) for mark in marks)[:2]
        self.marks_changed.emit()
        self.redraw()

    def move_marks(self, marks: Iterable[float]) -> None:
        """Set A and B as one gesture."""
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

    # ---- markers with names

    def set_markers(self, markers: Iterable[Marker]) -> None:
        self._end_editing()
        self.markers = tuple(sorted(markers))
        self.redraw()

    def move_markers(self, markers: Iterable[Marker], before: tuple[Marker, ...] | None = None) -> None:
        """Set the named markers as one gesture; `before` is what they were where it began earlier."""
        old = self.markers if before is None else before
        self.set_markers(markers)
        if self.markers != old:
            self.markers_moved.emit(old)

    def name_marker_at(self, time_ps: float) -> None:
        """Set a marker, and ask for its name where it is."""
        marker = Marker(round(min(max(time_ps, 0.0), float(self.end_ps))), next_name(self.markers))
        self.show_marks = True
        self.move_markers((*self.markers, marker))
        self.edit_marker(marker)

    def drop_marker(self, marker: Marker) -> None:
        self.move_markers(other for other in self.markers if other != marker)

    def marker_near(self, at: QPointF) -> Marker | None:
        """The marker whose flag is there."""
        if self.traced is None or not self.show_marks:
            return None
        return next((marker for marker, box in flags(self.shown()) if box.holds((at.x(), at.y()))), None)

    def show_marker(self, marker: Marker) -> None:
        """Bring it into view."""
        if not self.span.from_ps <= marker.time_ps <= self.span.to_ps:
            self._centre_on(marker.time_ps)
        self.viewport().update()

    def edit_marker(self, marker: Marker) -> None:
        """Type its name on its flag: Enter keeps it, Esc does not."""
        self._end_editing()
        self.show_marker(marker)
        box = next((box for other, box in flags(self.shown()) if other == marker), None)
        if box is None:
            return

        def take(name: str) -> None:
            name = name.strip()
            if name and name != marker.name and marker in self.markers:
                others = [other for other in self.markers if other != marker]
                self.move_markers((*others, Marker(marker.time_ps, name)))

        self._editor = NameField(self, marker.name, "The marker's name", take)
        self._editor.begin(box.x, box.y - 3, EDITOR_PX, FLAG_PX + 8)

    def _end_editing(self) -> None:
        if self._editor is not None:
            editor, self._editor = self._editor, None
            editor.close_with(keep=True)

    # ---- pinned rows

    def set_pinned(self, names: Iterable[str]) -> None:
        self.pinned = tuple(names)
        self.refresh()

    def pin(self, row: Row | None) -> None:
        """Keep a row above the others, or no longer."""
        if row is None or not row.name:
            return
        before = self.pinned
        kept = tuple(name for name in before if name != row.name)
        self.set_pinned(kept if row.name in before else (*before, row.name))
        self.pinned_moved.emit(before)
