"""What the chosen range of the open run holds, beside every mode, until it is closed."""

from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent

from workbench.api.window import Context
from workbench.gui.frame.naming import range_title
from workbench.gui.frame.selection import SelectedCall
from workbench.gui.modes.timeline.details import TimelineDetails
from workbench.gui.widgets import IconButton
from workbench.traces.scene import Scene
from workbench.traces.statistics import Statistics


class RangePanel(TimelineDetails):
    closed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(offers_range=False)
        self._context = context
        self._scene: Scene | None = None
        self._shown: tuple[object, ...] = ()  # what the panel holds now, of that trace
        self._behind = False
        shut = IconButton("x", "Close the range panel", on=self.closed.emit)
        self.header.add(shut)
        self.cleared.connect(lambda: context.choose_range(None))
        self.site_wanted.connect(lambda site: context.navigation.select(SelectedCall(site)))
        for signal in (context.run_changed, context.navigation.range_changed, context.traced.ready):
            signal.connect(self._changed)

    def _changed(self) -> None:
        """Count in a turn of its own: a run that is opened changes all of these at once."""
        if not self._behind:
            self._behind = True
            self._context.slices.start(self, self._counting())

    def _counting(self) -> Iterator[None]:
        self._behind = False
        self._count()
        yield

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._count()

    def _count(self) -> None:
        if not self.isVisible():
            return
        traced, run = self._context.traced, self._context.run
        traced.ask()
        if traced.scene is not None:
            first, last = self._context.navigation.time_range or (0, traced.scene.index.end_ps)
            traced.count("range", first, last, self._show)
        elif run is None:
            self.show_words("No run is open.")
        elif traced.has_trace:
            self.show_words("Preparing the trace…")
        else:
            self.show_words("This run has no trace. Only a traced run shows what happened between two times.")

    def _show(self, statistics: Statistics) -> None:
        scene, chosen = self._context.traced.scene, self._context.navigation.time_range
        if scene is not None:
            title = ("Range", range_title(chosen)) if chosen else ("Whole run", "no range is chosen")
            if scene is not self._scene or (statistics, title) != self._shown:
                self.show_statistics(scene, statistics, chosen is not None, title)
                self._scene, self._shown = scene, (statistics, title)

    def show_words(self, words: str) -> None:
        if (words,) != self._shown:
            super().show_words(words)
            self._shown = (words,)
