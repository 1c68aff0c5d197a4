"""The scaling curve of the project's runs that differ in one setting; a click on a point compares with its run."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.api.window import Context, PlotView
from workbench.gui.widgets import PanelHeader, plain_column
from workbench.model.run import Run
from workbench.pictures.scaling import Scaling, scaling_plot, scaling_words
from workbench.session.make.scaling import scaling_of


class ScalingPanel(QWidget):
    """`ready` says whether there is a curve; `run_wanted` the folder of a point's run."""

    ready = Signal(bool)
    run_wanted = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.scaling: Scaling | None = None
        self.head = PanelHeader("Scaling")
        self.view = PlotView("Scaling", 300)
        self.view.problem.connect(context.notices.tell)
        self.view.chosen.connect(self._choose)
        plain_column(self, self.head, (self.view, 1))

    def ask(self, run: Run, folders: Sequence[Path]) -> None:
        """Find the curve that a run is on, in the background."""
        work = partial(scaling_of, run, tuple(folders))
        self.context.background.start("scaling", work, self._show, self.context.failed)

    def _show(self, scaling: Scaling | None) -> None:
        self.scaling = scaling
        if scaling:
            self.head.set_title("Scaling", scaling_words(scaling))
            self.view.show_plot(scaling_plot(scaling))
        self.ready.emit(scaling is not None)

    def _choose(self, line: int, number: int) -> None:
        if self.scaling and self.view.plot.lines[line].name == "measured":
            self.run_wanted.emit(Path(self.scaling.points[number].run))
