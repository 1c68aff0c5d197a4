"""`workbench compare`."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.analysis.came_true import entry_json, explained_json, outcome_words
from workbench.analysis.cause import cause_details, cause_words, place_text
from workbench.analysis.compare import compare, comparison_json, faster_words, share_words, work_words
from workbench.analysis.compare_files import Judged, junit_text, markdown_text, sarif_text, verdict_words
from workbench.analysis.compare_many import MOST_RUNS, ManyRuns, differ_words, fastest_words, many_json, many_rows
from workbench.analysis.conditions import Verdict, judge
from workbench.analysis.equal_work import equal_json, equal_words, equal_work
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_diagnostics, print_json
from workbench.cli.runs import open_printed
from workbench.formats.ledger_file import read_ledger
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import table, time_text
from workbench.pictures.plot_drawing import plot_svg
from workbench.pictures.scaling import (
    Scaling,
    ScalingForm,
    least_shrinking_words,
    point_words,
    scaling_forms,
    scaling_plot,
    scaling_rows,
)
from workbench.session.keep.cause import cause_of
from workbench.session.keep.ledger import entry_of, ledger_for, ledger_path, of_base, settle
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
    first, *others = opened
    many = compared(opened)
    runs = [_judged(arguments.fail_if, many, opened, number) for number in range(1, len(opened))]
    for path, text in (
        (arguments.junit, partial(junit_text, runs)),
        (arguments.markdown, partial(markdown_text, runs, folders[0].name, many)),
        (arguments.sarif, partial(sarif_text, runs)),
    ):
        if path:
            write_result_text(path, text())
    scaling = scaling_of(others[-1].run, [one.run.path for one in opened if one.run.path])
    if arguments.svg:
        _write_curve(arguments.svg, scaling, ScalingForm(arguments.curve), arguments.log)
    if arguments.settle is not None:
        path = ledger_path(first.run)
        entry = entry_of(of_base(read_ledger(path)[0], path, first.run), arguments.settle, path)
        settle(path, entry, others[-1].run)
    document = many_json(many) | {"scaling": scaling_json(scaling) if scaling else None}
    if len(others) == 1:
        _say_two(arguments, runs[0], opened, document)
    else:
        _say_many(arguments, runs, opened, many, document)
    if not arguments.json:
        _print_scaling(scaling)
        for run in runs:
            which = f" of {run.letter}" if len(runs) > 1 else ""
            for verdict in run.verdicts:
                print(f"{'FAILED' if verdict.holds else 'passed'}{which}: {verdict_words(verdict)}")
    return FAILED if any(verdict.holds for run in runs for verdict in run.verdicts) else DONE


def _judged(conditions: Sequence[str], many: ManyRuns, opened: Sequence[OpenRun], number: int) -> Judged:
    """A run compared with the first, and what the conditions say of it."""
    a, b = opened[0], opened[number]
    equal = equal_work(a.run, b.run)
    comparison = compare(a.analysis, b.analysis, (a.run, b.run))
    comparison = replace(comparison, equal=equal, cause=cause_of(a.run, b.run, equal))
    rules = dict.fromkeys(rule.name for rule in b.knowledge.rules)
    row, project = many.runs[number], b.run.manifest.project
    who = f"{row.letter} ({row.name})" if len(opened) > 2 else ""
    verdicts = judge(conditions, comparison, rules, who)
    return Judged(row.letter, row.name, comparison, verdicts, Path(project).parent if project else None)


def _say_two(
    arguments: argparse.Namespace, judged: Judged, opened: Sequence[OpenRun], document: dict[str, Any]
) -> None:
    """Two runs: what differs, the ledger beside them, findings."""
    a, b = opened
    comparison = judged.comparison
    pair = comparison_json(comparison)
    beside = ledger_for(a.run, b)
    print_diagnostics(beside.problems)
    if arguments.json:
        print_json(pair | document | {
            "ledger": [entry_json(entry) for entry in beside.settled],
            "open": [entry_json(entry) for entry in beside.open],
            "explained": [explained_json(row) for row in beside.explained],
            "fail_if": [_verdict_json(verdict) for verdict in judged.verdicts],
        })  # fmt: skip
        return
    print(f"A {time_text(a.run.time_s, 6)}, B {time_text(b.run.time_s, 6)}: {faster_words(comparison)}")
    print(work_words(comparison))
    if comparison.equal:
        print(f"equal work: {share_words(comparison)}")
    if cause := comparison.cause:
        print(f"{cause_words(cause)} {cause_details(cause)}")
        for place in cause.places:
            print(f"  {place_text(place)}: {place.label}")
    for entry in beside.settled:
        print(f"{entry.title}: {outcome_words(entry)}")
    for row in beside.explained[:5]:
        print(f"  {row.block}, {row.state}: predicted {time_text(row.predicted_s)}, took {time_text(row.came_s)}")
    if beside.why:
        print(f"  no explanation of the difference: {beside.why}")
    for entry in beside.open:
        print(f"open prediction {entry.id} of A: {entry.title} (--settle {entry.id} if B made this change)")
    for kind in ("gone", "kept", "new"):
        print(f"{kind}: {', '.join(pair['findings'][kind]) or 'none'}")


def _say_many(
    arguments: argparse.Namespace, runs: Sequence[Judged], opened: Sequence[OpenRun], many: ManyRuns,
    document: dict[str, Any],
) -> None:  # fmt: skip
    """Three runs or more: one table, what each is against the first, and the same work in all of them."""
    equal = equal_work(*(one.run for one in opened))
    if arguments.json:
        print_json(document | {
            "equal_work": equal_json(equal) if equal else None,
            "pairs": [
                comparison_json(run.comparison) | {"fail_if": [_verdict_json(verdict) for verdict in run.verdicts]}
                for run in runs
            ],
        })  # fmt: skip
        return
    print(f"{differ_words(many)} {fastest_words(many)}")
    print(table(many_rows(many)))
    if equal:
        print(f"equal work: {equal_words(equal)}")


def _write_curve(path: Path, scaling: Scaling | None, form: ScalingForm, log: bool) -> None:
    if scaling is None:
        message = (
            "there is no curve to draw: it needs three runs that differ in one setting, of these and those beside them"
        )
        raise WorkbenchError(Diagnostic(f"{message} alone", "Run the project with three values of a setting."))
    if form not in scaling_forms(scaling):
        forms = ", ".join(scaling_forms(scaling))
        raise WorkbenchError(Diagnostic(f"these runs have no curve of {form}", f"There are: {forms}."))
    write_result_text(path, plot_svg(scaling_plot(scaling, form, log=log), f"Scaling with {scaling.setting}"))


def _print_scaling(scaling: Scaling | None) -> None:
    if scaling:
        print(f"scaling: {len(scaling.points)} runs differ in {scaling.setting} alone")
        for point in scaling.points:
            print(f"  {point_words(scaling, point)}")
        if words := least_shrinking_words(scaling):
            print(words)
        print(table(scaling_rows(scaling)))


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    return {
        "expression": verdict.text, "holds": verdict.holds, "values": dict(verdict.values),
        "places": [asdict(place) for place in verdict.places],
    }  # fmt: skip
