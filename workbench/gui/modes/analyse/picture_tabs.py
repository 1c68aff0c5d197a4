"""The pills of Analyse's pictures, at the same place in the head of each: the block graph, the run's time."""

from collections.abc import Callable

from workbench.gui.widgets import PanelHeader, PillButton
from workbench.pictures.time_drawing import KINDS
from workbench.session.program.keys import with_key

BLOCKS = "blocks"


class PictureTabs:
    """`show` is called with the picture that is asked for: `BLOCKS`, or a kind of the run's time."""

    def __init__(self, head: PanelHeader, show: Callable[[str], None], shown: str = "") -> None:
        self.pills = {BLOCKS: PillButton("Blocks"), **{kind: PillButton(title) for kind, title in KINDS.items()}}
        self._show = show
        for name, pill in self.pills.items():
            tip = "The graph of blocks (Esc)" if name == BLOCKS else with_key("Time by block, state and call", name)
            pill.setToolTip(tip)
            pill.clicked.connect(lambda checked=False, wanted=name: self._ask(wanted))
            head.add(pill)
        self.set_shown(shown)

    def _ask(self, name: str) -> None:
        self.set_shown(self._shown)
        self._show(name)

    def set_shown(self, name: str) -> None:
        """Say which picture is shown; "" for none of these."""
        self._shown = name
        for other, pill in self.pills.items():
            pill.setChecked(other == name)
