"""The transfer-time table: edited in place, a problem under its row, linked to the curve."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.formats import yaml_edit
from workbench.gui import fonts, theme
from workbench.gui.platform.points import Point, fix_for, next_point, pasted_points, points_of, points_path
from workbench.gui.widgets import Button, label, paint_severity
from workbench.model.diagnostic import Severity
from workbench.model.pragma import Category
from workbench.model.text import rate_text
from workbench.session.yaml_document import YamlDocument

Align = Qt.AlignmentFlag
Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
NUMBER, SIZE, TIME, RATE, SHARE, SOURCE = range(6)
HEADS = ("#", "Size", "Time", "Rate", "Of best", "From")
KEYS = {SIZE: "bytes", TIME: "time_s", SOURCE: "source"}
ROW_PX, PROBLEM_PX = 28, 62


@dataclass(frozen=True)
class Line:
    """A row of the view: a point, or the problem of the point before it."""

    point: int
    problem: bool = False


class PointModel(QAbstractTableModel):
    def __init__(self, document: YamlDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.table = ""
        self.points: tuple[Point, ...] = ()
        self.lines: tuple[Line, ...] = ()
        self.hovered = -1

    def read(self, table: str) -> None:
        self.beginResetModel()
        self.table = table
        self.points = points_of(self.document, table) if table else ()
        lines: list[Line] = []
        for n, point in enumerate(self.points):
            lines.append(Line(n))
            if point.problem is not None:
                lines.append(Line(n, problem=True))
        self.lines = tuple(lines)
        self.endResetModel()

    @property
    def best(self) -> float:
        return max((p.rate or 0.0 for p in self.points), default=0.0)

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        return len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return (Align.AlignRight if section in (NUMBER, SIZE, TIME, RATE) else Align.AlignLeft) | Align.AlignVCenter
        return HEADS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def text(self, point: int, column: int) -> str:
        row = self.points[point]
        rate = rate_text(row.rate) if row.rate else "–"
        return (str(point + 1), row.size_shown, row.time_shown, rate, "", row.source)[column]

    def written(self, point: int, column: int) -> str:
        """A cell as it stands in the file."""
        row = self.points[point]
        return {SIZE: row.size_text, TIME: row.time_text, SOURCE: row.source}[column]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.lines[index.row()]
        if line.problem:
            return None
        if role == Qt.ItemDataRole.EditRole and index.column() in KEYS:
            return self.written(line.point, index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(line.point, index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == SOURCE:
            return self.points[line.point].source or None
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        line, key = self.lines[index.row()], KEYS.get(index.column())
        if key is None or line.problem:
            return False
        text = str(value).strip()
        typed: object = int(text) if text.isdigit() and key != "source" else text
        if self.written(line.point, index.column()) == text:
            return True
        if not text and key != "source":
            return False
        name = {"bytes": "size", "time_s": "time", "source": "source"}[key]
        path = (*points_path(self.table), line.point, key)
        return self.document.set(path, typed, f"Change the {name} in row {line.point + 1}")

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self.lines[index.row()]
        if line.problem:
            return Qt.ItemFlag.ItemIsEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        editable = index.column() in KEYS and not self.document.read_only
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags


class PointDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        if not isinstance(model, PointModel):
            return
        line = model.lines[index.row()]
        box = QRectF(option.rect)
        point = model.points[line.point]
        bad = point.problem is not None and point.problem.severity is Severity.ERROR
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = "high_ground" if bad else "medium_ground" if point.problem else ""
        if not line.problem and (option.state & QStyle.StateFlag.State_Selected or line.point == model.hovered):
            ground = "selection"
        if ground:
            painter.fillRect(box, theme.colour(ground))
        if point.problem and index.column() == NUMBER:
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), theme.colour("high" if bad else "medium"))
            if not line.problem:
                paint_severity(painter, box.left() + 8, box.center().y() - 8, 16, "high" if bad else "medium")
        if not line.problem:
            self._paint_cell(painter, box, model, line.point, index.column(), bad)
            if point.problem is None:
                painter.setPen(QPen(theme.colour("rule"), 1))
                y = option.rect.bottom() + 0.5
                painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        painter.restore()

    def _paint_cell(self, painter: QPainter, box: QRectF, model: PointModel, at: int, column: int, bad: bool) -> None:
        point = model.points[at]
        if column == SHARE:
            bar = QRectF(box.left() + 8, round(box.center().y()) - 4, box.width() - 16, 8)
            painter.fillRect(bar, theme.colour("track"))
            share = (point.rate or 0.0) / model.best if model.best else 0.0
            painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * share, 8), theme.state_colour(Category.SEND))
            return
        small = column in (NUMBER, SOURCE)
        wrong = bad and column == SIZE
        painter.setFont(fonts.ui_font(12 if small else 13, 600 if wrong else 400))
        painter.setPen(theme.colour("high" if wrong else "second" if small else "text"))
        align = Align.AlignLeft if column == SOURCE else Align.AlignRight
        text = model.text(at, column)
        tight = painter.fontMetrics().horizontalAdvance(text) > box.width() - 16
        pad = box.adjusted(2 if tight else 8, 0, -8, 0)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(pad.width()))
        painter.drawText(pad, align | Align.AlignVCenter, shown)
        if wrong:
            painter.setPen(QPen(theme.colour("high"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(6, 3, -2, -3), 4, 4)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, ROW_PX)


class PointTable(QTableView):
    """The table. `hovered` tells the point under the pointer, or -1."""

    hovered = Signal(int)

    def __init__(self, document: YamlDocument) -> None:
        super().__init__()
        self.document = document
        self.points = PointModel(document, self)
        self.setModel(self.points)
        self.setItemDelegate(PointDelegate(self))
        self.setMouseTracking(True)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.setAccessibleName("Transfer times")
        self.setTabKeyNavigation(False)

    def show_table(self, table: str) -> None:
        scrolled = self.verticalScrollBar().value()
        kept = self.currentIndex().row() if table == self.points.table else -1
        self.clearSpans()
        self.points.read(table)
        for row, line in enumerate(self.points.lines):
            self.setRowHeight(row, PROBLEM_PX if line.problem else ROW_PX)
            if line.problem:
                self.setSpan(row, 0, 1, len(HEADS))
                self.setIndexWidget(self.points.index(row, 0), self._problem_row(line.point))
        if 0 <= kept < len(self.points.lines):
            self.setCurrentIndex(self.points.index(kept, SIZE))
        self.verticalScrollBar().setValue(scrolled)

    def _problem_row(self, at: int) -> QWidget:
        """What is wrong with a row, where, and the button that mends it if that is certain."""
        problem = self.points.points[at].problem
        assert problem is not None
        bad = problem.severity is Severity.ERROR
        box = QWidget()
        theme.set_ground(box, "none")
        row = QHBoxLayout(box)
        row.setContentsMargins(72, 2, 16, 6)
        row.setSpacing(12)
        column = QVBoxLayout()
        column.setSpacing(2)
        what = label(f"{problem.message[:1].upper()}{problem.message[1:]}.", "strong", wrap=True)
        place = f"line {problem.line}, column {problem.column}. "
        tail = "Until this is mended the saved file stays as it was." if bad else problem.hint
        column.addWidget(what)
        column.addWidget(label(place + tail, "smallsecond", wrap=True))
        row.addLayout(column, 1)
        fix = fix_for(self.points.points, self.points.table, at)
        if fix and not self.document.read_only:
            button = Button(fix.label)
            button.clicked.connect(lambda: self.document.apply(fix.label, fix.edit))
            row.addWidget(button, 0, Align.AlignVCenter)
        return box

    # ---- changes

    def commit(self) -> None:
        """Take over what stands in the cell being edited."""
        editor = QApplication.focusWidget()
        if isinstance(editor, QLineEdit) and self.isAncestorOf(editor):
            self.commitData(editor)

    def add_point(self) -> None:
        self.document.append(points_path(self.points.table), next_point(self.points.points), "Add a size")
        self.scrollToBottom()

    def paste(self, text: str) -> bool:
        """Put the rows of a spreadsheet in place of the table's, which must then hold at least one."""
        rows = pasted_points(text)
        path = points_path(self.points.table)
        return bool(rows) and self.document.set(path, rows, f"Paste {len(rows)} sizes")

    def remove_chosen(self) -> None:
        chosen = sorted({self.points.lines[i.row()].point for i in self.selectedIndexes()}, reverse=True)
        path = points_path(self.points.table)
        if chosen and len(chosen) < len(self.points.points):

            def edit(text: str) -> str:
                for at in chosen:
                    text = yaml_edit.remove_item(text, (*path, at))
                return text

            self.document.apply(f"Remove {len(chosen)} size{'s' if len(chosen) > 1 else ''}", edit)

    def as_text(self) -> str:
        rows = [(p.size_text, p.time_text, p.source) for p in self.points.points]
        return "\n".join("\t".join(row) for row in rows)

    def set_hovered(self, point: int) -> None:
        """Follow the curve."""
        if point != self.points.hovered:
            self.points.hovered = point
            self.viewport().update()

    # ---- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        editable = not self.document.read_only
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        elif event.matches(QKeySequence.StandardKey.Paste) and editable:
            self.paste(QGuiApplication.clipboard().text())
        elif event.key() == Qt.Key.Key_Delete and editable:
            self.remove_chosen()
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        point = self.points.lines[index.row()].point if index.isValid() else -1
        if point != self.points.hovered:
            self.set_hovered(point)
            self.hovered.emit(point)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.set_hovered(-1)
        self.hovered.emit(-1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        free = max(self.viewport().width() - 52, 200)
        narrow = self.viewport().width() < 520
        self.setColumnHidden(SHARE, narrow)
        shares = {SIZE: 0.17, TIME: 0.18, RATE: 0.17, SHARE: 0.15, SOURCE: 0.33}
        if narrow:
            shares = {SIZE: 0.20, TIME: 0.26, RATE: 0.24, SHARE: 0.0, SOURCE: 0.30}
        for column in range(len(HEADS)):
            self.setColumnWidth(column, 52 if column == NUMBER else int(free * shares[column]))
