"""Takes pictures of the real window off screen: every view, light and dark, at one size or more."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.gui.app import make_application
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.edit.model_document import models_of
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import trust
from workbench.session.program.plugins import load_plugins

if TYPE_CHECKING:
    from workbench.gui.frame.main_window import MainWindow
    from workbench.gui.modes.source.mode import SourceMode

SIZE = (1600, 1000)
SIZES = (SIZE, (1024, 700), (1280, 800), (2560, 1440))
THEMES = ("light", "dark")
_SETTLE_MS = 250
_PATIENCE_MS = 60_000


def take_pictures(
    out: Path, shown: Sequence[tuple[Path, Sequence[Path]]], *, sizes: Sequence[tuple[int, int]] = (SIZE,)
) -> tuple[Path, ...]:
    """Open projects, each with its runs, and save one PNG for each view and theme in `out`; returns their paths. For a
    project with streams only the stream views are taken.

    Of several sizes each picture's name ends with its own. Raises WorkbenchError where a project cannot be opened or
    a picture cannot be written.
    """
    taken: list[Path] = []
    with off_screen(sizes[0]) as (window, settle):

        def take(names: Callable[[], Iterable[str]]) -> None:
            for (width, height), theme in product(sizes, THEMES):
                window.resize(width, height)
                window.set_theme(theme)
                for name in names():
                    settle()
                    size = f"-{width}x{height}" if len(sizes) > 1 else ""
                    taken.append(_save(window, out / f"{name}-{theme}{size}.png"))

        take(lambda: ["welcome"])
        for project, runs in shown:
            workspace = open_workspace(project, window.context.plugins)
            trust(workspace)  # among these preferences only: nothing is run
            window.open(project, runs)
            settle()
            if window.context.workspace is None or window.context.workspace.path != workspace.path:
                raise WorkbenchError(*window.context.notices)
            if window.context.navigation.selection is None:
                window.step_finding(1)
            take(partial(stream_views if workspace.project.streaming else views, window, settle))
    return tuple(taken)


def stream_views(window: MainWindow, settle: Callable[[], None]) -> Iterator[str]:
    """Show the graph as written and as run, and every picture that the query's menu offers."""
    from workbench.gui.modes.streams.mode import QueryMode

    window.context.navigation.set_mode("streams")
    settle()
    mode, run = window.modes.current(), window.context.run
    if not isinstance(mode, QueryMode) or mode.subject is None or run is None:
        return
    mode.show_subject(False)
    yield "streams-project"
    mode.show_subject(True)
    mode.frame_length.setText(f"{run.time_s * 1e6 / 20:.3f} us")
    for title, statement in mode.subject.edges[0].statements:
        mode.add(statement)
        yield f"streams-{'-'.join(title.lower().replace(',', '').split())}"
        mode.document.type("")
    if mode.document.path:
        mode.restore(mode.document.path)


def views(window: MainWindow, settle: Callable[[], None]) -> Iterator[str]:
    """Show one view of an open project after another in the window; yields their names."""
    from workbench.gui.modes.analyse.findings_panel import CHART, FINDINGS
    from workbench.gui.modes.analyse.mode import AnalyseMode
    from workbench.gui.modes.predict.mode import PAGES, STRUCTURE, PredictMode
    from workbench.gui.modes.source.mode import SourceMode

    for name in window.rail.buttons:
        window.context.navigation.set_mode(name)
        settle()
        mode = window.modes.current()
        if isinstance(mode, PredictMode) and mode.document.model_kind and mode.document.model_kind.name == "study":
            yield "study"
            models = models_of(None, window.context.plugins.model_kinds)
            mode.open_document(next(m for m in models if m.name == "pdf2d").path)
            settle()
        yield name
        if isinstance(mode, AnalyseMode):
            mode.findings.turn_to(CHART)
            yield "speedups"
            mode.findings.turn_to(FINDINGS)
            window.panels.show_run(True)
            yield "run"
            window.panels.show_run(False)
        elif isinstance(mode, PredictMode):
            for page in (page for page in PAGES[1:] if not mode.pills[page].isHidden()):
                mode.show_page(page)
                yield f"predict-{page.lower()}"
            mode.show_page(PAGES[0])
            shown = mode.document.path
            models = models_of(None, window.context.plugins.model_kinds)
            mode.open_document(next(m for m in models if m.kind.layers).path)
            yield "density"
            for model in (m for m in models if m.kind.name == "opencl"):
                mode.open_document(model.path)
                settle()  # its source is compiled and run
                if not mode.pills[STRUCTURE].isHidden():
                    mode.show_page(STRUCTURE)
                    yield "structure"
                    mode.show_page(PAGES[0])
                    break
            if shown:
                mode.open_document(shown)
        elif isinstance(mode, SourceMode):
            yield from _pragma_view(window, mode, settle)


def _pragma_view(window: MainWindow, mode: SourceMode, settle: Callable[[], None]) -> Iterator[str]:
    """Show the dialog that asks for a branch's pragma."""
    scan = window.context.scan
    block = next((b for b in scan.hdl.blocks if b.pragmas), None) if scan else None
    if block:
        window.context.navigation.open_line(block.file, block.pragmas[-1].line)
        settle()
        mode.ask_pragma(block.pragmas[-1].line)
        yield "pragma"
        mode.popover.close_it()


def take_picture(run: Path, png: Path, *, size: tuple[int, int] = SIZE) -> Path:
    """Save a picture of the window on a run's analysis."""
    with off_screen(size) as (window, settle):
        window.open(run)
        settle()
        if window.context.run is None:
            raise WorkbenchError(*window.context.notices)
        if window.context.navigation.selection is None:
            window.step_finding(1)
        settle()
        return _save(window, png)


@contextmanager
def off_screen(size: tuple[int, int]) -> Iterator[tuple[MainWindow, Callable[[], None]]]:
    """A window with preferences of its own, so that none of the user's is shown or changed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    kept = os.environ.get("RCW_PREFERENCES")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RCW_PREFERENCES"] = folder
        try:
            make_application()
            from PySide6.QtCore import QEventLoop, QTimer  # after Qt's libraries are known to be there

            from workbench.gui.frame.main_window import MainWindow

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
