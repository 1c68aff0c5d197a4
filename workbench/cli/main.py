"""`workbench`: reads the arguments, runs one command, turns every failure into diagnostics and an exit code."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import workbench
from workbench.cli import demo, documents, predict, projects, runs, window
from workbench.cli.output import BAD_INPUT, CANCELLED, as_json, print_diagnostics, print_json
from workbench.model.diagnostic import WorkbenchError
from workbench.run.job import Cancelled


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="workbench", description="Where an FPGA application's time goes, and what mending it would gain."
    )
    top.add_argument("--version", action="version", version=f"RC Workbench {workbench.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (window, demo, projects, runs, documents, predict):
        module.add_commands(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done; 1 the thing asked for failed; 2 bad input or usage; 130 cancelled."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have started us with interrupts ignored
        signal.signal(number, _interrupt)
    chosen = parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except WorkbenchError as error:
        print_diagnostics(error.diagnostics)
        if getattr(chosen, "json", False):
            print_json({"diagnostics": as_json(error.diagnostics)})
        return BAD_INPUT
    except (Cancelled, KeyboardInterrupt):
        print("Cancelled.", file=sys.stderr)
        return CANCELLED
    except BrokenPipeError:
        return CANCELLED


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
