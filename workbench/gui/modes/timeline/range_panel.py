"""What the chosen range of the open run holds, beside every mode, until it is closed."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent

from workbench.api.window import Context
from workbench.gui.frame.naming import range_title
from workbench.gui.frame.selection import SelectedCall
from workbench.gui.modes.timeline.details import TimelineDetails
from workbench.gui.widgets import IconButton
from workbench.traces.statistics import Statistics


class RangePanel(TimelineDetails):
    closed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(offers_range=False)
        self._context = context
        shut = IconButton("x", "Close the range panel", on=self.closed.emit)
        self.header.add(shut)
        self.cleared.connect(lambda: context.choose_range(None))
        self.site_wanted.connect(lambda site: context.navigation.select(SelectedCall(site)))
        for signal in (context.run_changed, context.navigation.range_changed, context.traced.ready):
            signal.connect(self._count)

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
            self.show_statistics(scene, statistics, chosen is not None, title)
