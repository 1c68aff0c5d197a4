"""The six modes, each made when it is first shown."""

from __future__ import annotations

import importlib

from PySide6.QtWidgets import QStackedWidget

from workbench.gui.context import Context
from workbench.gui.mode import Mode
from workbench.gui.theme import set_ground

#: Where each mode's widget is; imported late, for a quick start.
CLASSES = {
    "source": ("workbench.gui.source.mode", "SourceMode"),
    "analyse": ("workbench.gui.analyse.mode", "AnalyseMode"),
    "timeline": ("workbench.gui.timeline.mode", "TimelineMode"),
    "compare": ("workbench.gui.compare.mode", "CompareMode"),
    "platform": ("workbench.gui.platform.mode", "PlatformMode"),
    "predict": ("workbench.gui.predict.mode", "PredictMode"),
}


def read_modules() -> None:
    """Read the code of every mode, so that the first showing of one only has to build it."""
    for module, _ in CLASSES.values():
        importlib.import_module(module)


class ModeStack(QStackedWidget):
    """The middle of the window."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._context = context
        self.made: dict[str, Mode] = {}

    def show_mode(self, mode: str) -> Mode:
        if mode not in self.made:
            module, name = CLASSES[mode]
            self.made[mode] = getattr(importlib.import_module(module), name)(self._context)
            self.addWidget(self.made[mode])
        self.setCurrentWidget(self.made[mode])
        return self.made[mode]

    def current(self) -> Mode | None:
        shown = self.currentWidget()
        return shown if isinstance(shown, Mode) else None
