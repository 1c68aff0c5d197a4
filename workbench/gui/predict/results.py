"""The results of a RATSS model: its figures, its timing diagram, and tables as the paper prints them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.gui import theme
from workbench.gui.predict.figures import Figure, Figures
from workbench.gui.predict.table_view import TableView
from workbench.gui.predict.tables import (
    PaperTable,
    error_table,
    is_printed,
    model_tables,
    paper_tables,
    points_of,
    run_table,
)
from workbench.gui.predict.timing import timing_of
from workbench.gui.predict.timing_view import TimingView
from workbench.gui.predict.words import stage_equation
from workbench.gui.widgets import Button, ElidedLabel, Legend, PanelHeader, PillButton, rule
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.model.text import percent_text, ratio_text, thousands, time_text
from workbench.predict.calibrate import RunComparison, compare_with_run
from workbench.predict.errors import quantities
from workbench.predict.ratss import Prediction, RatssModelFile, predict, tree_notes

PAGES = ("Application", "Nodes", "Networks", "Measured", "As printed")


class Results(QWidget):
    """`take_over_wanted` asks to write the open run's measurements into the model."""

    take_over_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.file: RatssModelFile | None = None
        self.prediction: Prediction | None = None
        self.comparison: RunComparison | None = None
        self.page = PAGES[0]
        self._tables: dict[str, tuple[PaperTable, ...]] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.figures = Figures(4)
        column.addWidget(self.figures)
        column.addWidget(rule())
        self.timing_head = PanelHeader("When each part happens", "", 20)
        self.timing_head.add(Legend((Category.WORK, Category.OVERHEAD, Category.SEND, Category.RECV)))
        column.addWidget(self.timing_head)
        self.timing = TimingView()
        self.timing_area = _scrolling(self.timing)
        column.addWidget(self.timing_area, 2)
        column.addWidget(rule())
        self.table_head = PanelHeader("Tables", "", 20)
        self.pills: dict[str, PillButton] = {}
        for page in PAGES:
            pill = PillButton(page, checked=page == self.page)
            pill.setAutoExclusive(True)
            pill.clicked.connect(lambda checked=False, page=page: self.show_page(page))
            self.table_head.add(pill)
            self.pills[page] = pill
        column.addWidget(self.table_head)
        column.addWidget(self._run_bar())
        self.table = TableView()
        column.addWidget(_scrolling(self.table), 3)

    def _run_bar(self) -> QWidget:
        """Above the measured tables: the open run, and its values taken over in one click."""
        self.run_bar = QWidget()
        theme.set_ground(self.run_bar, "sunken")
        row = QHBoxLayout(self.run_bar)
        row.setContentsMargins(20, 6, 16, 6)
        self.run_said = ElidedLabel("", "smallsecond")
        self.take_over = Button("Take measured values over")
        self.take_over.clicked.connect(self.take_over_wanted.emit)
        row.addWidget(self.run_said, 1)
        row.addWidget(self.take_over)
        self.run_bar.hide()
        return self.run_bar

    def show_model(
        self, file: RatssModelFile, changes: dict[str, float], reading: str | None, run: Run | None, read_only: bool
    ) -> None:
        """Compute and show. Raises WorkbenchError where the model has no value at these inputs."""
        self.file = file
        self.prediction = predict(file, changes, reading)
        placed = replace(file, inputs={name: float(v) for name, v in file.at(changes, reading).items()})
        self.timing.show_timing(timing_of(placed, self.prediction))
        self.timing_area.setMaximumHeight(self.timing.sizeHint().height() + 6)
        uneven = next(iter(tree_notes(file, changes, reading)), None)
        self._show_figures(self.prediction, uneven)
        kinds = {stage_equation(s.overlapped) for s in file.model.stages}
        self.timing_head.set_title("When each part happens", "  ".join(sorted(kinds)))
        points = ({**changes},) if changes else points_of(file)
        application, nodes, networks = model_tables(file, points, reading)
        error = error_table(file, reading)
        self._compare(file, run, reading, read_only)
        measured = [run_table(self.comparison)] if self.comparison else []
        self._tables = {
            "Application": (application,),
            "Nodes": (nodes,),
            "Networks": (networks,),
            "Measured": (*measured, *([error] if error else [])),
        }
        shown = {**self._tables, "As printed": is_printed(file)}
        for page, pill in self.pills.items():
            pill.setVisible(bool(shown[page]) or (page == "Measured" and run is not None))
        self.show_page(self.page if not self.pills[self.page].isHidden() else PAGES[0])

    def _show_figures(self, found: Prediction, uneven: Diagnostic | None) -> None:
        whole = quantities(found)
        comp, comm, total = (float(whole[key] or 0.0) for key in ("comp_s", "comm_s", "total_s"))
        rounds = sum(int(n) for n in found.iterations.values())
        figures = (
            Figure("Speedup", ratio_text(float(found.speedup)) if found.speedup is not None else "–",
                   "over the software" if found.speedup is not None else "no software time given",
                   "baseline_s / t_application"),
            Figure("Total", time_text(total, 4),
                   f"{thousands(rounds)} iteration{'s' if rounds != 1 else ''}", "Eq. 17"),
            Figure("Computation", time_text(comp), f"{percent_text(comp / total)} of total" if total else "",
                   "Eq. 12, all iterations"),
            Figure("Communication", time_text(comm),
                   f"{percent_text(comm / total)} of total" if total else "",
                   f"{uneven.message}. {uneven.hint}" if uneven else "Eq. 14, all iterations"),
        )  # fmt: skip
        self.figures.show_figures(figures if found.speedup is not None else (*figures[1:], figures[0]))

    def _compare(self, file: RatssModelFile, run: Run | None, reading: str | None, read_only: bool) -> None:
        self.comparison = None
        said = ""
        if run is not None:
            try:
                self.comparison = compare_with_run(file, run, reading)
            except WorkbenchError as error:
                first = error.diagnostics[0]
                said = f"Not against {run.manifest.name}: {first.message}. {first.hint}"
            else:
                said = "Each part's correction becomes measured over predicted, without waiting."
                for found in self.comparison.diagnostics:
                    said += f" {found.message[:1].upper()}{found.message[1:]}."
        self.run_said.setText(said)
        can = self.comparison is not None and bool(self.comparison.corrections)
        self.take_over.setVisible(can)
        self.take_over.setEnabled(not read_only)
        self.take_over.setToolTip("Save as copy first: bundled models are not changed" if read_only else "Undo: Ctrl+Z")

    def show_page(self, page: str) -> None:
        self.page = page
        self.pills[page].setChecked(True)
        if page == "As printed" and page not in self._tables and self.file:
            self._tables[page] = paper_tables(self.file)
        self.table.show_tables(self._tables.get(page, ()))
        self.run_bar.setVisible(page == "Measured" and bool(self.run_said.text()))


def _scrolling(widget: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    theme.set_ground(area.viewport(), "panel")
    inside = QWidget()
    theme.set_ground(inside, "panel")
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(widget)
    column.addStretch(1)
    area.setWidget(inside)
    return area
