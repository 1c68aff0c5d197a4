"""Tables of a model one under another: a title over each, attributes left, values right."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QWidget

from workbench.api.predictions import PaperTable, Row
from workbench.api.window import colour
from workbench.formats.units import UnitError, quantity
from workbench.gui.look import fonts
from workbench.gui.look.painting import label as paint_label
from workbench.gui.look.painting import wrapped_label
from workbench.gui.widgets import ElidedLabel, label, plain_column
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, RowView
from workbench.gui.widgets.rows import Column

ROW_PX, NOTED_PX, UNITS_PX, VALUE_PX = 26, 38, 60, 100
_MOST_ALPHA = 0.8
_FIRST_VALUE = 2  # after attribute and units
MOST_ATTRIBUTE_PX, SPACE_PX = 420, 60  # of a wide window's table
ATTRIBUTE_PX = 88  # what values leave to their attributes at least
_MIDDLE = Qt.TextElideMode.ElideMiddle  # rows of one kind begin alike and end unlike
_RIGHT = Qt.AlignmentFlag.AlignRight
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?", re.IGNORECASE)


class TableView(QWidget):
    """`views` are the tables shown; `run_wanted` carries the folder of the run of a row or value that was opened
    by a double click or Enter."""

    run_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.tables: tuple[PaperTable, ...] = ()
        self.views: list[PaperTableView] = []
        self._column = plain_column(self)

    def show_tables(self, tables: Sequence[PaperTable]) -> None:
        """A table with the columns of the one that was in its place stays as it was sorted."""
        self.tables = tuple(tables)
        for number, table in enumerate(tables):
            if number < len(self.views) and self.views[number].heads != table.columns:
                self._drop(number)
            if number == len(self.views) or self.views[number].heads != table.columns:
                self.views.insert(number, PaperTableView(table.columns))
                self.views[number].rows.run_wanted.connect(self.run_wanted)
                self._column.insertWidget(number, self.views[number])
            self.views[number].show_table(table)
        while len(self.views) > len(tables):
            self._drop(-1)

    def _drop(self, number: int) -> None:
        view = self.views.pop(number)
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()


class PaperTableView(QWidget):
    """One table under its title, or a text where it has no rows."""

    def __init__(self, heads: tuple[str, ...]) -> None:
        super().__init__()
        self.heads = heads
        self.title, self.note = label("", "strong"), ElidedLabel("", "small")
        above = row_layout(self.title, (self.note, 1), margins=(EDGE_PX, 8, EDGE_PX, 6), spacing=10)
        self.text = label("", wrap=True)
        self.text.setContentsMargins(EDGE_PX, 0, EDGE_PX, 0)
        self.rows = PaperRows(heads)
        self.rows.setIndentation(12)
        beside = row_layout((self.rows, 1000), STRETCH, margins=(0, 0, 0, 0))
        column_layout(above, self.text, beside, of=self, margins=(0, 0, 0, 14), spacing=0)

    def show_table(self, table: PaperTable) -> None:
        self.title.setText(table.title)
        self.note.setText(table.note if table.rows else "")
        self.text.setText("" if table.rows else table.note)
        for shown, widget in ((not table.rows, self.text), (bool(table.rows), self.rows)):
            widget.setVisible(shown)
        self.rows.setAccessibleName(table.title)
        self.rows.row_px = NOTED_PX if any(row.notes for row in table.rows) else ROW_PX
        self.rows.setColumnHidden(1, not any(row.unit for row in table.rows))
        self.rows.show_rows(under_heads(table.rows))
        self.rows.need(table.rows)
        self.rows.setMaximumWidth(self.rows.most_px())
        self.rows.lay_out_columns()
        self.rows.show_whole()


class PaperRows(RowView):
    """Where there is little room, values come before attributes. `run_wanted` carries a run's folder."""

    run_wanted = Signal(str)

    def __init__(self, heads: tuple[str, ...]) -> None:
        self._heads, self._needed_px = heads, [0] * len(heads)
        first, *others = _columns(heads)
        first = replace(first, paint=self._paint_attribute, beside_px=EDGE_PX + GAP_PX)
        super().__init__("", (first, *others), ROW_PX)
        self.opened.connect(self._want_run)

    def _paint_attribute(self, painter: QPainter, box: QRectF, row: Row) -> None:
        """In two lines where one has no room for it, and the row is high enough."""
        inside, column = self.inside(box, 0), self.rows.columns[0]
        _, size, weight = column.ink(row)
        if not wrapped_label(painter, inside, row.attribute, size, weight):
            self.write(painter, inside, 0, row)

    def show_rows(self, rows: Sequence[tuple[Row, Sequence[Row]]]) -> None:
        """Values that have runs of their own are gone to one by one."""
        each = QAbstractItemView.SelectionBehavior
        self.setSelectionBehavior(each.SelectItems if any(row.runs for row, _ in rows) else each.SelectRows)
        super().show_rows(rows)

    def _want_run(self, row: Row) -> None:
        if run := row.run_at(self.currentIndex().column() - _FIRST_VALUE):
            self.run_wanted.emit(run)

    def need(self, rows: Sequence[Row]) -> None:
        """Find out how wide the columns have to be."""
        head, value = (QFontMetrics(fonts.ui_font(px, weight)) for px, weight in ((12, 500), (13, 600)))
        for at, name in enumerate(self._heads):
            wide = max((value.horizontalAdvance(_value(at, row)) for row in rows), default=0)
            self._needed_px[at] = max(head.horizontalAdvance(name) + 8, wide) + EDGE_PX + 1

    def most_px(self) -> int:
        """How wide the table may be, such that the eye finds from an attribute to its values."""
        return MOST_ATTRIBUTE_PX + UNITS_PX + sum(max(VALUE_PX, needed) + SPACE_PX for needed in self._needed_px)

    def lay_out_columns(self) -> None:
        super().lay_out_columns()
        header, free = self.header(), self.header().sectionSize(0) - ATTRIBUTE_PX
        for at, needed_px in enumerate(self._needed_px, _FIRST_VALUE):
            lacking = min(needed_px - header.sectionSize(at), free)
            if lacking > 0:
                header.resizeSection(at, header.sectionSize(at) + lacking)
                free -= lacking
        header.resizeSection(0, free + ATTRIBUTE_PX)


