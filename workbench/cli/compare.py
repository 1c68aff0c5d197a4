"""`workbench compare`."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from workbench.analysis.came_true import came_words, entry_json
from workbench.analysis.compare import compare, comparison_json, faster_words, share_words, work_words
from workbench.analysis.compare_files import junit_text, markdown_text, sarif_text, verdict_words
from workbench.analysis.conditions import Verdict, judge
from workbench.analysis.equal_work import equal_work
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_diagnostics, print_json
from workbench.cli.runs import open_printed
from workbench.formats.ledger_file import read_ledger
from workbench.model.ledger import Entry
from workbench.model.run import Run
from workbench.session.files import write_result_text
from workbench.session.ledger import entry_of, ledger_path, of_base, of_pair, settle


def run_compare(arguments: argparse.Namespace, workbench: Opened) -> int:
    a, b = (open_printed(path, workbench.plugins, arguments.threshold) for path in (arguments.run_a, arguments.run_b))
    comparison = replace(compare(a.analysis, b.analysis, (a.run, b.run)), equal=equal_work(a.run, b.run))
    rules = dict.fromkeys(rule.name for rule in b.knowledge.rules)
    verdicts = judge(arguments.fail_if, comparison, rules)
    if arguments.junit:
        write_result_text(arguments.junit, junit_text(verdicts, b.run.time_s))
    if arguments.markdown:
        names = arguments.run_a.name, arguments.run_b.name
        write_result_text(arguments.markdown, markdown_text(comparison, verdicts, names))
    if arguments.sarif:
        project = b.run.manifest.project
        write_result_text(arguments.sarif, sarif_text(comparison, verdicts, Path(project).parent if project else None))
    document = comparison_json(comparison)
    settled, candidates = _predictions(a.run, b.run, arguments.settle)
    if arguments.json:
        print_json(document | {
            "ledger": [entry_json(entry) for entry in settled], "open": [entry_json(entry) for entry in candidates],
            "fail_if": [_verdict_json(verdict) for verdict in verdicts],
        })  # fmt: skip
    else:
        print(f"A {a.run.time_s:.9f} s, B {b.run.time_s:.9f} s: B is {faster_words(comparison)}")
        print(work_words(comparison))
        if comparison.equal:
            print(f"equal work: {share_words(comparison)}")
        for entry in settled:
            print(f"{entry.title}: {came_words(entry)}")
        for entry in candidates:
            print(f"open prediction {entry.id} of A: {entry.title} (--settle {entry.id} if B made this change)")
        for kind in ("gone", "kept", "new"):
            print(f"{kind}: {', '.join(document['findings'][kind]) or 'none'}")
        for verdict in verdicts:
            print(f"{'FAILED' if verdict.holds else 'passed'}: {verdict_words(verdict)}")
    return FAILED if any(verdict.holds for verdict in verdicts) else DONE


def _predictions(a: Run, b: Run, chosen: str | None) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """The predictions of run A that run B settled, `chosen` among them, and those of A that are open."""
    path = ledger_path(a)
    entries, problems = read_ledger(path)
    print_diagnostics(problems)
    if chosen is not None:
        settle(path, entry_of(of_base(entries, path, a), chosen, path), b)
        entries, _ = read_ledger(path)
    return of_pair(entries, path, a, b)


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    return {
        "expression": verdict.text, "holds": verdict.holds, "values": dict(verdict.values),
        "places": [asdict(place) for place in verdict.places],
    }  # fmt: skip
