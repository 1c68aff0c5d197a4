"""The findings as a table that is also a tree: a finding that repeats part of another hangs under it."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from PySide6.QtCore import QModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QMenu

from workbench.analysis.finding_page import FOLD, finding_table
from workbench.api.views import Table
from workbench.gui.look.painting import label
from workbench.gui.widgets import paint_severity
from workbench.gui.widgets.row_view import GAP_PX
from workbench.gui.widgets.rows import Column
from workbench.gui.widgets.table_view import TableView
from workbench.model.finding import Finding

_MIDDLE = Qt.TextElideMode.ElideMiddle
#: With less room for its words the table says where in the finding's own column.
WHERE_FROM_PX = 560
#: Where a finding is, is left out of its row (to the details) where it would have less room than this.
LEAST_WHERE_PX = 90
LEAST_BAR_PX = 64
NUMBER, SHAPE, TITLE, WHERE, TIME, BAR, PREDICTED = range(7)


class FindingTable(TableView):
    """`finding_chosen` carries the finding that a person went to; Delete asks to set it aside."""

    finding_chosen = Signal(str)
    aside_wanted = Signal(str)

    def __init__(self) -> None:
        self.aside: frozenset[str] = frozenset()
        super().__init__(finding_table((), {}), tree_column=TITLE)
        self.setRootIsDecorated(True)
        self.setIndentation(18)
        self.chosen.connect(self._tell)

    def show_findings(
        self, findings: Sequence[Finding], aside: Collection[str], ranks: dict[str, int], every: Sequence[Finding] = ()
    ) -> None:
        """Findings in the order given, of `every` one of the run."""
        self.aside = frozenset(aside)
        self.show_table(finding_table(findings, ranks, aside, every))

    def columns_of(self, table: Table) -> tuple[Column, ...]:
        columns = list(super().columns_of(table))
        columns[SHAPE] = replace(columns[SHAPE], paint=self._paint_sign)
        columns[TITLE] = replace(columns[TITLE], paint=self._paint_title, beside_px=2 * GAP_PX)
        return tuple(columns)

    def _unfold(self) -> None:
        super()._unfold()
        fold = self.rows.index_where(lambda finding: finding.id == FOLD)
        if fold.isValid():
            self.collapse(fold)

    def _tell(self, row: Finding) -> None:
        if row.id != FOLD:
            self.finding_chosen.emit(row.id)

    def step_finding(self, by: int) -> None:
        """Go to the next or previous finding that is shown; after the last one comes the first. Opens what is folded
        where no other is shown."""
        if sum(self._is_finding(row) for row in self._shown()) < 2:
            self.expandAll()
        shown = self._shown()
        here = self.currentIndex().siblingAtColumn(0)
        at = shown.index(here) if here in shown else -1 if by > 0 else 0
        others = (shown[(at + by * n) % len(shown)] for n in range(1, len(shown) + 1))
        if target := next(filter(self._is_finding, others), None):
            self.setCurrentIndex(target)

    def _shown(self) -> list[QModelIndex]:
        """The rows that are shown, from the top."""
        shown, index = [], self.rows.index(0, 0)
        while index.isValid():
            shown.append(index)
            index = self.indexBelow(index)
        return shown

    def _is_finding(self, index: QModelIndex) -> bool:
        return (row := self.rows.row(index)) is not None and row.id != FOLD

    def select_finding(self, finding_id: str) -> None:
        """Follow the shared selection, without telling it back."""
        self.choose(lambda finding: finding.id == finding_id)

    def lay_out_columns(self) -> None:
        """The interval goes first where there is little room, then the place, which is then in the title's cell, and
        last the bound, so that no title is cut."""
        columns = self.rows.columns
        if len(columns) <= BAR:
            return
        room = self.viewport().width()
        interval = next((n for n, column in enumerate(columns) if column.head == "Interval"), 0)
        for number in filter(None, (interval, WHERE)):
            fixed = sum(c.width_px for n, c in enumerate(columns) if not self.isColumnHidden(n) or n == number)
            self.setColumnHidden(number, room - fixed < WHERE_FROM_PX)
        short = False
        if interval:  # the tick of the bar says the bound too
            fixed = sum(c.width_px for n, c in enumerate(columns) if n not in (interval, WHERE))
            short = self.isColumnHidden(WHERE) and room - fixed < (self._need(TITLE) or 0.0) + LEAST_BAR_PX
            self.setColumnHidden(len(columns) - 1, short)
        super().lay_out_columns()
        if self.isColumnHidden(WHERE):  # the bar gives the title what it needs, and the last figure its edge
            head, wanted = self.header(), {TITLE: self._need(TITLE) or 0.0}
            wanted |= {PREDICTED: columns[PREDICTED].width_px + GAP_PX} if short else {}
            for number, pixels in wanted.items():
                more = min(math.ceil(pixels) - head.sectionSize(number), head.sectionSize(BAR) - LEAST_BAR_PX)
                if more > 0:
                    head.resizeSection(BAR, head.sectionSize(BAR) - more)
                    head.resizeSection(number, head.sectionSize(number) + more)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.current is not None:
            self.aside_wanted.emit(self.current.id)
        elif event.key() == Qt.Key.Key_Space and self.rows.rowCount(self.currentIndex().siblingAtColumn(0)):
            index = self.currentIndex().siblingAtColumn(0)
            self.setExpanded(index, not self.isExpanded(index))
        else:
            super().keyPressEvent(event)

    def fill_menu(self, menu: QMenu, row: Finding) -> None:
        super().fill_menu(menu, row)
        text = "Take back" if row.id in self.aside else "Set aside\tDel"
        menu.addAction(text, lambda: self.aside_wanted.emit(row.id))

    # ---- painting

    def _paint_sign(self, painter: QPainter, box: QRectF, finding: Finding) -> None:
        if level := self.table.columns[SHAPE].text(finding):
            size = 17 if level == "high" else 16
            paint_severity(painter, box.left() + 6, box.center().y() - size / 2, size, level)

    def _paint_title(self, painter: QPainter, box: QRectF, finding: Finding) -> None:
        """The title, and where there is no column for it the place."""
        column = self.table.columns[TITLE]
        text, ink = column.text(finding), column.ink(finding)
        inside = box.adjusted(GAP_PX, 0, -GAP_PX, 0)
        elide = _MIDDLE if text != finding.title else Qt.TextElideMode.ElideRight  # places begin alike and end unlike
        used = label(painter, inside, text, *ink, elide=elide)
        rest = inside.adjusted(used + 8, 0, 0, 0)
        if self.isColumnHidden(WHERE) and rest.width() > LEAST_WHERE_PX:
            label(painter, rest, self.table.columns[WHERE].text(finding), "second", 12, elide=_MIDDLE)
