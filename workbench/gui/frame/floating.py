"""Opens and closes the floating parts of the window: notices, run options, settings, guide, About box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QUrl, Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.frame.about import AboutPopover
from workbench.gui.frame.context import Context
from workbench.gui.frame.popovers import NoticesPopover, RunOptionsPopover
from workbench.gui.run.background import Slices
from workbench.session.program.settings import settings

if TYPE_CHECKING:
    from workbench.gui.frame.guide import GuideWindow
    from workbench.gui.frame.settings_dialog import SettingsDialog


class Floating(QObject):
    """Each is made when it is first asked for, or small; `setting_changed` carries the name of a setting."""

    setting_changed = Signal(str)

    def __init__(self, window: QWidget, context: Context, slices: Slices) -> None:
        super().__init__(window)
        self._window, self._context, self._slices = window, context, slices
        self.notices = NoticesPopover(context, window)
        self.run_options = RunOptionsPopover(context, window)
        self.about = AboutPopover(window)
        self.settings: SettingsDialog | None = None
        self.guide: GuideWindow | None = None

    def show_notices(self, rail_px: int) -> None:
        """At the foot of the window, beside its rail."""
        notices = self.notices
        notices.reload()
        notices.open_where(lambda: QPoint(rail_px + 12, self._window.height() - notices.height()))

    def show_run_options(self, header_px: int) -> None:
        """Below the header, at the right."""
        options = self.run_options
        options.read_questions()
        options.open_where(lambda: QPoint(self._window.width() - options.width(), header_px + 4))

    def show_about(self) -> None:
        room, about = self._window, self.about
        about.open_where(lambda: QPoint((room.width() - about.width()) // 2, (room.height() - about.height()) // 2))

    def show_settings(self, words: str = "") -> SettingsDialog:
        """What can be set, as far as it has some words in it; the first time once its rows are made, by slices."""
        if self.settings is None:
            from workbench.gui.frame.settings_dialog import SettingsDialog

            known = settings(self._context.plugins.modes.values())
            self.settings = SettingsDialog(known, self._context.background, self._window)
            self.settings.changed.connect(self.setting_changed)
            self._slices.start(self.settings, self.settings.build())
        self._slices.start(self.settings, self.settings.opening(words))
        return self.settings

    def show_guide(self, page: str = "") -> None:
        """The guide where it was left, or at a page."""
        if self.guide is None:
            from workbench.gui.frame.guide import GuideWindow

            self.guide = GuideWindow(self._window, self._slices)
        if page:
            self.guide.browser.follow(QUrl(page))
        self.guide.show()
        self.guide.raise_()
