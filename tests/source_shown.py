"""A file's editor, as Source mode shows it."""

from pathlib import Path

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.mode import SourceMode


def source_of(window: MainWindow) -> SourceMode:
    """The mode shown, which is Source."""
    mode = window.modes.current()
    assert isinstance(mode, SourceMode)
    return mode


def show(window: MainWindow, file: Path, line: int) -> CodeEditor:
    """Open a line of a file; its editor."""
    window.context.navigation.open_line(str(file), line)
    editor = source_of(window).editor
    assert editor is not None
    assert editor.path == file
    return editor
