"""`workbench open`: the window."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_open(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", type=Path, nargs="?", metavar="PATH")
    command.set_defaults(run=run_open)


def run_open(arguments: argparse.Namespace) -> int:
    from workbench.gui.app import run_window  # Qt is loaded only where a window is asked for

    return run_window(arguments.path)
