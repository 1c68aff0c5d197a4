"""A mode of the window: blocks by their share of work; Enter crosses one off, and Ctrl+Z takes that back."""

from PySide6.QtWidgets import QLabel, QListWidget

from workbench.gui.modes.mode import Mode


class CrossOff(Mode):
    def __init__(self, context, kind) -> None:
        super().__init__(context, kind)
        self.list, self.details_panel = QListWidget(), QLabel()
        self.set_content(self.list)
        self.setFocusProxy(self.list)
        self.list.itemActivated.connect(lambda item: self.cross_off(item.text()))
        context.analysis_changed.connect(lambda: self.list_blocks(frozenset()))
        self.list_blocks(frozenset())

    def list_blocks(self, done: frozenset[str]) -> None:
        self.done, analysis = done, self.context.analysis
        if analysis is None:
            self.show_nothing()
            return
        busiest = sorted(analysis.blocks, key=lambda block: -block.share_of("work"))
        self.list.clear()
        self.list.addItems([block.block.id for block in busiest if block.block.id not in done])
        self.details_panel.setText(f"{len(done)} of {len(busiest)} crossed off")
        self.show_content()

    def cross_off(self, block: str) -> None:
        before, after = self.done, self.done | {block}
        self.do(f"cross off {block}", lambda: self.list_blocks(after), lambda: self.list_blocks(before))
