"""The transfer-time table: edited in place, a problem under its row, linked to the curve."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from workbench.analysis.transfer_fit import residual_text
from workbench.api.window import colour, set_ground, state_colour
from workbench.formats import yaml_edit
from workbench.gui.look.painting import label as paint_label
from workbench.gui.modes.platform.points import (
    TablePoint,
    fit_of,
    fix_for,
    next_point,
    pasted_points,
    points_of,
    points_path,
    readable,
    with_sources,
)
from workbench.gui.views.canvas import font
from workbench.gui.widgets import Button, label, paint_severity
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.cell_typing import commit_cell
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, RowView
from workbench.gui.widgets.rows import Column, Row
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import Category
from workbench.model.text import capitalised, counted, rate_text
from workbench.session.edit.yaml_document import YamlDocument

SIZE, TIME, SHARE, OFF, SOURCE = 1, 2, 4, 5, 6
ROW_PX, PROBLEM_PX, SOURCE_PX = 28, 62, 6  # of a row; over and under a source
SHARE_FROM_PX, OFF_FROM_PX = 520, 420


@dataclass(frozen=True)
class Line:
    """A row of the view: the point of that number, or what is wrong with it, which hangs under it."""

    number: int
    point: TablePoint
    problem: bool = False

    @property
    def level(self) -> str:
        """The severity of what is wrong with the point; "" where nothing is."""
        if self.point.problem is None:
            return ""
        return "high" if self.point.problem.severity is Severity.ERROR else "medium"


def _of_point(text: Callable[[TablePoint], str]) -> Callable[[Line], str]:
    return lambda line: "" if line.problem else text(line.point)


class PointTable(RowView):
    """The table. `hovered` carries the point under the pointer, or -1; `refused` why a text could not be pasted."""

    hovered = Signal(int)
    refused = Signal(object)

    def __init__(self, document: YamlDocument) -> None:
        self.document = document
        self.table = ""
        self.points: tuple[TablePoint, ...] = ()
        #: The table's name, its points, and whether the document is read only.
        self._shown: tuple[str, tuple[TablePoint, ...], bool] | None = None
        self._off: dict[int, float] = {}  # by the number of the point, how far it is off the fit
        self.hovered_point = -1
        self._said: dict[int, QWidget] = {}  # by the number of the point that it is said of
        small, plain = ("second", 12, 400), ("text", 13, 400)

        def typed(head: str, shown: Callable[[TablePoint], str], key: str, written: Callable[[TablePoint], str],
                  **more: object) -> Column:  # fmt: skip
            def own(line: Line) -> str | None:
                return None if line.problem or document.read_only else written(line.point)

            return Column(head, _of_point(shown), typed=partial(self._type, key), written=own,
                          **more)  # type: ignore[arg-type]  # fmt: skip

        super().__init__("Transfer times", (
            Column("#", lambda line: "" if line.problem else str(line.number + 1), width_px=44, right=True,
                   ink=lambda line: small, paint=self._paint_number),
            typed("Size", lambda p: p.size_shown, "bytes", lambda p: p.size_text, width_px=72, right=True,
                  paint=_paint_size),
            typed("Time", lambda p: p.time_shown, "time_s", lambda p: p.time_text, width_px=78,
                  right=True, tip_of=_of_point(lambda p: p.time_tip)),
            Column("Rate", _of_point(lambda p: rate_text(p.rate) if p.rate else "–"), width_px=88, right=True,
                   ink=lambda line: plain),
            Column("Of best", share=0.4, paint=self._paint_share),
            Column("Fit error", _of_point(self._off_text), width_px=72, right=True, ink=lambda line: small,
                   tip="difference to the time by the fitted latency and bandwidth"),
            typed("From", lambda p: p.source, "source", lambda p: p.source, share=0.6, ink=lambda line: small,
                  paint=self._paint_source),
        ), ROW_PX)  # fmt: skip
        self.setIndentation(0)
        self.setItemsExpandable(False)
        self.setUniformRowHeights(False)
        self.setMouseTracking(True)

    def show_table(self, table: str) -> None:
        points = points_of(self.document, table) if table else ()
        if (table, points, self.document.read_only) == self._shown:
            return  # a cell that is being edited stays open
        self._shown = table, points, self.document.read_only
        scrolled, current = self.verticalScrollBar().value(), self.current
        kept = current.number if current is not None and table == self.table else -1
        self.table = table
        self.points = points
        fit = fit_of(self.points)
        self._off = dict(zip(readable(self.points), fit.residuals, strict=True)) if fit else {}
        self.show_rows([
            (Line(n, point), [Line(n, point, problem=True)] if point.problem else [])
            for n, point in enumerate(self.points)
        ])  # fmt: skip
        self._said = {n: self._problem_row(n) for n, point in enumerate(self.points) if point.problem}
        for n, said in self._said.items():
            above = self.rows.index(n, 0)
            self.setFirstColumnSpanned(0, above, True)
            self.setIndexWidget(self.rows.index(0, 0, above), said)
        self.choose(lambda line: line.number == kept)
        self.verticalScrollBar().setValue(scrolled)

    def _off_text(self, point: TablePoint) -> str:
        number = next((n for n, one in enumerate(self.points) if one is point), -1)
        return residual_text(self._off[number]) if number in self._off else ""

    def _problem_row(self, at: int) -> QWidget:
        """What is wrong with a row, where, and the button that fixes it if that is certain."""
        problem = self.points[at].problem
        assert problem is not None
        bad = problem.severity is Severity.ERROR
        box = QWidget()
        set_ground(box, "none")
        row = row_layout(of=box, margins=(60, 6, 16, 8), spacing=12)
        what = label(f"{capitalised(problem.message)}.", "strong", wrap=True)
        place = f"line {problem.line}, column {problem.column}. "
        tail = "Until you fix this, the saved file does not change." if bad else problem.hint
        column = column_layout(what, label(place + tail, "smallsecond", wrap=True), spacing=2)
        row.addLayout(column, 1)
        fix = fix_for(self.points, self.table, at)
        if fix and not self.document.read_only:
            button = Button(fix.label, on=lambda: self.document.apply(fix.label, fix.edit))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return box

    # ---- changes

    def _type(self, key: str, line: Line, text: str) -> None:
        """Write a cell; a size or a time cannot be emptied."""
        text = text.strip()
        if text or key == "source":
            typed: object = int(text) if text.isdigit() and key != "source" else text
            name = {"bytes": "size", "time_s": "time", "source": "source"}[key]
            path = (*points_path(self.table), line.number, key)
            self.document.set(path, typed, f"Change the {name} in row {line.number + 1}")

    def commit(self) -> None:
        """Take over what is in the cell being edited."""
        commit_cell(self)

    def add_point(self) -> None:
        self.document.append(points_path(self.table), next_point(self.points), "Add a size")
        self.scrollToBottom()

    def paste(self, text: str) -> bool:
        """Put the rows of a spreadsheet in place of the table's, which must then hold at least one."""
        rows = with_sources(pasted_points(text), self.points)
        if not rows:
            hint = "Copy rows with a size and a time, such as 4 KiB and 20 us, and perhaps a source."
            self.refused.emit(Diagnostic("the clipboard holds no row of a transfer table", hint, Severity.WARNING))
        return bool(rows) and self.document.set(points_path(self.table), rows, f"Paste {counted(len(rows), 'size')}")

    def remove_chosen(self) -> None:
        lines = [self.rows.row(index) for index in self.selectionModel().selectedRows()]
        chosen = sorted({line.number for line in lines if line is not None}, reverse=True)
        path = points_path(self.table)
        if chosen and len(chosen) < len(self.points):

            def edit(text: str) -> str:
                for at in chosen:
                    text = yaml_edit.remove_item(text, (*path, at))
                return text

            self.document.apply(f"Remove {len(chosen)} size{'s' if len(chosen) > 1 else ''}", edit)

    def as_text(self, rows: Sequence[Row] | None = None) -> str:
        """Points, or all of them, as the file has them, to be pasted again."""
        points = self.points if rows is None else [line.point for line in rows if not line.problem]
        return "\n".join("\t".join((p.size_text, p.time_text, p.source)) for p in points)

    def set_hovered(self, point: int) -> None:
        """Follow the curve."""
        if point != self.hovered_point:
            self.hovered_point = point
            self.viewport().update()

    # ---- painting

    def ground(self, row: Line, chosen: bool) -> str:
        if not row.problem and (chosen or row.number == self.hovered_point):
            return "selection" if chosen else "track"
        return f"{row.level}_ground" if row.level else ""

    def height_of(self, row: Line | None) -> int:
        if row is not None and not row.problem:
            return max(ROW_PX, round(self._source_px(row.point.source)) + 2 * SOURCE_PX)
        said = self._said.get(row.number) if row is not None and row.problem else None
        return max(PROBLEM_PX, said.heightForWidth(self.viewport().width())) if said else ROW_PX

    def _source_px(self, source: str) -> float:
        """How high the text of a row's source is in the width of its column."""
        room = QRectF(0, 0, self.columnWidth(SOURCE) - GAP_PX - EDGE_PX, 0)
        return QFontMetricsF(font(12, 400)).boundingRect(room, Qt.TextFlag.TextWordWrap, source).height()

    def _paint_source(self, painter: QPainter, box: QRectF, line: Line) -> None:
        """Where a row's figures are from, in as many lines as it takes."""
        if not line.problem:
            painter.setFont(font(12, 400))
            painter.setPen(colour("second"))
            where = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(box.adjusted(GAP_PX, 0, -EDGE_PX, 0), where, line.point.source)

    def _paint_number(self, painter: QPainter, box: QRectF, line: Line) -> None:
        if line.level:
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), colour(line.level))
        if line.problem:
            return
        if line.level:
            paint_severity(painter, box.left() + 8, box.center().y() - 8, 16, line.level)
        number = box.adjusted(0, 0, -8, 0)
        paint_label(painter, number, str(line.number + 1), "second", 12, align=Qt.AlignmentFlag.AlignRight)

    def _paint_share(self, painter: QPainter, box: QRectF, line: Line) -> None:
        best = max((point.rate or 0.0 for point in self.points), default=0.0)
        bar = QRectF(box.left() + 8, round(box.center().y()) - 4, box.width() - 16, 8)
        painter.fillRect(bar, colour("track"))
        bar.setWidth(bar.width() * (line.point.rate or 0.0) / best if best else 0.0)
        painter.fillRect(bar, state_colour(Category.SEND))

    def lay_out_columns(self) -> None:
        self.setColumnHidden(SHARE, self.viewport().width() < SHARE_FROM_PX)
        self.setColumnHidden(OFF, self.viewport().width() < OFF_FROM_PX)
        super().lay_out_columns()
        self.scheduleDelayedItemsLayout()  # what is said breaks into other lines

    # ---- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        editable = not self.document.read_only
        if event.matches(QKeySequence.StandardKey.Paste) and editable:
            self.paste(QGuiApplication.clipboard().text())
        elif event.key() == Qt.Key.Key_Delete and editable:
            self.remove_chosen()
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        line = self.rows.row(self.indexAt(event.position().toPoint()))
        point = line.number if line is not None else -1
        if point != self.hovered_point:
            self.set_hovered(point)
            self.hovered.emit(point)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.set_hovered(-1)
        self.hovered.emit(-1)


def _paint_size(painter: QPainter, box: QRectF, line: Line) -> None:
    """A size; framed where it is wrong."""
    wrong = line.level == "high"
    ink = ("high", 13, 600) if wrong else ("text", 13, 400)
    paint_label(painter, box.adjusted(8, 0, -8, 0), line.point.size_shown, *ink, Qt.AlignmentFlag.AlignRight)
    if wrong:
        painter.setPen(QPen(colour("high"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(6, 3, -2, -3), 4, 4)
