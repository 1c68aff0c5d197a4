"""`workbench rules`: the bottleneck rules in force, and a knowledge base checked."""

import argparse

from workbench.analysis.knowledge import load_knowledge
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, as_json, print_checked, print_diagnostics, print_json
from workbench.model.text import table
from workbench.session.keep.results import open_knowledge


def run_list(arguments: argparse.Namespace, workbench: Opened) -> int:
    knowledge, problems = open_knowledge(workbench.plugins)
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


def run_check(arguments: argparse.Namespace, workbench: Opened) -> int:
    return print_checked(arguments, load_knowledge([arguments.file], workbench.plugins.metrics.values())[1])
