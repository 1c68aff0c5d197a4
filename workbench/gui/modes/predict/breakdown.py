"""The details of Predict mode: one design point in full. Its figures, each part with its equation, its inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QWidget

from workbench.api.predictions import PartLine, Results
from workbench.api.views import Figure
from workbench.api.window import colour, set_ground, state_colour
from workbench.gui.look import fonts
from workbench.gui.look.painting import label as paint_label
from workbench.gui.look.painting import wrapped_label
from workbench.gui.modes.predict.figures import Figures
from workbench.gui.views.canvas import text_width
from workbench.gui.widgets import Button, ElidedLabel, draw_swatch, label, plain_column, rule, scrolled
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.row_view import EDGE_PX, GAP_PX, RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import capitalised
from workbench.predict.formulas import Evaluation
from workbench.predict.words import input_text, input_title, input_written

PART_PX, WRAPPED_PX, INPUT_PX, NAMED_PX, SWATCH_PX, BAR_PX, VALUE_PX = 44, 60, 28, 42, 20, 76, 112
_MIDDLE = Qt.TextElideMode.ElideMiddle  # titles of inputs begin alike and end unlike


class PartTable(RowView):
    """Parts under what they are parts of: a swatch, the equation below the name, a bar below the value."""

    def __init__(self) -> None:
        super().__init__("Parts", (
            Column("Part", lambda part: part.name, share=1.0, key=lambda part: part.name, paint=_paint_part,
                   tip_of=lambda part: part.equation),
            Column("Value", lambda part: part.value, width_px=BAR_PX + EDGE_PX + 8, right=True,
                   key=lambda part: part.share, paint=_paint_value),
            Column("Equation", lambda part: part.equation),
        ), PART_PX)  # fmt: skip
        self.setColumnHidden(2, True)  # it is below the name, and is copied
        self.setIndentation(0)

    def show_parts(self, parts: Sequence[PartLine]) -> None:
        rows: list[tuple[PartLine, list[PartLine]]] = []
        for part in parts:
            if part.equation and rows and not rows[-1][0].equation:
                rows[-1][1].append(part)
            else:
                rows.append((part, []))
        self.show_rows(rows)
        self.show_whole()

    def lay_out_columns(self) -> None:
        """Rows have a second line of the name where one name has no room for itself."""
        super().lay_out_columns()
        parts = (part for top, below in zip(self.rows.tops, self.rows.parts, strict=True) for part in (top, *below))
        rooms = ((part, self.columnWidth(0) - _before_name_px(part) - 4) for part in parts if part.equation)
        wrapped = any(text_width(part.name, 13, _weight(part)) > room for part, room in rooms)
        if self.row_px != (row_px := WRAPPED_PX if wrapped else PART_PX):
            self.row_px = row_px
            self.scheduleDelayedItemsLayout()
            self.show_whole()


def _before_name_px(part: PartLine) -> int:
    return EDGE_PX + (SWATCH_PX if part.equation and not part.strong else 0)


def _weight(part: PartLine) -> int:
    return 400 if part.equation and not part.strong else 600


def _paint_part(painter: QPainter, box: QRectF, part: PartLine) -> None:
    left = box.left() + _before_name_px(part)
    if part.equation and not part.strong:
        draw_swatch(painter, left - SWATCH_PX, round(box.top() + 8), 12, 10, part.category)
    room, weight = box.right() - left - 4, _weight(part)
    below = box.bottom() - PART_PX if part.equation else box.top()  # of the equation, under one line
    two_lines = QRectF(left, box.top() + 5, room, box.height() - 25)
    if not part.equation or not wrapped_label(painter, two_lines, part.name, 13, weight):
        one_line = QRectF(left, box.top(), room, 26 if part.equation else box.height())
        paint_label(painter, one_line, part.name, "text", 13, weight)
        below = box.top()
    painter.setFont(fonts.code_font(11))
    painter.setPen(colour("muted"))
    fits = painter.fontMetrics().horizontalAdvance(part.equation) <= room
    words = part.equation if fits else part.equation.rpartition("   ")[2]  # the paper's equation alone
    shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideMiddle, round(room))
    painter.drawText(QRectF(left, below + 23, room, 16), Qt.AlignmentFlag.AlignVCenter, shown)


def _paint_value(painter: QPainter, box: QRectF, part: PartLine) -> None:
    inside = QRectF(box.left(), box.top(), box.width() - EDGE_PX, 26 if part.equation else box.height())
    paint_label(painter, inside, part.value, "text", 13, 600, Qt.AlignmentFlag.AlignRight)
    if part.equation:
        bar = QRectF(inside.right() - BAR_PX, box.top() + 27, BAR_PX, 8)
        painter.fillRect(bar, colour("track"))
        ink = colour("accent") if part.strong else state_colour(part.category)
        painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * min(part.share, 1.0), 8), ink)


@dataclass(frozen=True)
class InputRow:
    """An input as it is looked at: `written` exactly, and `own`, the model's, where that is another."""

    name: str
    title: str
    text: str
    written: str | None
    value: float
    own: str = ""


