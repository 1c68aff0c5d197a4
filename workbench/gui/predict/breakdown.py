"""The details of Predict mode: one design point in full. Its figures, each part with its equation, its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from workbench.api.models import Values
from workbench.api.predictions import PartLine, Results
from workbench.gui import fonts, theme
from workbench.gui.predict.figures import Figures
from workbench.gui.timeline.look import label as paint_label
from workbench.gui.widgets import Button, ElidedLabel, draw_swatch, label, plain_column, rule, scrolled
from workbench.predict.formulas import Evaluation
from workbench.predict.words import input_text

LINE_PX, WIDE_PX, HEAD_PX = 44, 58, 28
_RIGHT = Qt.AlignmentFlag.AlignRight


LEAST_SYMBOL_PX = 64  # an input's symbol is left out where it has less room


class PartLines(QWidget):
    """Parts with a swatch, a bar, a value, and the equation under them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: tuple[PartLine, ...] = ()
        self.current = ""

    def show_lines(self, lines: Sequence[PartLine]) -> None:
        self.lines = tuple(lines)
        self.setFixedHeight(sum(_line_px(x) for x in self.lines) + 4)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        y = 0.0
        for line in self.lines:
            high = _line_px(line)
            if line.name == self.current and line.equation:
                painter.fillRect(QRectF(0, y, self.width(), high), theme.colour("selection"))
            self._paint(painter, y, line)
            y += high

    def _paint(self, painter: QPainter, y: float, line: PartLine) -> None:
        room = self.width() - 4.0
        if not line.equation:
            paint_label(painter, QRectF(0, y, room - 90, HEAD_PX), line.name, "text", 13, 600)
            paint_label(painter, QRectF(room - 90, y, 90, HEAD_PX), line.value, "text", 13, 600, _RIGHT)
            return
        if not line.strong:
            draw_swatch(painter, 0, round(y + 7), 12, 10, line.category)
        left = 0.0 if line.strong else 20.0
        weight = 600 if line.strong else 400
        paint_label(painter, QRectF(left, y, room - (92 if line.strong else 200), 24), line.name, "text", 13, weight)
        bar = QRectF(0, y + 25, room, 8) if line.strong else QRectF(room - 170, y + 8, 76, 8)
        painter.fillRect(bar, theme.colour("track"))
        ink = theme.colour("accent") if line.strong else theme.state_colour(line.category)
        painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * min(line.share, 1.0), 8), ink)
        paint_label(painter, QRectF(room - 90, y, 90, 24), line.value, "text", 13, 600, _RIGHT)
        painter.setFont(fonts.code_font(11))
        painter.setPen(theme.colour("muted"))
        shown = painter.fontMetrics().elidedText(line.equation, Qt.TextElideMode.ElideRight, round(room - 20))
        below = y + (36 if line.strong else 22)
        painter.drawText(QRectF(left, below, room - left, 16), Qt.AlignmentFlag.AlignVCenter, shown)


def _line_px(line: PartLine) -> int:
    return (WIDE_PX if line.strong else LINE_PX) if line.equation else HEAD_PX


class Breakdown(QWidget):
    """The right panel. `reset_wanted` asks for the model's own values, or layers, again."""

    reset_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        theme.set_ground(self, "panel")
        column = plain_column(self)
        head = QWidget()
        inner = QVBoxLayout(head)
        inner.setContentsMargins(20, 14, 16, 4)
        inner.setSpacing(2)
        top = QHBoxLayout()
        self.title = ElidedLabel("", "finding")
        self.reset = Button("Reset", kind="link")
        self.reset.clicked.connect(self.reset_wanted.emit)
        top.addWidget(self.title, 1)
        top.addWidget(self.reset)
        inner.addLayout(top)
        self.subtitle = ElidedLabel("", "smallsecond")
        inner.addWidget(self.subtitle)
        column.addWidget(head)
        self.figures = Figures(3)
        column.addWidget(self.figures)
        column.addWidget(rule())
        self._body = QWidget()
        theme.set_ground(self._body, "panel")
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(20, 12, 16, 16)
        self._column.setSpacing(6)
        self.parts_title = label("", "strong")
        self.parts = PartLines()
        self.inputs_title = label("Inputs", "strong")
        self.inputs = QWidget()
        self._inputs = QGridLayout(self.inputs)
        self._inputs.setContentsMargins(0, 0, 0, 0)
        self._inputs.setHorizontalSpacing(8)
        self._inputs.setVerticalSpacing(3)
        self._inputs.setColumnStretch(0, 5)
        self._inputs.setColumnStretch(1, 3)
        self._parts_rule = rule()
        for widget in (self.parts_title, self.parts, self._parts_rule, self.inputs_title, self.inputs):
            self._column.addWidget(widget)
        self._column.addStretch(1)
        column.addWidget(scrolled(self._body), 1)

    def clear(self) -> None:
        self.title.setText("No model")
        self.subtitle.setText("")
        self.reset.hide()
        self.figures.show_figures(())
        self.parts_title.setText("")
        self.parts.show_lines(())
        self._show_inputs(None, {})

    def show_results(self, values: Evaluation, found: Results) -> None:
        """A design point: what it comes to, part by part, and where it is."""
        at = ", ".join(f"{name} = {input_text(values.file, name, value)}" for name, value in _plain(values.changes))
        self.title.setText(at or values.model.title or values.model.name)
        self.subtitle.setText(found.said)
        self.reset.setVisible(bool(values.changes))
        self.figures.show_figures(found.point)
        self.parts_title.setText(found.parts_title)
        self.parts.show_lines(found.parts)
        for widget in (self.parts_title, self.parts, self._parts_rule):
            widget.setVisible(bool(found.parts))
        self._show_inputs(values, found.more)

    def _show_inputs(self, values: Evaluation | None, more: Mapping[str, str]) -> None:
        while item := self._inputs.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.inputs_title.setVisible(values is not None and bool(values.inputs))
        if values is not None:
            for name, value in _plain(values.inputs):
                given = values.model.inputs.get(name)
                shown = input_text(values.file, name, value)
                self._add_row((given and given.title) or name, name, shown, name in values.changes)
        for name, text in more.items():
            self._add_row(name, "resource", text, False)

    def _add_row(self, title: str, name: str, value: str, changed: bool) -> None:
        row = self._inputs.rowCount()
        self._inputs.addWidget(ElidedLabel(title, "strong" if changed else "second"), row, 0)
        symbol = ElidedLabel(name, "codemuted")
        symbol.least_px = LEAST_SYMBOL_PX
        self._inputs.addWidget(symbol, row, 1)
        self._inputs.addWidget(label(value, "strong" if changed else ""), row, 2, _RIGHT)


def _plain(inputs: Mapping[str, Values]) -> list[tuple[str, float]]:
    return [(name, float(value)) for name, value in inputs.items()]
