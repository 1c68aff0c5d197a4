"""`workbench cc` and `workbench c++`."""

import argparse

from workbench.cli.opened import Opened


def run_cc(arguments: argparse.Namespace, workbench: Opened) -> int:
    return _run(arguments, "c")


def run_cxx(arguments: argparse.Namespace, workbench: Opened) -> int:
    return _run(arguments, "c++")


def _run(arguments: argparse.Namespace, language: str) -> int:
    from workbench.session.make.compiler.driver import run

    return run(arguments.words, language)
