"""Tables of `workbench.api.views` in the window."""

from functools import partial
from typing import Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QMenu

from workbench.api import views
from workbench.gui.look.painting import label
from workbench.gui.views.canvas import QtCanvas
from workbench.gui.widgets.row_view import GAP_PX, RowView
from workbench.gui.widgets.rows import Column
from workbench.pictures.signs import draw_swatch

_SWATCH_PX = 16


class TableView(RowView):
    """`line_wanted` asks for the source line that a row leads to."""

    line_wanted = Signal(str, int)

    def __init__(self, table: views.Table, tree_column: int = 0, row_px: int = 34) -> None:
        self.table = table
        super().__init__(table.title, self.columns_of(table), row_px, tree_column=tree_column)
        self.opened.connect(self.open_line)
        self.show_table(table)

    def show_table(self, table: views.Table) -> None:
        """Other rows; other columns too where they differ in number or heads."""
        self.table = table
        self.rows.set_columns(self.columns_of(table))
        self.show_rows([(row, table.parts(row)) for row in table.rows])

    def columns_of(self, table: views.Table) -> tuple[Column, ...]:
        return window_columns(table)

    def open_line(self, row: Any) -> None:
        if place := self.table.place(row):
            self.line_wanted.emit(place.file, place.line)

    def fill_menu(self, menu: QMenu, row: Any) -> None:
        if self.table.place(row):
            menu.addAction("Open line\tEnter", lambda: self.open_line(row))


def window_columns(table: views.Table) -> tuple[Column, ...]:
    """A table's columns as the window shows them."""
    return tuple(_column(column, first=not n) for n, column in enumerate(c for c in table.columns if not c.page))


def _column(column: views.Column, first: bool) -> Column:
    paint, beside_px = None, 0
    if column.picture:
        paint = partial(_paint_picture, column.picture)
    elif column.category:
        paint, beside_px = partial(_paint_swatch, column, first), (1 if first else 2) * GAP_PX + _SWATCH_PX + 8
    return Column(
        column.head, column.text, column.width_px, column.share, column.right, column.key, column.ink,
        Qt.TextElideMode.ElideMiddle if column.elide_middle else Qt.TextElideMode.ElideRight,
        paint, partial(_paint_head, column.picture_head) if column.picture_head else None, column.tip, column.tip_of,
        beside_px=beside_px,
    )  # fmt: skip


def _paint_picture(picture: views.CellPicture, painter: QPainter, box: QRectF, row: Any) -> None:
    picture(QtCanvas(painter), box.x(), box.y(), box.width(), box.height(), row)


def _paint_head(picture: Any, painter: QPainter, box: QRectF) -> None:
    picture(QtCanvas(painter), box.x(), box.y(), box.width(), box.height())


def _paint_swatch(column: views.Column, first: bool, painter: QPainter, box: QRectF, row: Any) -> None:
    assert column.category is not None
    left = 0.0 if first else GAP_PX
    draw_swatch(QtCanvas(painter), box.left() + left, box.center().y() - 5, _SWATCH_PX, 11, column.category(row))
    inside = box.adjusted(left + _SWATCH_PX + 8, 0, -GAP_PX, 0)
    label(painter, inside, column.text(row), *column.ink(row))
