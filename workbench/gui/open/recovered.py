"""Offers what a window that was not closed had not saved: when its project is opened, or without one at the start."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer

from workbench.gui.frame.context import Context
from workbench.gui.modes.mode import Mode
from workbench.gui.open.question import DISCARD, Question
from workbench.session.edit.recovery import UnsavedText, left_behind
from workbench.system.files import sweep

RESTORE, LATER = "Restore", "Later"


class Recovered:
    """`show_mode` shows the mode in which a document is edited."""

    def __init__(self, context: Context, show_mode: Callable[[str], Mode | None]) -> None:
        self._context, self._show_mode = context, show_mode
        self._agreed = ""  # the project to restore in without another question
        self._project: Path | None = None
        context.workspace_changed.connect(self._on_project)

    def offer_at_start(self, project: bool) -> None:
        """Ask about what belongs to no project and, where none is being opened, about what belongs to any."""
        kept = [k for k in left_behind() if not (project and k.project)]
        if not kept or not self._asked(kept):
            return
        self._restore([k for k in kept if not k.project])
        self._agreed = next((k.project for k in reversed(kept) if k.project), "")
        if self._agreed:
            self._context.open_project(Path(self._agreed))

    def _on_project(self) -> None:
        workspace = self._context.workspace
        path = workspace.path if workspace else None
        other, self._project = path != self._project, path
        if path is not None and other:
            QTimer.singleShot(0, self._context, lambda: self._offer_for(path))  # when every view shows the project

    def _offer_for(self, path: Path) -> None:
        kept = [k for k in left_behind() if k.project == str(path)]
        agreed, self._agreed = self._agreed == str(path), ""
        if kept and (agreed or self._asked(kept)):
            self._restore(kept)

    def _asked(self, kept: list[UnsavedText]) -> bool:
        """Whether to restore; what is not wanted is forgotten."""
        lines = tuple(f"{k.path}{'  (changed since)' if k.file_changed else ''}" for k in kept)
        answer = self._context.documents.ask(
            Question(
                "Restore unsaved changes?",
                "The window did not close normally. These changes were kept. The files on disk are unchanged.",
                lines,
                (RESTORE, DISCARD, LATER),
            )
        )
        if answer == DISCARD:
            for one in kept:
                one.forget()
        return answer == RESTORE

    def _restore(self, kept: list[UnsavedText]) -> None:
        for folder in {Path(k.path).parent for k in kept}:
            sweep(folder)
        newest = {(k.kind, k.path): k for k in kept}  # of several windows; the older are offered the next time
        done = []
        for one in newest.values():
            mode = self._show_mode(one.kind)
            if mode is not None and mode.restore(Path(one.path), one.text):
                done.append(one)
        self._context.documents.keep()  # under this window's name, before the other's goes
        for one in done:
            one.forget()
