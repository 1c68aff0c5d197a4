"""`workbench new`: a project file from a folder of sources, or a bundled application copied."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import TypeVar

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors, near
from workbench.model.text import listed
from workbench.session.begin.new_choice import GIVE_VALUE, Choice, UnknownApi
from workbench.session.begin.new_project import create, propose
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.workspace import parse_settings

_MOST_FILES = 12  # of those left out, to be named; --json has them all
T = TypeVar("T")


def _number(name: str, value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise WorkbenchError(
            Diagnostic(f"'{value}' is not a value of the input '{name}'", "Write a whole number from 0.")
        )
    return value


def _copied(arguments: argparse.Namespace) -> int:
    by_folder = {example.folder: example for example in reversed(EXAMPLES)}
    if arguments.example not in by_folder:
        hint = near(arguments.example, sorted(by_folder), "Known")
        raise WorkbenchError(Diagnostic(f"there is no example '{arguments.example}'", hint))
    project = copy_example(by_folder[arguments.example], arguments.folder)
    if arguments.json:
        print_json({"project": str(project)})
    else:
        print(f"copied: {project.parent}")
        print(f"next: workbench run {project}", file=sys.stderr)
    return DONE


def _by(some: Iterable[T], key: Callable[[T], str]) -> Iterator[tuple[str, list[T]]]:
    """Items grouped by key, in the order of the first of each."""
    groups: dict[str, list[T]] = {}
    for one in some:
        groups.setdefault(key(one), []).append(one)
    return iter(groups.items())


def _api_json(api: UnknownApi | None) -> dict[str, object] | None:
    return {"file": str(api.file), "calls": api.calls, "template": str(api.template)} if api else None


def run_new(arguments: argparse.Namespace, workbench: Opened) -> int:
    if arguments.example:
        return _copied(arguments)
    constants = {name: _number(name, value) for name, value in parse_settings(arguments.constant).items()}
    given, defines = parse_settings(arguments.set), parse_settings(arguments.define)
    choice = Choice(arguments.name, arguments.top, arguments.platform, arguments.host, constants, given, defines)
    proposal = propose(arguments.folder, workbench.plugins, choice)
    waits = proposal.unknown_api is not None and not arguments.platform  # a project of another board would mislead
    written = not (arguments.dry_run or waits)
    if written:
        create(proposal)
    if arguments.json:
        print_json(
            {
                "project": str(proposal.path),
                "written": [str(path) for path in proposal.files] if written else [],
                "found": list(map(asdict, proposal.decisions)),
                "left_out": [{"file": file, "reason": reason} for file, reason in proposal.left_out],
                "diagnostics": as_json(proposal.diagnostics),
                "unknown_api": _api_json(proposal.unknown_api),
            }
        )
    else:
        print_diagnostics(proposal.diagnostics)
        if any(one.hint in GIVE_VALUE for one in proposal.diagnostics):
            print("values: --define NAME=VALUE (hardware), --set NAME=VALUE (host)", file=sys.stderr)
        settings = [one for one in proposal.decisions if one.what == "setting"]
        for one in (one for one in proposal.decisions if one.what != "setting"):
            print(f"{one.what}: {one.value}\n    {one.reason}")
            if one.others:
                print(f"    could also be: {', '.join(one.others)}")
        for reason, same in _by(settings, lambda one: one.reason):
            print(f"{'settings' if len(same) > 1 else 'setting'}: {', '.join(one.value for one in same)}\n    {reason}")
        for reason, left in _by(proposal.left_out, lambda one: one[1]):
            print(f"left out, {reason}: {listed([file for file, _ in left], _MOST_FILES)}")
        if arguments.dry_run:
            print(next(iter(proposal.files.values())), end="")
        elif written:
            print(f"written: {', '.join(str(path) for path in proposal.files)}")
            print(f"next: workbench scan {proposal.path}", file=sys.stderr)
        else:
            print("nothing is written: the project needs this template first (or another one: --platform)")
    return FAILED if has_errors(proposal.diagnostics) else DONE
