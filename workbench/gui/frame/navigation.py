"""The user's position (mode, selection, range of time) with its history for back and forward."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from workbench.gui.frame.selection import SelectedFinding, Selection

Range = tuple[int, int]
_MOST_PLACES = 100


@dataclass(frozen=True)
class Visit:
    mode: str
    selection: Selection | None
    time_range: Range | None


class Navigation(QObject):
    """`time_range` is picoseconds from the run's start (first, last), or None for the whole run."""

    mode_changed = Signal(str)
    selection_changed = Signal()
    range_changed = Signal()
    places_changed = Signal()
    line_wanted = Signal(str, int)  # a source file as scan, run or finding names it, and a line of it
    pragma_wanted = Signal()  # at the line that was shown last
    change_wanted = Signal()  # the selected finding's, to be tried
    document_wanted = Signal(object)  # a Path: of a template or a model, to be shown in the mode that edits it

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mode = "source"
        self.selection: Selection | None = None
        self.time_range: Range | None = None
        self._places: list[Visit] = []
        self._position = -1
        self._moving = False

    def set_mode(self, mode: str) -> None:
        if mode != self.mode:
            self.mode = mode
            self.mode_changed.emit(mode)
            self._remember()

    def select(self, selection: Selection | None) -> None:
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit()
            self._remember()

    def set_range(self, time_range: Range | None) -> None:
        """Look at a part of the run, or at the whole."""
        if time_range != self.time_range:
            self.time_range = time_range
            self.range_changed.emit()
            self._remember()

    def open_line(self, file: str, line: int) -> None:
        """Show a line of source, in Source mode."""
        self.set_mode("source")
        self.line_wanted.emit(file, line)

    def mark_line(self, file: str, line: int) -> None:
        """Show a line of source, and ask what it is doing."""
        self.open_line(file, line)
        self.pragma_wanted.emit()

    def show_finding(self, finding: str) -> None:
        """Show a finding in Analyse mode; one step back leads to where one was."""
        self._remember()
        moving, self._moving = self._moving, True
        self.set_mode("analyse")
        self.select(SelectedFinding(finding))
        self._moving = moving
        self._remember()

    def try_change(self, finding: str) -> None:
        """Try a finding's change, in Analyse mode."""
        self.show_finding(finding)
        self.change_wanted.emit()

    def look_at_all(self) -> None:
        """Another run is shown: nothing of it is selected, and no part of it looked at."""
        self.selection, self.time_range = None, None
        self.selection_changed.emit()
        self.range_changed.emit()

    def forget(self) -> None:
        """There is nowhere that one has been."""
        self._places, self._position = [], -1
        self.look_at_all()
        self.places_changed.emit()

    @property
    def can_go_back(self) -> bool:
        return self._position > 0

    @property
    def can_go_forward(self) -> bool:
        return self._position < len(self._places) - 1

    def back(self) -> None:
        self._go(-1)

    def forward(self) -> None:
        self._go(1)

    def _remember(self) -> None:
        """Add the place where one is after the last one where one was."""
        place = Visit(self.mode, self.selection, self.time_range)
        if not self._moving and not (self._places and self._places[self._position] == place):
            self._places = [*self._places[: self._position + 1], place][-_MOST_PLACES:]
            self._position = len(self._places) - 1
            self.places_changed.emit()

    def _go(self, step: int) -> None:
        if not 0 <= self._position + step < len(self._places):
            return
        self._position += step
        place = self._places[self._position]
        self._moving = True
        self.set_mode(place.mode)
        self.select(place.selection)
        self.set_range(place.time_range)
        self._moving = False
        self.places_changed.emit()
