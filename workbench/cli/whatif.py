"""`workbench whatif` and `workbench path`."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from workbench.analysis import analyse
from workbench.analysis.after_changes import After, after_json, findings_after, gain_text
from workbench.analysis.path_page import PathRow, names_of_groups, path_rows, slack_text, wait_rows, wait_words
from workbench.analysis.predicting import Trial
from workbench.api.job import Job
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.model.changes import Change, read_change
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.ledger import expected_of
from workbench.model.prediction import Bottleneck, CriticalPath, PathStep, Prediction, Trust
from workbench.model.run import Run
from workbench.model.text import counted, percent_text, ratio_text, table, time_text
from workbench.replay.predict import Replayed
from workbench.session.change.confirm import AnswerStatus, Confirmation, confirm, open_project_of
from workbench.session.keep import ledger
from workbench.session.keep.results import open_knowledge, open_recorded, platforms_named, prepared
from workbench.session.program.files import write_result_text
from workbench.session.program.plugins import Plugins

_MOST_ROWS = 8  # of what holds the run


def run_whatif(arguments: argparse.Namespace, workbench: Opened) -> int:
    changes = [read_change(text) for text in arguments.changes]
    replayed = _prepared(arguments.run_folder, workbench.plugins, changes)
    prediction = replayed.predict(changes)
    held = replayed.next_bottlenecks(changes)
    after = _findings_after(replayed, prediction, held, workbench.plugins) if arguments.findings else ()
    kept = ""
    if arguments.keep:
        kept = ledger.keep(replayed.run, prediction, expected_of(held)).id
    confirmed = _confirmed(replayed.run, changes, kept, workbench.plugins) if arguments.confirm else None
    if arguments.json:
        print_json(
            {
                "baseline": baseline_json(replayed),
                **prediction.as_json(),
                **(confirmed.as_json() if confirmed else {"confirmed_s": None}),
                "next": [bottleneck_json(one) for one in held],
                "kept": kept or None,
                **({"findings_after": [after_json(row) for row in after]} if arguments.findings else {}),
            }
        )
    else:
        _print(replayed, prediction, held)
        if after:
            print("Findings after it, by the speedup of the next change:")
            rows = ((f"  {gain_text(row)}", row.title, row.where, row.advice) for row in after)
            print(table(rows))
        if kept:
            print(f"Kept as {kept}.")
        if confirmed:
            print(confirmed.words())
    if confirmed:
        return DONE if confirmed.answer is AnswerStatus.SAME else FAILED
    return FAILED if prediction.trust is Trust.REFUSED else DONE


def _findings_after(
    replayed: Replayed, prediction: Prediction, held: tuple[Bottleneck, ...], plugins: Plugins
) -> tuple[After, ...]:
    knowledge, problems = open_knowledge(plugins)
    print_diagnostics(problems)
    now = replayed.next_bottlenecks()
    analysis = analyse(replayed.run, replayed.platform, knowledge, path=now)
    return findings_after(analysis, replayed, Trial(prediction, now, held))


def _confirmed(run: Run, changes: Sequence[Change], kept: str, plugins: Plugins) -> Confirmation:
    """The changes confirmed on the simulated card, and noted in the ledger beside the prediction that was `kept`."""
    workspace = open_project_of(run, plugins)
    ask_trust(workspace)
    with progress() as watch:
        confirmed = confirm(workspace, run, changes, Job(watch), plugins)
    print_diagnostics(confirmed.notes)
    if kept and confirmed.speedup is not None and confirmed.time_s is not None:
        ledger.confirm(run, kept, confirmed.speedup, confirmed.time_s, confirmed.answer is AnswerStatus.SAME)
    return confirmed


def run_path(arguments: argparse.Namespace, workbench: Opened) -> int:
    replayed = _prepared(arguments.run_folder, workbench.plugins)
    path = replayed.critical_path()
    if arguments.svg:
        _write_path(arguments.svg, path, replayed.run)
    if arguments.json:
        print_json(
            {
                "time_s": path.time_s,
                "steps": [step_json(step) for step in path.steps],
                "lines": list(map(asdict, path.lines)),
                "slack": list(map(asdict, path.slack)),
                "moves": list(map(asdict, path.moves)),
                "waits": list(map(asdict, path.waits)),
                "unknown": list(replayed.unknown),
                "why": path.why,
            }
        )
    elif path.steps:
        rows = path_rows(path, names_of_groups(replayed.run.manifest.blocks))
        print(f"The run's {time_text(path.time_s)} went to:")
        on_path = [row for row in rows if row.time_s]
        print(
            table((f"  {percent_text(row.share)}", time_text(row.time_s), *_where(row)) for row in on_path[:_MOST_ROWS])
        )
        if more := on_path[_MOST_ROWS:]:
            print(f"  and {counted(len(more), 'more line')}, {percent_text(sum(row.share for row in more))}")
        if spare := [row for row in rows if row.slack_s]:
            print("Slack: each of these alone may end later by at least this much, without a longer run:")
            print(table((f"  {slack_text(row)}", *_where(row)) for row in spare[:_MOST_ROWS]))
        if waits := wait_rows(path, names_of_groups(replayed.run.manifest.blocks)):
            print("Who waits for whom:")
            print("\n".join(f"  {wait_words(row)}" for row in waits[:_MOST_ROWS]))
        if path.why:
            print(f"{path.why[0].upper()}{path.why[1:]}.")
    else:
        print(f"The critical path is not known: {path.why}.")
    return DONE if path.steps else FAILED


def _write_path(file: Path, path: CriticalPath, run: Run) -> None:
    from workbench.pictures.path_diagram import path_diagram
    from workbench.pictures.state_diagram import states_svg

    diagram = path_diagram(path, names_of_groups(run.manifest.blocks))
    if diagram is None:
        raise WorkbenchError(Diagnostic("there is no critical path to draw", path.why or "All of it is in one state."))
    write_result_text(file, states_svg(diagram))


def _where(row: PathRow) -> tuple[str, str, str]:
    return row.block, row.name, f"{row.file}:{row.line}" if row.file else ""


def baseline_json(replayed: Replayed) -> dict[str, object]:
    """How well replay of the unchanged run agrees with it."""
    modelled_s = None if replayed.modelled_ps is None else replayed.modelled_ps / 1e12
    return {
        "measured_s": replayed.run.time_s,
        "modelled_s": modelled_s,
        "exact": replayed.exact,
        "why": replayed.why,
        "unknown": list(replayed.unknown),
        "assumed": list(replayed.assumed),
    }


def bottleneck_json(one: Bottleneck) -> dict[str, object]:
    return {"block": one.block, "state": one.state, "time_s": one.time_s, "share": one.share}


def step_json(step: PathStep) -> dict[str, object]:
    return {
        "side": step.side.value,
        "block": step.block,
        "state": step.state,
        "begin_s": step.begin_s,
        "end_s": step.end_s,
        "waited_for": step.waited_for,
    }


def _prepared(path: Path, plugins: Plugins, changes: Sequence[Change] = ()) -> Replayed:
    run, platform, problems = open_recorded(path, plugins)
    print_diagnostics(problems)
    return prepared(run, platform, plugins, platforms_named(changes, plugins))


def _print(replayed: Replayed, prediction: Prediction, held: tuple[Bottleneck, ...]) -> None:
    for change in prediction.changes:
        print(change)
    if prediction.speedup is None or prediction.time_s is None or prediction.interval is None:
        print(f"No prediction: {prediction.why}.")
        return
    low, high = prediction.interval
    between = "" if low == high else f" ({ratio_text(low)} to {ratio_text(high)})"
    times = f"{time_text(replayed.run.time_s)} become {time_text(prediction.time_s)}"
    print(f"Predicted speedup {ratio_text(prediction.speedup)}{between}, {prediction.trust}: {times}.")
    if prediction.interval_holds:
        print(f"The interval assumes: {prediction.interval_holds}")
    if prediction.why:
        print(f"{prediction.why[0].upper()}{prediction.why[1:]}.")
    if held:
        print("After it, the run's time goes to:")
        print(_held_text(held))


def _held_text(held: tuple[Bottleneck, ...]) -> str:
    rows = ((f"  {percent_text(one.share)}", time_text(one.time_s), one.block, one.state) for one in held[:_MOST_ROWS])
    return table(rows)
