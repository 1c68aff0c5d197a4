"""`workbench compare`."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from workbench.analysis.came_true import came_words, entry_json, explained_json
from workbench.analysis.cause import cause_details, cause_words, place_text
from workbench.analysis.compare import compare, comparison_json, faster_words, share_words, work_words
from workbench.analysis.compare_files import junit_text, markdown_text, sarif_text, verdict_words
from workbench.analysis.compare_many import MOST_RUNS, ManyRuns, differ_words, fastest_words, many_json, many_rows
from workbench.analysis.conditions import Verdict, judge
from workbench.analysis.equal_work import equal_json, equal_words, equal_work
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_diagnostics, print_json
from workbench.cli.runs import open_printed
from workbench.formats.ledger_file import read_ledger
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import listed, table, time_text
from workbench.pictures.scaling import Scaling, point_words
from workbench.session.keep.cause import cause_of
from workbench.session.keep.ledger import entry_of, ledger_beside, ledger_path, of_base, settle
from workbench.session.keep.results import OpenRun
from workbench.session.make.compared import compared
from workbench.session.make.scaling import scaling_json, scaling_of
from workbench.session.program.files import write_result_text


def run_compare(arguments: argparse.Namespace, workbench: Opened) -> int:
    folders = (arguments.run_a, arguments.run_b, *arguments.more)
    if len(folders) > MOST_RUNS:
        message, hint = f"{len(folders)} runs are too many to compare", f"At most {MOST_RUNS} are compared at once."
        raise WorkbenchError(Diagnostic(message, hint))
    opened = [open_printed(path, workbench.plugins, arguments.threshold) for path in folders]
    many = compared(opened)
    if len(opened) > 2:
        return _run_many(arguments, opened, many)
    a, b = opened
    equal = equal_work(a.run, b.run)
    comparison = compare(a.analysis, b.analysis, (a.run, b.run))
    comparison = replace(comparison, equal=equal, cause=cause_of(a.run, b.run, equal))
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
    scaling = scaling_of(b.run)
    document = comparison_json(comparison) | many_json(many) | {"scaling": scaling_json(scaling) if scaling else None}
    if arguments.settle is not None:
        path = ledger_path(a.run)
        settle(path, entry_of(of_base(read_ledger(path)[0], path, a.run), arguments.settle, path), b.run)
    beside = ledger_beside(a.run, b)
    print_diagnostics(beside.problems)
    if arguments.json:
        print_json(document | {
            "ledger": [entry_json(entry) for entry in beside.settled],
            "open": [entry_json(entry) for entry in beside.open],
            "explained": [explained_json(row) for row in beside.explained],
            "fail_if": [_verdict_json(verdict) for verdict in verdicts],
        })  # fmt: skip
    else:
        print(f"A {a.run.time_s:.9f} s, B {b.run.time_s:.9f} s: {faster_words(comparison)}")
        print(work_words(comparison))
        if comparison.equal:
            print(f"equal work: {share_words(comparison)}")
        if cause := comparison.cause:
            print(f"{cause_words(cause)} {cause_details(cause)}")
            for place in cause.places:
                print(f"  {place_text(place)}: {place.label}")
        _print_scaling(scaling)
        for entry in beside.settled:
            print(f"{entry.title}: {came_words(entry)}")
        for row in beside.explained[:5]:
            print(f"  {row.block}, {row.state}: predicted {time_text(row.predicted_s)}, took {time_text(row.came_s)}")
        if beside.why:
            print(f"  no explanation of the difference: {beside.why}")
        for entry in beside.open:
            print(f"open prediction {entry.id} of A: {entry.title} (--settle {entry.id} if B made this change)")
        for kind in ("gone", "kept", "new"):
            print(f"{kind}: {', '.join(document['findings'][kind]) or 'none'}")
        for verdict in verdicts:
            print(f"{'FAILED' if verdict.holds else 'passed'}: {verdict_words(verdict)}")
    return FAILED if any(verdict.holds for verdict in verdicts) else DONE


def _run_many(arguments: argparse.Namespace, opened: Sequence[OpenRun], many: ManyRuns) -> int:
    """Three runs or more: one table, what each is against the first, and the same work in all of them."""
    of_two = ("fail_if", "settle", "junit", "markdown", "sarif")
    if given := [f"--{name.replace('_', '-')}" for name in of_two if getattr(arguments, name)]:
        raise WorkbenchError(Diagnostic(f"{listed(given)} is for two runs", f"{len(opened)} runs are compared here."))
    first, *others = opened
    equal = equal_work(*(one.run for one in opened))
    scaling = scaling_of(first.run, [one.run.path for one in others if one.run.path])
    if arguments.json:
        pairs = (compare(first.analysis, one.analysis, (first.run, one.run)) for one in others)
        causes = (cause_of(first.run, one.run) for one in others)
        print_json(many_json(many) | {
            "equal_work": equal_json(equal) if equal else None,
            "scaling": scaling_json(scaling) if scaling else None,
            "pairs": [comparison_json(replace(pair, cause=cause)) for pair, cause in zip(pairs, causes, strict=True)],
        })  # fmt: skip
        return DONE
    print(f"{differ_words(many)} {fastest_words(many)}")
    print(table(many_rows(many)))
    if equal:
        print(f"equal work: {equal_words(equal)}")
    _print_scaling(scaling)
    return DONE


def _print_scaling(scaling: Scaling | None) -> None:
    if scaling:
        print(f"scaling: {len(scaling.points)} runs differ in {scaling.setting} alone")
        for point in scaling.points:
            print(f"  {point_words(scaling, point)}")


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    return {
        "expression": verdict.text, "holds": verdict.holds, "values": dict(verdict.values),
        "places": [asdict(place) for place in verdict.places],
    }  # fmt: skip
