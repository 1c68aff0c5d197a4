"""Queue depths: the front of time against memory of the run that is open, and its confirmation."""

from collections.abc import Iterator, Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.analysis.depth_front import choice_words, depth_changes, front_table
from workbench.api.job import Job
from workbench.api.window import Context, PlotView, set_ground
from workbench.gui.widgets import Button, DiagnosticRow, EmptyState, Split, Stack, empty, label, plain_column, scrolled
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.table_view import TableView
from workbench.model.diagnostic import Diagnostic
from workbench.model.run import PS_PER_S
from workbench.model.text import thousands, time_text
from workbench.pictures.plot import Axis, Line, Plot, Spot
from workbench.replay.fronts import Front
from workbench.session.change.confirm_depths import ConfirmedDepths, confirm_depths
from workbench.session.change.run_depths import front_of_run, warnings_of

_KEY = "stream-depths"
_FIND = "Depths are predicted from this run; nothing is simulated."


def front_plot(front: Front) -> Plot:
    """Time over memory, a point for each choice; the chosen one and the run as it was are named."""
    bits = np.array([point.bits for point in front.points], float)
    seconds = np.array([point.time_ps / PS_PER_S for point in front.points])

    def say(_: int, number: int) -> str:
        point = front.points[number]
        depths = ", ".join(f"{name.rpartition('.')[2]} {words}" for name, words in point.depths.items())
        return f"{time_text(point.time_ps / PS_PER_S, 4)}, {thousands(point.bits)} bits: {depths}"

    spots = []
    if front.now is not None:
        spots.append(Spot("now", float(front.now.bits), front.now.time_ps / PS_PER_S))
    if front.choice is not None:
        spots.append(Spot("chosen", float(front.choice.bits), front.choice.time_ps / PS_PER_S, strong=True))
    line = Line("", bits, seconds, points=True)
    memory = Axis("memory (bits)", lambda value: thousands(round(value)), log=True, unit="bit")
    return Plot(memory, Axis("time", time_text, unit="s"), (line,), spots=tuple(spots), say=say)


class DepthsPanel(QWidget):
    """What is shown for the run of the window; it starts when it is first asked."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.front: Front | None = None
        set_ground(self, "panel")

    def build(self) -> Iterator[None]:
        self.plot = PlotView("Time against memory", 220, in_page=True)
        yield
        self.words = label("", "second", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.confirm = Button("Confirm", "play", "primary", on=self._confirm)
        self.confirm.setToolTip("Simulate the chosen depths, at most twice")
        self.cancel = Button("Cancel", on=self._cancel)
        self.find_button = Button("Find depths", "play", "primary", on=self.start)
        self._problems = QVBoxLayout()
        self._table = QVBoxLayout()
        self.table: TableView | None = None
        column = column_layout(margins=(16, 8, 8, 8))
        column.addWidget(self.confirm, 0, Qt.AlignmentFlag.AlignLeft)  # in sight however long the words are
        column.addWidget(self.words)
        column.addLayout(self._problems)
        column.addStretch(1)
        below = QWidget()
        below.setLayout(self._table)
        self._table.setContentsMargins(0, 0, 0, 0)
        self.nothing = EmptyState("waypoints", "How deep must the queues be?", _FIND)
        self.nothing.put_below(self.find_button)
        self.nothing.put_below(self.cancel)
        self._stack = Stack()
        above = Split((scrolled("Depths", column), 300), (self.plot, 500))
        for page in (self.nothing, Split((above, 200), (below, 180), vertical=True)):
            self._stack.addWidget(page)
        plain_column(self).addWidget(self._stack)
        self.context.run_changed.connect(self.forget)
        self.forget()
        yield

    def forget(self) -> None:
        """Another run is open: nothing is known of it."""
        self.context.background.cancel(_KEY)
        self.front = None
        self._idle(_FIND)

    def _idle(self, said: str) -> None:
        self.nothing.say("How deep must the queues be?", said)
        self.find_button.setVisible(True)
        self.find_button.setEnabled(self.context.run is not None)
        if self.cancel.hasFocus():
            self.find_button.setFocus()
        self.cancel.setVisible(False)
        self._stack.setCurrentIndex(0)

    def _busy(self, title: str, said: str) -> None:
        self.nothing.say(title, said)
        asked = self.find_button.hasFocus() or self.confirm.hasFocus()
        self._stack.setCurrentIndex(0)
        self.cancel.setVisible(True)
        if asked:  # else the next button in the window would get the keyboard
            self.cancel.setFocus()
        self.find_button.setVisible(False)

    def start(self) -> None:
        run, plugins = self.context.run, self.context.plugins
        if run is None:
            return
        self._busy("Trying depths", "See the status bar for progress.")
        self.context.background.start_job(
            _KEY, lambda job: front_of_run(run, plugins, job), lambda front: self.show_front(front), self._failed
        )

    def _confirm(self) -> None:
        run, plugins, front = self.context.run, self.context.plugins, self.front
        if run is None or front is None:
            return

        def work(job: Job) -> ConfirmedDepths:
            return confirm_depths(run, front, plugins, job)

        self._busy("Simulating the chosen depths", "At most two simulations; see the status bar for progress.")
        self.context.background.start_job(_KEY, work, self._confirmed, self._failed)

    def _confirmed(self, confirmed: ConfirmedDepths) -> None:
        last = confirmed.simulations[-1]
        came = time_text((last.measured_ps or 0) / PS_PER_S, 4)
        predicted = "" if last.predicted_ps is None else f", predicted {time_text(last.predicted_ps / PS_PER_S, 4)}"
        how = "Confirmed" if last.came_true else "Not confirmed"
        self.show_front(confirmed.front, f"{how}: the simulation took {came}{predicted}.")

    def _cancel(self) -> None:
        self.context.background.cancel(_KEY)
        if self.front is not None:
            self._stack.setCurrentIndex(1)
        else:
            self._idle(f"Cancelled. {_FIND}")

    def _failed(self, diagnostics: Sequence[Diagnostic]) -> None:
        self._idle(diagnostics[0].sentences if diagnostics else "")

    def show_front(self, front: Front, confirmed: str = "") -> None:
        self.front = front
        self.words.setText("\n".join(filter(None, [confirmed, choice_words(front), *depth_changes(front)])))
        self.confirm.setEnabled(front.choice is not None)
        empty(self._problems)
        for problem in warnings_of(front):
            self._problems.addWidget(DiagnosticRow(problem))
        self.plot.show_plot(front_plot(front))
        table = front_table(front)
        if self.table is None:
            self.table = TableView(table, row_px=28)
            self._table.addWidget(self.table)
        else:
            self.table.show_table(table)
        self.table.choose(lambda point: point is front.choice)
        waited = self.cancel.hasFocus()
        self._stack.setCurrentIndex(1)
        if waited:
            (self.confirm if self.confirm.isEnabled() else self.table).setFocus()