def under_heads(rows: Iterable[Row]) -> list[tuple[Row, list[Row]]]:
    """Rows under the row without values that is over them, where there is one."""
    groups: list[tuple[Row, list[Row]]] = []
    for row in rows:
        if groups and any(row.values) and not any(groups[-1][0].values):
            groups[-1][1].append(row)
        else:
            groups.append((row, []))
    return groups


def _columns(heads: Sequence[str]) -> Iterator[Column]:
    """A row with one value has it in every column."""
    size: dict[str, Any] = {"width_px": VALUE_PX} if len(heads) <= 3 else {"share": 0.6 / len(heads)}
    yield Column("Attribute", lambda row: row.attribute, share=0.4, elide=_MIDDLE,
                 key=lambda row: row.attribute, ink=lambda row: ("text", 13, 600 if row.strong else 400),
                 tip_of=lambda row: ", ".join(text for text in (row.attribute, row.tip) if text))  # fmt: skip
    yield Column("Units", lambda row: row.unit, width_px=UNITS_PX, ink=lambda row: ("muted", 12, 400))
    for at, head in enumerate(heads):
        yield Column(head, partial(_value, at), **size, right=True, key=partial(_amount, at),
                     paint=partial(_paint_value, at, at == len(heads) - 1), tip_of=partial(_tip, at))  # fmt: skip


def _tip(at: int, row: Row) -> str:
    return "Double-click opens its run" if row.run_at(at) else ""


def _of(at: int, values: Sequence[str]) -> str:
    return values[at] if at < len(values) else values[0] if len(values) == 1 else ""


def _value(at: int, row: Row) -> str:
    return _of(at, row.values)


def _amount(at: int, row: Row) -> float:
    return amount(_value(at, row))


def _paint_value(at: int, last: bool, painter: QPainter, box: QRectF, row: Row) -> None:
    bad = at < len(row.bad) and row.bad[at]
    depth = row.depths[at] if at < len(row.depths) else 0.0
    if depth:
        ground = colour("within_cap")
        ground.setAlphaF(_MOST_ALPHA * depth)
        painter.fillRect(box.adjusted(3, 3, -3, -3), ground)
    inside, note = box.adjusted(0, 0, -EDGE_PX if last else -GAP_PX, 0), _of(at, row.notes)
    if note:
        below = inside.adjusted(0, inside.height() / 2, 0, 0)
        paint_label(painter, below, note, "medium_text" if bad else "second" if depth else "muted", 11, 400, _RIGHT)
        inside.setHeight(inside.height() / 2 + 2)
    ink = "medium_text" if bad and not note else "text"
    paint_label(painter, inside, _value(at, row), ink, 13, 600 if row.strong else 400, _RIGHT)


def amount(text: str) -> float:
    """What a cell says, to sort by: a quantity in its unit, or else its first number; what has none comes first."""
    plain = text.replace("\u2212", "-").replace("\u202f", " ").strip()
    for unit in ("s", "Hz", "B", "B/s"):
        with suppress(UnitError):
            return quantity(plain, unit)
    number = _NUMBER.search(plain.replace(" ", ""))
    return float(number[0]) if number else float("-inf")
