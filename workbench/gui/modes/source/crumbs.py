"""Over a text where it is: folder, file, block; each is a menu of what is beside it."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.window import set_ground
from workbench.gui.modes.source.blocks_here import BlockRow
from workbench.gui.widgets import Button, ElidedLabel, label
from workbench.gui.widgets.boxes import row_layout
from workbench.model.text import counted

Choice = tuple[str, Callable[[], object]]


class Crumbs(QWidget):
    """`file_wanted` carries a file of the project, `line_wanted` where a block of the file in view begins."""

    file_wanted, line_wanted = Signal(Path), Signal(int)

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(26)
        self.folder, self.file, self.block = (Button("", kind="link", on=lambda: None) for _ in range(3))
        self._signs = tuple(label("\u203a", "muted") for _ in range(2))
        self.place = ElidedLabel("", "small")
        parts = (self.folder, self._signs[0], self.file, self._signs[1], self.block)
        row_layout(*parts, (self.place, 1), of=self, margins=(12, 0, 12, 0), spacing=4)
        self._files: Sequence[Path] = ()
        self._rows: Sequence[BlockRow] = ()
        for button, choices in ((self.folder, self._folders), (self.file, self._beside), (self.block, self._blocks)):
            button.clicked.connect(partial(self._offer, button, choices))
        self._path, self._root = Path(), Path()

    def show_file(self, path: Path, root: Path | None, files: Sequence[Path]) -> None:
        """The file in view, and the project's files."""
        self._path, self._root, self._files = path, root or path.parent, files
        self.folder.setText(self._name_of(path.parent))
        self.file.setText(path.name)

    def show_blocks(self, rows: Sequence[BlockRow], line: int) -> None:
        """The blocks of the file, and which of them the cursor is in."""
        self._rows = rows
        self.show_line(line)

    def show_line(self, line: int) -> None:
        """The block that the cursor is in."""
        rows = self._rows
        before = [row for row in rows if row.line <= line]
        name = max(before, key=lambda row: row.line).name if before else counted(len(rows), "block") if rows else ""
        self.block.setText(name)
        self.block.setVisible(bool(name))
        self._signs[1].setVisible(bool(name))

    def _name_of(self, folder: Path) -> str:
        inside = folder.is_relative_to(self._root) and folder != self._root
        return str(folder.relative_to(self._root)) if inside else folder.name

    def _folders(self) -> list[Choice]:
        folders = dict.fromkeys(path.parent for path in self._files)
        first = {folder: next(path for path in self._files if path.parent == folder) for folder in folders}
        return [(self._name_of(folder), partial(self.file_wanted.emit, path)) for folder, path in first.items()]

    def _beside(self) -> list[Choice]:
        beside = (path for path in self._files if path.parent == self._path.parent)
        return [(path.name, partial(self.file_wanted.emit, path)) for path in beside]

    def _blocks(self) -> list[Choice]:
        return [(f"{row.title}\t{row.said}", partial(self.line_wanted.emit, row.line)) for row in self._rows]

    def _offer(self, button: Button, choices: Callable[[], list[Choice]]) -> None:
        self.menu = QMenu(self)
        for text, go in choices():
            self.menu.addAction(text).triggered.connect(lambda checked=False, go=go: go())
        if not self.menu.isEmpty():
            self.menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
