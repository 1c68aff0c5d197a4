"""A mode of the window: blocks by their share of work, as a list and a plot; Enter crosses one off, Ctrl+Z takes that
back."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QListWidget, QSplitter

from workbench.api import Category, WindowMode, percent_text
from workbench.api.window import Axis, Context, Line, Mode, Plot, PlotView


class CrossOff(Mode):
    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.list, self.plot, self.count = QListWidget(), PlotView("Work by block"), QLabel()
        self.details_panel = self.count
        content = QSplitter(Qt.Orientation.Vertical)
        content.addWidget(self.list)
        content.addWidget(self.plot)
        self.set_content(content)
        self.setFocusProxy(self.list)
        self.list.itemActivated.connect(lambda item: self.cross_off(item.text()))
        context.analysis_changed.connect(lambda: self.list_blocks(frozenset()))
        self.list_blocks(frozenset())

    def list_blocks(self, done: frozenset[str]) -> None:
        self.done, analysis = done, self.context.analysis
        if analysis is None:
            self.show_nothing()
            return
        busiest = sorted(analysis.blocks, key=lambda block: -block.share_of(Category.WORK))
        left = [block for block in busiest if block.block.id not in done]
        self.list.clear()
        self.list.addItems([block.block.id for block in left])
        shares = np.array([block.share_of(Category.WORK) for block in left])
        line = Line("work", np.arange(1.0, len(left) + 1), shares, ink="state:work", points=True)
        axes = Axis("block, busiest first", lambda number: f"{number:g}"), Axis("share of work", percent_text)
        self.plot.show_plot(Plot(*axes, (line,), say=lambda _, point: left[point].block.id))
        self.count.setText(f"{len(done)} of {len(busiest)} crossed off")
        self.show_content()

    def cross_off(self, block: str) -> None:
        before, after = self.done, self.done | {block}
        self.do(f"cross off {block}", lambda: self.list_blocks(after), lambda: self.list_blocks(before))
