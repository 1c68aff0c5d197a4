"""The scaling curve of the project's runs that differ in one setting; a click on a point compares with its run."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.api.window import Context, PlotView
from workbench.gui.widgets import PanelHeader, PillButton, label, plain_column
from workbench.gui.widgets.boxes import row_layout
from workbench.model.run import Run
from workbench.pictures.scaling import (
    Scaling,
    ScalingForm,
    least_shrinking_words,
    scaling_forms,
    scaling_plot,
    scaling_words,
)
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
        self.form = QComboBox()
        self.form.setAccessibleName("What the scaling curve shows")
        self.form.currentIndexChanged.connect(self._draw)
        self.log = PillButton("Log axes")
        self.log.setToolTip("Both axes logarithmic: perfect scaling is a straight line")
        self.log.toggled.connect(self._draw)
        self.head.add(self.form)
        self.head.add(self.log)
        self.view = PlotView("Scaling", 300)
        self.view.problem.connect(context.notices.tell)
        self.view.chosen.connect(self._choose)
        self.least = label("", "smallsecond", wrap=True)
        foot = QWidget()
        row_layout((self.least, 1), of=foot, margins=(16, 6, 16, 8))
        plain_column(self, self.head, (self.view, 1), foot)

    def ask(self, runs: Sequence[Run], folders: Sequence[Path]) -> None:
        """Find, in the background, the curve that the first of these runs is on that is on one."""

        def work() -> Scaling | None:
            return next((found for run in runs if (found := scaling_of(run, tuple(folders)))), None)

        self.context.background.start("scaling", work, self._show, self.context.failed)

    def _show(self, scaling: Scaling | None) -> None:
        self.scaling = scaling
        if scaling:
            self.head.set_title("Scaling", scaling_words(scaling))
            self.least.setText(least_shrinking_words(scaling))
            self._offer(scaling_forms(scaling))
            self._draw()
        self.ready.emit(scaling is not None)

    def _offer(self, forms: dict[ScalingForm, str]) -> None:
        """The forms that there are; the one that was chosen stays."""
        chosen = self.form.currentData()
        with QSignalBlocker(self.form):
            self.form.clear()
            for form, title in forms.items():
                self.form.addItem(title, form)
            self.form.setCurrentIndex(max(self.form.findData(chosen), 0))

    def _draw(self) -> None:
        if self.scaling:
            form = ScalingForm(self.form.currentData())
            self.view.show_plot(scaling_plot(self.scaling, form, log=self.log.isChecked()))

    def _choose(self, line: int, number: int) -> None:
        """A point leads to its run, but those of the ideal and of what was predicted."""
        chosen = self.view.plot.lines[line]
        if self.scaling and not chosen.dashed and chosen.name != "predicted":
            self.run_wanted.emit(Path(self.scaling.points[number].run))
