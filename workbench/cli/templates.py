"""`workbench template`: platform templates listed, checked, copied."""

from __future__ import annotations

import argparse
import shutil

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_checked, print_diagnostics, print_json
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.model.text import table
from workbench.session.own_api import own_support
from workbench.session.serves import Service, services


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
                "simulated": bool(support.api_sources),
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
    platform, problems = load_platform(arguments.file, plugins.port_kinds)
    found: tuple[Service, ...] = ()
    if platform:
        support = own_support(platform, arguments.file, plugins.platforms.get(platform.name))
        found = services(platform, support, plugins.targets)
    served = {one.name: {"can": one.can, "why": one.why} for one in found}
    code = print_checked(arguments, problems, serves=served)
    if not arguments.json:
        for one in found:
            print(f"{one.name}: {'yes' if one.can else 'no'}: {one.why}")
    return code


def run_new(arguments: argparse.Namespace, workbench: Opened) -> int:
    platforms = workbench.plugins.platforms
    if arguments.of not in platforms:
        raise WorkbenchError(unknown_name("platform template", arguments.of, platforms))
    try:
        with arguments.file.open("xb") as target, platforms[arguments.of].template.open("rb") as source:
            shutil.copyfileobj(source, target)
    except FileExistsError:
        raise WorkbenchError(
            Diagnostic("this file exists already", "Choose another name.", file=str(arguments.file))
        ) from None
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot write: {error.strerror}", file=str(arguments.file))) from None
    if arguments.json:
        print_json({"file": str(arguments.file)})
    return DONE
