"""What changed, the findings, and the runs' timelines or table: all of them, or in a small window one or two."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.gui.frame.focus import focus_inside
from workbench.gui.widgets import Button, PanelHeader, Split

CHANGES, FINDINGS, RUNS = "Changes", "Findings", "Runs"
#: From this width on the changes and the findings are beside one another, from this height on the runs are below them.
BESIDE_FROM_PX, BELOW_FROM_PX = 940, 420


class Panels(Split):
    """`heads` are those of each panel: they have links to the panels that are not shown."""

    def __init__(self, panels: Mapping[str, QWidget], heads: Mapping[str, Sequence[PanelHeader]]) -> None:
        self._across = Split((panels[CHANGES], 770), (panels[FINDINGS], 766))
        super().__init__((self._across, 430), (panels[RUNS], 390), vertical=True)
        self._panels, self._turned, self._rooms = panels, CHANGES, (True, True)
        self.links = [
            (other, Button(other, kind="link", on=partial(self.turn, other)), head)
            for panel, mine in heads.items() for head in mine for other in panels if other != panel
        ]  # fmt: skip
        for _, link, head in self.links:
            link.hide()
            head.add(link)

    def turn(self, panel: str) -> None:
        """Show a panel, where there is no room for all."""
        if self._panels[panel].isHidden():
            self._turned = panel
            self._arrange()
            focus_inside(self._panels[panel])

    def minimumSizeHint(self) -> QSize:
        """Room for any one of the panels."""
        least = QSize()
        for panel in self._panels.values():
            least = least.expandedTo(panel.minimumSizeHint()).expandedTo(panel.minimumSize())
        return least

    def sizeHint(self) -> QSize:
        """No more than it needs, so that the mode is not scrolled where that is there."""
        return self.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        rooms = self.width() >= BESIDE_FROM_PX, self.height() >= BELOW_FROM_PX
        if rooms != self._rooms:
            self._rooms = rooms
            self._arrange()

    def _arrange(self) -> None:
        beside, below = self._rooms
        above = below or self._turned != RUNS
        hidden = {RUNS} if above and not below else set()
        if not beside:
            hidden.add(CHANGES if self._turned == FINDINGS else FINDINGS)
        if not above:
            hidden = {CHANGES, FINDINGS}
        for name, panel in self._panels.items():
            panel.setVisible(name not in hidden)
        self._across.setVisible(above)
        for other, link, _ in self.links:
            link.setVisible(other in hidden)
