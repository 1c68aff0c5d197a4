"""The rounds of two traced runs on one scale: those of equal work, or of different work where there are none."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from workbench.analysis.equal_work import EqualWork, equal_work
from workbench.api.window import Context
from workbench.gui.views.rounds import RoundsView
from workbench.gui.widgets import EmptyState, PanelHeader, PillButton, plain_column, scrolled
from workbench.model.run import Run
from workbench.pictures.rounds import Round, Rounds
from workbench.traces.scene import Scene, build_scene
from workbench.traces.trace import has_trace

_Found = tuple[Scene | None, Scene | None, EqualWork | None]


class EqualWorkPanel(QWidget):
    """`ready` carries the equal work of the two runs asked for last, once it is shown."""

    ready = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.head = PanelHeader("Equal work")
        self.scale_pill = PillButton("Same scale", icon_name="ruler", checked=True)
        self.rounds = RoundsView()
        self.nothing = EmptyState("chart-gantt", "No rounds to show")
        self.scale_pill.toggled.connect(self.rounds.set_same_scale)
        self.rounds.problem.connect(context.notices.tell)
        self.head.add(self.scale_pill)
        self._runs: tuple[Run, Run] | None = None
        shown = QWidget()
        self._pages = QStackedLayout(shown)
        self._pages.setContentsMargins(0, 0, 0, 0)
        self._pages.addWidget(scrolled("Rounds of equal work", self.rounds))
        self._pages.addWidget(self.nothing)
        plain_column(self, self.head, (shown, 1))

    def ask(self, a: Run, b: Run) -> None:
        """Find the rounds of two runs in the background, and show them."""
        self._runs = a, b
        missing = [run for run in (a, b) if not has_trace(run)]
        if missing:
            names = " and ".join("A" if run is a else "B" for run in missing)
            verb = "have" if len(missing) > 1 else "has"
            self._show_nothing(f"{names} {verb} no trace", "Rounds need traced runs. Run with trace to see them.")
            return

        def build() -> _Found:
            return build_scene(a), build_scene(b), equal_work(a, b)

        self.context.background.start("rounds", build, self._show, self.context.failed)

    def _show_nothing(self, title: str, why: str) -> None:
        self.nothing.say(title, why)
        self._pages.setCurrentIndex(1)
        self.head.set_title("Equal work", "")

    def _show(self, work: _Found) -> None:
        a, b, equal = work
        if a is None or b is None or equal is None or self._runs is None:
            self._show_nothing("A trace is empty", "No block changed its state, or no call was recorded.")
            return
        names = (run.path.name if run.path else run.manifest.name for run in self._runs)
        stretches = zip(names, (a, b), (equal.a, equal.b), strict=True)
        self.rounds.show_rounds(Rounds(tuple(Round(name, s, x.from_ps, x.span_ps) for name, s, x in stretches)))
        self._pages.setCurrentIndex(0)
        self.ready.emit(equal)
