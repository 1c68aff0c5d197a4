"""Rows of proposed marks: those of a file, or those of the whole project by file and kind."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter

from workbench.api.source.pragma_text import format_pragma
from workbench.gui.widgets import draw_swatch
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.pragma import Category
from workbench.model.proposal import Proposal
from workbench.model.text import counted

OWN_KEYS = (Qt.Key.Key_Escape, Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_LINE_PX = 74


@dataclass(frozen=True)
class MarkGroup:
    """The proposals of one kind in one file."""

    path: Path
    category: Category
    marks: tuple[Proposal, ...]


MarkRow = Proposal | MarkGroup


def grouped(marks: Iterable[tuple[Path, Sequence[Proposal]]]) -> list[MarkGroup]:
    """The proposals of each file, one group a kind, in the order of the kinds."""
    return [
        MarkGroup(path, category, of_kind)
        for path, own in marks
        for category in Category
        if (of_kind := tuple(p for p in own if p.pragma.category is category))
    ]


def marks_of(row: MarkRow) -> tuple[Proposal, ...]:
    return row.marks if isinstance(row, MarkGroup) else (row,)


def held(event: QKeyEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


def _swatch(painter: QPainter, box: QRectF, row: MarkRow) -> None:
    if isinstance(row, Proposal):
        draw_swatch(painter, box.left() + 16, round(box.center().y() - 5), 12, 10, row.pragma.category)


def _line(row: MarkRow) -> str:
    return str(row.line) if isinstance(row, Proposal) else ""


def _what(row: MarkRow) -> str:
    if isinstance(row, Proposal):
        return format_pragma(row.pragma)
    return f"{row.path.name}: {row.category.value}, {counted(len(row.marks), 'mark')}"


def _why(row: MarkRow) -> str:
    if isinstance(row, Proposal):
        return row.why
    folder = str(PurePath(row.marks[0].file).parent)
    return "" if folder == "." else f"in {folder}"


def _ink(row: MarkRow) -> tuple[str, int, int]:
    return ("text", 13, 400 if isinstance(row, Proposal) else 600)


class MarkRows(RowView):
    """Leaves its panel's keys to the panel. The row that is chosen looks active only while keys go to the panel."""

    has_keys = False

    def __init__(self) -> None:
        columns = (
            Column("", width_px=40, paint=_swatch),
            Column("Line", _line, _LINE_PX, right=True, ink=_ink),
            Column("Pragma", _what, share=0.5, tip_of=_what, ink=_ink),
            Column("Why", _why, share=0.5, ink=lambda row: ("second", 13, 400), tip_of=_why),
        )
        super().__init__("Proposed marks", columns, row_px=28, tree_column=2)

    def show_keys(self, has_keys: bool) -> None:
        self.has_keys = has_keys
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in OWN_KEYS or (event.key() in ENTER and held(event)):
            event.ignore()
        else:
            super().keyPressEvent(event)
