"""A diagnostic, beside what it is about: what, where (a link), what to do."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.buttons import Button
from workbench.gui.widgets.labels import label
from workbench.gui.widgets.severity import SeverityIcon, level_of
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import capitalised
from workbench.pictures.canvas import Canvas


class DiagnosticRow(Drawn, QWidget):
    """A box tinted by severity. `open_line` asks for the place, `dismissed` to drop it (where it may be dropped)."""

    open_line = Signal(str, int)
    dismissed = Signal()

    def __init__(self, diagnostic: Diagnostic, *, dismissable: bool = False) -> None:
        super().__init__()
        self.diagnostic = diagnostic
        row = row_layout(of=self, margins=(12, 9, 12, 9), spacing=10)
        row.addWidget(SeverityIcon(level_of(diagnostic.severity)), 0, Qt.AlignmentFlag.AlignTop)
        head = row_layout(spacing=12)
        place = _place(diagnostic)
        if place:
            where = label(place, "code")
            where.setToolTip(diagnostic.file or "")
            where.setStyleSheet("color: palette(link)")
            head.addWidget(where, 0, Qt.AlignmentFlag.AlignTop)
        what = label(_sentence(diagnostic.message), "said", wrap=True)
        what.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head.addWidget(what, 1)
        self.times, self._count = label("", "smallsecond"), 1
        self.times.hide()
        column = column_layout(head, self.times, spacing=3)
        if diagnostic.hint:
            column.addWidget(label(diagnostic.hint, "smallsecond", wrap=True))
        row.addLayout(column, 1)
        if diagnostic.file and diagnostic.line:
            go = Button("Open line", kind="link", on=lambda: self.open_line.emit(diagnostic.file, diagnostic.line))
            row.addWidget(go, 0, Qt.AlignmentFlag.AlignTop)
        if dismissable:
            drop = Button("Dismiss", kind="link", on=self.dismissed.emit)
            row.addWidget(drop, 0, Qt.AlignmentFlag.AlignTop)

    def count_again(self) -> None:
        """The same is wrong in one more place."""
        self._count += 1
        self.times.setText(f"{self._count} times; the first is shown")
        self.times.show()

    def draw(self, canvas: Canvas) -> None:
        ground = f"{level_of(self.diagnostic.severity)}_ground"
        canvas.rect(0, 0, self.width(), self.height(), ground, radius=5)


def _place(diagnostic: Diagnostic) -> str:
    if not diagnostic.file:
        return ""
    parts = (Path(diagnostic.file).name, diagnostic.line, diagnostic.column)
    return ":".join(str(part) for part in parts if part is not None)


def _sentence(text: str) -> str:
    """First letter large and a full stop, as the other texts of the window have it."""
    said = capitalised(text)
    return said if said.endswith((".", "?", ":")) else said + "."
