"""Asks which runs to compare: in a box of all runs of the project, or by a dialog for folders."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.api.window import Context
from workbench.gui.modes.compare.lower import LowerPanel
from workbench.gui.modes.compare.other_run import OtherRun
from workbench.gui.modes.compare.run_list import ListedRun, RunList, read_listed


class RunChoice(QObject):
    """`box` is the one that was opened last, None before."""

    def __init__(self, context: Context, parent: QWidget, other: OtherRun, below: LowerPanel) -> None:
        super().__init__(parent)
        self._context, self._over, self._other, self._below = context, parent, other, below
        self.box: RunList | None = None

    def ask(self, button: QWidget, clicked: bool = False, *, several: bool) -> None:
        """Show below a button the runs: to choose another one, or to tick those that are compared."""
        if self.box is not None:
            self.box.close_it()
            self.box.deleteLater()
        box = self.box = RunList(self._over.window(), "Compare runs" if several else "Compare with", several)
        box.chosen.connect(self._other.compare if several else self._open_first)
        box.folder_wanted.connect(self.add_folder if several else self.open_folder)
        box.open_below(button)
        there = [one.run.path for one in self._other.all() if one.run.path]
        mine = self._context.run
        known = dict.fromkeys((*there, *self._other.folders(), *self._below.curve()))
        paths = [path for path in known if several or not (mine and path == mine.path)]
        self._context.background.start(
            "run list", partial(read_listed, paths), partial(self._show, box, there), self._context.failed
        )

    def _show(self, box: RunList, there: Sequence[Path], runs: Sequence[ListedRun]) -> None:
        if box is not self.box or not box.isVisible():
            return
        mine, scaling = self._context.run, self._below.scaling.scaling
        box.show_runs(runs, [mine.path] if mine and mine.path else [], there)
        if scaling and box.table.several:
            box.offer_curve(scaling.setting, self._below.curve())

    def _open_first(self, paths: Sequence[Path]) -> None:
        self._other.open(paths[0])

    def open_folder(self) -> None:
        """Compare with a run of any folder."""
        if chosen := QFileDialog.getExistingDirectory(self._over, "Open a second run folder"):
            self._other.open(Path(chosen))

    def add_folder(self) -> None:
        """Compare a run of any folder too."""
        if chosen := QFileDialog.getExistingDirectory(self._over, "Add a run folder"):
            self._other.add([Path(chosen)])
