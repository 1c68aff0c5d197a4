"""Models of memory layers: rho by store size with the layers as handles, each layer's bound, the roofline."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu, QStackedWidget, QWidget

from workbench.api.job import Job
from workbench.api.predictions import Density, DensityPoint, Layer, LayerModel, MeasuredDensity, Results
from workbench.api.window import Context, PlotView
from workbench.gui.modes.predict import pieces
from workbench.gui.modes.predict.figures import Figures
from workbench.gui.modes.predict.platforms_view import PlatformMenu, PlatformsView
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import Button, ElidedLabel, PanelHeader, Split, plain_column, plain_panel, rule, scrolled
from workbench.gui.widgets.boxes import row_layout
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import percent_text, time_text
from workbench.pictures.density import bound_bars, bytes_of, rho_plot, roofline
from workbench.predict.density_curve import rho_curve
from workbench.predict.formulas import Evaluation

NARROW_PX = 640
LEAST_PX, LEAST_NARROW_PX = 520, 720  # in less the plots' axes would be cut


class DensityView(QWidget):
    """`changed` says that the layers are being moved; `dropped` carries them at a move's end, None for the model's."""

    changed = Signal()
    dropped = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._measured: tuple[str, MeasuredDensity] | None = None
        self.values: Evaluation | None = None
        self.of: LayerModel | None = None
        self.results: Results | None = None
        self.result: Density | None = None
        self.moved: tuple[Layer, ...] | None = None
        self._own: tuple[Layer, ...] = ()
        self.figures = Figures(4)
        curve = self._curve_panel()
        self._below = Split((self._bars_panel(), 520), (self._roof_panel(), 420))
        self.platforms = PlatformsView(context, self.platform_menu)
        self.stack = QStackedWidget()
        self._plots = Split((curve, 430), (self._below, 340), vertical=True)
        self.stack.addWidget(scrolled("Density", self._plots))
        self.stack.addWidget(self.platforms)
        plain_column(self, self.figures, rule(), (self.stack, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow room the lower plots are under one another; in a low one all is scrolled."""
        super().resizeEvent(event)
        narrow = self.width() < NARROW_PX
        below = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if self._below.orientation() is not below:
            self._below.setOrientation(below)
            self._plots.want(*((260, 460) if narrow else (430, 340)))
        self._plots.setMinimumHeight(LEAST_NARROW_PX if narrow else LEAST_PX)

    def _curve_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.curve_head = PanelHeader("Density by memory size")
        self.reset_button = Button("Reset", on=self.reset)
        self.reset_button.setToolTip("Reset the layers to the model's values")
        self.measure_button = Button("Measure a kernel")
        self.measure_button.setToolTip("Compile and run a C kernel, and draw its measured density")
        self.kernel_menu = QMenu(self.measure_button)
        self.measure_button.setMenu(self.kernel_menu)
        self.stop_button = Button("Stop measuring", on=self.stop_measuring)
        self.stop_button.hide()
        self.platform_menu = PlatformMenu()
        self.platform_menu.chosen_changed.connect(self._show_platforms)
        compare = Button("Compare platforms")
        compare.setToolTip("Compare with the memory layers of other platforms")
        compare.setMenu(self.platform_menu)
        self.curve_head.add(compare)
        self.curve_head.add(self.measure_button)
        self.curve_head.add(self.stop_button)
        self.curve_head.add(self.reset_button)
        column.addWidget(self.curve_head)
        self.curve = PlotView("Density by memory size", 300)
        self.curve.problem.connect(self._context.notices.tell)
        self.curve.moved.connect(self.move_layer)
        self.curve.dropped.connect(lambda: self.dropped.emit(self.moved))
        column.addWidget(pieces.padded(self.curve), 1)
        return panel

    def _bars_panel(self) -> QWidget:
        panel, column = plain_panel()
        column.addWidget(PanelHeader("Rate that each layer allows", "sigma, operations a second"))
        self.bars = BarsView("Bounds")
        self.bars.problem.connect(self._context.notices.tell)
        column.addWidget(self.bars, 1)
        self.why = ElidedLabel("", "smallsecond")
        holder = row_layout(self.why, margins=(16, 4, 12, 8))
        column.addLayout(holder)
        return panel

    def _roof_panel(self) -> QWidget:
        panel, column = plain_panel()
        column.addWidget(PanelHeader("Roofline", "each layer's bandwidth, limited by the compute bound"))
        self.roof = PlotView("Roofline", 240)
        self.roof.problem.connect(self._context.notices.tell)
        column.addWidget(pieces.padded(self.roof), 1)
        return panel

    # ---- data

    def show_model(self, values: Evaluation) -> None:
        """Compute and show; layers moved stay only at the same point. Raises WorkbenchError where there is no value."""
        before, self.values = self.values, values
        if before is None or values.model.name != before.model.name:
            self._measured = None
            self.stop_measuring()
        if before is None or before.file.kind is not values.file.kind:
            assert values.file.kind.layers is not None
            self.of = values.file.kind.layers()
            self._fill_menu(self.of)
        if before is None or before.file is not values.file or (
            (before.changes, before.reading) != (values.changes, values.reading)
        ):  # fmt: skip
            self.moved = None
        assert self.of is not None
        self._own = self.of.layers(values)
        self.platform_menu.offer(self.of.platforms(values))
        self._show()

    def _fill_menu(self, of: LayerModel) -> None:
        self.kernel_menu.clear()
        for title, (kernel, arguments) in of.kernels().items():
            self.kernel_menu.addAction(title).triggered.connect(partial(self.measure_kernel, title, kernel, arguments))
        self.kernel_menu.addSeparator()
        self.kernel_menu.addAction("A C file of yours…").triggered.connect(self._choose_kernel)

    def measure_kernel(self, title: str, kernel: Path, arguments: Sequence[str], checked: bool = False) -> None:
        """Compile and run a kernel in the background, and draw what its loads say beside the model's curve."""
        of = self.of
        assert of is not None

        def work(job: Job) -> MeasuredDensity:
            with job.step(f"Measuring {title}"):
                return of.measure(kernel, arguments, job=job)

        def done(measured: MeasuredDensity) -> None:
            self._measured = (title, measured)
            self._show_measuring(False)
            self._show()

        def failed(diagnostics: tuple[Diagnostic, ...]) -> None:
            self._show_measuring(False)
            self._context.notices.tell(*diagnostics)

        self._show_measuring(True)
        self._context.background.start_job("kernel", work, done, failed)

    def stop_measuring(self) -> None:
        """Give up the kernel that is measured: its programs are ended, and what was measured before stays."""
        self._context.background.cancel("kernel")
        self._show_measuring(False)

    def _show_measuring(self, under_way: bool) -> None:
        self.measure_button.setVisible(not under_way)
        self.stop_button.setVisible(under_way)

    def _choose_kernel(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Compile, run and measure a kernel", "", "C files (*.c)")
        if name:
            text, given = QInputDialog.getText(self, "Measure a kernel", "Arguments of the program")
            if given:
                self.measure_kernel(Path(name).name, Path(name), text.split())

    def reset(self) -> None:
        """The model's own layers again, and no measured curve."""
        self._measured = None
        self.set_layers(None)
        self.dropped.emit(None)

    def set_layers(self, layers: tuple[Layer, ...] | None) -> None:
        """Show these layers; None for the model's own."""
        self.moved = layers
        self._show()
        self.changed.emit()

    def move_layer(self, number: int, size_bytes: float, bytes_per_s: float) -> None:
        """Put a layer elsewhere in the what-if: its size and its bandwidth."""
        now = list(self.moved or self._own)
        now[number] = replace(now[number], layer_bytes=size_bytes, bandwidth_bytes_per_s=bytes_per_s)
        self.moved = tuple(now)
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        assert self.values is not None
        assert self.of is not None
        self.result = self.of.density(self.values, self.moved)
        self.results = self.of.results(self.values, self.result if self.moved else None)
        self.figures.show_figures(self.results.figures)
        self._show_curve(self.values, self.of, self.moved or self._own)
        self.bars.show_bars(bound_bars(self.result))
        self.roof.show_plot(roofline(self.result))
        self.reset_button.setEnabled(self.moved is not None or self._measured is not None)
        self._show_platforms()
        least = min(self.result.bounds, key=lambda b: float(b.ops_per_s), default=None)
        self.why.setText(
            f"Latency takes {percent_text(1 - float(least.ops_per_s) / float(least.ops_per_s_without_latency))} of "
            f"{least.layer.name} ({time_text(float(least.layer.latency_s))} a transfer)."
            if least and least.layer.latency_s
            else ""
        )

    def _show_platforms(self) -> None:
        """The platforms side by side where any is chosen, in place of the model's own layers."""
        names, values, of = self.platform_menu.chosen, self.values, self.of
        if not names or values is None or of is None:
            self.stack.setCurrentIndex(0)
            return
        title, measured = self._measured or ("", None)

        def compare() -> None:
            compared = of.compared(values, names, measured)
            said = f"by the measured density: {title}" if title else "by the model's density"
            self.platforms.show_platforms(compared, of.compared_table(values, compared), said)

        self.stack.setCurrentIndex(1 if self._context.notices.attempt(compare) else 0)

    def _show_curve(self, values: Evaluation, of: LayerModel, now: Sequence[Layer]) -> None:
        least_bytes = 2.0 * self._measured[1].element_bytes if self._measured else None
        assert self.result is not None
        said = "drag a layer sideways for its size, up for its bandwidth" if now else "the model has no memory layer"
        points: Sequence[DensityPoint] = ()
        if self._measured:
            title, measured = self._measured
            points = of.beside(values, measured)
            worst = max((p for p in points if math.isfinite(p.difference_pct)), key=lambda p: abs(p.difference_pct))
            said = (
                f"measured: {title}; largest difference to the model {worst.difference_pct:+.1f} % at "
                f"{bytes_of(worst.alpha_bytes)}"
            )
        self.curve_head.set_title("Density by memory size", said)
        operation = getattr(values.model, "operation", "operation")
        self.curve.show_plot(
            rho_plot(*rho_curve(of, values, self._own, least_bytes), now, self.result.binding_layer, operation, points)
        )
