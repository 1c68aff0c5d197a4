"""Starts the window. Without a display Qt draws off screen; without its libraries one line says what to install."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.model.diagnostic import Diagnostic, WorkbenchError

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from workbench.gui.main_window import MainWindow

SYSTEM_PACKAGES = "libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0"


def make_application(theme_name: str = "light") -> QApplication:
    """The application, dressed. Raises WorkbenchError where Qt's system libraries are missing."""
    if sys.platform == "linux":
        os.environ.setdefault("QT_QPA_PLATFORM", "wayland;xcb;offscreen" if _only_wayland() else "xcb;offscreen")
    try:
        from PySide6.QtWidgets import QApplication

        from workbench.gui.theme import apply_theme
    except ImportError as error:
        raise WorkbenchError(missing_library(error)) from None
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = QApplication(["workbench"])
    application.setApplicationName("RC Workbench")
    application.setDesktopFileName("rc-workbench")
    apply_theme(application, theme_name)
    return application


def _only_wayland() -> bool:
    return "WAYLAND_DISPLAY" in os.environ and "DISPLAY" not in os.environ


def missing_library(error: ImportError) -> Diagnostic:
    return Diagnostic(
        f"the window's libraries cannot be loaded: {error}",
        f"On Debian: apt install {SYSTEM_PACKAGES} (as root).",
    )


def make_window(path: Path | None = None, runs: Sequence[Path] = ()) -> tuple[QApplication, MainWindow]:
    """The application and its window, shown on a project, a run or nothing."""
    from workbench.session.plugins import load_plugins
    from workbench.session.store import load

    plugins = load_plugins()  # before Qt: its bindings look into every module that is imported after them
    stored = load("window", {})
    application = make_application(stored.get("theme", "light") if isinstance(stored, dict) else "light")
    from PySide6.QtCore import QTimer

    from workbench.gui.main_window import MainWindow  # after Qt's libraries are known to be there

    window = MainWindow(plugins)
    window.open(path, runs)
    window.show()
    QTimer.singleShot(0, window, lambda: window.recovered.offer_at_start(path is not None))
    return application, window


def run_window(path: Path | None = None, runs: Sequence[Path] = ()) -> int:
    """Open the window on a project, a run or nothing, and stay until it is closed. Gives the exit code."""
    application, _window = make_window(path, runs)
    return int(application.exec())
