"""Help: the keys, and what this program is."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from workbench import __version__
from workbench.gui.widgets import label
from workbench.gui.widgets.popover import MARGIN_PX, Popover

KEYS = (
    ("Ctrl+1 to 6", "modes"),
    ("Ctrl+K", "find a block, call or command"),
    ("Ctrl+F, Ctrl+L", "find here, go to a line or a time"),
    ("F12, click with Ctrl", "go to where a name is defined"),
    ("F5, Shift+F5, Ctrl+F5", "run, cancel, run again"),
    ("F8, Shift+F8", "next, previous finding"),
    ("Enter, double click", "open the line of what is selected"),
    ("Ctrl+P, then 1 to 6", "insert pragma, its category"),
    ("Ctrl+S, Ctrl+Shift+S", "save, save as"),
    ("Ctrl+N, Ctrl+Shift+N", "new project from sources, new platform or model"),
    ("Ctrl+W, Ctrl+Shift+W", "close the file, the project"),
    ("Ctrl+Z, Ctrl+Shift+Z", "undo, redo"),
    ("Alt+Left, Alt+Right", "back, forward"),
    ("Ctrl+arrows", "block graph: the next block that way"),
    ("W, S, A, D", "timeline: zoom in and out, pan"),
    ("M, Tab, R, F", "timeline: marker, next edge, use as range, fit"),
    ("F6", "next panel"),
    ("Ctrl+I, Ctrl+J", "details, run panel"),
    ("Esc", "give up a gesture, close what floats"),
)


class KeysPopover(Popover):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        inside = MARGIN_PX + 18
        grid = QGridLayout(self)
        grid.setContentsMargins(inside, inside - 4, inside, inside)
        grid.setHorizontalSpacing(28)
        grid.setVerticalSpacing(7)
        grid.addWidget(label("Keys", "title"), 0, 0, 1, 2)
        for row, (keys, what) in enumerate(KEYS, 1):
            grid.addWidget(label(keys, "code"), row, 0)
            grid.addWidget(label(what, "second"), row, 1)


class AboutPopover(Popover):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        inside = MARGIN_PX + 20
        column = QVBoxLayout(self)
        column.setContentsMargins(inside, inside, inside, inside)
        column.setSpacing(8)
        self.setFixedWidth(440)
        column.addWidget(label(f"RC Workbench {__version__}", "finding"))
        column.addWidget(
            label("Find out what an FPGA application waits for, and what mending it would gain.", "second", wrap=True)
        )
        column.addWidget(
            label(
                "Licence: Apache 2.0. Type: Inter and JetBrains Mono (SIL Open Font License 1.1). Icons: Lucide (ISC). "
                "Window: Qt for Python (LGPL).",
                "small",
                wrap=True,
            )
        )
