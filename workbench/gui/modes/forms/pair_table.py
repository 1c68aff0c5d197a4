"""A field of names and values: a table with a row for each, typed in place, and one more for the next."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QLineEdit,
    QMenu,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.api.window import colour
from workbench.gui.look.icons import draw_icon
from workbench.gui.look.painting import label as paint_label
from workbench.gui.modes.forms.pairs import Pair, Pairs
from workbench.gui.views.canvas import font
from workbench.gui.widgets import paint_severity
from workbench.gui.widgets.cell_typing import commit_cell
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, HEAD_PX, CellDelegate, RowView
from workbench.gui.widgets.rows import Column, Index
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import capitalised

NAME, VALUE, REMOVE = 0, 1, 2
_ROW_PX, _SIGN_PX, _AROUND_PX, _SAID_PX = 28, 14, 6, 12
_BREAKS = re.compile(r"(?<=[_./:])(?=[^\s_./:])")  # where a name may break too


@dataclass(frozen=True)
class _Row:
    """A pair, or below it what is wrong with it."""

    pair: Pair
    problem: Diagnostic | None = None

    @property
    def level(self) -> str:
        found = self.pair.problem
        return "" if found is None else "high" if found.severity is Severity.ERROR else "medium"

    @property
    def said(self) -> str:
        if self.problem is None:
            return ""
        return f"{capitalised(self.problem.message)}. {self.problem.hint}".strip()


class _CellEditors(CellDelegate):
    """Lines that are pasted into a cell become rows at once."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        if isinstance(editor, QLineEdit):
            editor.textChanged.connect(partial(self._look_for_lines, editor))
        return editor

    def _look_for_lines(self, editor: QLineEdit, text: str) -> None:
        if any(separator in text.strip() for separator in "\n\u2029"):
            self.commitData.emit(editor)
            self.closeEditor.emit(editor, QAbstractItemDelegate.EndEditHint.NoHint)


