"""The data of tables: columns, and rows that can have rows under them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, overload

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter

Index = QModelIndex | QPersistentModelIndex
Row = Any  # what a view shows in a line: its columns know it
Paint = Callable[[QPainter, QRectF, Row], None]
_NO_PARENT = QModelIndex()
_FIXED = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled  # of every row


def _no_text(row: Row) -> str:
    return ""


@dataclass(frozen=True)
class Column:
    """`text` is shown and, under its head, copied; `paint` is in its place on the screen.

    It is `width_px` wide, or has a `share` of the room that is left. A click on its head sorts by `key`, where it has
    one. `ink` is colour, size and weight of a row's text; `tip` is said of the head and `tip_of` of a row. One with
    `typed` is typed in, from what is `written` in a row (None: this row is not); it gets the row and the new text.
    One with a `paint` says by `beside_px` what there is beside its text: without, its width is its share alone.
    """

    head: str
    text: Callable[[Row], str] = _no_text
    width_px: int = 0
    share: float = 0.0
    right: bool = False
    key: Callable[[Row], float | str] | None = None
    ink: Callable[[Row], tuple[str, int, int]] = lambda row: ("text", 13, 400)
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    paint: Paint | None = None
    paint_head: Callable[[QPainter, QRectF], None] | None = None
    tip: str = ""
    tip_of: Callable[[Row], str] = _no_text
    typed: Callable[[Row, str], None] | None = None
    written: Callable[[Row], str | None] = _no_text
    beside_px: int = 0


def shared_widths(parts: Sequence[float], needs: Sequence[float | None]) -> list[float]:
    """Parts of a room such that who needs less than its part gives to who needs more; None needs what it has."""
    over = [0.0 if need is None else part - need for part, need in zip(parts, needs, strict=True)]
    spare, lack = sum(max(one, 0.0) for one in over), sum(max(-one, 0.0) for one in over)
    moved = min(spare, lack)
    return [
        part - moved * (one / spare if one > 0 else one / lack if one < 0 else 0.0)
        for part, one in zip(parts, over, strict=True)
    ]


class RowModel(QAbstractItemModel):
    """`tops` in the order shown, `parts[n]` what hangs under the n-th."""

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.tops: list[Row] = []
        self.parts: list[list[Row]] = []
        self._given: list[tuple[Row, list[Row]]] = []
        self._fixed = _FIXED
        self.sorted_by: tuple[int, bool] | None = None  # column, and whether the largest comes first

    def rename(self, heads: Mapping[int, str]) -> None:
        """Give columns other heads."""
        self.columns = tuple(replace(c, head=heads[n]) if n in heads else c for n, c in enumerate(self.columns))

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Have other columns; what was sorted by is kept where it still has its place."""
        self.beginResetModel()
        if [c.head for c in columns] != [c.head for c in self.columns]:
            self.sorted_by = None
        self.columns = tuple(columns)
        self.endResetModel()

    def set_rows(self, rows: Sequence[tuple[Row, Sequence[Row]]]) -> None:
        self._given = [(top, list(parts)) for top, parts in rows]
        self._arrange()

    def sort_by(self, column: int | None, descending: bool = False) -> None:
        """By a column, or as they were given."""
        self.sorted_by = None if column is None else (column, descending)
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        rows = self._given
        if self.sorted_by is not None:
            column, last_first = self.sorted_by
            if (key := self.columns[column].key) is not None:
                rows = [(top, sorted(parts, key=key, reverse=last_first)) for top, parts in rows]
                rows.sort(key=lambda row: key(row[0]), reverse=last_first)
        self.tops, self.parts = [top for top, _ in rows], [parts for _, parts in rows]
        self._fixed = _FIXED if any(self.parts) else _FIXED | Qt.ItemFlag.ItemNeverHasChildren
        self.endResetModel()

    def row(self, index: Index) -> Row | None:
        """What is there; None where nothing does: a view may ask for an index of the rows that were before."""
        if not index.isValid():
            return None
        number = index.internalId()  # 0 for a top, else one more than its parent's place
        rows = self.tops if not number else self.parts[number - 1] if number <= len(self.parts) else []
        return rows[index.row()] if index.row() < len(rows) else None

    def index_where(self, test: Callable[[Row], bool]) -> QModelIndex:
        for place, (top, parts) in enumerate(zip(self.tops, self.parts, strict=True)):
            if test(top):
                return self.index(place, 0)
            for number, part in enumerate(parts):
                if test(part):
                    return self.index(number, 0, self.index(place, 0))
        return QModelIndex()

    def index(self, row: int, column: int, parent: Index = _NO_PARENT) -> QModelIndex:
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    @overload
    def parent(self) -> QObject | None: ...
    @overload
    def parent(self, index: Index) -> QModelIndex: ...
    def parent(self, index: Index | None = None) -> QModelIndex | QObject | None:
        if index is None:
            return super().parent()
        if not index.isValid() or index.internalId() == 0:
            return QModelIndex()
        return self.createIndex(index.internalId() - 1, 0, 0)

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        if not parent.isValid():
            return len(self.tops)
        return 0 if parent.internalId() or parent.column() > 0 else len(self.parts[parent.row()])

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        return len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].head
        return self.columns[section].tip if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self.row(index), self.columns[index.column()]
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.EditRole:
            return column.written(row)
        return column.tip_of(row) or None if role == Qt.ItemDataRole.ToolTipRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        column = self.columns[index.column()]
        if column.typed is None:
            return self._fixed  # a view asks that of every row, those out of sight too
        row = self.row(index)
        typed = row is not None and column.written(row) is not None
        return self._fixed | (Qt.ItemFlag.ItemIsEditable if typed else Qt.ItemFlag.NoItemFlags)

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row, column = self.row(index), self.columns[index.column()]
        if row is None or column.typed is None or str(value) == column.written(row):
            return False
        QTimer.singleShot(0, self, partial(column.typed, row, str(value)))  # the editor is closed first
        return True

    def as_text(self, rows: Sequence[Row] | None = None) -> str:
        """Rows, or all of them, as tab-separated text under their heads."""
        columns = [c for c in self.columns if c.head and c.text is not _no_text]
        if rows is None:
            rows = [row for top, parts in zip(self.tops, self.parts, strict=True) for row in (top, *parts)]
        lines = [[column.head for column in columns], *([column.text(row) for column in columns] for row in rows)]
        return "\n".join("\t".join(line) for line in lines)
