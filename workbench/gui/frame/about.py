"""The About box: version, licences and credits of the program."""

from PySide6.QtWidgets import QWidget

from workbench import __version__
from workbench.gui.widgets import label
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.popover import MARGIN_PX, Popover


class AboutPopover(Popover):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        inside = MARGIN_PX + 20
        column = column_layout(of=self, margins=(inside, inside, inside, inside), spacing=8)
        self.setFixedWidth(440)
        self.setAccessibleName("About RC Workbench")
        column.addWidget(label(f"RC Workbench {__version__}", "finding"))
        column.addWidget(
            label("Find where an FPGA application spends its time, and what a fix would gain.", "second", wrap=True)
        )
        column.addWidget(
            label(
                "Licence: Apache 2.0. Type: Inter and JetBrains Mono (SIL Open Font License 1.1). Icons: Lucide (ISC). "
                "Window: Qt for Python (LGPL).",
                "small",
                wrap=True,
            )
        )
