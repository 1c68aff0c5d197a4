"""The findings as a table that is also a tree: a finding that repeats part of another hangs under it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from workbench.gui import fonts, icons, theme
from workbench.gui.analyse.words import ratio_or_dash, where_words
from workbench.gui.widgets import paint_severity, paint_speedup_bar
from workbench.model.finding import Finding
from workbench.model.text import ratio_text, time_text
from workbench.pictures.signs import TICKS, axis_x

Align = Qt.AlignmentFlag
Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
ROW_PX = 34
#: With less room for its words the table says where in the finding's own column.
WHERE_FROM_PX = 560
NUMBER, SHAPE, TITLE, WHERE, TIME, BAR, CAP, IDEAL = range(8)
HEADS = ("#", "", "Finding", "Where", "Time", "", "Cap", "Ideal")
_TIPS = (
    "Rank by what the best advice gains at most", "How much: over 2×, 1.2 to 2×, below", "", "",
    "Time this bottleneck takes", "Speedup of the whole run, logarithmic: solid within reach, hatched beyond the cap",
    "Cap: what the best of its advice gains at most",
    "Ideal: T / (T − t), as if nothing else were in the way",
)  # fmt: skip
_WIDTHS = {NUMBER: 44, SHAPE: 30, TIME: 84, CAP: 76, IDEAL: 88}


class FindingModel(QAbstractItemModel):
    """Findings in the order given; those with a `part_of` among them are its children."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tops: list[Finding] = []
        self.parts: dict[str, list[Finding]] = {}
        self.aside: frozenset[str] = frozenset()
        self.ranks: dict[str, int] = {}
        self._keys: dict[int, str] = {}  # internal id of a part -> its parent's finding id

    def set_findings(self, findings: Sequence[Finding], aside: Collection[str], ranks: dict[str, int]) -> None:
        self.beginResetModel()
        shown = {f.id for f in findings}
        self.tops = [f for f in findings if f.part_of not in shown]
        self.parts = {}
        for finding in findings:
            if finding.part_of in shown:
                self.parts.setdefault(finding.part_of, []).append(finding)
        self.aside, self.ranks = frozenset(aside), ranks
        self._keys = {row + 1: top.id for row, top in enumerate(self.tops)}
        self.endResetModel()

    def finding(self, index: Index) -> Finding | None:
        if not index.isValid():
            return None
        if index.internalId() == 0:
            return self.tops[index.row()]
        return self.parts[self._keys[index.internalId()]][index.row()]

    def index_of(self, finding_id: str) -> QModelIndex:
        for row, top in enumerate(self.tops):
            if top.id == finding_id:
                return self.index(row, TITLE)
            for part_row, part in enumerate(self.parts.get(top.id, ())):
                if part.id == finding_id:
                    return self.index(part_row, TITLE, self.index(row, 0))
        return QModelIndex()

    def index(self, row: int, column: int, parent: Index = _NO_PARENT) -> QModelIndex:
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index | None = None) -> QModelIndex:  # type: ignore[override]
        if index is None or not index.isValid() or index.internalId() == 0:
            return QModelIndex()
        return self.createIndex(index.internalId() - 1, 0, 0)

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        if not parent.isValid():
            return len(self.tops)
        if parent.internalId() or parent.column() > 0:
            return 0
        return len(self.parts.get(self.tops[parent.row()].id, ()))

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        return len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return _TIPS[section] if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        finding = self.finding(index)
        if finding is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(finding, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            if index.column() == BAR:
                return f"ideal {ratio_text(finding.speedup_ideal)}, cap {ratio_or_dash(finding.speedup_cap)}"
            if index.column() == TITLE:
                return f"{finding.title}. {finding.explanation}".strip()
            return finding.where if index.column() == WHERE else None
        return None

    def text(self, finding: Finding, column: int) -> str:
        texts = {
            NUMBER: str(self.ranks.get(finding.id, "")), TITLE: finding.title, WHERE: where_words(finding),
            TIME: time_text(finding.time_s), CAP: ratio_or_dash(finding.speedup_cap),
            IDEAL: ratio_or_dash(finding.speedup_ideal),
        }  # fmt: skip
        return texts.get(column, "")


class FindingHeader(QHeaderView):
    """The heads, with the log axis over the bars."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFixedHeight(30)

    def paintSection(self, painter: QPainter, rect: object, section: int) -> None:
        box = QRectF(rect)  # type: ignore[call-overload]
        painter.save()
        painter.fillRect(box, theme.colour("sunken"))
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(box.bottomLeft() + QPointF(0, -0.5), box.bottomRight() + QPointF(0, -0.5))
        painter.setPen(theme.colour("second"))
        painter.setFont(fonts.ui_font(12, 500))
        if section == BAR:
            painter.setFont(fonts.ui_font(11, 400))
            painter.setPen(theme.colour("muted"))
            left, width = bar_span(box)
            last = -100.0
            for tick in TICKS:
                x = axis_x(tick, left, width)
                if x - last < 27:
                    continue
                last = x
                painter.drawText(QRectF(x - 20, box.top(), 40, box.height()), Align.AlignCenter, f"{tick}×")
        else:
            align = Align.AlignRight if section in (TIME, CAP, IDEAL) else Align.AlignLeft
            pad = box.adjusted(16 if section == NUMBER else 8, 0, -16 if section == IDEAL else -8, 0)
            painter.drawText(pad, align | Align.AlignVCenter, HEADS[section])
        painter.restore()


def bar_span(cell: QRectF) -> tuple[float, float]:
    """Left and width of the log axis in its column."""
    return cell.left() + 20, max(cell.width() - 40, 10)


class FindingDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, ROW_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        finding = model.finding(index) if isinstance(model, FindingModel) else None
        if finding is None or not isinstance(model, FindingModel):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        part = bool(index.internalId())
        column = index.column()
        if chosen:
            painter.fillRect(box, theme.colour("selection"))
        if column == BAR:
            self._paint_bar(painter, box, finding)
        elif column == SHAPE:
            level = "aside" if finding.id in model.aside else finding.severity
            size = 17 if level == "high" else 16
            paint_severity(painter, box.left() + 6, box.center().y() - size / 2, size, level)
        else:
            text, where = model.text(finding, column), ""
            view = self.parent()
            if column == TITLE and isinstance(view, FindingTable) and view.isColumnHidden(WHERE):
                where = where_words(finding)
                if part:
                    text, where = where, ""
            self._paint_text(painter, box, text, column, finding, part, where)
        painter.setPen(QPen(theme.colour("rule"), 1))
        y = option.rect.bottom() + 0.5
        painter.drawLine(QPointF(box.left() + (16 if column == NUMBER else 0), y), QPointF(box.right(), y))
        if chosen and column == NUMBER:
            painter.fillRect(QRectF(0, box.top(), 3, box.height()), theme.colour("accent"))
        painter.restore()

    def _paint_text(
        self, painter: QPainter, box: QRectF, text: str, column: int, finding: Finding, part: bool, where: str
    ) -> None:
        known = finding.speedup_cap is not None
        strong = (column == TITLE and not part) or (column == CAP and known) or (column == IDEAL and not known)
        colour = "text" if strong or column in (TITLE, TIME) else "second" if column == WHERE else "muted"
        painter.setFont(fonts.ui_font(13, 600 if strong else 400))
        painter.setPen(theme.colour(colour))
        right = column in (TIME, CAP, IDEAL)
        pad = box.adjusted(16 if column == NUMBER else 8, 0, -16 if column == IDEAL else -8, 0)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(pad.width()))
        painter.drawText(pad, (Align.AlignRight if right else Align.AlignLeft) | Align.AlignVCenter, shown)
        if column == TITLE and where:
            rest = pad.adjusted(painter.fontMetrics().horizontalAdvance(shown) + 8, 0, 0, 0)
            if rest.width() > LEAST_WHERE_PX:
                painter.setFont(fonts.ui_font(12, 400))
                painter.setPen(theme.colour("second"))
                shown = painter.fontMetrics().elidedText(where, Qt.TextElideMode.ElideRight, int(rest.width()))
                painter.drawText(rest, Align.AlignLeft | Align.AlignVCenter, shown)

    def _paint_bar(self, painter: QPainter, box: QRectF, finding: Finding) -> None:
        left, width = bar_span(box)
        painter.setPen(QPen(theme.colour("rule"), 1))
        for tick in TICKS[1:]:
            x = round(axis_x(tick, left, width)) - 0.5
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        bar = QRectF(left, round(box.center().y()) - 5, width, 10)
        paint_speedup_bar(painter, bar, finding.gain, finding.speedup_cap, finding.speedup_ideal)


#: Where a finding is, is left out of its row (to the details) where it would have less room than this.
LEAST_WHERE_PX = 90


class FindingTable(QTreeView):
    """The table. `chosen` tells the finding that was selected by the person, `line_wanted` asks for its source."""

    chosen = Signal(str)
    line_wanted = Signal(str)
    aside_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.findings = FindingModel(self)
        self.setModel(self.findings)
        self.setHeader(FindingHeader(self))
        self.setItemDelegate(FindingDelegate(self))
        self.setTreePosition(TITLE)
        self.setIndentation(18)
        self.setUniformRowHeights(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Findings")
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header().setMinimumSectionSize(24)
        self._quiet = False

    def show_findings(self, findings: Sequence[Finding], aside: Collection[str], ranks: dict[str, int]) -> None:
        self._quiet = True
        self.findings.set_findings(findings, aside, ranks)
        self.expandAll()
        self._quiet = False

    def select_finding(self, finding_id: str) -> None:
        """Follow the shared selection, without telling it back."""
        self._quiet = True
        index = self.findings.index_of(finding_id) if finding_id else QModelIndex()
        self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)
        else:
            self.clearSelection()
        self._quiet = False

    def current_finding(self) -> Finding | None:
        return self.findings.finding(self.currentIndex())

    def step(self, by: int) -> None:
        """The next or previous finding."""
        index = self.indexBelow(self.currentIndex()) if by > 0 else self.indexAbove(self.currentIndex())
        if not self.currentIndex().isValid():
            index = self.findings.index(0, TITLE)
        if index.isValid():
            self.setCurrentIndex(index)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        finding = self.findings.finding(current)
        if finding is not None and not self._quiet:
            self.chosen.emit(finding.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        free = self.viewport().width() - sum(_WIDTHS.values())
        narrow = free < WHERE_FROM_PX
        self.setColumnHidden(WHERE, narrow)
        shares = {TITLE: 0.62, WHERE: 0.0, BAR: 0.38} if narrow else {TITLE: 0.36, WHERE: 0.27, BAR: 0.37}
        for column in range(len(HEADS)):
            self.header().resizeSection(column, _WIDTHS.get(column) or max(60, int(free * shares[column])))

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """The fold arrow, on the row's own ground and rule."""
        if self.selectionModel().isRowSelected(index.row(), index.parent()):
            painter.fillRect(rect, theme.colour("selection"))
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom())
        first = self.findings.index(index.row(), 0, index.parent())
        if self.findings.rowCount(first):
            name = "chevron-down" if self.isExpanded(first) else "chevron-right"
            icons.draw_icon(painter, name, rect.left() + 2, rect.center().y() - 7)

    def mouseDoubleClickEvent(self, event: object) -> None:
        finding = self.current_finding()
        if finding is not None:
            self.line_wanted.emit(finding.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        finding = self.current_finding()
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        elif finding is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.line_wanted.emit(finding.id)
        elif finding is not None and event.key() == Qt.Key.Key_Delete:
            self.aside_wanted.emit(finding.id)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        finding = self.findings.finding(self.indexAt(event.pos()))
        if finding is None:
            return
        menu = QMenu(self)
        menu.addAction("Open line\tEnter", lambda: self.line_wanted.emit(finding.id))
        aside = finding.id in self.findings.aside
        menu.addAction("Take back" if aside else "Set aside\tDel", lambda: self.aside_wanted.emit(finding.id))
        menu.addAction("Copy table\tCtrl+C", lambda: QGuiApplication.clipboard().setText(self.as_text()))
        menu.exec(event.globalPos())

    def as_text(self) -> str:
        """The table as tab-separated text."""
        columns = (NUMBER, TITLE, WHERE, TIME, CAP, IDEAL)
        rows = ["\t".join(HEADS[c] for c in columns)]
        for top in self.findings.tops:
            for finding in (top, *self.findings.parts.get(top.id, ())):
                rows.append("\t".join(self.findings.text(finding, c) for c in columns))
        return "\n".join(rows)
