"""The workbench's own commands: what each takes, and the function of this package that does it.

Nothing here imports what a command needs, so that help and bad usage are answered at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.api.commands import Command
from workbench.api.later import Later


def add_commands(top: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """Every command by its name, the one that is asked for with its arguments; those of plugins only where the first
    argument is none of the workbench's own."""
    own = {command.name: command for command in workbench_commands()}
    found: Mapping[str, Command] = own
    if not given or given[0] not in (*own, "--version"):
        from workbench.cli.output import loaded_plugins

        found = {**own, **{name: c for name, c in loaded_plugins().commands.items() if name not in own}}
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in found.values():
        parser = commands.add_parser(command.name, help=command.title)
        if not given or given[0] == command.name:
            parser.set_defaults(run=command.run, logged=command.logged)
            command.add(parser)


def _does(place: str) -> Later:
    return Later(f"workbench.cli.{place}")


def add_open(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", type=Path, nargs="?", metavar="PATH")


def add_demo(command: argparse.ArgumentParser) -> None:
    command.add_argument("--headless", action="store_true", help="make the report and pictures, open no window")
    command.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR")


def add_pictures(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, required=True, metavar="DIR")
    command.add_argument("--demo", type=Path, default=Path("demo"), metavar="DIR", help="a folder that `demo` left")
    command.add_argument("--sizes", action="store_true", help="at four sizes, from 1024 x 700 to 2560 x 1440")


def add_new(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="DIR", help="the folder of the host's and the hardware's sources")
    command.add_argument("--name", default="", metavar="NAME", help="the project's name (default: the folder's)")
    command.add_argument("--top", default="", metavar="MODULE", help="the top module, or its file")
    command.add_argument("--host", default="", metavar="FILE", help="the C source with main")
    command.add_argument("--platform", default="", metavar="NAME", help="a platform template, or the path of one")
    told = "the value of an input that nothing drives"
    command.add_argument("--constant", action="append", default=[], metavar="NAME=VALUE", help=told)
    command.add_argument("--dry-run", action="store_true", help="say what was found, and write nothing")
    command.add_argument("--json", action="store_true")


def add_scan(command: argparse.ArgumentParser) -> None:
    _add_project(command)


def add_definition(command: argparse.ArgumentParser) -> None:
    _add_project(command)
    command.add_argument("place", metavar="FILE:LINE:COLUMN", help="a place of a source; columns count bytes, from 1")


def add_instrument(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, required=True, metavar="DIR")
    _add_project(command)


def add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--out", type=Path, metavar="RUN", help="run folder to make (default: runs/run-N beside the project)"
    )
    command.add_argument("--plain", action="store_true", help="leave host and hardware uninstrumented")
    command.add_argument("--trace", action="store_true", help="keep every change of state, for the timeline")
    command.add_argument(
        "--deterministic", action="store_true", help="host time from counted work: two runs are identical"
    )
    command.add_argument("--target", default="", metavar="NAME", help="where it runs (default: the project's target)")
    _add_project(command)


def add_collect(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "tree", type=Path, metavar="DIR", help="what `instrument` left, and the program was built from"
    )
    command.add_argument("records", type=Path, metavar="RECORDS", help="the folder that RCW_RAW named as it ran")
    command.add_argument("--out", type=Path, required=True, metavar="RUN", help="run folder to make")
    command.add_argument("--json", action="store_true")


def _add_project(command: argparse.ArgumentParser) -> None:
    command.add_argument("project", type=Path, metavar="PROJECT")
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes")
    command.add_argument("--json", action="store_true")


def add_report(command: argparse.ArgumentParser) -> None:
    command.add_argument("run_folder", type=Path, metavar="RUN")
    command.add_argument("--html", type=Path, metavar="F", help="write a report that stands alone")
    command.add_argument("--svg", type=Path, metavar="F", help="write the block graph")
    command.add_argument("--all", action="store_true", help="unfold all advice, parts and numbers of each finding")
    command.add_argument("--png", type=Path, metavar="F", help="write a picture of the window on this run")
    command.add_argument("--from", dest="first", metavar="TIME", help="only what follows this moment of a traced run")
    command.add_argument("--to", dest="last", metavar="TIME", help='only what comes before this moment, as in "1.5 ms"')
    _add_threshold(command)


