"""`workbench rules`: the bottleneck rules in force, what each found in a run, and a knowledge base checked."""

import argparse
from typing import Any

from workbench.analysis.finding_words import gain_words, where_words
from workbench.analysis.knowledge import load_knowledge
from workbench.analysis.taxonomy import BottleneckKind, taxonomy, with_children
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, as_json, print_checked, print_diagnostics, print_json
from workbench.model.text import counted, table
from workbench.session.keep.results import open_knowledge, open_result


def run_list(arguments: argparse.Namespace, workbench: Opened) -> int:
    opened = open_result(arguments.run_folder, workbench.plugins) if arguments.run_folder else None
    knowledge, problems = (opened.knowledge, ()) if opened else open_knowledge(workbench.plugins)
    tree = taxonomy(knowledge.rules, opened.analysis.findings) if opened else ()
    if arguments.json:
        print_json(
            {
                "rules": [
                    {"name": r.name, "category": r.category, "side": r.side, "scope": r.scope, "when": r.when}
                    for r in knowledge.rules
                ],
                "diagnostics": as_json(problems),
                **({"taxonomy": list(map(_as_json, tree))} if opened else {}),
            }
        )
        return DONE
    print_diagnostics(problems)
    if opened:
        print(table(_row(depth, one) for depth, one in with_children(tree)))
    else:
        print(table((r.name, r.category, str(r.side), str(r.scope), r.when) for r in knowledge.rules))
    return DONE


def _as_json(one: BottleneckKind) -> dict[str, Any]:
    return {
        "name": one.name, "category": one.category, "sides": list(one.sides), "gain": one.best and one.best.gain,
        "findings": [finding.id for finding in one.findings], "children": list(map(_as_json, one.children)),
    }  # fmt: skip


def _row(depth: int, one: BottleneckKind) -> tuple[str, ...]:
    words = f"{gain_words(one.best)}: {where_words(one.best)}" if one.best else ""
    found = counted(len(one.findings), "finding") if one.findings else "-"
    return f"{'  ' * depth}{one.name}", one.category, ", ".join(one.sides), found, words


def run_check(arguments: argparse.Namespace, workbench: Opened) -> int:
    return print_checked(arguments, load_knowledge([arguments.file], workbench.plugins.metrics.values())[1])
