"""`workbench settings`: what a person may set, as the window's Settings do: list, set, reset."""

import argparse

from workbench.cli.doctor import tool_json
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, as_json, print_json
from workbench.formats.project_file import load_project
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import table
from workbench.run.machine import Requirement, programs
from workbench.session.edit.origins import origins, reset_field
from workbench.session.open.opening import open_workspace
from workbench.session.open.project_path import find_project
from workbench.session.open.trust import AS_IT_STOOD, OWN, trusted, withdraw
from workbench.session.program.settings import GROUPS, Setting, change, find_setting, reset, settings
from workbench.system.files import real


def run_list(arguments: argparse.Namespace, workbench: Opened) -> int:
    known = settings(workbench.plugins.modes.values())
    by_setting = {f"program.{part.name}": part for part in programs()}
    if arguments.json:
        print_json(
            {
                "settings": [_json(s, by_setting.get(s.name)) for s in known.values()],
                "programs": [tool_json(part) for part in by_setting.values()],
                "trusted": [{"project": path, "own": own} for path, own in trusted().items()],
            }
        )
        return DONE
    for group in GROUPS:
        print(f"{group}")
        of_group = [s for s in known.values() if s.group == group]
        about = (": ".join(filter(None, (s.title, s.what))) for s in of_group)
        print(
            table(
                (f"  {s.name}", _said(s, by_setting.get(s.name)), _origin(s, by_setting.get(s.name)), said)
                for s, said in zip(of_group, about, strict=True)
            )
        )
    if projects := trusted():
        print("Trusted projects")
        print(table((f"  {path}", OWN if own else AS_IT_STOOD) for path, own in projects.items()))
    return DONE


def run_project(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Every field of a project, what is in force and where that comes from; `--reset` takes one out of its file."""
    if arguments.reset:
        reset_field(find_project(arguments.project), arguments.reset)
    workspace = open_workspace(arguments.project, workbench.plugins)
    as_written, problems = load_project(workspace.path)
    if as_written is None:
        raise WorkbenchError(*problems)
    rows = [row for row in origins(as_written, workspace.platform, workspace.root)
            if not arguments.set_only or row.origin.name not in ("default", "none")]  # fmt: skip
    if arguments.json:
        print_json({"project": str(workspace.path), "fields": [
            {"name": row.name, "value": row.origin.value, "origin": row.origin.name, "what": row.what} for row in rows
        ]})  # fmt: skip
    else:
        print(table((row.name, row.origin.name, row.origin.value or "-") for row in rows))
    return DONE


def run_withdraw(arguments: argparse.Namespace, workbench: Opened) -> int:
    project = str(real(arguments.project))
    withdraw(project)
    if arguments.json:
        print_json({"withdrawn": project})
    else:
        print(f"{project}: the workbench asks again before it runs this")
    return DONE


def run_set(arguments: argparse.Namespace, workbench: Opened) -> int:
    known = settings(workbench.plugins.modes.values())
    setting = find_setting(arguments.name, known)
    change(setting, arguments.value, known)
    return _say(arguments, setting)


def run_reset(arguments: argparse.Namespace, workbench: Opened) -> int:
    setting = find_setting(arguments.name, settings(workbench.plugins.modes.values()))
    reset(setting)
    return _say(arguments, setting)


def _say(arguments: argparse.Namespace, setting: Setting) -> int:
    if arguments.json:
        print_json(_json(setting))
    else:
        print(f"{setting.name}: {setting.value or 'none'}")
    return DONE


def _said(setting: Setting, part: Requirement | None) -> str:
    """The value; of a program that is not chosen, the one that is found."""
    state = part.state if part else None
    if state is None or isinstance(state, Diagnostic):
        return setting.value or ("not found" if state else "-")
    return f"{state.path} ({state.version})"


def _origin(setting: Setting, part: Requirement | None) -> str:
    """Where the value comes from: set, found on this machine, or default; "" where there is none."""
    if setting.is_set:
        return "set"
    if part is not None:
        return "" if isinstance(part.state, Diagnostic) else "found"
    return "default" if setting.value else ""


def _json(setting: Setting, part: Requirement | None = None) -> dict[str, object]:
    """`problem` is what keeps a program or folder that was chosen from being used, else null."""
    problem = setting.problem(setting.value)
    return {
        "name": setting.name,
        "group": setting.group,
        "title": setting.title,
        "what": setting.what,
        "kind": setting.kind,
        "value": setting.value,
        "default": setting.default,
        "origin": _origin(setting, part),
        "choices": list(setting.choices),
        "problem": as_json([problem])[0] if problem else None,
    }
