"""The rounds of traced runs on one scale: those of equal work, or of different work where there are none."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from workbench.analysis.equal_work import EqualWork, equal_work
from workbench.api.window import Context
from workbench.gui.views.rounds import RoundsView
from workbench.gui.widgets import EmptyState, PanelHeader, PillButton, plain_column, scrolled
from workbench.model.run import Run
from workbench.model.text import counted, listed
from workbench.pictures.rounds import Round, Rounds
from workbench.traces.scene import Scene, build_scene
from workbench.traces.trace import has_trace


@dataclass(frozen=True)
class NamedRun:
    """A run as its stretch is headed: A or B where it is one of the two, its name, and what differs from the others."""

    run: Run
    name: str
    letter: str = ""
    note: str = ""


@dataclass(frozen=True)
class _Scenes:
    """Traced runs with their scenes, None where nothing was recorded in time; their equal work; who has no trace."""

    runs: Sequence[NamedRun]
    scenes: Sequence[Scene | None]
    equal: EqualWork | None
    missing: Sequence[str]


class EqualWorkPanel(QWidget):
    """`ready` carries the equal work of the runs asked for last, once it is shown."""

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
        shown = QWidget()
        self._pages = QStackedLayout(shown)
        self._pages.setContentsMargins(0, 0, 0, 0)
        self._pages.addWidget(scrolled("Rounds of equal work", self.rounds))
        self._pages.addWidget(self.nothing)
        plain_column(self, self.head, (shown, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rounds.set_room(self.height() - self.head.height())

    def ask(self, runs: Sequence[NamedRun]) -> None:
        """Find the same work of the runs in the background, and show it under one another. Of more than two, those
        without a trace are left out."""
        traced = [one for one in runs if has_trace(one.run)]
        missing = [one.letter or one.name for one in runs if one not in traced]
        if len(traced) < 2 or (missing and len(runs) == 2):
            verb = "have" if len(missing) > 1 else "has"
            self._show_nothing(
                f"{listed(missing)} {verb} no trace", "Rounds need traced runs. Run with trace to see them."
            )
            return

        def build() -> _Scenes:
            scenes = [build_scene(one.run) for one in traced]
            return _Scenes(traced, scenes, equal_work(*(one.run for one in traced)), missing)

        self.context.background.start("rounds", build, self._show, self.context.failed)

    def _show_nothing(self, title: str, why: str) -> None:
        self.nothing.say(title, why)
        self._pages.setCurrentIndex(1)
        self.head.set_title("Equal work", "")

    def _show(self, found: _Scenes) -> None:
        runs, equal = found.runs, found.equal
        if equal is None or any(scene is None for scene in found.scenes):
            self._show_nothing("A trace is empty", "No block changed its state, or no call was recorded.")
            return
        rows = [
            Round(one.name, scene, part.from_ps, part.span_ps, one.letter, one.note)
            for one, scene, part in zip(runs, found.scenes, equal.stretches, strict=True) if scene
        ]  # fmt: skip
        self.rounds.show_rounds(Rounds(tuple(rows)))
        self._pages.setCurrentIndex(0)
        if len(runs) > 2:
            what = f"the same {listed(equal.calls)}" if equal.calls else "whole runs, without equal parts"
            without = f"; {counted(len(found.missing), 'run')} without a trace" if found.missing else ""
            self.head.set_title("Equal work" if equal.calls else "Different work", f"{what}{without}")
        self.ready.emit(equal)
