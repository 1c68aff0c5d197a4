"""Pictures of the real window, made off screen: every mode, light and dark."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.gui.app import make_application
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.plugins import load_plugins
from workbench.session.trust import trust
from workbench.session.workspace import open_workspace

if TYPE_CHECKING:
    from workbench.gui.main_window import MainWindow

SIZE = (1600, 1000)
THEMES = ("light", "dark")
_SETTLE_MS = 250
_PATIENCE_MS = 60_000


def take_pictures(
    out: Path, project: Path, runs: Sequence[Path] = (), *, size: tuple[int, int] = SIZE
) -> tuple[Path, ...]:
    """Open a project and its runs, and save one PNG for each mode and theme in `out`; gives their paths.

    Raises WorkbenchError where the project cannot be opened or a picture cannot be written.
    """
    taken: list[Path] = []
    with _window(size) as (window, settle):
        for theme in THEMES:
            window.set_theme(theme)
            settle()
            taken.append(_save(window, out / f"welcome-{theme}.png"))
        trust(open_workspace(project, window.context.plugins))  # among these preferences only: nothing is run
        window.open(project, runs)
        settle()
        if window.context.workspace is None:
            raise WorkbenchError(*window.context.notices)
        if window.context.navigation.selection is None:
            window.step_finding(1)
        for theme in THEMES:
            window.set_theme(theme)
            for mode in window.rail.buttons:
                window.context.navigation.set_mode(mode)
                settle()
                taken.append(_save(window, out / f"{mode}-{theme}.png"))
        taken.append(_pragma_picture(window, settle, out))
    return tuple(taken)


def take_picture(run: Path, png: Path, *, size: tuple[int, int] = SIZE) -> Path:
    """Save a picture of the window on a run's analysis."""
    with _window(size) as (window, settle):
        window.open(run)
        settle()
        if window.context.run is None:
            raise WorkbenchError(*window.context.notices)
        if window.context.navigation.selection is None:
            window.step_finding(1)
        settle()
        return _save(window, png)


def _pragma_picture(window: MainWindow, settle: Callable[[], None], out: Path) -> Path:
    """Source mode with the question what a branch is doing."""
    from workbench.gui.source.mode import SourceMode

    window.set_theme("light")
    window.context.navigation.set_mode("source")
    source = window.modes.current()
    scan = window.context.scan
    for block in scan.hdl.blocks if scan else ():
        if block.pragmas:
            window.context.navigation.open_line(block.file, block.pragmas[-1].line)
            settle()
            if isinstance(source, SourceMode):
                source.ask_pragma(block.pragmas[-1].line)
            break
    settle()
    return _save(window, out / "pragma-light.png")


@contextmanager
def _window(size: tuple[int, int]) -> Iterator[tuple[MainWindow, Callable[[], None]]]:
    """A window of its own with preferences of its own, so that nothing of the person's is shown or changed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    kept = os.environ.get("RCW_PREFERENCES")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RCW_PREFERENCES"] = folder
        try:
            make_application()
            from PySide6.QtCore import QEventLoop, QTimer  # after Qt's libraries are known to be there

            from workbench.gui.main_window import MainWindow

            window = MainWindow(load_plugins())
            window.resize(*size)
            window.show()

            def pause(milliseconds: int) -> None:
                loop = QEventLoop()
                QTimer.singleShot(milliseconds, loop.quit)
                loop.exec()

            def settle() -> None:
                waited = 0
                pause(_SETTLE_MS)
                while window.busy and waited < _PATIENCE_MS:
                    pause(50)
                    waited += 50
                pause(_SETTLE_MS)

            settle()
            try:
                yield window, settle
            finally:
                window.close()
        finally:
            if kept is None:
                del os.environ["RCW_PREFERENCES"]
            else:
                os.environ["RCW_PREFERENCES"] = kept


def _save(window: MainWindow, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not window.grab().save(str(path), "PNG"):
        raise WorkbenchError(Diagnostic("cannot write this picture", "Choose another folder.", file=str(path)))
    return path
