"""Platforms side by side: the rate that each one's memory layers allow by their size, and a table of them."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.predictions import PaperTable, PlatformDensity
from workbench.api.window import Context, PlotView
from workbench.gui.modes.predict import pieces
from workbench.gui.modes.predict.table_view import TableView
from workbench.gui.widgets import Button, PanelHeader, Split, plain_column, plain_panel, scrolled
from workbench.gui.widgets.boxes import column_layout
from workbench.pictures.platforms import platforms_plot


class PlatformMenu(QMenu):
    """The platforms that can be compared, each to be checked; `chosen_changed` says that others are."""

    chosen_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._titles: Mapping[str, str] = {}
        self.chosen: tuple[str, ...] = ()

    def offer(self, titles: Mapping[str, str]) -> None:
        """Offer these, by name; what was chosen of them stays so."""
        if dict(titles) == dict(self._titles):
            return
        self._titles = titles
        self.chosen = tuple(name for name in self.chosen if name in titles)
        self.clear()
        for name, title in titles.items():
            action = self.addAction(title)
            action.setCheckable(True)
            action.setData(name)
            action.setChecked(name in self.chosen)
            action.toggled.connect(lambda checked, name=name: self._toggle(name, checked))
        self.addSeparator()
        self.addAction("All").triggered.connect(self.choose_all)
        self.addAction("None").triggered.connect(lambda: self.choose(()))

    def choose(self, names: Sequence[str]) -> None:
        """Compare with these."""
        self.chosen = tuple(name for name in self._titles if name in names)
        for action in self.actions():
            action.blockSignals(True)
            action.setChecked(action.data() in self.chosen)
            action.blockSignals(False)
        self.chosen_changed.emit()

    def choose_all(self) -> None:
        self.choose(tuple(self._titles))

    def _toggle(self, name: str, checked: bool) -> None:
        self.choose((*self.chosen, name) if checked else [other for other in self.chosen if other != name])


class PlatformsView(QWidget):
    """A plot with a line for each platform, and a table of their layers below. `menu` chooses the platforms."""

    def __init__(self, context: Context, menu: PlatformMenu) -> None:
        super().__init__()
        above, column = plain_panel()
        self.head = PanelHeader("Platforms side by side")
        choose = Button("Compare platforms")
        choose.setToolTip("Choose the platforms to compare")
        choose.setMenu(menu)
        self.head.add(choose)
        self.head.add(Button("Close", on=lambda: menu.choose(())))
        column.addWidget(self.head)
        self.plot = PlotView("Platforms", 300)
        self.plot.problem.connect(context.notices.tell)
        column.addWidget(pieces.padded(self.plot), 1)
        self.table = TableView()
        rows = column_layout(self.table, margins=(0, 0, 0, 0), spacing=0)
        below, column = plain_panel()
        column.addWidget(scrolled("Platforms", rows), 1)
        plain_column(self, (Split((above, 430), (below, 340), vertical=True), 1))

    def show_platforms(self, compared: Sequence[PlatformDensity], table: PaperTable, of: str) -> None:
        """Show these; `of` says by whose density."""
        self.head.set_title("Platforms side by side", of)
        self.plot.show_plot(platforms_plot(compared))
        self.table.show_tables((table,))
