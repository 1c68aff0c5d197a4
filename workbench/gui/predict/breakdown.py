"""The details of Predict mode: one design point in full. Its figures, each part with its equation, its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.gui import fonts, theme
from workbench.gui.predict.figures import Figure, Figures
from workbench.gui.predict.words import input_text, move_equation, node_equation, output_text, output_title, prefixed
from workbench.gui.timeline.look import label as paint_label
from workbench.gui.widgets import Button, ElidedLabel, draw_swatch, label, rule
from workbench.model.pragma import Category
from workbench.model.text import percent_text, ratio_text, significant, time_text
from workbench.predict.density import Density, DensityModelFile
from workbench.predict.formulas import ModelFile
from workbench.predict.ratss import Prediction, RatssModelFile

LINE_PX, WIDE_PX, HEAD_PX = 44, 58, 28
_RIGHT = Qt.AlignmentFlag.AlignRight


@dataclass(frozen=True)
class PartLine:
    """A part of the time: `share` of the largest. `category` None with no equation is a heading."""

    name: str
    value: str
    share: float
    equation: str
    category: Category | None = None
    strong: bool = False


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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
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
        for widget in (self.parts_title, self.parts, rule(), self.inputs_title, self.inputs):
            self._column.addWidget(widget)
        self._column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self._body)
        column.addWidget(area, 1)

    def clear(self) -> None:
        self.title.setText("No model")
        self.subtitle.setText("")
        self.reset.hide()
        self.figures.show_figures(())
        self.parts_title.setText("")
        self.parts.show_lines(())
        self._show_inputs({}, {}, None)

    def show_prediction(
        self, file: RatssModelFile, found: Prediction, inputs: Mapping[str, float], changes: Mapping[str, float]
    ) -> None:
        """A design point of a RATSS model."""
        self._head(file, changes, "the design point" if changes else "the model's own values")
        speedup = ratio_text(float(found.speedup)) if found.speedup is not None else "–"
        spent = max((float(v) for v in found.stage_s.values()), default=0.0)
        longest = max(found.stage_s, key=lambda n: float(found.stage_s[n]), default="")
        self.figures.show_figures((
            Figure("Total", time_text(float(found.total_s))),
            Figure("Speedup", speedup),
            Figure("Longest stage", time_text(spent), longest),
        ))  # fmt: skip
        self.parts_title.setText("Each part, once an iteration")
        self.parts.show_lines(prediction_lines(file, found))
        resources = {output_title(n): output_text(n, float(v)) for n, v in found.resources.items()}
        self._show_inputs(dict(inputs), changes, file, resources)

    def show_density(
        self, file: DensityModelFile, found: Density, inputs: Mapping[str, float], changes: Mapping[str, float],
        moved: bool,
    ) -> None:  # fmt: skip
        """A density model, with its layers as they stand or were moved."""
        what = "layers moved, a what-if; " if moved else ""
        self._head(file, changes, f"{what}bound by {found.binding or 'nothing'}")
        self.reset.setVisible(moved or bool(changes))
        op = file.model.operation
        self.figures.show_figures((
            Figure("Reachable", rate(float(found.limit_ops_per_s), "/s"), f"{op}s"),
            Figure("Balance", ratio_text(float(found.balance)), "largest bound over least"),
        ))  # fmt: skip
        self.parts_title.setText("Each layer")
        self.parts.show_lines(density_lines(found, op))
        self._show_inputs(dict(inputs), changes, file)

    def _head(self, file: ModelFile, changes: Mapping[str, float], what: str) -> None:
        at = ", ".join(f"{name} = {input_text(file, name, value)}" for name, value in changes.items())
        self.title.setText(at or file.model.title or file.model.name)
        self.subtitle.setText(what)
        self.reset.setVisible(bool(changes))

    def _show_inputs(
        self, inputs: Mapping[str, float], changes: Mapping[str, float], file: ModelFile | None,
        more: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        while item := self._inputs.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.inputs_title.setVisible(bool(inputs))
        for name, value in inputs.items():
            title = file.model.inputs[name].title if file and name in file.model.inputs else ""
            shown = input_text(file, name, value) if file else significant(value)
            self._add_row(title or name, name, shown, name in changes)
        for name, text in (more or {}).items():
            self._add_row(name, "resource", text, False)

    def _add_row(self, title: str, name: str, value: str, changed: bool) -> None:
        row = self._inputs.rowCount()
        self._inputs.addWidget(ElidedLabel(title, "strong" if changed else "second"), row, 0)
        symbol = ElidedLabel(name, "codemuted")
        symbol.least_px = LEAST_SYMBOL_PX
        self._inputs.addWidget(symbol, row, 1)
        self._inputs.addWidget(label(value, "strong" if changed else ""), row, 2, _RIGHT)


def rate(value: float, unit: str) -> str:
    return prefixed(value, unit) if value != float("inf") else "no bound"


def prediction_lines(file: RatssModelFile, found: Prediction) -> list[PartLine]:
    """Stages with their nodes and transactions, longest bar the longest part."""
    longest = max((float(v) for v in found.parts.values()), default=1.0) or 1.0
    lines: list[PartLine] = []
    for stage in file.model.stages:
        lines.append(PartLine(f"Stage {stage.name}", time_text(float(found.stage_s[stage.name])), 0.0, ""))
        for node in stage.nodes:
            spent = float(found.parts[stage.name, node.name])
            lines.append(PartLine(node.name, time_text(spent), spent / longest, node_equation(node), Category.WORK))
        for move in stage.transactions:
            spent = float(found.parts[stage.name, move.name])
            back = move.returns or move.kind in ("gather", "reduce")
            state = Category.RECV if back else Category.SEND
            lines.append(PartLine(move.name, time_text(spent), spent / longest, move_equation(move), state))
    return lines


def density_lines(found: Density, operation: str) -> list[PartLine]:
    bounds = [(b.layer.name, float(b.ops_per_s)) for b in found.bounds]
    if found.compute_ops_per_s is not None:
        bounds.append(("processing elements", float(found.compute_ops_per_s)))
    most = max((v for _, v in bounds), default=1.0) or 1.0
    lines = []
    for bound in found.bounds:
        layer = bound.layer
        lost = 1 - float(bound.ops_per_s) / float(bound.ops_per_s_without_latency)
        said = (
            f"rho {rate(float(bound.ops_per_byte), '/B')} × {rate(float(layer.bandwidth_bytes_per_s), 'B/s')}, "
            f"less {percent_text(lost)}   Eq. 6"
        )
        name = layer.name + (" (binds)" if layer.name == found.binding else "")
        lines.append(
            PartLine(name, rate(float(bound.ops_per_s), "/s"), float(bound.ops_per_s) / most, said, None, True)
        )
    if found.compute_ops_per_s is not None:
        value = float(found.compute_ops_per_s)
        name = "Processing elements" + (" (bind)" if found.binding == "processing elements" else "")
        lines.append(PartLine(name, rate(value, "/s"), value / most, "units × operations a cycle × clock", None, True))
    return lines
