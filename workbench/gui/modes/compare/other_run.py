"""The run that the open one is compared with: which ones there are, opened and predicted in the background."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from workbench.api.job import Job
from workbench.api.window import Context
from workbench.model.run import Run
from workbench.session.keep.results import OpenRun, open_result, predicted, run_before
from workbench.session.program.settings import value


class OtherRun(QObject):
    """`opened` is None until there is one; `changed` says that it is another, `weighed` that it has predictions."""

    changed = Signal()
    weighed = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.opened: OpenRun | None = None

    def follow(self, mine: Run) -> None:
        """Another run is open: the one before it is compared with it where none is chosen."""
        if self.opened is not None and self.opened.run.path == mine.path:
            self.opened = None
        if self.opened is None:
            self.open_before()

    def folders(self) -> list[Path]:
        """Of all runs but the open one."""
        run = self._context.run
        mine = run.path.resolve() if run and run.path else None
        return [f for f in self._context.run_folders() if f.resolve() != mine]

    def open_before(self) -> None:
        """Compare with the run before the open one, whichever was chosen."""
        run = self._context.run
        before = run_before(run.path, self._context.run_folders()) if run else None
        if before and not (self.opened and self.opened.run.path == before):
            self.open(before)

    def open(self, path: Path) -> None:
        """Open and analyse a run in the background."""
        context = self._context
        context.background.start("other run", partial(open_result, path, context.plugins), self.show, context.failed)

    def show(self, opened: OpenRun) -> None:
        self.opened = opened
        self.changed.emit()
        self._predict(opened)

    def _predict(self, opened: OpenRun) -> None:
        """Predict, in the background, what its advice gains, as that of the open run."""
        budget_s = float(value("predict_s"))

        def work(job: Job) -> OpenRun:
            with job.step("Predict the other run"):
                return predicted(opened, budget_s, job)[0]

        def done(predicted: OpenRun) -> None:
            if self.opened is opened:
                self.opened = predicted
                self.weighed.emit()

        if opened.analysis.predictable and budget_s > 0:
            self._context.background.start_job("predict other", work, done, self._context.failed)

    def fill(self, menu: QMenu) -> None:
        """The runs there are, the newest first."""
        for folder in reversed(self.folders() if self._context.run else []):
            menu.addAction(folder.name).triggered.connect(partial(self._open, folder))

    def _open(self, path: Path, checked: bool = False) -> None:
        self.open(path)