class InputTable(RowView):
    """The inputs, typed in as a what-if. `typed` carries a name and a text, `taken_back` the name of one."""

    typed = Signal(str, str)
    taken_back = Signal(str)

    def __init__(self) -> None:
        super().__init__("Inputs", (
            Column("Input", lambda row: row.title, share=0.66, key=lambda row: row.title, ink=_input_ink, elide=_MIDDLE,
                   paint=self._paint_title, beside_px=EDGE_PX + GAP_PX, tip_of=lambda row: f"{row.title}, {row.name}"),
            Column("Name", lambda row: row.name, share=0.34, key=lambda row: row.name,
                   ink=lambda row: ("muted", 12, 400), tip_of=lambda row: f"{row.title}, {row.name}"),
            Column("Value", lambda row: row.text, width_px=VALUE_PX, right=True, key=lambda row: row.value,
                   ink=_input_ink,
                   tip_of=lambda row: f"the model has {row.own}" if row.own else "type a value for a what-if",
                   typed=lambda row, text: self.typed.emit(row.name, text), written=lambda row: row.written),
        ), INPUT_PX)  # fmt: skip

    def _paint_title(self, painter: QPainter, box: QRectF, row: InputRow) -> None:
        inside = self.inside(box, 0)
        too_long = self.isColumnHidden(1) and text_width(row.title, 13) > inside.width()
        if too_long and wrapped_label(painter, inside, row.title, 12):  # its name is in the tooltip
            return
        if self.isColumnHidden(1) and row.name != row.title:
            paint_label(painter, inside.adjusted(0, 21, 0, -3), row.name, "muted", 11, 400)
            inside = inside.adjusted(0, 3, 0, -19)
        self.write(painter, inside, 0, row)

    def lay_out_columns(self) -> None:
        """Names are below the titles where one of both would be cut off beside the other."""
        needed = sum(self._need(column) or 0.0 for column in range(3))
        below = needed > self.viewport().width()
        self.setColumnHidden(1, below)
        super().lay_out_columns()
        if self.row_px != (row_px := NAMED_PX if below else INPUT_PX):
            self.row_px = row_px
            self.scheduleDelayedItemsLayout()
            self.show_whole()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.current is not None:
            self.taken_back.emit(self.current.name)
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the panel's
        else:
            super().keyPressEvent(event)


def _input_ink(row: InputRow) -> tuple[str, int, int]:
    return ("link", 13, 600) if row.own else ("text", 13, 400)


