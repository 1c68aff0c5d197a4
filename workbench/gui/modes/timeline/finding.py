"""A field that looks for states and calls over time: Enter goes to the next occurrence, Shift+Enter to the last."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from workbench.gui.modes.timeline.view import TimelineView
from workbench.gui.run.background import Background, Failed
from workbench.gui.widgets import SignField
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.rows import Kind
from workbench.traces.find import Occurrence, occurrence


class FindField(SignField):
    """Looks in a timeline's rows, as far as the filter shows them; at the end it goes on from the other end."""

    def __init__(self, view: TimelineView, background: Background, failed: Failed) -> None:
        super().__init__("search", "Find a state or call")
        self._view, self._background, self._failed = view, background, failed
        self._at: tuple[Hit | None, Occurrence] | None = None  # what was found last, and chosen then
        self.setMinimumWidth(110)
        self.setMaximumWidth(190)
        view.step_wanted.connect(self.step)
        self.textChanged.connect(lambda: self._say(any_match=True))
        self._say(any_match=True)

    def step(self, back: bool = False) -> None:
        """Go to where the words occur next, or last, from what is chosen or else from what is in view."""
        view, scene, words = self._view, self._view.traced, self.text()
        if scene is None or not words.strip():
            self.setFocus()
            return
        if self._at and self._at[0] is view.chosen:
            start = self._at[1]
        elif view.chosen:
            start = Occurrence(view.chosen.from_ps, view.chosen.block)
        else:
            start = Occurrence(round(view.span.to_ps if back else view.span.from_ps), -1)
        beyond = Occurrence(scene.index.end_ps, 0) if back else Occurrence(-1, -1)
        shown = view.filter

        def work() -> Occurrence | None:
            places = (occurrence(scene, words, at, backwards=back, block_ids=shown) for at in (start, beyond))
            return next((place for place in places if place is not None), None)

        self._background.start("find", work, self._go_to, self._failed)

    def _go_to(self, place: Occurrence | None) -> None:
        self._say(any_match=place is not None)
        if place is not None:
            self._view.show_place(place.block, Kind.STATES if place.call < 0 else Kind.CALLS, place.time_ps)
            self._at = self._view.chosen, place

    def _say(self, *, any_match: bool) -> None:
        help_text = "Part of a name of a block, state or call. Enter or N: next; with Shift: previous"
        self.setToolTip(help_text if any_match else f"Nothing in these rows is called {self.text().strip()!r}")
        if self.property("problem") is not (not any_match):
            self.setProperty("problem", not any_match)
            self.style().unpolish(self)
            self.style().polish(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.step(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Escape:
            self._view.setFocus()
        else:
            super().keyPressEvent(event)