def add_compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("run_a", type=Path, metavar="RUN_A")
    command.add_argument("run_b", type=Path, metavar="RUN_B")
    _add_threshold(command)


def add_export(command: argparse.ArgumentParser) -> None:
    command.add_argument("run_folder", type=Path, metavar="RUN")
    command.add_argument("--format", required=True, metavar="NAME", help="csv, chrome and what plugins bring")
    command.add_argument("--out", type=Path, required=True, metavar="FILE")


def add_import(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, metavar="FILE")
    command.add_argument("--format", default="", metavar="NAME", help="chrome and what plugins bring")
    command.add_argument("--out", type=Path, required=True, metavar="RUN", help="run folder to make")
    command.add_argument("--json", action="store_true")


def _add_threshold(command: argparse.ArgumentParser) -> None:
    command.add_argument("--threshold", type=float, default=1.05, help="least ideal speedup that is reported")
    command.add_argument("--json", action="store_true")


def add_predict(top: argparse.ArgumentParser) -> None:
    """Every kind of model that plugins bring."""
    from workbench.cli.output import loaded_plugins

    kinds = top.add_subparsers(dest="kind", required=True, metavar="KIND")
    for kind in loaded_plugins().model_kinds.values():
        command = kinds.add_parser(kind.name, help=kind.title)
        if kind.compare:
            command.add_argument("--run", dest="run_folder", type=Path, metavar="RUN",
                                 help="compare with a run, part by part")  # fmt: skip
            command.add_argument("--take-over", action="store_true", help="write the run's measurements into the model")
        for question in kind.questions:
            question.add(command)
        _add_questions(command, kind.goal, *dict.fromkeys((kind.solve_option, "--target")))


def _add_questions(command: argparse.ArgumentParser, target: str, *options: str) -> None:
    """What can be asked of every kind of model; `target` is the output that is solved for where none is named."""
    command.add_argument("model", metavar="MODEL", help="a model file, or the name of a bundled model")
    command.add_argument("--reading", metavar="NAME", help="one of the model's readings")
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes",
                         help="what if an input had another value; the model's file stays as it is")  # fmt: skip
    command.add_argument("--sweep", action="append", default=[], metavar="NAME=a:b:n | NAME=v1,v2",
                         help="values of an input; given several times, every combination")  # fmt: skip
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the sweep's points, or its bands, as a table")
    command.add_argument("--uncertain", type=int, metavar="N", help="draw the uncertain inputs N times")
    command.add_argument("--spread", action="append", default=[], metavar="NAME=LOW:HIGH",
                         help="take an input as uncertain, between two values")  # fmt: skip
    command.add_argument("--output", metavar="NAME", help="what to sweep or solve for (default: the time or rate)")
    command.add_argument("--against", metavar="NAME", help="Pareto front of the output and this one")
    command.add_argument("--sensitivity", action="store_true", help="which input matters most")
    command.add_argument("--solve", metavar="NAME", help=f"the value of an input that gives the {target} wanted; "
                         "whole and within its bounds where it has any")  # fmt: skip
    command.add_argument(*options, dest="target", type=float,
                         metavar="X", help="what to solve for; with --output, that output")  # fmt: skip
    command.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler to sweep on")
    command.add_argument("--seed", type=int, metavar="N", help="of the draws (default 0)")
    command.add_argument("--json", action="store_true")


def add_template(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="the templates there are")
    listing.set_defaults(run=_does("templates:run_list"))
    check = actions.add_parser("check", help="check a template file")
    check.add_argument("file", type=Path, metavar="FILE")
    check.set_defaults(run=_does("templates:run_check"))
    new = actions.add_parser("new", help="start a template of your own from an existing one")
    new.add_argument("file", type=Path, metavar="FILE")
    new.add_argument("--of", default="nallatech_h101", metavar="NAME", help="the template to start from")
    new.set_defaults(run=_does("templates:run_new"))
    for action in (listing, check, new):
        action.add_argument("--json", action="store_true")