class Breakdown(QWidget):
    """The right panel. `reset_wanted` asks for the model's own values, or layers, again; `keep_wanted` to write those
    that are looked at into the model."""

    reset_wanted = Signal()
    keep_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        head = QWidget()
        self.title, self.subtitle = label("", "finding", wrap=True), ElidedLabel("", "smallsecond")
        self.keep = Button("Keep", kind="link", on=self.keep_wanted.emit)
        self.reset = Button("Reset", kind="link", on=self.reset_wanted.emit)
        self.reset.setToolTip("Back to the model's own values (Esc)")
        below = row_layout((self.subtitle, 1), self.keep, self.reset, spacing=12)
        column_layout(self.title, below, of=head, margins=(EDGE_PX, 14, EDGE_PX, 4), spacing=2)
        self.figures = Figures(3)
        body = column_layout(margins=(0, 12, 0, 16), spacing=6)
        self.parts_title, self.parts = label("", "strong"), PartTable()
        self.inputs_title, self.inputs = label("Inputs", "strong"), InputTable()
        self.problem = label("", "high", wrap=True)
        self._parts_rule = rule()
        for widget in (
            self.parts_title, self.parts, self._parts_rule, self.inputs_title, self.problem, self.inputs,
        ):  # fmt: skip
            body.addWidget(widget)
        for said in (self.parts_title, self.inputs_title, self.problem):
            said.setContentsMargins(EDGE_PX, 0, EDGE_PX, 0)
        body.addStretch(1)
        self._figures_rule = rule()
        plain_column(self, head, self.figures, self._figures_rule, (scrolled("Breakdown", body), 1))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.reset.isHidden():
            self.reset_wanted.emit()
        else:
            super().keyPressEvent(event)

    def clear(self) -> None:
        self.title.setText("No prediction")
        self.subtitle.setText("")
        for button in (self.reset, self.keep):
            button.hide()
        self._show_figures(())
        self._show_parts("", ())
        self._show_inputs(())

    def say_problem(self, problem: Diagnostic) -> None:
        """What is wrong with what was typed."""
        self.problem.setText(f"{capitalised(problem.message)}. {problem.hint}")
        self.problem.show()

    def show_results(self, values: Evaluation, results: Results, beside: bool) -> None:
        """A design point: what it comes to, part by part, and where it is; without its figures where a strip of
        figures is `beside` it."""
        file = values.file
        at = ", ".join(f"{name} = {input_text(file, name, float(value))}" for name, value in values.changes.items())
        self.title.setText(at or values.model.title or values.model.name)
        self.subtitle.setText(results.said)
        for button in (self.reset, self.keep):
            button.setVisible(bool(values.changes))
        self._show_figures(() if beside else results.point)
        self._show_parts(results.parts_title, results.parts)
        rows = [_input_row(values, name) for name in values.inputs]
        more = {} if beside and results.shares else results.more  # these are among the shares
        heads = [head for head, given in (("Inputs", rows), ("results", more)) if given]
        self.inputs_title.setText(" and ".join(heads).capitalize() or "Inputs")
        self._show_inputs([*rows, *(InputRow("result", name, text, None, 0.0) for name, text in more.items())])

    def _show_figures(self, figures: tuple[Figure, ...]) -> None:
        self.figures.show_figures(figures)
        for widget in (self.figures, self._figures_rule):
            widget.setVisible(bool(figures))

    def choose_part(self, name: str) -> None:
        """Select the row of a part."""
        self.parts.choose(lambda part: part.name == name)

    def _show_parts(self, title: str, parts: Sequence[PartLine]) -> None:
        self.parts_title.setText(title)
        self.parts.show_parts(parts)
        for widget in (self.parts_title, self.parts, self._parts_rule):
            widget.setVisible(bool(parts))

    def allow_keeping(self, possible: bool) -> None:
        self.keep.setEnabled(possible)
        self.keep.setToolTip("Undo: Ctrl+Z" if possible else "Save as copy first: bundled models are not changed")

    def _show_inputs(self, rows: Sequence[InputRow]) -> None:
        self.problem.hide()
        at = self.inputs.current
        self.inputs.show_rows([(row, ()) for row in rows])
        self.inputs.choose(lambda row: at is not None and row.name == at.name)
        self.inputs.show_whole()
        for widget in (self.inputs_title, self.inputs):
            widget.setVisible(bool(rows))


def _input_row(values: Evaluation, name: str) -> InputRow:
    file, value = values.file, float(values.inputs[name])
    own = input_text(file, name, float(file.at({}, values.reading)[name])) if name in values.changes else ""
    written = str(input_written(file, name, value))
    return InputRow(name, input_title(file, name), input_text(file, name, value), written, value, own)
