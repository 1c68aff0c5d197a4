"""`workbench open`: the window."""

from __future__ import annotations

import argparse


def run_open(arguments: argparse.Namespace) -> int:
    from workbench.gui.app import run_window  # Qt is loaded only where a window is asked for

    return run_window(arguments.path)
