"""`workbench rules`: the bottleneck rules in force, what each found in a run, and rules of one's own."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.analysis.finding_words import gain_words, where_words
from workbench.analysis.knowledge import CheckedRule, KnowledgeBase, load_knowledge
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rule_table import RuleTable, rule_table, subject_table, table_json, with_rule
from workbench.analysis.taxonomy import BottleneckKind, taxonomy, with_children
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_checked, print_diagnostics, print_json
from workbench.formats.yaml_edit import write_checked
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors, unknown_name
from workbench.model.text import counted, table
from workbench.session.edit.rule_text import rule_data
from workbench.session.edit.rules_document import LIST, NEW_RULE, RulesDocument, with_rule_file
from workbench.session.keep.results import open_knowledge, open_result
from workbench.session.open.project_path import find_project


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
    findings = counted(len(one.findings), "finding") if one.findings else "-"
    return f"{'  ' * depth}{one.name}", one.category, ", ".join(one.sides), findings, words


def run_check(arguments: argparse.Namespace, workbench: Opened) -> int:
    return print_checked(arguments, _checked(arguments.file, workbench)[2])


def _checked(file: Path, workbench: Opened) -> tuple[KnowledgeBase, list[CheckedRule], tuple[Diagnostic, ...]]:
    """Every plugin's rules with those of a file, the file's own, and what is wrong with it."""
    real = os.path.realpath(file)
    paths = [one.path for one in workbench.plugins.rules.values() if os.path.realpath(one.path) != real]
    knowledge, problems = load_knowledge([*paths, file], workbench.plugins.metrics.values())
    own = [rule for rule in knowledge.rules if rule.file == str(file)]
    knowledge = replace(knowledge, sources=tuple(workbench.plugins.findings.values()))
    return knowledge, own, tuple(one for one in problems if one.file == str(file))


def run_eval(arguments: argparse.Namespace, workbench: Opened) -> int:
    """What each rule of a file says of a run: its subjects, the values that it reads, whether it fires, the advice."""
    opened = open_result(arguments.run_folder, workbench.plugins, arguments.threshold)
    _, own, problems = _checked(arguments.file, workbench)
    wanted = [rule for rule in own if arguments.rule in ("", rule.name)]
    if arguments.rule and not wanted:
        raise WorkbenchError(*problems, unknown_name("rule", arguments.rule, {r.name for r in own}, arguments.file))
    knowledge = opened.knowledge
    for rule in own:
        knowledge = with_rule(knowledge, rule)
    measured = MeasuredRun(opened.run, opened.platform, knowledge.metrics, arguments.threshold)
    tables = [rule_table(rule, measured, knowledge) for rule in wanted]
    problems = (*problems, *(problem for one in tables for problem in one.problems))
    if arguments.json:
        print_json({"run": str(arguments.run_folder), "rules": list(map(table_json, tables)),
                    "diagnostics": as_json(problems)})  # fmt: skip
    else:
        print_diagnostics(problems)
        print("\n\n".join(_evaluated(one) for one in tables))
    return FAILED if has_errors(problems) else DONE


def _evaluated(one: RuleTable) -> str:
    shown = subject_table(one)
    rows = [tuple(column.head for column in shown.columns)]
    rows += [tuple(column.text(row) for column in shown.columns) for row in shown.rows]
    lines = [f"{one.rule.name}: fires for {one.fired} of {counted(len(one.rows), 'subject')}", table(rows)]
    if preview := one.preview:
        lines += [f"{'Finding' if one.fired else 'Would read'}: {preview.title}"]
        lines += [f"  - {text}" for text in preview.suggestions]
    return "\n".join(lines)


def run_new(arguments: argparse.Namespace, workbench: Opened) -> int:
    """A rule to begin with, at the end of a file that may not be there yet."""
    return _add(arguments, workbench, [{**NEW_RULE, "name": arguments.name}])


def run_copy(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Rules of plugins, or of a shared file, as rules of one's own."""
    plugins = workbench.plugins
    known = _checked(arguments.of, workbench)[1] if arguments.of else open_knowledge(plugins)[0].rules
    chosen = [rule for rule in known if rule.name == arguments.name and arguments.side in ("", rule.side)]
    if not chosen:
        raise WorkbenchError(unknown_name("rule", arguments.name, {rule.name for rule in known}, arguments.of))
    return _add(arguments, workbench, [{**rule_data(rule), "name": arguments.new or rule.name} for rule in chosen])


def _add(arguments: argparse.Namespace, workbench: Opened, rules: Sequence[dict[str, Any]]) -> int:
    document = _opened(arguments.file, workbench)
    for data in rules:
        document.add(data, "add")
    document.check()
    document.save()
    return print_checked(arguments, document.problems, added=[data["name"] for data in rules])


def run_remove(arguments: argparse.Namespace, workbench: Opened) -> int:
    document = _opened(arguments.file, workbench)
    names = [str(document.value((*LIST, number, "name"))) for number in range(document.count)]
    if arguments.name not in names:
        raise WorkbenchError(unknown_name("rule", arguments.name, names, arguments.file))
    for number in reversed(range(len(names))):
        if names[number] == arguments.name:
            document.remove((*LIST, number), "remove")
    document.save()
    return print_checked(arguments, document.problems)


def run_add(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Name a rule file in a project, whose runs are then held against it too."""
    project = find_project(arguments.project)
    problems = _checked(arguments.file, workbench)[2]
    if not has_errors(problems) and (entry := with_rule_file(project, arguments.file)):
        write_checked(project, entry[0].decode("utf-8-sig"), entry[1].decode("utf-8-sig"))
    return print_checked(arguments, problems, project=str(project))


def _opened(file: Path, workbench: Opened) -> RulesDocument:
    def refuse(*problems: Diagnostic) -> None:
        raise WorkbenchError(*(replace(one, file=str(file)) for one in problems))

    document = RulesDocument(workbench.plugins.metrics, refuse)
    document.begin(file, None)
    return document
