"""`workbench template`: list, check, create and try platform templates."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from workbench.api.job import Job
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, call_json, print_checked, print_diagnostics, print_json
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import OfTemplate, WorkbenchError, has_errors
from workbench.model.text import table
from workbench.session.begin.entry_problems import entry_problems
from workbench.session.begin.new_template import begin_template, template_path, write_template
from workbench.session.begin.serves import Service, compile_problems, services
from workbench.session.begin.template_try import sources_of, tried
from workbench.session.open.own_api import own_support
from workbench.session.open.workspace import parse_settings
from workbench.system.files import read_file


def run_list(arguments: argparse.Namespace, workbench: Opened) -> int:
    rows = []
    lines: list[tuple[str, ...]] = []
    plugins = workbench.plugins
    for support in plugins.platforms.values():
        platform, problems = load_platform(support.template, plugins.port_kinds)
        print_diagnostics(problems)
        title = platform.title if platform else "cannot be read"
        served = [one.name for one in services(platform, support, plugins.targets) if one.can] if platform else []
        lines.append((support.name, title, ", ".join(served) or "a description only: see its comments"))
        rows.append(
            {
                "name": support.name,
                "title": title,
                "file": str(support.template),
                "simulated": "simulate" in served,
                "serves": served,
            }
        )
    if arguments.json:
        print_json({"templates": rows})
    else:
        print(table(lines))
    return DONE


def run_check(arguments: argparse.Namespace, workbench: Opened) -> int:
    plugins = workbench.plugins
    file = template_path(str(arguments.file), plugins)
    platform, problems = load_platform(file, plugins.port_kinds)
    offered: tuple[Service, ...] = ()
    if platform:
        support = own_support(platform, file, plugins.platforms)
        text = read_file(file).decode("utf-8-sig")
        problems = (*problems, *entry_problems(text, file.absolute(), plugins))
        problems_of_c = () if has_errors(problems) else compile_problems(platform, support, plugins.targets)
        offered = services(platform, support, plugins.targets, problems_of_c)
        problems = (*problems, *(replace(one, file=one.file or str(file)) for one in problems_of_c))
    served = {one.name: {"can": one.can, "why": one.why, "missing": _missing_json(one)} for one in offered}
    code = print_checked(arguments, problems, serves=served)
    if not arguments.json:
        for one in offered:
            lacks = [lack.sentences for lack in one.missing]
            why = f"yes: {one.why}" if one.can else f"no: {lacks[0]}" if len(lacks) == 1 else "no:"
            print(f"{one.name}: {why}")
            for lack in lacks if len(lacks) > 1 else ():
                print(f"  {lack}")
    return code


def _missing_json(service: Service) -> list[dict[str, object]]:
    """What a use lacks, with the keys of the template where that would be."""
    return [
        {"message": one.message, "hint": one.hint, "keys": list(one.keys) if isinstance(one, OfTemplate) else []}
        for one in service.missing
    ]


def run_new(arguments: argparse.Namespace, workbench: Opened) -> int:
    """A copy of a template, or the beginning of one; with `--header` an entry for each call that it declares."""
    file, header, plugins = arguments.file, arguments.header, workbench.plugins
    template = begin_template(file, plugins, arguments.of or ("" if header else "nallatech_h101"), header)
    write_template(file, template)
    if arguments.json:
        print_json({"file": str(file), "entries": template.entries, "diagnostics": as_json(template.diagnostics)})
        return DONE
    print_diagnostics(template.diagnostics)
    if added := template.entries:
        print(
            table(
                [
                    (
                        e.get("prototype") or f"{e['access']} of {e['of']}",
                        e["kind"],
                        e.get("bytes", ""),
                        e.get("address", ""),
                    )
                    for e in added
                ]
            )
        )
        print(
            f"{len(added)} calls; kinds and expressions were derived from names: check them in {file}", file=sys.stderr
        )
    return DONE


def run_try(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Which calls of the sources a template's entries match, and which entries none."""
    plugins, template = workbench.plugins, template_path(str(arguments.template), workbench.plugins)
    platform, problems = load_platform(template, plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    defines = {name: str(value) for name, value in parse_settings(arguments.define).items()}
    root, host = sources_of(arguments.sources, [Path(folder) for folder in arguments.include])
    trial = tried(platform, template, root, host, defines, plugins, Job())
    if arguments.json:
        print_json({"calls": [call_json(call) for call in trial.calls], "unused": trial.unused,
                    "diagnostics": as_json(trial.diagnostics)})  # fmt: skip
    else:
        print_diagnostics(trial.diagnostics)
        if trial.calls:
            print(table([(f"{one.file}:{one.line}", one.callee, one.kind, one.entry) for one in trial.calls]))
        else:
            print("these sources make no call of the template's API")
        for prototype in trial.unused:
            print(f"not called: {prototype}")
    return FAILED if has_errors(trial.diagnostics) else DONE
