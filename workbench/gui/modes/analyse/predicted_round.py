"""One round of the run, measured and predicted on one scale; replaces the graph while changes are tried."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.api.window import Context
from workbench.gui.modes.analyse.picture_tabs import PictureTabs
from workbench.gui.views.rounds import RoundsView
from workbench.gui.widgets import PanelHeader, PillButton, plain_column, scrolled
from workbench.model.changes import Change
from workbench.model.text import counted
from workbench.pictures.rounds import Round, Rounds
from workbench.replay.predicted_round import PredictedRound
from workbench.traces.scene import Scene, build_scene

RoundScenes = tuple[PredictedRound, Scene, Scene]


class RoundPanel(QWidget):
    """`ready` says that the round after the changes that were asked for is there, `wanted` asks for another picture."""

    ready = Signal()
    wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.changes: tuple[Change, ...] = ()
        self.view = RoundsView()
        self.view.problem.connect(context.notices.tell)
        self.head = PanelHeader("One round")
        self.scale_pill = PillButton("Same scale", icon_name="ruler", checked=True)
        self.scale_pill.toggled.connect(self.view.set_same_scale)
        self.head.add(self.scale_pill)
        PictureTabs(self.head, self.wanted.emit)
        plain_column(self, self.head, (scrolled("A round, measured and predicted", self.view), 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view.set_room(self.height() - self.head.height())

    def forget(self) -> None:
        """No changes are tried any more: do not show what is still computed of them."""
        self.changes = ()

    def ask(self, changes: Sequence[Change]) -> None:
        """Find the round after these changes, in the background, of a traced run that is replayed exactly."""
        self.changes, run, replayed = tuple(changes), self.context.run, self.context.replayed
        if run is None or replayed is None or not self.context.traced.has_trace:
            return
        known, asked = self.context.traced.scene, self.changes

        def work() -> RoundScenes | None:
            round_ = replayed.predicted_round(asked)
            after = build_scene(round_.run) if round_ else None
            before = known or build_scene(run)
            return (round_, before, after) if round_ and before and after else None

        def done(scenes: RoundScenes | None) -> None:
            if scenes and asked == self.changes and run is self.context.run:
                self._show(*scenes)

        self.context.background.start("predicted round", work, done, self.context.failed)

    def _show(self, predicted: PredictedRound, before: Scene, after: Scene) -> None:
        pair = (
            Round("measured", before, *predicted.measured, "A"),
            Round("predicted", after, *predicted.predicted, "P"),
        )
        self.view.show_rounds(Rounds(pair))
        count = predicted.rounds
        title = "The whole run" if not count else "One round" if count == 1 else counted(count, "round")
        self.head.set_title(title, "measured and predicted")
        self.ready.emit()
