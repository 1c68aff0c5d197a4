"""Where a dialog that writes a file begins."""

from pathlib import Path

from PySide6.QtWidgets import QWidget

from workbench.session.program.settings import projects_folder


def beside_project(over: QWidget, name: str) -> str:
    """The path of a new file of that name beside what the window has open, which is its `windowFilePath`."""
    window = over.window()
    while not window.windowFilePath() and (parent := window.parentWidget()):
        window = parent.window()
    opened = window.windowFilePath()
    return str(Path(opened).parent / name if opened else Path(projects_folder(), name))
