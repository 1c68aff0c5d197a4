"""Starts the window. Without a display Qt draws off screen; without its libraries one line says what to install."""

from __future__ import annotations

import gc
import locale
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.program import journal
from workbench.session.program.desktop import DESKTOP_ID

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from workbench.gui.frame.main_window import MainWindow


def make_application(theme_name: str = "light") -> QApplication:
    """The application, dressed. Raises WorkbenchError where Qt's system libraries are missing."""
    if sys.platform == "linux":
        os.environ.setdefault("QT_QPA_PLATFORM", "wayland;xcb;offscreen" if _only_wayland() else "xcb;offscreen")
    from PySide6.QtCore import QLocale
    from PySide6.QtWidgets import QApplication

    from workbench.gui.look.icons import program_icon
    from workbench.gui.look.theme import apply_theme

    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = QApplication([DESKTOP_ID])  # also what X11 calls the window's class
    QLocale.setDefault(QLocale.c())  # numbers have a point in every language, as in all files
    locale.setlocale(locale.LC_NUMERIC, "C")  # which Qt sets to the person's
    application.setApplicationName("RC Workbench")
    application.setDesktopFileName(DESKTOP_ID)
    application.setWindowIcon(program_icon())
    apply_theme(application, theme_name)
    return application


def _only_wayland() -> bool:
    return "WAYLAND_DISPLAY" in os.environ and "DISPLAY" not in os.environ


def make_window(path: Path | None = None, runs: Sequence[Path] = ()) -> tuple[QApplication, MainWindow]:
    """The application and its window, shown on a project, a run or nothing. Raises WorkbenchError."""
    from workbench.session.program.plugins import load_plugins
    from workbench.session.program.settings import value

    plugins = load_plugins()  # before Qt: its bindings look into every module that is imported after them
    if "source" not in plugins.modes:
        message = "the window's own modes are not among the plugins: the installation is older than the sources"
        raise WorkbenchError(Diagnostic(message, "Install them again, as in: pip install -e ."))
    if (scale := int(value("scale_pct"))) != 100:
        os.environ.setdefault("QT_SCALE_FACTOR", str(scale / 100))
    application = make_application(value("theme"))
    from PySide6.QtCore import QTimer

    from workbench.gui.frame.main_window import MainWindow  # after Qt's libraries are known to be there

    window = MainWindow(plugins)
    window.open(path, runs)
    window.show()
    QTimer.singleShot(0, window, lambda: window.recovered.offer_at_start(path is not None))
    return application, window


def run_window(path: Path | None = None, runs: Sequence[Path] = ()) -> int:
    """Open the window on a project, a run or nothing, and stay until it is closed. Gives the exit code."""
    from workbench.gui.frame.kept_open import kept_open

    with kept_open():
        return _run_window(path, runs)


def _run_window(path: Path | None, runs: Sequence[Path]) -> int:
    crashed = journal.start(sys.argv)
    application, window = make_window(path, runs)
    from workbench.gui.frame.faults import FaultTeller, close_on_signals, log_qt
    from workbench.gui.frame.garbage import look_between_turns

    gc.freeze()  # what is there already stays to the end, and no look need see it: nearly half of what there will be
    look_between_turns(window.context, window.modes.built, lambda: window.busy)
    log_qt()
    close_on_signals(window)
    FaultTeller(window.context)
    if crashed is not None:
        window.context.notices.tell(crashed)
    return int(application.exec())
