"""Predict mode: models at the left; one's results, exploration and form; the breakdown of a design point."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.api.models import Values
from workbench.api.modes import WindowMode
from workbench.api.predictions import Results
from workbench.api.window import Context
from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.modes.forms.parts import PartSection
from workbench.gui.modes.predict.breakdown import Breakdown
from workbench.gui.modes.predict.density_view import DensityView
from workbench.gui.modes.predict.explore_view import ExploreView
from workbench.gui.modes.predict.head import ModelHead
from workbench.gui.modes.predict.model_page import ModelPage
from workbench.gui.modes.predict.models_panel import ModelsPanel
from workbench.gui.modes.predict.page_button import PageButton
from workbench.gui.modes.predict.parts import add_part, sections_of
from workbench.gui.modes.predict.results import ResultsView
from workbench.gui.modes.predict.structure_page import StructurePage, has_structure
from workbench.gui.modes.predict.study_run import StudyButton
from workbench.gui.modes.predict.write_best import WriteBestButton
from workbench.gui.widgets import DiagnosticRow, EmptyState, Split, empty, plain_panel
from workbench.gui.widgets.boxes import column_layout
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Platform
from workbench.predict.formulas import ModelFile
from workbench.predict.kinds import heading, taken_over
from workbench.predict.shown import results_of
from workbench.predict.tables import read_kinds
from workbench.session.edit.model_document import ModelDocument, ModelFound, models_of, starter
from workbench.session.edit.what_if import Layers, WhatIf
from workbench.session.edit.yaml_document import Path_
from workbench.session.program.plugins import Plugins

STRUCTURE, EXPLORE = "Structure", "Explore"
PAGES = ("Results", STRUCTURE, EXPLORE, "Model")
AS_IS = "default"
NARROW_PX = 720


class PredictMode(DocumentMode):
    """Shows a model and what it comes to. `details` is the full breakdown of the design point chosen."""

    document: ModelDocument

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind, ModelDocument(context.plugins, context.notices.tell, self._own_platform))
        self.details_panel = self.details = Breakdown()
        self.what_if = WhatIf(self.document, lambda: self.reading_name)
        self._title = ""
        self._computed: tuple[ModelFile, Mapping[str, Values], str | None, Results] | None = None  # computed last
        self.page = PAGES[0]

    def build(self) -> Iterator[None]:
        self.left = ModelsPanel(self)
        self.models = self.left.models
        self.setFocusProxy(self.models)
        self.results = ResultsView()
        yield
        self.density = DensityView(self.context)
        yield
        self.structure = StructurePage()
        yield
        self.explore = ExploreView(self.context)
        yield from self.explore.build()
        yield
        form = self.make_form()
        self.stack = QStackedWidget()
        self.model_page = ModelPage(self.parts, form, self.structure, self.stack)
        yield
        yield from self._build()
        yield
        self._connect()
        yield
        yield from self.document.read_templates()
        self._workspace_changed()
        yield
        self.document.changed.connect(self._document_changed)
        self._document_changed()
        yield

    @staticmethod
    def read_ahead(plugins: Plugins) -> None:
        read_kinds(plugins.model_kinds.values())

    # ---- arrangement

    def _build(self) -> Iterator[None]:
        centre, column = plain_panel(400)
        self.set_content(Split((self.left, 230), (centre, 900), kept=[0]))  # each page is then dressed in its own turn
        yield
        column.addWidget(self._head())
        self.problem_box = QWidget()
        self._problems = column_layout(of=self.problem_box, margins=(16, 8, 16, 8))
        column.addWidget(self.problem_box)
        self.nothing = EmptyState("triangle-alert", "Nothing to compute", "", "Fix it")
        self.nothing.button.clicked.connect(lambda: self.show_page("Model"))
        column.addWidget(self.stack, 1)
        for page in (self.results, self.density, self.structure, self.explore, self.model_page, self.nothing):
            self.stack.addWidget(page)
            yield
        self.show_content()

    def _head(self) -> QWidget:
        self.run_study = StudyButton(self.context, self.document, self._show_anew)
        self.write_best = WriteBestButton(self.context, self.document, self.what_if.values, self.open_document)
        page = PageButton(self.context, self.what_if.values)
        buttons = (self.run_study, self.undo_button, page, self.problem_button, self.save_button)
        self.model_head = ModelHead(PAGES, self.write_best, buttons)
        self.head, self.reading, self.pills = self.model_head.header, self.model_head.reading, self.model_head.pills
        self.model_head.page_chosen.connect(self.show_page)
        self.model_head.width_changed.connect(self._fit)
        return self.model_head

    def _connect(self) -> None:
        context = self.context
        self.left.chosen.connect(self.open_document)
        self.left.measured.connect(self.density.platform_menu.choose_all)
        self.reading.activated.connect(self._show_results)
        self.results.take_over_wanted.connect(self.take_over)
        self.results.run_wanted.connect(lambda run: context.open_run(Path(run)))
        self.results.run_wanted.connect(lambda: context.navigation.set_mode("analyse"))
        self.structure.edit(context, self.document)
        self.structure.place_wanted.connect(self._open_place)
        self.structure.part_chosen.connect(self._show_beside)
        self.results.part_chosen.connect(self.details.choose_part)
        self.results.timing.problem.connect(context.notices.tell)
        self.explore.point_chosen.connect(self.show_point)
        self.density.changed.connect(self._density_moved)
        self.density.dropped.connect(self._layers_dropped)
        self.what_if.changed.connect(self._what_if_changed)
        self.details.reset_wanted.connect(self.what_if.reset)
        self.details.keep_wanted.connect(lambda: self.context.notices.attempt(self.what_if.keep))
        self.details.inputs.typed.connect(self.type_input)
        self.details.inputs.taken_back.connect(self.what_if.take_back)
        self.follow(context.workspace_changed, self._workspace_changed)
        self.follow(context.run_changed, self._show_results)

    def _fit(self, width_px: int) -> None:
        self.left.fit(self.width())
        for part in (self.structure.drawn, self.explore):
            part.set_narrow(width_px < NARROW_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(712, 300)

    # ---- models

    @property
    def file_names(self) -> str:
        kinds = self.context.plugins.model_kinds.values()
        return ";;".join(f"{heading(kind)} models (*.{kind.name}.yaml)" for kind in kinds)

    def sections(self) -> tuple[PartSection, ...]:
        return sections_of(self.document)

    def add_part(self, what: str, kind: str) -> Path_ | None:
        return add_part(self.document, what)

    def starter(self, path: Path) -> str:
        return starter(path, self.context.plugins.model_kinds)

    def _models(self) -> tuple[ModelFound, ...]:
        return models_of(self.context.root(), self.context.plugins.model_kinds)

    def _own_platform(self) -> Platform | None:
        return self.context.workspace.platform if self.context.workspace else None

    def _workspace_changed(self) -> None:
        """Another project's models; where one was only read again, the model that is shown stays."""
        models = self._models()
        self.left.list_models(models, self.document)
        other = self.is_other_project()
        path, known = self.document.path, any(m.path == self.document.path for m in models)
        if path and (known or self.document.dirty or not other):
            self.document.read_again()
        else:
            self.open_document(next(m.path for m in models if m.own or m.name == "pdf2d"))

    def _list_models(self) -> None:
        self.left.list_models(self._models(), self.document)

    def open_document(self, path: Path) -> None:
        """Show a model, bundled or the project's."""
        if path != self.document.path:
            before, self.what_if.changes = self.what_if.changes, {}
            super().open_document(path)
            if self.document.path != path:
                self.what_if.changes = before
            else:
                self.what_if.layers = None
            self._list_models()

    @property
    def reading_name(self) -> str | None:
        """The reading chosen, or None for the model as it is."""
        return self.reading.currentData()

    # ---- what is shown

    def _document_changed(self) -> None:
        document = self.document
        if document.path is None:
            return
        file = document.model_file
        names = [*file.kind.readings, *file.model.readings] if file else []
        if [self.reading.itemData(i) for i in range(1, self.reading.count())] != names:
            self.reading.clear()
            self.reading.addItem(AS_IS, None)
            for name in names:
                self.reading.addItem(name, name)
        self.reading.setVisible(bool(names))
        if file:
            self.what_if.hold_to_model()
        self._title = str(document.value(("title",)) or document.path.name)
        self.write_heads()
        self._show_page()
        if any(m.path == document.path and m.own for m in self._models()):
            self._list_models()

    def write_heads(self) -> None:
        super().write_heads()
        self.head.set_title(self._title, "what if; Esc ends it" if self.what_if.changes else "")
        self.details.allow_keeping(not self.document.read_only)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.what_if.any:
            self.what_if.reset()
        else:
            super().keyPressEvent(event)

    def status_words(self) -> tuple[str, ...]:
        return (f"{heading(self.document.model_kind)} model",) if self.document.model_kind else ()

    def _show_problems(self) -> None:
        """What is wrong with the model, above its form; each beside its field too."""
        empty(self._problems)
        shown = self.document.problems[:3] if self.page == "Model" else ()
        for problem in shown:
            row = DiagnosticRow(problem)
            row.open_line.connect(self.context.navigation.open_line)
            self._problems.addWidget(row)
        self.problem_box.setVisible(bool(shown))

    def show_page(self, page: str) -> None:
        """One of PAGES."""
        self.form.commit()
        self.page = page
        self.pills[page].setChecked(True)
        self.write_heads()
        self._show_page()

    def _show_page(self) -> None:
        """What the page needs: the form is made where the model is shown."""
        if self.page == "Model":
            self.show_form()
        self._show_problems()
        self._show_results()

    def retheme(self) -> None:
        self._show_results()

    def _show_anew(self) -> None:
        """Compute what depends on files that were written since."""
        self._computed = None
        self._show_results()

    def _show_results(self) -> None:
        """Compute the model at the point chosen and show it; say why where that cannot be."""
        file = self.document.model_file
        try:
            shown = self._compute()
        except WorkbenchError as error:
            self._show_nothing("This model has no value here", error.diagnostics[0])
            return
        if file is None:
            first = next(iter(self.document.errors), Diagnostic("the model cannot be read"))
            self._show_nothing("This model has problems", first)
        elif not shown:
            self.nothing.say("Preparing this model", "Its sources are read and run first.")
            self.stack.setCurrentWidget(self.model_page if self.page == "Model" else self.nothing)
        else:
            results = self.density if file.kind.layers else self.results
            pages = (results, self.structure, self.explore, self.model_page)
            self.stack.setCurrentWidget(pages[PAGES.index(self.page)])

    def _show_nothing(self, title: str, problem: Diagnostic) -> None:
        place = f"{problem.file}: " if problem.file and problem.file != str(self.document.path) else ""
        self.nothing.say(title, f"{place}{problem.sentences}", "Fix it")
        self.details.clear()
        self.stack.setCurrentWidget(self.model_page if self.page == "Model" else self.nothing)

    def _compute(self) -> bool:
        """Compute the model and show it; False where there is none, or a job prepares it first."""
        values, file, reading = self.what_if.values(), self.document.model_file, self.reading_name
        if file is None or values is None:
            return False
        self.context.background.cancel("predict.prepare")  # of the model before
        if work := file.kind.prepare(values):
            self._computed = None
            failed = partial(self._show_nothing, "This model cannot be computed")
            self.context.background.start_job(
                "predict.prepare", work, lambda done: self._show_results(), lambda problems: failed(problems[0])
            )
            return False
        if file.kind.layers:
            self._offer(file, None)
            self.density.show_model(values)
            self._density_moved()
        else:
            if not (known := self._computed) or known[0] is not file or known[1:3] != (values.changes, reading):
                known = self._computed = file, dict(values.changes), reading, results_of(values)
            results = known[3]
            self._offer(file, results)
            if self.page == PAGES[0]:
                self.results.show_results(values, results, self.context.run, self.document.read_only)
            self.details.show_results(values, results, self.page == PAGES[0])
        if self.page == EXPLORE:
            self.explore.show_model(file, reading, self.what_if.changes)
        return True

    def _offer(self, file: ModelFile, results: Results | None) -> None:
        """Offer the pages and the details that have something to show of this model."""
        offered = {STRUCTURE: has_structure(results), EXPLORE: bool(file.inputs)}
        for page, there in offered.items():
            self.pills[page].setVisible(there)
        if not offered.get(self.page, True):
            self.page = PAGES[0]
            self.pills[self.page].setChecked(True)
        beside = self.page == PAGES[-1] and has_structure(results)
        self.model_page.lend(results if beside else None)
        if results and (self.page == STRUCTURE or beside):
            self.structure.show_results(results)
            self.structure.drawn.choose(self.chosen or ())
        wanted = bool(file.inputs) or results is None or bool(results.parts)
        if wanted != self.details_wanted:
            self.details_wanted = wanted
            self.details_changed.emit()

    def _density_moved(self) -> None:
        if self.density.values and self.density.results:
            self.details.show_results(self.density.values, self.density.results, self.page == PAGES[0])
            self.details.reset.setVisible(self.density.moved is not None or bool(self.what_if.changes))

    def show_point(self, inputs: dict[str, float]) -> None:
        """Look at another design point: its breakdown in the details, its timing among the results."""
        self.what_if.look_at("open a design point", {**self.what_if.changes, **inputs})

    def type_input(self, name: str, text: str) -> None:
        """Ask what if an input had another value; the model stays as it is."""
        try:
            self.what_if.type(name, text)
        except WorkbenchError as error:
            self.details.say_problem(error.diagnostics[0])

    def _what_if_changed(self) -> None:
        self._show_results()
        self.write_heads()
        if self.document.model_file and self.document.model_file.kind.layers:
            self.density.set_layers(self.what_if.layers)

    def _layers_dropped(self, layers: Layers) -> None:
        self.what_if.look_at("move a memory layer" if layers else "reset the layers", self.what_if.changes, layers)

    def choose(self, path: Path_) -> None:
        """Show the form of a part, and ring it in the drawing beside it."""
        super().choose(path)
        if self.model_page.is_drawn:
            self.structure.drawn.choose(path)

    def _show_beside(self, part: Path_) -> None:
        """Beside the drawing, the form of what is chosen in it."""
        if self.model_page.is_drawn and part != self.chosen:
            self.show_place(part)

    def _open_place(self, path: Path_) -> None:
        """Show the form of the part that a diagram has at a path."""
        self.show_page("Model")
        self.choose(path)

    # ---- changes

    def take_over(self) -> None:
        """Put the open run's measurements into the model, as a change that Ctrl+Z takes back."""
        file, comparison = self.document.model_file, self.results.comparison
        if file is None or comparison is None or self.document.read_only:
            return
        self.document.apply("Use the measured values", lambda text: taken_over(text, file, comparison))

    def write_as(self, path: Path) -> bool:
        written = super().write_as(path)
        self._list_models()
        return written
