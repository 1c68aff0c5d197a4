"""`workbench open`: the window."""

import argparse

from workbench.cli.opened import Opened


def run_open(arguments: argparse.Namespace, workbench: Opened) -> int:
    from workbench.gui.app import run_window  # Qt is loaded only where a window is asked for

    return run_window(arguments.path)
