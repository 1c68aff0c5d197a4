"""The results of a model: its figures, its timing diagram, and tables as a paper prints them."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.api.predictions import Chart, PaperTable, Results, RunComparison, Timing
from workbench.api.window import PlotView, set_ground
from workbench.gui.modes.predict.figures import Figures
from workbench.gui.modes.predict.table_view import TableView
from workbench.gui.modes.predict.timing_view import TimingView
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    Legend,
    PanelHeader,
    PillButton,
    plain_column,
    plain_panel,
    rule,
    scrolled,
)
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.gui.widgets.scroll_area import ScrollArea
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.model.text import capitalised
from workbench.pictures.charts import chart_plot
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.shares import share_bars
from workbench.predict.tables import error_table, is_printed, paper_tables, run_table

MEASURED, PRINTED = "Measured", "As printed"
TABLES_BELOW_PX = 280  # under bars, which take their whole height
BELOW_TABLES_PX, MOST_PX = 16, 16_777_215  # Qt's for a widget without a maximum


class ResultsView(QWidget):
    """`take_over_wanted` asks to write the open run's measurements into the model, `run_wanted` to open the run in a
    folder: that of a point that was clicked, or of a row that was opened. `part_chosen` carries the name of a part that
    was clicked."""

    take_over_wanted = Signal()
    run_wanted = Signal(str)
    part_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.file: ModelFile | None = None
        self.comparison: RunComparison | None = None
        self.page = ""
        self._tables: dict[str, tuple[PaperTable, ...]] = {}
        self._charts: Mapping[str, Chart] = {}
        column = column_layout(margins=(0, 0, 0, 0), spacing=0)
        plain_column(self).addWidget(scrolled("Results", column))  # where the window is low, the page scrolls
        self.figures = Figures(6)
        column.addWidget(self.figures)
        column.addWidget(rule())
        self.timing_head = PanelHeader("When each part happens")
        self.timing_head.add(Legend((Category.WORK, Category.OVERHEAD, Category.SEND, Category.RECV)))
        column.addWidget(self.timing_head)
        self.timing = TimingView()
        self.timing.chosen.connect(lambda number: self.part_chosen.emit(self.timing.timing.bars[number].name))
        self.timing_area = _scrolling(self.timing)
        column.addWidget(self.timing_area, 2)
        self.timing_rule = rule()
        column.addWidget(self.timing_rule)
        self.shares_head = PanelHeader("")
        self.shares = BarsView("Shares")
        for widget in (self.shares_head, self.shares):
            column.addWidget(widget, 3 if widget is self.shares else 0)
        self.table_head = PanelHeader("Tables")
        self.pills: dict[str, PillButton] = {}
        column.addWidget(self.table_head)
        column.addWidget(self._run_bar())
        self.chart = PlotView("Chart", 240)
        column.addWidget(self.chart, 2)
        self.chart.chosen.connect(self._point_chosen)
        self.table = TableView()
        self.table.run_wanted.connect(self.run_wanted)
        self.table_area = _scrolling(self.table)
        column.addWidget(self.table_area, 3)

    def _run_bar(self) -> QWidget:
        """Above the measured tables: the open run, and its values taken over in one click."""
        self.run_bar = QWidget()
        set_ground(self.run_bar, "sunken")
        self.run_said = ElidedLabel("", "smallsecond")
        self.take_over = Button("Use the measured values", on=self.take_over_wanted.emit)
        row_layout((self.run_said, 1), self.take_over, of=self.run_bar, margins=(16, 6, 16, 6))
        self.run_bar.hide()
        return self.run_bar

    def show_results(self, values: Evaluation, results: Results, run: Run | None, read_only: bool) -> None:
        """Show what a model comes to; beside a run where its kind can be held against one."""
        self.file = values.file
        self.timing.show_timing(results.timing or Timing((), (), (), 0.0))
        self.timing_area.setMaximumHeight(self.timing.sizeHint().height() + 6)
        for widget in (self.timing_head, self.timing_area, self.timing_rule):
            widget.setVisible(results.timing is not None)
        self.figures.show_figures(results.figures)
        self._show_shares(results)
        if results.timing:
            self.timing_head.set_title("When each part happens", results.timing.note)
        error = error_table(values.file, results.errors)
        self._compare(values, run, read_only)
        measured = [run_table(self.comparison)] if self.comparison else []
        self._charts = results.charts
        self._tables = {**results.tables, MEASURED: (*measured, *([error] if error else []))}
        self._show_pills([*self._tables, PRINTED])
        shown = {**self._tables, PRINTED: is_printed(values.file)}
        compared = run is not None and values.file.kind.compare is not None
        for page, pill in self.pills.items():
            pill.setVisible(bool(shown[page]) or (page == MEASURED and compared))
        there = [page for page, pill in self.pills.items() if not pill.isHidden()]
        self.pills[there[0]].setVisible(len(there) > 1)  # one alone offers no choice
        self.show_page(self.page if self.page in there else there[0])

    def _point_chosen(self, line: int, point: int) -> None:
        self._want(self._charts[self.page].curves[line].run_at(point))

    def _want(self, run: str) -> None:
        if run:
            self.run_wanted.emit(run)

    def _show_shares(self, results: Results) -> None:
        for widget in (self.shares_head, self.shares):
            widget.setVisible(bool(results.shares))
        self.table_area.setMinimumHeight(TABLES_BELOW_PX if results.shares else 0)
        self.shares_head.set_title(results.shares_title, "")
        self.shares.show_bars(share_bars(results.shares, results.shares_title))
        self.shares.setFixedHeight(self.shares.sizeHint().height())  # every bar is to be seen

    def _show_pills(self, pages: list[str]) -> None:
        """A pill for each page; they are made again where the pages are others."""
        if list(self.pills) == pages:
            return
        for pill in self.pills.values():
            pill.hide()
            pill.deleteLater()
        self.pills = {}
        for page in pages:
            pill = PillButton(page)
            pill.setAutoExclusive(True)
            pill.clicked.connect(lambda checked=False, page=page: self.show_page(page))
            self.table_head.add(pill)
            self.pills[page] = pill

    def _compare(self, values: Evaluation, run: Run | None, read_only: bool) -> None:
        self.comparison = None
        said = ""
        if run is not None and values.file.kind.compare:
            try:
                self.comparison = values.file.kind.compare(values, run)
            except WorkbenchError as error:
                first = error.diagnostics[0]
                said = f"Not against {run.manifest.name}: {first.message}. {first.hint}"
            else:
                said = "Each part's correction becomes measured over predicted, without waiting."
                for problem in self.comparison.diagnostics:
                    said += f" {capitalised(problem.message)}."
        self.run_said.setText(said)
        can = self.comparison is not None and bool(self.comparison.corrections)
        self.take_over.setVisible(can)
        self.take_over.setEnabled(not read_only)
        self.take_over.setToolTip("Save as copy first: bundled models are not changed" if read_only else "Undo: Ctrl+Z")

    def show_page(self, page: str) -> None:
        self.page = page
        self.pills[page].setChecked(True)
        if page == PRINTED and page not in self._tables and self.file:
            self._tables[page] = paper_tables(self.file)
        self.table.show_tables(self._tables.get(page, ()))
        chart = self._charts.get(page)
        self.chart.setVisible(chart is not None)
        tables_px = self.table.sizeHint().height() + BELOW_TABLES_PX
        self.table_area.setMaximumHeight(tables_px if chart else MOST_PX)  # the chart has the rest
        self.table_head.set_title("Tables", chart.title if chart else "")
        if chart:
            self.chart.show_plot(chart_plot(chart))
        self.run_bar.setVisible(page == MEASURED and bool(self.run_said.text()))


def _scrolling(widget: QWidget) -> ScrollArea:
    inside, column = plain_panel()
    column.addWidget(widget)
    column.addStretch(1)
    return scrolled("Inputs", inside)
