"""The button that runs a study, where the open model is one."""

from __future__ import annotations

from collections.abc import Callable

from workbench.gui.context import Context
from workbench.gui.widgets import Button
from workbench.session.model_document import ModelDocument


class StudyButton(Button):
    """Asks for the study's points to be run; `show_again` shows what was measured since."""

    def __init__(self, context: Context, document: ModelDocument, show_again: Callable[[], None]) -> None:
        super().__init__("Run study", "play")
        self.setToolTip("Run every point that is not measured yet; points that are done are kept")
        self._context, self._document, self._show_again = context, document, show_again
        self.clicked.connect(self._ask)
        document.changed.connect(self._follow)
        context.running_changed.connect(self._follow)
        context.study_changed.connect(self._measured)
        context.runs_changed.connect(self._measured)
        self._follow()

    @property
    def _is_study(self) -> bool:
        kind = self._document.model_kind
        return kind is not None and kind.name == "study" and self._document.model_file is not None

    def _follow(self) -> None:
        self.setVisible(self._is_study)
        self.setEnabled(not self._context.running)

    def _measured(self) -> None:
        if self._is_study:
            self._show_again()

    def _ask(self) -> None:
        if self._document.path is not None:
            self._context.study_requested.emit(self._document.path)
