"""Rows in columns: chosen and opened by mouse and keys, sorted by their heads, copied, and typed in where a column lets
one; rows may hang under others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from workbench.gui.look import icons, theme
from workbench.gui.look.painting import label, paint_focus
from workbench.gui.views.canvas import font, text_width
from workbench.gui.widgets.labels import shortened_apart
from workbench.gui.widgets.rows import Column, Index, Row, RowModel, shared_widths
from workbench.pictures.canvas import LEAST_CHARACTERS

Align = Qt.AlignmentFlag
HEAD_PX, EDGE_PX, GAP_PX = 30, 16, 8


class _Header(QHeaderView):
    """The heads; an arrow at the one that is sorted by."""

    def __init__(self, view: RowView) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._view, self._rows = view, view.rows
        self.setFixedHeight(HEAD_PX)
        self.setStretchLastSection(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(24)

    def paintSection(self, painter: QPainter, rect: object, section: int) -> None:
        box = QRectF(rect)  # type: ignore[call-overload]
        painter.save()
        painter.fillRect(box, theme.colour("sunken"))
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(box.bottomLeft() + QPointF(0, -0.5), box.bottomRight() + QPointF(0, -0.5))
        column, by = self._rows.columns[section], self._rows.sorted_by
        if column.paint_head is not None:
            column.paint_head(painter, box)
        inside = self._view.inside(box, section)
        mine = by is not None and by[0] == section
        if mine and column.right:
            inside.setLeft(inside.left() + 14)
        wide = label(
            painter, inside, column.head, "second", 12, 500, Align.AlignRight if column.right else Align.AlignLeft
        )
        if mine and by is not None:
            x = inside.right() - wide - 16 if column.right else inside.left() + wide + 2
            icons.draw_icon(painter, "chevron-down" if by[1] else "chevron-up", x, box.center().y() - 7, 14)
        painter.restore()


class CellDelegate(QStyledItemDelegate):
    def __init__(self, view: RowView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, self._view.height_of(self._view.rows.row(index)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rows = self._view.rows
        row = rows.row(index)
        number = index.column()
        column, box = rows.columns[number], QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if ground := self._view.ground(row, chosen):
            painter.fillRect(box, theme.colour(ground))
        if column.paint is not None:
            column.paint(painter, box, row)
        else:
            self._view.write(painter, self._view.inside(box, number), number, row)
        if self._view.ruled:
            painter.setPen(QPen(theme.colour("rule"), 1))
            y = option.rect.bottom() + 0.5
            painter.drawLine(QPointF(box.left() + (0 if number else EDGE_PX), y), QPointF(box.right(), y))
        if chosen and number == 0 and self._view.has_keys:
            painter.fillRect(QRectF(0, box.top(), 3, box.height()), theme.colour("accent"))
        painter.restore()


#: What a column of names has at least.
LEAST_NAME_PX = 96
#: Of so many rows the columns take their widths.
MEASURED_ROWS = 200
_SORT_PX = 18  # of the arrow beside a head


class RowView(QTreeView):
    """`chosen` carries the row that a person went to, `opened` the one that was double-clicked, or where Enter was."""

    chosen = Signal(object)
    opened = Signal(object)
    ruled = True  # a line under every row
    has_keys = True  # whether Enter acts on the row that is chosen, as far as it looks so

    def __init__(self, name: str, columns: Sequence[Column], row_px: int = 34, tree_column: int = 0) -> None:
        super().__init__()
        self.rows, self.row_px = RowModel(columns), row_px
        self._ends = (0, len(columns) - 1)  # the first and the last column shown
        self._dropped: list[int] = []  # columns for which there is no room
        self._needs: dict[int, float] = {}  # how wide columns would be, of the rows shown
        self.cuts: dict[tuple[int, float], dict[str, str]] = {}  # by column and width, of the rows in sight
        self._typed_in = [n for n, column in enumerate(columns) if column.typed is not None]
        self.setModel(self.rows)
        self.setHeader(_Header(self))
        self.setItemDelegate(CellDelegate(self))
        self.setTreePosition(tree_column)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger
        by_keys = triggers.DoubleClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed
        self.setEditTriggers(by_keys if self._typed_in else triggers.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.header().setSectionsClickable(True)  # a view takes that from a header that it is given
        self.header().sectionClicked.connect(self._sort)
        self._quiet = False
        self._typed_at: tuple[int, int] | None = None  # the row, and the place among the columns typed in

    def show_rows(self, rows: Sequence[tuple[Row, Sequence[Row]]]) -> None:
        """Rows, each with what hangs under it; sorted as before."""
        self._quiet = True
        self.rows.set_rows(rows)
        self._unfold()
        self._needs.clear()
        self.lay_out_columns()
        self._quiet = False

    def _unfold(self) -> None:
        if any(self.rows.parts):  # else Qt lays out every row, those out of sight too
            self.expandAll()

    def choose(self, test: Callable[[Row], bool]) -> None:
        """Go to the first row that fits, or to none, without telling it."""
        self._quiet = True
        index = self.rows.index_where(test)
        self.setCurrentIndex(index)
        self.scrollTo(index)
        if not index.isValid():
            self.clearSelection()
        self._quiet = False

    def show_whole(self) -> None:
        """Be as high as all the rows are, where what the view is in is scrolled."""
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(self.whole_px)

    @property
    def whole_px(self) -> int:
        """How high it is with all its rows."""
        rows = len(self.rows.tops) + sum(map(len, self.rows.parts))
        return HEAD_PX + rows * self.row_px + 2 * self.frameWidth()

    @property
    def current(self) -> Row | None:
        return self.rows.row(self.currentIndex())

    def step(self, by: int) -> None:
        """The next or previous row."""
        here = self.currentIndex()
        near = self.indexBelow(here) if by > 0 else self.indexAbove(here)
        index = near if here.isValid() else self.rows.index(0, 0)
        if index.isValid():
            self.setCurrentIndex(index)

    def _sort(self, column: int) -> None:
        """The largest first, then the least, then as the rows were given."""
        if self.rows.columns[column].key is None:
            return
        turns: dict[object, tuple[int | None, bool]] = {(column, True): (column, False), (column, False): (None, False)}
        row = self.current
        self.rows.sort_by(*turns.get(self.rows.sorted_by, (column, True)))
        self._unfold()
        self.choose(lambda other: other is row)

    def as_text(self, rows: Sequence[Row] | None = None) -> str:
        """Rows, or all of them, tab-separated."""
        return self.rows.as_text(rows)

    def copy(self) -> None:
        """Put the rows that are chosen (all, if none are) on the clipboard."""
        chosen = sorted(self.selectionModel().selectedRows(), key=lambda index: self.visualRect(index).top())
        rows = [self.rows.row(index) for index in chosen]
        QGuiApplication.clipboard().setText(self.as_text(rows or None))

    def ground(self, row: Row, chosen: bool) -> str:
        """The colour that a row is on, or "" for the view's own."""
        return self.ground_of_chosen if chosen else ""

    @property
    def ground_of_chosen(self) -> str:
        return "selection" if self.has_keys else "track"

    def height_of(self, row: Row | None) -> int:
        """The height of a row in pixels; rows that differ need a view without uniform row heights."""
        return self.row_px

    def fill_menu(self, menu: QMenu, row: Row) -> None:
        """What can be done with a row, above what can be done with every one."""

    # ---- Qt's own

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if self._typed_in and current.isValid() and current.column() not in self._typed_in:
            typed = self.rows.sibling(current.row(), self._typed_in[0], current)
            self.setCurrentIndex(typed)
            return
        row = self.rows.row(current)
        if row is not None and not self._quiet:
            self.chosen.emit(row)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The first row becomes current, to which nobody went."""
        quiet, self._quiet = self._quiet, True
        super().focusInEvent(event)
        self._quiet = quiet

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.lay_out_columns()

    def lay_out_columns(self) -> None:
        """Widths for the room there is. Where names would have too little, the last figures go."""
        mine = self._dropped
        shown = [(n, c) for n, c in enumerate(self.rows.columns) if n in mine or not self.isColumnHidden(n)]
        least = {n: min(c.width_px, self._need(n) or c.width_px) if c.width_px else LEAST_NAME_PX for n, c in shown}
        lacking, self._dropped = sum(least.values()) - self.viewport().width(), []
        for number, column in reversed(shown[1:]):
            if lacking > 0 and column.width_px and column.right:
                self._dropped.append(number)
                lacking -= least[number]
        for number, _ in shown:
            self.setColumnHidden(number, number in self._dropped)
        shown = [(n, c) for n, c in shown if n not in self._dropped]
        self._ends = (shown[0][0], shown[-1][0]) if shown else (0, 0)
        sharing = [(number, column) for number, column in shown if not column.width_px]
        needed = sum(self._need(number) or LEAST_NAME_PX for number, _ in sharing)
        fixed = {number: column.width_px for number, column in shown if column.width_px}
        free = self.viewport().width() - sum(fixed.values())
        for number in [n for n in fixed if self.rows.columns[n].paint is None]:  # figures give what they do not need
            spare = fixed[number] - math.ceil(self._need(number) or fixed[number])
            given = max(min(spare, math.ceil(needed - free)), 0)
            fixed[number], free = fixed[number] - given, free + given
        shares = sum(column.share for _, column in sharing) or 1.0
        parts = [free * column.share / shares for _, column in sharing]
        widths = shared_widths(parts, [self._need(number) for number, _ in sharing])
        wide = {number: max(60, int(width)) for (number, _), width in zip(sharing, widths, strict=True)}
        for number, _ in shown:
            self.header().resizeSection(number, fixed.get(number) or wide[number])

    def _need(self, number: int) -> float | None:
        """How wide a column with text would be."""
        column = self.rows.columns[number]
        if column.paint is not None and not column.beside_px:
            return None
        if (texts_px := self._needs.get(number)) is None:
            rows = [row for top, parts in zip(self.rows.tops, self.rows.parts, strict=True) for row in (top, *parts)]
            tree = self.indentation() * (self.rootIsDecorated() + any(self.rows.parts))
            texts = [text_width(column.head, 12, 500) + (_SORT_PX if column.key else 0)]
            texts += [text_width(column.text(row), *column.ink(row)[1:]) for row in rows[:MEASURED_ROWS]]
            self._needs[number] = texts_px = max(texts) + 1 + (tree if number == self.treePosition() else 0)
        return texts_px + (column.beside_px or GAP_PX + (EDGE_PX if number in self._ends else GAP_PX))

    def inside(self, box: QRectF, number: int) -> QRectF:
        """What a cell's text has of its box: more space at the edges of the view."""
        return box.adjusted(EDGE_PX if number == self._ends[0] else GAP_PX, 0,
                            -EDGE_PX if number == self._ends[1] else -GAP_PX, 0)  # fmt: skip

    def write(self, painter: QPainter, box: QRectF, number: int, row: Row) -> float:
        """Write a column's text, such that it differs from those above and below it; its width."""
        column = self.rows.columns[number]
        text, ink = column.text(row), column.ink(row)
        align = Align.AlignRight if column.right else Align.AlignLeft
        if text_width(text, *ink[1:]) > box.width():
            cut = self._cuts_of(number, box.width(), ink).get(text, text)
            text = cut if len(cut) > LEAST_CHARACTERS else text
        return label(painter, box, text, *ink, align, column.elide)

    def _cuts_of(self, number: int, width_px: float, ink: tuple[str, int, int]) -> dict[str, str]:
        """A column's texts in sight, shortened to a width."""
        if (number, width_px) not in self.cuts:
            column, index, texts = self.rows.columns[number], self.indexAt(QPoint(0, 0)), list[str]()
            while index.isValid() and self.visualRect(index).top() < self.viewport().height():
                texts.append(column.text(self.rows.row(index)))
                index = self.indexBelow(index)
            metrics = QFontMetricsF(font(*ink[1:]))
            self.cuts[number, width_px] = shortened_apart(texts, metrics, width_px, column.elide)
        return self.cuts[number, width_px]

    def paintEvent(self, event: QPaintEvent) -> None:
        self.cuts.clear()
        super().paintEvent(event)
        paint_focus(self)

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """The fold arrow, on the row's own ground and rule."""
        if rect.width() <= 0:
            return
        if self.selectionModel().isRowSelected(index.row(), index.parent()):
            painter.fillRect(rect, theme.colour(self.ground_of_chosen))
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(QLineF(rect.left(), rect.bottom() + 0.5, rect.right() + 1, rect.bottom() + 0.5))
        first = self.rows.index(index.row(), 0, index.parent())
        if self.rows.rowCount(first):
            name = "chevron-down" if self.isExpanded(first) else "chevron-right"
            icons.draw_icon(painter, name, rect.left() + 2, rect.center().y() - 7)

    def commitData(self, editor: QWidget) -> None:
        index = self.currentIndex()
        at_top = index.isValid() and not index.parent().isValid() and index.column() in self._typed_in
        self._typed_at = (index.row(), self._typed_in.index(index.column())) if at_top else None
        super().commitData(editor)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Tab goes on to the next cell that one types in, also where the rows were shown anew for the last one."""
        hints = QAbstractItemDelegate.EndEditHint
        by, at = {hints.EditNextItem: 1, hints.EditPreviousItem: -1}.get(hint, 0), self._typed_at
        self._typed_at = None
        super().closeEditor(editor, hints.NoHint if by and at else hint)
        if not by or at is None:
            return
        cells = [(row, column) for row in range(self.rows.rowCount()) for column in range(len(self._typed_in))
                 if not self.isColumnHidden(self._typed_in[column])]  # fmt: skip
        number = cells.index(at) + by if at in cells else -1
        if 0 <= number < len(cells):  # once what was typed is taken over
            QTimer.singleShot(0, self, partial(self._edit_cell, *cells[number]))

    def _edit_cell(self, row: int, column: int) -> None:
        index = self.rows.index(row, self._typed_in[column])
        if index.isValid():
            self.setCurrentIndex(index)
            self.edit(index)

    def mouseDoubleClickEvent(self, event: QEvent) -> None:
        if (row := self.current) is not None:
            self._open(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif row is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(row)
        else:
            super().keyPressEvent(event)

    def _open(self, row: Row) -> None:
        if self.state() is QAbstractItemView.State.EditingState:
            return  # Enter ends what is typed
        if self.rows.flags(self.currentIndex()) & Qt.ItemFlag.ItemIsEditable:
            self.edit(self.currentIndex())
        self.opened.emit(row)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the row under the pointer; by the keyboard with the one that it is on."""
        keyed = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyed else self.indexAt(event.pos())
        if (row := self.rows.row(index)) is None:
            return
        if keyed:
            self.scrollTo(index)
        place = self.viewport().mapToGlobal(self.visualRect(index).center()) if keyed else event.globalPos()
        menu = QMenu(self)
        self.fill_menu(menu, row)
        menu.addAction("Copy\tCtrl+C", self.copy)
        menu.addAction("Copy table", lambda: QGuiApplication.clipboard().setText(self.as_text()))
        menu.exec(place)
