"""Shares of time by state, as a bar; its swatch; its legend."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.views.canvas import Drawn, QtCanvas
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.labels import ElidedLabel, label
from workbench.model.pragma import Category
from workbench.pictures.canvas import Canvas
from workbench.pictures.signs import draw_shares, draw_state_bar, draw_swatch
from workbench.pictures.states import ORDER, Shares, category_name, shares_words


def paint_state_bar(painter: QPainter, rect: QRectF, shares: Shares, *, frame: bool = True) -> None:
    """Paint shares of 1 from left to right, in the order given. What is missing to 1 stays empty."""
    draw_state_bar(QtCanvas(painter), rect.x(), rect.y(), rect.width(), rect.height(), shares, frame=frame)


class StateBar(Drawn, QWidget):
    """A bar of states; its tooltip lists the shares."""

    def __init__(self, shares: Shares = (), height_px: int = 14, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: Shares = ()
        self.setFixedHeight(height_px)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_shares(shares)

    def set_shares(self, shares: Shares) -> None:
        self._shares = tuple(shares)
        said = shares_words(self._shares)
        self.setToolTip(f"Share of time: {said}" if said else "")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())

    def draw(self, canvas: Canvas) -> None:
        draw_shares(canvas, self.width(), self.height(), self._shares)


class Swatch(Drawn, QWidget):
    """The colour and pattern of one state."""

    def __init__(self, category: Category | None, width: int = 16, height: int = 11) -> None:
        super().__init__()
        self._category = category
        self.setFixedSize(width, height)
        self.setToolTip(category_name(category))

    def draw(self, canvas: Canvas) -> None:
        draw_swatch(canvas, 0, 0, self.width(), self.height(), self._category)


SHORT_NAME = 4  # letters, which stay where there is little room


class Legend(QWidget):
    """The states' names beside their swatches."""

    def __init__(self, categories: Sequence[Category | None] = ORDER) -> None:
        super().__init__()
        row = row_layout(of=self, margins=(0, 0, 0, 0), spacing=8)
        for index, category in enumerate(categories):
            if index:
                row.addSpacing(8)
            row.addWidget(Swatch(category))
            name = category_name(category)
            row.addWidget((label if len(name) <= SHORT_NAME else ElidedLabel)(name, "smallsecond"))
        row.addStretch(1)
