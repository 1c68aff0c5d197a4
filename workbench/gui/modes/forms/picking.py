"""The button beside a field of paths: a dialog chooses files or folders, written as the document has them."""

import os
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.model.text import capitalised

_TITLES = {"file": "Choose a file", "files": "Choose files", "folder": "Choose a folder", "folders": "Choose a folder"}


def picked(picks: str, what: str, folder: Path, parent: QWidget) -> tuple[str, ...]:
    """What is chosen for a field with these `picks` (see `Field`); paths from the document's `folder`."""
    kind, _, patterns = picks.partition(" ")
    title = f"{_TITLES[kind]}: {what}"
    shown = f"{capitalised(what)} ({patterns});;All files (*)" if patterns else "All files (*)"
    if kind == "files":
        names, _ = QFileDialog.getOpenFileNames(parent, title, str(folder), shown)
    elif kind == "file":
        names = [QFileDialog.getOpenFileName(parent, title, str(folder), shown)[0]]
    else:
        names = [QFileDialog.getExistingDirectory(parent, title, str(folder))]
    return tuple(Path(os.path.relpath(name, folder)).as_posix() for name in names if name)
