"""A strip of figures: one large, the others beside it, each with what it is and a line under it."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.api.views import Figure
from workbench.api.window import set_ground
from workbench.gui.widgets import ElidedLabel, rule
from workbench.gui.widgets.boxes import column_layout, row_layout

AROUND_PX = 34  # what is around a figure in its cell


class Figures(QWidget):
    """Up to `count` figures; the first is the large one."""

    def __init__(self, count: int) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(86)
        row = row_layout(of=self, margins=(16, 8, 12, 8), spacing=14)
        self._cells: list[tuple[QWidget, ElidedLabel, ElidedLabel, ElidedLabel]] = []
        for number in range(count):
            cell = QWidget()
            inner = row_layout(of=cell, margins=(0, 0, 0, 0), spacing=14)
            if number:
                inner.addWidget(rule(vertical=True))
            column = column_layout(spacing=1)
            title, value = ElidedLabel("", "smallsecond"), ElidedLabel("", "figureplain" if number else "figure")
            note = ElidedLabel("", "small")
            for line in (title, value, note):
                column.addWidget(line)
            inner.addLayout(column, 1)
            row.addWidget(cell, 4 if number else 5)
            self._cells.append((cell, title, value, note))
        self.figures: tuple[Figure, ...] = ()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 86)

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        self.figures = figures
        for (cell, title, value, note), figure in zip(self._cells, figures, strict=False):
            title.setText(figure.title)
            value.setText(figure.value)
            note.setText(figure.note)
            cell.setToolTip(figure.tip)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many as can be read, the first ones first."""
        shown = self._cells[: len(self.figures)]
        widths = [max(value.sizeHint().width(), title.sizeHint().width()) for _, title, value, _ in shown]
        while len(widths) > 1 and any(
            self.width() * stretch / (1 + 4 * len(widths)) < AROUND_PX + wide
            for stretch, wide in zip((5, *[4] * len(widths)), widths, strict=False)
        ):
            widths.pop()
        for number, (cell, *_) in enumerate(self._cells):
            cell.setVisible(number < len(widths))
