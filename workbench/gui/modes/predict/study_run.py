"""The button that runs, pauses and continues a study, where the open model is one."""

from collections.abc import Callable
from contextlib import suppress

from workbench.api.studies import Status, StudyModel, StudyState, points_of, read_state, study_folder
from workbench.api.window import Context
from workbench.gui.widgets import Button
from workbench.model.diagnostic import WorkbenchError
from workbench.session.edit.model_document import ModelDocument

PAUSE, CONTINUE, RUN, AGAIN = "Pause", "Continue", "Run study", "Run again"
_TIPS = {
    PAUSE: "Stop the runs under way. Measured points are kept; Continue runs the others",
    CONTINUE: "Run all points without a measurement",
    RUN: "Run all points; measured points are kept",
    AGAIN: "Run the failed points again",
}


class StudyButton(Button):
    """Asks for the study's points to be run, or for a pause; `show_again` shows what was measured since."""

    def __init__(self, context: Context, document: ModelDocument, show_again: Callable[[], None]) -> None:
        super().__init__(RUN, "play")
        self._context, self._document, self._show_again = context, document, show_again
        self.clicked.connect(self._ask)
        document.changed.connect(self._follow)
        context.running_changed.connect(self._follow)
        context.study_changed.connect(self._measured)
        context.runs_changed.connect(self._measured)
        self._follow()

    def _state(self) -> StudyState | None:
        """What is known of the points; None where no study is open that has some."""
        file, path = self._document.model_file, self._document.path
        if file is None or path is None or not isinstance(file.model, StudyModel):
            return None
        with suppress(WorkbenchError):
            return read_state(study_folder(path.parent, file.model), points_of(file.model))
        return None

    def _follow(self) -> None:
        state, context = self._state(), self._context
        self.setVisible(state is not None)
        if state is None:
            return
        mine = context.running and context.study == self._document.path
        open_, failed = state.count(Status.QUEUED, Status.RUNNING), state.count(Status.FAILED)
        does = PAUSE if mine else CONTINUE if 0 < open_ < len(state.points) else AGAIN if failed and not open_ else RUN
        self.setText(does)
        self.setToolTip(_TIPS[does])
        self.set_icon("pause" if mine else "play")
        self.setEnabled(mine or not context.running)

    def _measured(self) -> None:
        self._follow()
        if not self.isHidden():
            self._show_again()

    def _ask(self) -> None:
        if self.text() == PAUSE:
            self._context.pause_requested.emit()
        elif self._document.path is not None:
            self._context.study_requested.emit(self._document.path, self.text() == AGAIN)
