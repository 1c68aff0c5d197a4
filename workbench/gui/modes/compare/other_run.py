"""The runs to compare with the open one: opens and predicts them in the background."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.analysis.compare_many import MOST_RUNS
from workbench.api.job import Job
from workbench.api.window import Context
from workbench.gui.frame.naming import folder_title, run_title
from workbench.model.run import Run
from workbench.model.text import counted
from workbench.session.keep.results import OpenRun, open_result, predicted, run_before
from workbench.session.program.settings import value

#: Makes a change by a step of a name, and how it is taken back.
Step = Callable[[str, Callable[[], None], Callable[[], None]], bool]


class OtherRun(QObject):
    """`opened` is the run that the open one is compared with, None until there is one; `added` are further ones.

    `changed` says that it is another, `weighed` that it has predictions, `others_changed` that others were added or
    taken out. What a person chooses is made by `step`, so that it can be taken back.
    """

    changed = Signal()
    weighed = Signal()
    others_changed = Signal()

    def __init__(self, context: Context, parent: QWidget, step: Step) -> None:
        super().__init__(parent)
        self._context, self._step = context, step
        self.opened: OpenRun | None = None
        self.added: tuple[OpenRun, ...] = ()

    def follow(self, mine: Run) -> None:
        """Another run is open: the one before it is compared with it where none is chosen."""
        self.added = tuple(one for one in self.added if one.run.path != mine.path)
        if self.opened is not None and self.opened.run.path == mine.path:
            self.opened = None
        if self.opened is None:
            self.open_before()

    def all(self) -> tuple[OpenRun, ...]:
        """All runs that are compared, the open one first."""
        return tuple(one for one in (self._context.opened, self.opened, *self.added) if one is not None)

    def folders(self) -> list[Path]:
        """The folders of all runs but the open one."""
        run = self._context.run
        mine = run.path.resolve() if run and run.path else None
        return [f for f in self._context.run_folders() if f.resolve() != mine]

    def open_before(self) -> None:
        """Compare with the run before the open one, whichever was chosen."""
        run = self._context.run
        before = run_before(run.path, self._context.run_folders()) if run else None
        if before and not (self.opened and self.opened.run.path == before):
            self._read(before, self.show)

    def open(self, path: Path) -> None:
        """Open and analyse a run in the background, to compare with; one that was added takes the other's place."""
        known = next((one for one in self.added if one.run.path == path), None)
        if known is None:
            self._read(path, self._choose)
            return
        rest = tuple(one for one in (self.opened, *self.added) if one and one is not known)
        self._change(f"compare with {folder_title(path)}", known, rest)

    def _read(self, path: Path, done: Callable[[OpenRun], None]) -> None:
        context = self._context
        context.background.start("other run", partial(open_result, path, context.plugins), done, context.failed)

    def _choose(self, opened: OpenRun) -> None:
        self._change(f"compare with {run_title(opened.run)}", opened, self._added_but(opened))

    def show(self, opened: OpenRun) -> None:
        """Compare with a run that nobody chose."""
        self._put(opened, self._added_but(opened))

    def _added_but(self, opened: OpenRun) -> tuple[OpenRun, ...]:
        return tuple(one for one in self.added if one.run.path != opened.run.path)

    def _change(self, label: str, opened: OpenRun | None, added: tuple[OpenRun, ...]) -> None:
        """By a step that is taken back."""
        self._step(label, partial(self._put, opened, added), partial(self._put, self.opened, self.added))

    def _put(self, opened: OpenRun | None, added: tuple[OpenRun, ...]) -> None:
        """Compare with these, as far as none of them is the open one."""
        mine = self._context.run.path if self._context.run else None
        others = [one for one in (opened, *added) if one and (mine is None or one.run.path != mine)]
        before = self.opened, self.added
        self.opened, self.added = (others[0], tuple(others[1:])) if others else (self.opened, ())
        if self.opened is not before[0]:
            self.changed.emit()
            if self.opened:
                self._predict(self.opened)
        if self.opened is before[0] or len(self.added) != len(before[1]):
            self.others_changed.emit()

    def add(self, paths: Sequence[Path]) -> None:
        """Compare these too."""
        self.compare([*(one.run.path for one in self.all() if one.run.path), *paths])

    def compare(self, paths: Sequence[Path]) -> None:
        """Compare these with the open run, as many as can be; open in the background those that are not."""
        wanted = list(dict.fromkeys(paths))[:MOST_RUNS]
        there = {one.run.path for one in self.all()}
        new = [path for path in wanted if path not in there]
        plugins = self._context.plugins

        def work(job: Job) -> tuple[OpenRun, ...]:
            opened = []
            with job.step("Open runs"):
                for number, path in enumerate(new):
                    job.check()
                    job.progress(number / len(new))
                    opened.append(open_result(path, plugins))
            return tuple(opened)

        if new:
            self._context.background.start_job("add runs", work, partial(self._compare, wanted), self._context.failed)
        else:
            self._compare(wanted, ())

    def _compare(self, wanted: Sequence[Path], new: Sequence[OpenRun]) -> None:
        before = [one for one in (self.opened, *self.added) if one]
        known = {one.run.path for one in before}
        rest = [one for one in before if one.run.path in wanted]
        added = [one for one in new if one.run.path not in known]
        if (rest := [*rest, *added]) and (added or len(rest) != len(before)):
            words = run_title(added[0].run) if len(added) == 1 else counted(len(added), "run")
            label = f"add {words}" if len(rest) - len(added) == len(before) else f"compare {len(rest) + 1} runs"
            self._change(label, rest[0], tuple(rest[1:]))

    def remove(self, path: Path | None) -> None:
        """Take a run out of the comparison; the open one stays, and so does the last other one."""
        rest = [one for one in (self.opened, *self.added) if one and one.run.path != path]
        if path and rest and len(rest) <= len(self.added):
            self._change(f"remove {folder_title(path)}", rest[0], tuple(rest[1:]))

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
