"""The details of Analyse mode: the page of the selected object, the tried changes, or the form of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from workbench.analysis.finding_page import OPEN, TRY
from workbench.api.views import Page
from workbench.api.window import Context
from workbench.gui.modes.analyse.try_panel import TryPanel
from workbench.gui.views.page_view import PageView
from workbench.model.changes import Change

if TYPE_CHECKING:  # only where a rule is edited
    from workbench.gui.modes.analyse.rule_editor import RuleEditor


class AnalyseDetails(QWidget):
    """`try_wanted` carries the number of the advice whose changes are to be tried, `tried` the changes whose gain was
    predicted; none once they are no longer in front. `asked`: changes or a rule are shown, which a person began."""

    try_wanted = Signal(int)
    tried = Signal(object)
    asked = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.view = PageView(context)
        self.closed, self.link_wanted = self.view.closed, self.view.link_wanted
        self.view.acted.connect(self._act)
        self.trying: TryPanel | None = None  # made when something is tried first
        self.rule: RuleEditor | None = None  # made when a rule is edited first
        self._shown = ""  # the page's id
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.view)
        self._pages.currentChanged.connect(lambda page: self.asked.emit() if page else self.tried.emit(()))

    def show_nothing(self) -> None:
        if not self.shows_rule:
            self._pages.setCurrentWidget(self.view)
        self._shown = ""
        self.view.show_nothing()

    def show_page(self, page: Page) -> None:
        """Write a page; one that was shown already, written anew, leaves the changes that are tried in front."""
        if page.id != self._shown and not self.shows_rule:
            self._pages.setCurrentWidget(self.view)
        self._shown = page.id
        self.view.show_page(page)

    @property
    def is_trying(self) -> bool:
        """Whether changes are tried in place of a page."""
        return self.trying is not None and self._pages.currentWidget() is self.trying

    def try_changes(self, changes: Sequence[Change]) -> None:
        """Offer all changes that the run's findings advise, with these ticked."""
        if self.trying is None:
            self.trying = TryPanel(self.context)
            self.trying.closed.connect(lambda: self._pages.setCurrentWidget(self.view))
            self.trying.answered.connect(self.tried.emit)
            self._pages.addWidget(self.trying)
        self.trying.begin(changes)
        self._pages.setCurrentWidget(self.trying)
        self.trying.edit.setFocus()

    # ---- a rule of one's own

    def add_rule_editor(self, editor: RuleEditor) -> None:
        self.rule = editor
        self._pages.addWidget(editor)

    @property
    def shows_rule(self) -> bool:
        return self.rule is not None and self._pages.currentWidget() is self.rule

    def show_rule(self) -> None:
        """Show the form of a rule, until it is closed."""
        if self.rule is not None:
            self._pages.setCurrentWidget(self.rule)

    def end_rule(self) -> None:
        if self.shows_rule:
            self._pages.setCurrentWidget(self.view)

    def _act(self, action: str) -> None:
        place = self.context.selected_place()
        if action.startswith(TRY):
            self.try_wanted.emit(int(action.removeprefix(TRY)))
        elif action == OPEN and place:
            self.context.navigation.open_line(*place)
