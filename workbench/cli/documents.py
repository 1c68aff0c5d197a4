"""`workbench template`, `rules` and `plugins`: the documents and what is loaded."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from workbench.analysis import load_knowledge
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json, table
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.session.plugins import load_plugins
from workbench.session.results import open_knowledge
from workbench.session.workspace import unknown_name


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    template = commands.add_parser("template", help="platform templates: list, check, copy")
    actions = template.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="the templates there are")
    listing.set_defaults(run=run_template_list)
    check = actions.add_parser("check", help="check a template file")
    check.add_argument("file", type=Path, metavar="FILE")
    check.set_defaults(run=run_template_check)
    new = actions.add_parser("new", help="start a template of your own from an existing one")
    new.add_argument("file", type=Path, metavar="FILE")
    new.add_argument("--of", default="nallatech_h101", metavar="NAME", help="the template to start from")
    new.set_defaults(run=run_template_new)

    rules = commands.add_parser("rules", help="bottleneck rules: list, check")
    actions = rules.add_subparsers(dest="action", required=True)
    rules_list = actions.add_parser("list", help="the rules in force")
    rules_list.set_defaults(run=run_rules_list)
    rules_check = actions.add_parser("check", help="check a knowledge-base file")
    rules_check.add_argument("file", type=Path, metavar="FILE")
    rules_check.set_defaults(run=run_rules_check)

    plugins = commands.add_parser("plugins", help="what is loaded, from where, and what failed to load and why")
    plugins.set_defaults(run=run_plugins)
    for command in (listing, check, new, rules_list, rules_check, plugins):
        command.add_argument("--json", action="store_true")


def run_template_list(arguments: argparse.Namespace) -> int:
    rows = []
    lines: list[tuple[str, ...]] = []
    for support in load_plugins().platforms.values():
        platform, problems = load_platform(support.template)
        print_diagnostics(problems)
        title = platform.title if platform else "cannot be read"
        lines.append((support.name, title, "can be simulated" if support.api_sources else "for prediction"))
        rows.append(
            {
                "name": support.name,
                "title": title,
                "file": str(support.template),
                "simulated": bool(support.api_sources),
            }
        )
    if arguments.json:
        print_json({"templates": rows})
    else:
        print(table(lines))
    return DONE


def _checked(arguments: argparse.Namespace, problems: tuple[Diagnostic, ...]) -> int:
    if arguments.json:
        print_json({"file": str(arguments.file), "diagnostics": as_json(problems)})
    else:
        print_diagnostics(problems)
        if not problems:
            print(f"{arguments.file}: no problems")
    return FAILED if has_errors(problems) else DONE


def run_template_check(arguments: argparse.Namespace) -> int:
    return _checked(arguments, load_platform(arguments.file)[1])


def run_template_new(arguments: argparse.Namespace) -> int:
    platforms = load_plugins().platforms
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


def run_rules_list(arguments: argparse.Namespace) -> int:
    knowledge, problems = open_knowledge(load_plugins())
    if arguments.json:
        print_json(
            {
                "rules": [
                    {"name": r.name, "category": r.category, "side": r.side, "scope": r.scope, "when": r.when}
                    for r in knowledge.rules
                ],
                "diagnostics": as_json(problems),
            }
        )
    else:
        print_diagnostics(problems)
        print(table((r.name, r.category, str(r.side), str(r.scope), r.when) for r in knowledge.rules))
    return DONE


def run_rules_check(arguments: argparse.Namespace) -> int:
    return _checked(arguments, load_knowledge([arguments.file])[1])


def run_plugins(arguments: argparse.Namespace) -> int:
    loaded = load_plugins().loaded
    if arguments.json:
        print_json(
            {
                "plugins": [
                    {"name": p.name, "origin": p.origin, "version": p.version, "hooks": list(p.hooks), "error": p.error}
                    for p in loaded
                ]
            }
        )
    else:
        print(table((p.name, p.origin, p.error or ", ".join(p.hooks)) for p in loaded))
    return DONE
