"""The banner above an incomplete run that says why it did not complete."""

from PySide6.QtWidgets import QWidget

from workbench.analysis.finding_words import shortfall_words
from workbench.gui.widgets import DiagnosticRow
from workbench.gui.widgets.boxes import column_layout
from workbench.model.diagnostic import Diagnostic
from workbench.model.run import Run


class ShortfallRow(QWidget):
    """Hidden for a run that completed."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._column = column_layout(of=self, margins=(12, 8, 12, 8))
        self.hide()

    def show_run(self, run: Run) -> None:
        self.text = shortfall_words(run.manifest)
        if (shown := self._column.takeAt(0)) and (row := shown.widget()):
            row.deleteLater()
        if self.text:
            self._column.addWidget(DiagnosticRow(Diagnostic(self.text)))
        self.setVisible(bool(self.text))
