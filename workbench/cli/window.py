"""`workbench open`: the window."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    window = commands.add_parser("open", help="the window, on a project, a run or a template")
    window.add_argument("path", type=Path, nargs="?", metavar="PATH")
    window.set_defaults(run=run_open)


def run_open(arguments: argparse.Namespace) -> int:
    from workbench.gui.app import run_window  # Qt is loaded only where a window is asked for

    return run_window(arguments.path)
