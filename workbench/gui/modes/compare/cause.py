"""The source line that causes the difference of two runs, or that of a row of the table; a click goes there."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from workbench.analysis.cause import Cause, Line, cause_details, cause_words, place_text
from workbench.api.window import Context
from workbench.gui.widgets import Button, SeverityIcon, WholeLabel, empty
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.model.run import Run
from workbench.session.keep.cause import cause_of


class CauseRow(QWidget):
    """Hidden until a cause is known. `found` carries it, None while it is looked for."""

    found = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.cause: Cause | None = None  # the largest difference
        row = row_layout(of=self, margins=(16, 8, 20, 0), spacing=10)
        row.addWidget(SeverityIcon("medium"), 0, Qt.AlignmentFlag.AlignTop)
        self.what, self.details = WholeLabel("", "strong"), WholeLabel("", "smallsecond")
        self.links = row_layout(spacing=20)
        below = row_layout((self.details, 1), self.links, spacing=20)
        column = column_layout(self.what, below, spacing=2)
        row.addLayout(column, 1)
        self.hide()

    def ask(self, a: Run, b: Run) -> None:
        """Find the cause in the background, and show it."""
        self._found(None)
        self.context.background.start("cause", partial(cause_of, a, b), self._found, self.context.failed)

    def _found(self, cause: Cause | None) -> None:
        self.cause = cause
        self._show(cause)
        self.found.emit(cause)

    def show_line(self, line: Line | None, difference_s: float) -> None:
        """Show one line of runs that differ by so much; without one, the line that differs most."""
        self._show(Cause(line, None, difference_s) if line and line.difference_s else self.cause)

    def _show(self, cause: Cause | None) -> None:
        self.setVisible(cause is not None)
        empty(self.links)
        if cause is None:
            return
        self.what.setText(cause_words(cause))
        self.details.setText(cause_details(cause))
        for place in cause.places:
            link = Button(place_text(place), kind="link", on=partial(self._open, place.file, place.line))
            link.setToolTip(f"Open the line of {place.label}")
            self.links.addWidget(link)

    def _open(self, file: str, line: int, checked: bool = False) -> None:
        self.context.navigation.open_line(file, line)
