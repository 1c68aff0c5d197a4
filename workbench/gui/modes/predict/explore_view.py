"""Explore: an input swept, what matters most, what must hold for a target, and time against a resource."""

from collections.abc import Iterator, Mapping

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from workbench.api.window import Context, PlotView, set_ground
from workbench.formats.units import UnitError, unit_of_name
from workbench.gui.modes.predict import pieces
from workbench.gui.modes.predict.explore_pictures import (
    can_have_front,
    front_plot,
    influence_bars,
    no_front_words,
    solution_words,
    sweep_plot,
)
from workbench.gui.modes.predict.sweeping import SweepAnswer, SweepQuestion, answer, matters, usual_range
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    PanelHeader,
    PillButton,
    Split,
    label,
    plain_column,
    plain_panel,
    rule,
    scrolled,
    set_role,
)
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import NARROW, capitalised
from workbench.pictures.bars import Bars
from workbench.pictures.plot import Axis, Plot
from workbench.predict.doubts import clock_doubts
from workbench.predict.explore import usual_other
from workbench.predict.formulas import Evaluation, ModelFile, what_if
from workbench.predict.kinds import outputs_of
from workbench.predict.solve import Solution, solve
from workbench.predict.words import input_text, input_title, output_title, unit_of

NOTHING, FRONT = "nothing else", "Pareto front"
SHARES = {"as given": 0.0, "± 5 %": 0.05, "± 10 %": 0.10, "± 20 %": 0.20}
NO_PLOT = Plot(Axis("", str), Axis("", str))
_WAIT_MS = 150


