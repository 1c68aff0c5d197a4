"""A strip of figures: one large, the others beside it, each with what it is and a line under it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from workbench.api.views import Figure
from workbench.api.window import set_ground
from workbench.gui.widgets import ElidedLabel, label, rule
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.rows import shared_widths

AROUND_PX, EDGES_PX, APART_PX = 16, 28, 14  # around a figure in its cell; around all cells; between two
ROW_PX, LINE_PX, MARGIN_PX = 70, 15, 8  # of a row with notes of one line; each line more; above and below
MOST_ROWS = 2  # in more, titles are shortened instead
_FIRST, _REST = 5, 4  # the widths of the large figure and of each other


@dataclass
class _Cell:
    box: QWidget
    rule: QWidget
    title: ElidedLabel
    value: ElidedLabel
    note: QLabel

    @property
    def value_px(self) -> int:
        return AROUND_PX + self.value.sizeHint().width()

    @property
    def least_px(self) -> int:
        return max(self.value_px, AROUND_PX + self.title.sizeHint().width())


class Figures(QWidget):
    """Up to `count` figures; the first is the large one. Where they do not fit beside one another, they take rows."""

    def __init__(self, count: int) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, MARGIN_PX, 12, MARGIN_PX)
        self._grid.setSpacing(14)
        self._grid.setVerticalSpacing(0)
        self._cells = [self._cell(number) for number in range(count)]
        self.figures: tuple[Figure, ...] = ()
        self._laid_out: tuple[int, tuple[int, ...]] | None = None
        self.setFixedHeight(ROW_PX + 2 * MARGIN_PX)

    def _cell(self, number: int) -> _Cell:
        cell = _Cell(
            QWidget(self), rule(vertical=True), ElidedLabel("", "smallsecond"),
            ElidedLabel("", "figureplain" if number else "figure"), label("", "small", wrap=True),
        )  # fmt: skip
        column = column_layout(cell.title, cell.value, cell.note, STRETCH, spacing=1)
        row_layout(cell.rule, of=cell.box, margins=(0, 0, 0, 0), spacing=14).addLayout(column, 1)
        return cell

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        self.figures = figures
        for cell, figure in zip(self._cells, figures, strict=False):
            cell.title.setText(figure.title)
            cell.value.setText(figure.value)
            cell.note.setText(figure.note)
            cell.box.setToolTip(figure.tip)
        self._laid_out = None
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Lay out as many figures in a row as can be read, each note in as many lines as it needs."""
        shown = self._cells[: len(self.figures)]
        beside, least = max(len(shown), 1), max(-(-len(shown) // MOST_ROWS), 1)
        widths = self._widths(shown, beside)
        while beside > least and any(widths[n % beside] < one.least_px for n, one in enumerate(shown)):
            beside -= 1
            widths = self._widths(shown, beside)
        rows_needed = max(-(-len(shown) // beside), 1)
        beside = max(-(-len(shown) // rows_needed), 1)  # as many in each
        widths = self._widths(shown, beside)
        lines = [_lines(widths[n % beside], one.note) for n, one in enumerate(shown)]
        rows = tuple(max(lines[at : at + beside]) for at in range(0, len(shown), beside)) or (1,)
        arranged = beside, (*rows, *map(round, widths))
        if arranged == self._laid_out:
            return
        self._laid_out = arranged
        for row in range(MOST_ROWS):
            self._grid.setRowStretch(row, ROW_PX + LINE_PX * (rows[row] - 1) if row < len(rows) else 0)
        for number, cell in enumerate(self._cells):
            cell.box.setVisible(number < len(shown))
            cell.rule.setVisible(number % beside > 0)
            self._grid.addWidget(cell.box, number // beside, number % beside)
        for column in range(len(self._cells)):
            self._grid.setColumnStretch(column, round(widths[column]) if column < beside else 0)
        self.setFixedHeight(2 * MARGIN_PX + sum(ROW_PX + LINE_PX * (lines - 1) for lines in rows))

    def _widths(self, shown: Sequence[_Cell], beside: int) -> list[float]:
        """Of so many columns: by their shares, as far as none needs more. Where not all have room, titles are
        shortened, and values not."""
        room_px = max(self.width() - EDGES_PX - APART_PX * (beside - 1), 1)
        shares = [_FIRST, *[_REST] * (beside - 1)]
        columns = [shown[column::beside] for column in range(beside)]
        needs = [max((one.least_px for one in column), default=0) for column in columns]
        if sum(needs) > room_px:
            needs = [max((one.value_px for one in column), default=0) for column in columns]
        return shared_widths([room_px * share / sum(shares) for share in shares], needs)


def _lines(width_px: float, note: QLabel) -> int:
    room_px = max(round(width_px) - AROUND_PX, 1)
    return max(1, round(note.heightForWidth(room_px) / max(note.fontMetrics().lineSpacing(), 1)))