class PairTable(RowView):
    """Name and value, each changed by itself; a click begins. Each change is written at once."""

    def __init__(self, title: str, pairs: Pairs, value_head: str = "Value") -> None:
        self.pairs = pairs
        self._refused: tuple[int, Diagnostic] | None = None  # a name that another row has already

        def typed(number: int, head: str, text: Callable[[Pair], str], share: float) -> Column:
            return Column(
                head, lambda row: "" if row.problem else text(row.pair), share=share, typed=partial(self._type, number),
                written=lambda row: text(row.pair) if self._may_type(row, number) else None,
                paint=partial(self._paint, number), beside_px=EDGE_PX + GAP_PX + 1,
                tip_of=lambda row: row.said or text(row.pair),
            )  # fmt: skip

        super().__init__(title, (
            typed(NAME, "Name", lambda pair: pair.name, 0.42),
            typed(VALUE, value_head, lambda pair: pair.value, 0.58),
            Column("", width_px=_ROW_PX, paint=self._paint_remove, tip_of=lambda row: f"Remove {row.pair.name}"),
        ), _ROW_PX)  # fmt: skip
        self.setProperty("role", "field")
        self.setItemDelegate(_CellEditors(self))
        self.setIndentation(0)
        self.setItemsExpandable(False)
        self.setUniformRowHeights(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._on_click)

    @property
    def _fixed(self) -> bool:
        return self.pairs.document.read_only

    def _may_type(self, row: _Row, number: int) -> bool:
        return not self._fixed and row.problem is None and (row.pair.key is not None or number == NAME)

    def read(self) -> None:
        """Show the pairs of the document; a cell that is typed in stays as it is."""
        pairs = list(self.pairs.rows())
        if not self._fixed:
            pairs.append(Pair(len(pairs), None, "", ""))
        if self._refused is not None and pairs:
            number, problem = self._refused
            at = min(number, len(pairs) - 1)
            pairs[at] = replace(pairs[at], problem=problem)
        rows = [(_Row(pair), [_Row(pair, pair.problem)] if pair.problem else []) for pair in pairs]
        if rows == [*zip(self.rows.tops, self.rows.parts, strict=True)]:
            return
        here = self.currentIndex()
        at_row, at_column = (here.row() if not here.parent().isValid() else here.parent().row()), here.column()
        self.show_rows(rows)
        for number, pair in enumerate(pairs):
            if pair.problem:
                self.setFirstColumnSpanned(0, self.rows.index(number, 0), True)
        self.setColumnHidden(REMOVE, self._fixed)
        if here.isValid() and at_row < len(rows):
            self._select(self.rows.index(at_row, max(at_column, NAME)))
        self._fit()

    def shows(self, problem: Diagnostic | None) -> bool:
        """Whether it says at a row what is wrong."""
        return problem is not None and any(row.pair.problem == problem for row in self.rows.tops)

    def go_to(self, key: object) -> None:
        """Make the row of a name the current one."""
        self._select(self.rows.index_where(lambda row: row.pair.key == key))

    def _select(self, index: QModelIndex) -> None:
        """Make a row the current one and no other chosen, whatever keys are held."""
        flags = QItemSelectionModel.SelectionFlag
        quiet, self._quiet = self._quiet, True
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self._quiet = quiet

    # ---- changes

    def _type(self, number: int, row: _Row, text: str) -> None:
        """Write a cell. A name that is emptied takes its row out."""
        text, pair, self._refused = text.strip(), row.pair, None
        if "\n" in text or "\u2029" in text:
            self.pairs.paste(text.replace("\u2029", "\n"))
        elif number == VALUE:
            self.pairs.put({pair.name: text})
        elif not text:
            self._remove([pair])
        elif self.pairs.has(text):
            hint = "Change its value there, or type another name."
            self._refused = pair.number, Diagnostic(f"'{text}' has a row already", hint)
        elif pair.key is None:
            self.pairs.put({text: ""})
        else:
            self.pairs.rename(pair, text)
        self.read()

    def _remove(self, pairs: list[Pair]) -> None:
        if there := [pair for pair in pairs if pair.key is not None]:
            self._refused = None
            self.pairs.remove(there)

    def commit(self) -> None:
        """Take over what is in the cell being typed in."""
        commit_cell(self)

    def _on_click(self, index: QModelIndex) -> None:
        row = self.rows.row(index)
        if row is None or self._fixed:
            return
        if index.column() == REMOVE:
            self._remove([row.pair])
        elif self.rows.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self.edit(index)

    def fill_menu(self, menu: QMenu, row: _Row) -> None:
        if row.pair.key is not None and not self._fixed:
            menu.addAction("Remove\tDelete", partial(self._remove, [row.pair]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste) and not self._fixed:
            self._refused = None
            self.pairs.paste(QGuiApplication.clipboard().text())
        elif event.key() == Qt.Key.Key_Delete and not self._fixed:
            rows = [self.rows.row(index) for index in self.selectionModel().selectedRows()]
            self._remove([row.pair for row in rows if row is not None])
        else:
            super().keyPressEvent(event)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Tab from the row to come, where nothing was typed, leads on to the next field."""
        row = self.current
        unused = isinstance(editor, QLineEdit) and not editor.text().strip() and row and row.pair.key is None
        if unused and hint is QAbstractItemDelegate.EndEditHint.EditNextItem:
            super().closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)
            QTimer.singleShot(0, self, lambda: self.focusNextChild())
            return
        super().closeEditor(editor, hint)

    # ---- painting

    def ground(self, row: _Row, chosen: bool) -> str:
        if row.level:
            return f"{row.level}_ground"
        return "selection" if chosen and self.hasFocus() else ""

    def height_of(self, row: _Row | None) -> int:
        if row is None:
            return _ROW_PX
        if row.problem is not None:
            return round(_high(row.said, self.viewport().width() - 2 * EDGE_PX, _SAID_PX)) + _AROUND_PX
        texts = ((NAME, row.pair.name), (VALUE, row.pair.value))
        return max(_ROW_PX, *(round(_high(text, self._room_px(n, row), 13)) + 2 * _AROUND_PX for n, text in texts))

    def _room_px(self, number: int, row: _Row) -> float:
        """What a cell's text has of its column."""
        sign_px = _SIGN_PX + 6 if number == NAME and row.level else 0
        return self.columnWidth(number) - (EDGE_PX if number == NAME else GAP_PX) - GAP_PX - sign_px

    def _paint(self, number: int, painter: QPainter, box: QRectF, row: _Row) -> None:
        """A cell's text in as many lines as it takes; what is wrong has the whole width."""
        if row.problem is not None:
            if number == NAME:
                painter.setFont(font(_SAID_PX, 400))
                painter.setPen(colour("high" if row.level == "high" else "medium_text"))
                inside = box.adjusted(EDGE_PX, 0, -EDGE_PX, 0)
                painter.drawText(inside, *_broken(row.said, inside.width(), _SAID_PX))
            return
        left = box.left() + (EDGE_PX if number == NAME else GAP_PX)
        if number == NAME and row.level:
            paint_severity(painter, left, box.top() + (_ROW_PX - _SIGN_PX) / 2, _SIGN_PX, row.level)
            left += _SIGN_PX + 6
        if row.pair.key is None:
            if number == NAME:
                draw_icon(painter, "plus", left - 1, box.center().y() - 7, 14)
                paint_label(painter, box.adjusted(left - box.left() + 20, 0, 0, 0), "Add", "muted", 13)
            return
        painter.setFont(font(13, 400))
        painter.setPen(colour("text"))
        inside = QRectF(left, box.top() + _AROUND_PX, self._room_px(number, row), box.height() - 2 * _AROUND_PX)
        flags, text = _broken(self.rows.columns[number].text(row), inside.width(), 13)
        painter.drawText(inside, flags | int(Qt.AlignmentFlag.AlignVCenter), text)
        if number == VALUE:
            painter.setPen(QPen(colour("rule"), 1))
            painter.drawLine(box.topLeft(), box.bottomLeft())

    def _paint_remove(self, painter: QPainter, box: QRectF, row: _Row) -> None:
        if row.problem is None and row.pair.key is not None:
            draw_icon(painter, "x", box.center().x() - 7, box.center().y() - 7, 14)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Be as high as the rows are."""
        self.scheduleDelayedItemsLayout()
        rows = [row for top, parts in zip(self.rows.tops, self.rows.parts, strict=True) for row in (top, *parts)]
        head_px = HEAD_PX if len(self.rows.tops) > 1 or self._fixed else 0
        self.header().setVisible(bool(head_px))
        self.setFixedHeight(head_px + sum(map(self.height_of, rows)) + 2 * self.frameWidth())


def _broken(text: str, wide_px: float, size_px: int) -> tuple[int, str]:
    """How a text breaks at a width: between words and parts of names; anywhere, where one of them is wider."""
    text = _BREAKS.sub("\u200b", text)
    metrics, wrap = QFontMetricsF(font(size_px, 400)), Qt.TextFlag.TextWordWrap
    if any(metrics.horizontalAdvance(part) > wide_px for part in re.split(r"[\s\u200b]", text)):
        wrap = Qt.TextFlag.TextWrapAnywhere
    return int(wrap), text


def _high(text: str, wide_px: float, size_px: int) -> float:
    """How high a text is that breaks at a width."""
    room = QRectF(0, 0, wide_px, 0)
    return QFontMetricsF(font(size_px, 400)).boundingRect(room, *_broken(text or "x", wide_px, size_px)).height()