class ExploreView(QWidget):
    """`point_chosen` carries the inputs of a point of a sweep or of the front. It is whole once `build` has ended."""

    point_chosen = Signal(dict)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.file: ModelFile | None = None
        self.reading: str | None = None
        self.changes: dict[str, float] = {}
        self.swept: SweepAnswer | None = None
        self._own_ranges: dict[str, tuple[str, str]] = {}
        self._narrow = False
        self._later = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._later.timeout.connect(self.sweep)

    def build(self) -> Iterator[None]:
        """Make its panels, each in a turn: every plot takes its time."""
        column = plain_column(self, self._controls(), rule())
        panels = []
        for make in (self._sweep_panel, self._influence_panel, self._front_panel):
            yield
            panels.append(make())
        sweep, influences, self.front_panel = panels
        below = Split((influences, 460), (self.front_panel, 460))
        yield
        self._plots = Split((sweep, 420), (below, 330), vertical=True)
        column.addWidget(scrolled("Explore", self._plots), 1)  # where the window is low

    # ---- arrangement

    def _controls(self) -> QWidget:
        box = QWidget()
        set_ground(box, "panel")
        column = column_layout(of=box, margins=(16, 10, 16, 10), spacing=8)
        later = self._later.start
        self.output = pieces.combo(140, "Output", self._output_chosen)
        self.name = pieces.combo(140, "Input to sweep", self._name_chosen)
        self.second = pieces.combo(140, "Second input", later)
        self.target_name = pieces.combo(140, "Input to solve for")
        for combo in (self.output, self.name, self.second, self.target_name):
            combo.currentTextChanged.connect(self._bound_combos)
        self.low, self.high = pieces.field(112, "From"), pieces.field(112, "To")
        self.target = pieces.field(112, "Target")
        self.log = PillButton("Log")
        self.log.setToolTip("Logarithmic axes")
        self.show_label = label("Show", "second")
        self._first = row_layout(self.show_label, self.output, label("over", "second"), self.name, STRETCH, spacing=8)
        self._range = QWidget()
        row_layout(
            label("from", "second"), self.low, label("to", "second"), self.high, STRETCH, self.log,
            of=self._range, margins=(0, 0, 0, 0), spacing=8,
        )  # fmt: skip
        self._first.addWidget(self._range, 100)
        self._below, other = row_layout(), row_layout(spacing=8)
        for row in (self._first, self._below, other):
            column.addLayout(row)
        self.solve_button = Button("Solve")
        self.answer = ElidedLabel("", "smallsecond")
        self.goal = label("For speedup =", "second")
        for part in (self.goal, self.target, label("change", "second"), self.target_name, self.solve_button):
            other.addWidget(part)
        other.addStretch(1)
        column.addWidget(self.answer)
        self.answer.hide()
        for field in (self.low, self.high):
            field.editingFinished.connect(self._range_typed)
        self.log.toggled.connect(lambda: later())
        self.solve_button.clicked.connect(self.solve)
        self.target.returnPressed.connect(self.solve)
        return box

    def _sweep_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.head = PanelHeader("Sweep")
        self.head.add(label("and", "second"))
        self.head.add(self.second)
        self.share = pieces.combo(110, "Uncertainty of the inputs", self._later.start)
        self.share.setToolTip("Assumed error of inputs without an uncertainty")
        for text, share in SHARES.items():
            self.share.addItem(text, share)
        self.head.add(label("inputs", "second"))
        self.head.add(self.share)
        column.addWidget(self.head)
        self.problem = label("", "high", wrap=True)
        self.problem.setContentsMargins(16, 8, 16, 0)
        self.problem.hide()
        column.addWidget(self.problem)
        self.plot = PlotView("Sweep", 300)
        self.plot.problem.connect(self.context.notices.tell)
        self.plot.chosen.connect(self._chosen)
        column.addWidget(pieces.padded(self.plot), 1)
        return panel

    def _influence_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.influence_head = PanelHeader("What matters most")
        column.addWidget(self.influence_head)
        self.influences = BarsView("Which input matters most")
        self.influences.problem.connect(self.context.notices.tell)
        self.influences.chosen.connect(self.choose_input)
        column.addWidget(self.influences, 1)
        return panel

    def _front_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.front_head = PanelHeader(FRONT)
        self.resource = pieces.combo(120, "Compared with", self._later.start)
        self.front_head.add(self.resource)
        column.addWidget(self.front_head)
        self.no_front = label("", "small", wrap=True)
        self.no_front.setContentsMargins(16, 14, 16, 0)
        column.addWidget(self.no_front)
        self.front = PlotView("Front", 240)
        self.front.problem.connect(self.context.notices.tell)
        self.front.chosen.connect(self._front_chosen)
        column.addWidget(pieces.padded(self.front), 1)
        return panel

    def set_narrow(self, narrow: bool) -> None:
        """Give way where there is little room: the range has a row of its own."""
        self._narrow = narrow
        (self._below if narrow else self._first).addWidget(self._range, 100)
        self._bound_combos()
        self.share.setMaximumWidth(116 if narrow else 180)
        self.share.setMinimumWidth(96)
        self.resource.setMinimumWidth(140)

    def _bound_combos(self) -> None:
        for combo in (self.output, self.name, self.target_name):
            pieces.bound(combo, *((92, 160) if self._narrow else (140, 200)))
        pieces.bound(self.second, *((96, 116) if self._narrow else (96, 180)))

    # ---- what is asked

    def show_model(self, file: ModelFile, reading: str | None, changes: Mapping[str, float]) -> None:
        """Ask the same as before of this model at other values of some inputs, as far as it has such inputs and
        outputs."""
        if (self.file, self.reading, self.changes) == (file, reading, changes) and self.swept is not None:
            return
        self.changes = dict(changes)
        fresh = self.file is None or self.file.model.name != file.model.name
        self.file, self.reading = file, reading
        if fresh:
            self._own_ranges = {}
            self._say_answer("", "smallsecond")
            self.target.clear()
            self._forget()
        outputs = list(outputs_of(file, None, reading))
        resources = list(getattr(file.model, "resources", {}))
        wanted = file.kind.goal if file.kind.goal in outputs else outputs[0]
        pieces.fill(self.output, {output_title(n): n for n in outputs if n not in resources}, wanted, fresh)
        titles = {input_title(file, n): n for n in file.inputs}
        moving = next(
            (n for n in file.inputs if fresh and matters(file, n, wanted, reading)), next(iter(file.inputs), "")
        )
        pieces.fill(self.name, titles, moving, fresh)
        pieces.fill(self.second, {NOTHING: "", **titles}, "", fresh)
        pieces.fill(self.target_name, titles, moving, fresh)
        others = {output_title(n): n for n in outputs if n in resources or unit_of_name(n) in ("W", "J")}
        first = usual_other(file, wanted) or next(iter(resources), "")
        pieces.fill(self.resource, others, first, fresh)
        self.resource.setVisible(bool(others))
        self._say_goal()
        if fresh:
            own = float(outputs_of(file, None, reading)[wanted])
            better = own * (1.25 if wanted in file.kind.larger else 0.8)
            unit = " s" if unit_of_name(wanted) == "s" else ""
            self.target.setText(f"{pieces.typed_number(float(f'{better:.3g}'))}{unit}")
        if titles:
            self._show_range()
            self._later.start()
        else:
            self._fail((Diagnostic("the model has no inputs to sweep", "Add one in the model's form."),))

    def _say_goal(self) -> None:
        output = self.output.currentData() or ""
        self.goal.setText(f"For {output_title(output).lower()} =")

    def _output_chosen(self) -> None:
        self._say_goal()
        self.target.clear()
        self._say_answer("", "smallsecond")
        self._later.start()

    def _forget(self) -> None:
        """Show nothing of another model until this one is swept."""
        self.swept = None
        self.problem.hide()
        self.head.set_title("Sweep", "is under way")
        for plot in (self.plot, self.front):
            plot.show_plot(NO_PLOT)
        self.influences.show_bars(Bars(NO_PLOT.x))
        self.influence_head.set_title("What matters most")
        self.front_head.set_title(FRONT)
        self.no_front.hide()

    def _name_chosen(self) -> None:
        self._show_range()
        self._later.start()

    def choose_input(self, name: str) -> None:
        """Sweep another input."""
        for combo in (self.name, self.target_name):
            combo.setCurrentIndex(combo.findData(name))
        self._name_chosen()

    def _show_range(self) -> None:
        assert self.file is not None
        name = self.name.currentData()
        low, high = usual_range(self.file, name)
        texts = self._own_ranges.get(name) or (self._said(name, low), self._said(name, high))
        self.low.setText(texts[0])
        self.high.setText(texts[1])

    def _said(self, name: str, value: float) -> str:
        assert self.file is not None
        return (
            input_text(self.file, name, value).replace(NARROW, " ")
            if unit_of(self.file, name)
            else pieces.typed_number(value)
        )

    def _range_typed(self) -> None:
        name, texts = self.name.currentData(), (self.low.text(), self.high.text())
        if self._own_ranges.get(name) != texts:
            self._own_ranges[name] = texts
            self._later.start()

    def question(self) -> SweepQuestion | None:
        """What is asked now; None, with the reason shown, where a field is no number."""
        assert self.file is not None
        name, second = self.name.currentData(), self.second.currentData() or ""
        low, high = self._number(self.low.text(), name), self._number(self.high.text(), name)
        if low is None or high is None:
            return None
        if not low < high:
            self._fail((Diagnostic("the sweep ends before it starts", "Give a lower `from` than `to`."),))
            return None
        bounds = usual_range(self.file, second) if second and second != name else (0.0, 0.0)
        return SweepQuestion(
            name, low, high, self.log.isChecked(), self.output.currentData(), second if second != name else "",
            *bounds, resource=self.resource.currentData() or "", reading=self.reading,
            share=self.share.currentData(),
        )  # fmt: skip

    def _number(self, text: str, name: str) -> float | None:
        assert self.file is not None
        unit = unit_of(self.file, name)
        try:
            return pieces.read_number(text, unit)
        except UnitError as error:
            self._fail((Diagnostic(error.message, error.hint),))
        return None

    # ---- what is found

    def sweep(self) -> None:
        """Sweep in the background; the last question asked is the one answered."""
        file = self.file
        if file is None or not file.inputs:
            return
        if (asked := self.question()) is not None:
            others = self._others(asked.name)
            self.context.background.start(
                "predict.sweep", lambda: answer(what_if(file, others), asked), self._show, self._fail
            )

    def _others(self, name: str) -> dict[str, float]:
        """What is changed but for the input that is asked about."""
        return {other: value for other, value in self.changes.items() if other != name}

    def _fail(self, problems: tuple[Diagnostic, ...]) -> None:
        first = problems[0]
        self.problem.setText(f"{capitalised(first.message)}. {first.hint}".strip())
        self.problem.show()

    def _show(self, answer: SweepAnswer) -> None:
        if self.file is None or answer.question.name not in self.file.inputs:
            return
        self.problem.hide()
        self.swept = answer
        output, name = output_title(answer.question.output), input_title(self.file, answer.question.name)
        band = "; band: 5 to 95 % over the uncertain inputs" if answer.bands else ""
        said = f"{len(answer.x) * max(len(answer.second), 1)} points; point at one, click for its breakdown{band}"
        self.head.set_title(f"{capitalised(output)} by {name}", said)
        self.plot.show_plot(sweep_plot(self.file, answer))
        self.influence_head.set_title("What matters most", f"for {output.lower()}")
        self.influences.show_bars(influence_bars(self.file, answer.influences))
        why = no_front_words(answer)
        has_front = can_have_front(self.file, answer)
        self.front_panel.setVisible(has_front)
        bars_px = self.influence_head.height() + self.influences.sizeHint().height() + 1
        self._plots.bound(1, None if has_front else bars_px)  # the sweep has the rest
        self.front_head.set_title(FRONT, "" if why else "points that no other point beats in both")
        self.no_front.setText(why)
        self.no_front.setVisible(bool(why))
        self.front.setVisible(not why)
        self.front.show_plot(NO_PLOT if why else front_plot(self.file, answer))

    def _chosen(self, line: int, point: int) -> None:
        if self.swept is None:
            return
        shown, asked = self.plot.plot.lines[line], self.swept.question
        inputs = {asked.name: float(shown.x[point])}
        if len(self.swept.second) and line < len(self.swept.values):
            inputs[asked.second] = float(self.swept.second[line])
        self.point_chosen.emit(inputs)

    def _front_chosen(self, line: int, point: int) -> None:
        if self.swept is not None:
            self.point_chosen.emit(dict(self.swept.front[point].inputs))

    # ---- what must hold

    def solve(self) -> None:
        """Find the value of an input at which the output has its target, in the background."""
        file, name, output = self.file, self.target_name.currentData() or "", self.output.currentData()
        if file is None:
            return
        text = self.target.text().strip().rstrip("×x").strip()
        unit = "s" if output == "total_s" or output.startswith(("comp_s", "comm_s")) else ""
        try:
            target = pieces.read_number(text, unit)
        except UnitError as error:
            self._say_answer(f"{error.message}. {error.hint}", "high")
            return
        others, reading = self._others(name), self.reading
        self.context.background.start(
            "predict.solve", lambda: solve(what_if(file, others), name, target, output, reading), self._solved,
            lambda problems: self._say_answer(f"{problems[0].message}. {problems[0].hint}", "high"),
        )  # fmt: skip

    def _solved(self, solution: Solution) -> None:
        if self.file is None:
            return
        at = what_if(self.file, {**self._others(solution.name), solution.name: solution.value})
        doubtful = "".join(
            f". {capitalised(doubt.sentences)}" for doubt in clock_doubts(Evaluation(at, {}, self.reading))
        )
        self._say_answer(solution_words(self.file, solution) + doubtful, "high" if doubtful else "good")
        self.point_chosen.emit({solution.name: solution.value})

    def _say_answer(self, text: str, role: str) -> None:
        self.answer.setText(capitalised(text) if role == "high" else text)
        self.answer.setVisible(bool(text))
        set_role(self.answer, role)
