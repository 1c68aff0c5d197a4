"""`workbench`: reads the arguments, runs one command, turns every failure into diagnostics and an exit code."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

import workbench
from workbench.cli.output import BAD_INPUT, CANCELLED, as_json, print_diagnostics, print_json
from workbench.model.diagnostic import WorkbenchError
from workbench.run.job import Cancelled

#: Every command: its line in the list, and the function that gives a parser its arguments. A command's module is
#: imported only when the command is asked for, so that each answers at once.
COMMANDS = {
    "open": ("the window, on a project, a run or a template", "workbench.cli.window:add_open"),
    "demo": ("the bundled application, from instrumenting to the report", "workbench.cli.demo:add_demo"),
    "pictures": ("pictures of the window, every mode, light and dark", "workbench.cli.demo:add_pictures"),
    "scan": ("find API calls, clocked blocks, branches and pragmas", "workbench.cli.projects:add_scan"),
    "instrument": ("write instrumented copies of the sources", "workbench.cli.projects:add_instrument"),
    "run": ("instrument, build and run on the simulated card", "workbench.cli.projects:add_run"),
    "report": ("what a run spent its time on, and which bottleneck to mend", "workbench.cli.runs:add_report"),
    "compare": ("two runs side by side", "workbench.cli.runs:add_compare"),
    "export": ("write a run in a form that other programs read", "workbench.cli.runs:add_export"),
    "predict": ("predict an application's time from a model, before any code", "workbench.cli.predict:add_predict"),
    "template": ("platform templates: list, check, copy", "workbench.cli.templates:add_template"),
    "rules": ("bottleneck rules: list, check", "workbench.cli.rules:add_rules"),
    "plugins": ("what is loaded, from where, and what failed to load and why", "workbench.cli.plugins:add_plugins"),
}


def parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the whole line, with the arguments of those commands that `arguments` may mean."""
    top = argparse.ArgumentParser(
        prog="workbench", description="Where an FPGA application's time goes, and what mending it would gain."
    )
    top.add_argument("--version", action="version", version=f"RC Workbench {workbench.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (line, place) in COMMANDS.items():
        command = commands.add_parser(name, help=line)
        if name in arguments:
            module, function = place.split(":")
            getattr(import_module(module), function)(command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done; 1 the thing asked for failed; 2 bad input or usage; 130 cancelled."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have started us with interrupts ignored
        signal.signal(number, _interrupt)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        chosen = parser(given).parse_args(given)
        return int(chosen.run(chosen))
    except WorkbenchError as error:
        print_diagnostics(error.diagnostics)
        if "--json" in given:
            print_json({"diagnostics": as_json(error.diagnostics)})
        return BAD_INPUT
    except (Cancelled, KeyboardInterrupt):
        print("Cancelled.", file=sys.stderr)
        return CANCELLED
    except BrokenPipeError:
        return CANCELLED


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
