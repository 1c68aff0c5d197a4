"""A field that looks for states and calls over time: Enter goes to the next occurrence, Shift+Enter to the last."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QToolButton

from workbench.gui.modes.timeline.view import TimelineView
from workbench.gui.run.background import Background, Failed
from workbench.gui.widgets import SignField, label
from workbench.model.text import count_text
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.rows import Kind
from workbench.traces.find import Hits, Occurrence, hits, occurrence

_PAUSE_MS, _COUNT_GAP_PX = 200, 4
#: Narrower than this there is no room for a count in the field.
_COUNTED_FROM_PX = 120


class FindField(SignField):
    """Looks in a timeline's rows, as far as the filter shows them; at the end it goes on from the other end. How many
    there are is in the field; `found` carries all Hits, None while nothing is looked for."""

    found = Signal(object)
    list_wanted = Signal()

    def __init__(self, view: TimelineView, background: Background, failed: Failed) -> None:
        super().__init__("search", "Find a state or call", "Find")
        self._view, self._background, self._failed = view, background, failed
        self._at: tuple[Hit | None, Occurrence] | None = None  # what was found last, and chosen then
        self.hits: Hits | None = None
        self.count = label("", "small")
        self.count.setParent(self)
        self.count.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setMaximumWidth(230)
        view.step_wanted.connect(self.step)
        view.rows_changed.connect(self._look_again)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._count)
        self.textChanged.connect(self._look_again)
        self._say(any_match=True)

    # ---- all of them

    def _look_again(self) -> None:
        self._at = None
        self._say(any_match=True)
        if self._view.traced is None or not self.text().strip():
            self._background.cancel("hits")
            self._pause.stop()
            self._take(None)
        else:
            self._pause.start()

    def _count(self) -> None:
        scene, words, shown = self._view.traced, self.text(), self._view.filter
        if scene is not None and words.strip():
            self._background.start("hits", lambda: hits(scene, words, block_ids=shown), self._counted, self._failed)

    def _counted(self, every: Hits) -> None:
        if self.text().strip() and self._view.traced is not None:
            self._take(every)
            self._say(any_match=every.count > 0)

    def _take(self, every: Hits | None) -> None:
        self.hits = every
        self._write_count()
        self.found.emit(every)

    def _write_count(self) -> None:
        text = ""
        if self.hits is not None:
            text = count_text(self.hits.count)
            number = self.hits.number_of(self._at[1]) if self._at and self._at[0] is self._view.chosen else None
            if number is not None:
                text = f"{number + 1} of {text}"
        self.count.setText(text)
        self.setAccessibleDescription(f"{text} found" if text else "")
        self._place_count()

    def _place_count(self) -> None:
        shown = bool(self.count.text()) and self.width() >= _COUNTED_FROM_PX
        self.count.setVisible(shown)
        self.count.adjustSize()
        wide = self.count.width() + _COUNT_GAP_PX if shown else 0
        self.setTextMargins(0, 0, wide, 0)
        clear = max((button.x() for button in self.findChildren(QToolButton)), default=self.width())
        self.count.move(clear - wide, (self.height() - self.count.height()) // 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "count"):
            self._place_count()

    # ---- the next one

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
            self.show_hit(place)

    def show_hit(self, place: Occurrence) -> None:
        """Choose what begins there, and go on from it."""
        self._view.show_place(place.block, Kind.STATES if place.call < 0 else Kind.CALLS, place.time_ps)
        self._at = self._view.chosen, place
        self._write_count()

    def _say(self, *, any_match: bool) -> None:
        help_text = "Part of a name of a block, state or call. Enter or N: next; with Shift: previous; Down: the list"
        self.setToolTip(help_text if any_match else f"No name in these rows contains {self.text().strip()!r}")
        if self.property("problem") is not (not any_match):
            self.setProperty("problem", not any_match)
            self.style().unpolish(self)
            self.style().polish(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.step(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Down:
            self.list_wanted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self._view.setFocus()
        else:
            super().keyPressEvent(event)
