"""What the window asks of a mode."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QWidget

from workbench.gui.context import Context
from workbench.session.documents import Document
from workbench.session.history import Undoable


class Mode(QWidget):
    """A mode's middle; its panels stand at the left and right, where it has them. Each answers what it can."""

    side_panel: QWidget | None = None
    details_panel: QWidget | None = None

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

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