def add_rules(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="the rules in force")
    listing.set_defaults(run=_does("rules:run_list"))
    check = actions.add_parser("check", help="check a knowledge-base file")
    check.add_argument("file", type=Path, metavar="FILE")
    check.set_defaults(run=_does("rules:run_check"))
    for action in (listing, check):
        action.add_argument("--json", action="store_true")


def add_plugins(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true")


def add_fields(command: argparse.ArgumentParser) -> None:
    command.add_argument("document", nargs="?", metavar="DOCUMENT", help="template, project, model, rules or run")
    command.add_argument("--json", action="store_true", help="JSON Schema, for editors that check while one types")


def add_settings(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="every setting, its value and what it does")
    listing.set_defaults(run=_does("settings:run_list"))
    change = actions.add_parser("set", help="set a value, and remember it")
    change.set_defaults(run=_does("settings:run_set"))
    reset = actions.add_parser("reset", help="have a setting as it comes")
    reset.set_defaults(run=_does("settings:run_reset"))
    for action in (change, reset):
        action.add_argument("name", metavar="NAME", help="such as theme, program.g++ or key.run")
    change.add_argument("value", metavar="VALUE", help="an empty one: none, or as it is found")
    for action in (listing, change, reset):
        action.add_argument("--json", action="store_true")


def add_doctor(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true")


def add_desktop(command: argparse.ArgumentParser) -> None:
    command.add_argument("--remove", action="store_true", help="take the entry away again")
    command.add_argument("--json", action="store_true")


#: The workbench's own commands: name, line in the list, what gives the arguments, and the function that does it; where
#: that is empty, each of its actions says its own.
_OWN = (
    ("open", "the window, on a project, a run or a template", add_open, "window:run_open"),
    ("demo", "the bundled application, from instrumenting to the report", add_demo, "demo:run_demo"),
    ("pictures", "pictures of the window, every view, light and dark", add_pictures, "demo:run_pictures"),
    ("new", "a project file from a folder of sources", add_new, "new:run_new"),
    ("scan", "find API calls, clocked blocks, branches and pragmas", add_scan, "projects:run_scan"),
    ("definition", "where the name at a place of a source is defined", add_definition, "projects:run_definition"),
    ("instrument", "write instrumented copies, and what a real machine builds and runs them with",
     add_instrument, "projects:run_instrument"),
    ("run", "instrument, build and run, on the simulated card or the project's own target",
     add_run, "projects:run_run"),
    ("collect", "a run folder from the records of a run on a real machine", add_collect, "projects:run_collect"),
    ("report", "what a run spent its time on, and which bottleneck to mend", add_report, "runs:run_report"),
    ("compare", "two runs side by side", add_compare, "runs:run_compare"),
    ("export", "write a run in a form that other programs read", add_export, "runs:run_export"),
    ("import", "read another program's file as a run", add_import, "runs:run_import"),
    ("predict", "predict an application's time from a model, before any code", add_predict, "predict:run_predict"),
    ("template", "platform templates: list, check, copy", add_template, ""),
    ("rules", "bottleneck rules: list, check", add_rules, ""),
    ("plugins", "what is loaded, from where, and what failed to load and why", add_plugins, "plugins:run_plugins"),
    ("fields", "every field of a document: what it holds, its unit, default and meaning",
     add_fields, "fields:run_fields"),
    ("settings", "looks, keys, programs and folders: list, set, reset", add_settings, ""),
    ("doctor", "what this machine has and lacks, with versions and paths", add_doctor, "doctor:run_doctor"),
    ("desktop", "put the workbench into the desktop's menu, for this user", add_desktop, "doctor:run_desktop"),
)  # fmt: skip
#: Those that are over at once, of which no log is kept.
_SHORT = ("open", "definition", "template", "rules", "plugins", "fields", "settings", "doctor", "desktop")


def workbench_commands() -> Sequence[Command]:
    """The workbench's own, brought as a plugin's are."""
    return [
        Command(name, title, add, _does(place) if place else None, logged=name not in _SHORT)
        for name, title, add, place in _OWN
    ]
