"""What the window asks of a mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from workbench.gui.context import Context
from workbench.gui.widgets import IconButton
from workbench.session.documents import Document, free_name
from workbench.session.history import Undoable


class Mode(QWidget):
    """A mode's middle; its panels stand at the left and right, where it has them. Each answers what it can."""

    #: What New makes here, and the file names of it as a file dialog wants them; neither where it makes nothing.
    makes = ""
    file_names = ""
    side_panel: QWidget | None = None
    details_panel: QWidget | None = None
    status_changed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.status: tuple[str, ...] = ()

    def build(self) -> Iterator[None]:
        """What is left to be done until the mode is whole, in steps short enough for one turn of the event loop."""
        yield from ()

    def say_status(self, *parts: str) -> None:
        """What the status bar adds while the mode is shown."""
        if parts != self.status:
            self.status = parts
            self.status_changed.emit()

    @property
    def shown_document(self) -> Document | None:
        """The document that Save speaks of."""
        return None

    @property
    def history(self) -> Undoable:
        """What Undo takes back here."""
        document = self.shown_document
        return document.history if document is not None else self.context.history

    def save(self) -> bool:
        document = self.shown_document
        return document is not None and self.context.documents.save(document)

    def save_as(self) -> bool:
        """Ask for another file, write the document there and go on with that."""
        document = self.shown_document
        if document is None or document.path is None:
            return False
        path = self._ask_file("Save as", document.path)
        return path is not None and self.write_as(path)

    def duplicate(self) -> bool:
        """Write the document to a new file beside it (one of the workbench's: in the project) and go on there."""
        document, workspace = self.shown_document, self.context.workspace
        if document is None or document.path is None:
            return False
        if document.read_only and workspace is None:
            return self.save_as()
        folder = workspace.root if document.read_only and workspace else document.path.parent
        return self.write_as(free_name(folder / document.path.name))

    def write_as(self, path: Path) -> bool:
        document = self.shown_document
        return document is not None and self.context.documents.save_as(document, path)

    def new_document(self) -> bool:
        """Ask for a file and begin a document there."""
        if not self.makes or not self.context.documents.may_leave([d for d in [self.shown_document] if d]):
            return False
        path = self._ask_file(f"New {self.makes}", (self.context.root() or Path.cwd()) / f"new_{self.makes}")
        return path is not None and self.begin(path)

    def begin(self, path: Path) -> bool:
        """Write a document to begin with and show it."""
        return False

    def files_button(self) -> IconButton:
        """A button with what can be done with the mode's files."""
        button = IconButton("plus", f"New {self.makes}, or a copy of this one")
        menu = QMenu(button)
        for text, do in (
            (f"New {self.makes}... (Ctrl+Shift+N)", self.new_document),
            ("Duplicate", self.duplicate),
            ("Save as... (Ctrl+Shift+S)", self.save_as),
        ):
            menu.addAction(text).triggered.connect(lambda checked=False, do=do: do())
        button.setMenu(menu)
        button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _ask_file(self, title: str, path: Path) -> Path | None:
        """The file chosen, its name ending as the names of the kind chosen do."""
        name, kind = QFileDialog.getSaveFileName(self, title, str(path), self.file_names)
        ending = kind.rpartition("*")[2].rstrip(")")
        if not name:
            return None
        known = any(name.endswith(end) for end in re.findall(r"\*(\.[\w.]+)", self.file_names))
        return Path(name if known else name + ending)

    def open_document(self, path: Path) -> None:
        """Show a file that is edited here."""

    def open_line(self, path: Path, line: int) -> None:
        """Show a line of a file."""

    def close_shown(self) -> None:
        """Close the document that is shown, where one of several is."""

    def insert_pragma(self) -> None:
        """Ask what the line under the cursor is doing."""

    def restore(self, path: Path, text: str) -> bool:
        """Open a document with an unsaved text in it. False where that was not done."""
        return False

    def find_here(self) -> bool:
        """Open a search of what is shown. False where there is none."""
        return False

    def step_finding(self, step: int) -> bool:
        """Choose the finding `step` rows on in the mode's own list. False where it has none."""
        return False
