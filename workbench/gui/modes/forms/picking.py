"""The button beside a field of paths: a dialog chooses files or folders, written as the document has them."""

import os
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

_TITLES = {"file": "Choose a file", "files": "Choose files", "folder": "Choose a folder", "folders": "Choose a folder"}


def picked(picks: str, what: str, folder: Path, parent: QWidget) -> tuple[str, ...]:
    """What is chosen for a field that takes a file, files, a folder or folders; paths from the document's `folder`."""
    title = f"{_TITLES[picks]}: {what}"
    if picks == "files":
        names, _ = QFileDialog.getOpenFileNames(parent, title, str(folder))
    elif picks == "file":
        names = [QFileDialog.getOpenFileName(parent, title, str(folder))[0]]
    else:
        names = [QFileDialog.getExistingDirectory(parent, title, str(folder))]
    return tuple(Path(os.path.relpath(name, folder)).as_posix() for name in names if name)
