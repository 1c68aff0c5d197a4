"""`workbench streams`: what a run counted of a design's streams, and how deep its FIFOs have to be."""

import argparse
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.analysis.depth_front import choice_words, depth_changes, front_json, front_table, shown_points
from workbench.analysis.report import fifo_json, stream_json
from workbench.analysis.streams import fifo_words, held_words, rate_words, stream_names
from workbench.api.job import Job
from workbench.api.queries import Explained, RunQueries
from workbench.api.results import Analysis
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.formats.run_folder import MANIFEST
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import PS_PER_S, Run
from workbench.model.streams import Fifo
from workbench.model.text import counted, percent_text, table, thousands, time_text
from workbench.replay.fronts import Front
from workbench.session.change.confirm_depths import DepthSimulation, confirm_depths
from workbench.session.change.run_depths import front_of_run, warnings_of
from workbench.session.change.stream_depths import Depths, advise_depths
from workbench.session.keep.results import open_result
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import parse_settings

_CHOICES = 8  # rows of what less memory costs


def run_streams(arguments: argparse.Namespace, workbench: Opened) -> int:
    if os.path.isfile(arguments.target / MANIFEST):
        return _of_run(arguments, workbench)
    workspace = open_workspace(arguments.target, workbench.plugins)
    ask_trust(workspace)
    with progress() as watch:
        job = Job(watch)
        depths = advise_depths(workspace, parse_settings(arguments.changes), job, arguments.loss / 100)
    problems = (*workspace.diagnostics, *depths.diagnostics)
    if arguments.json:
        diagnostics = as_json(dict.fromkeys((*problems, *job.diagnostics)))
        rows = {"edges": depth_rows(depths), "fifos": _fifos(depths), "front": _front(depths)}
        print_json({**rows, "predicted_cycles": depths.predicted, "runs": depths.runs, "diagnostics": diagnostics})
    else:
        print_diagnostics(problems)
        print(depths_text(depths, arguments.loss / 100))
    return DONE


def _of_run(arguments: argparse.Namespace, workbench: Opened) -> int:
    opened = open_result(arguments.target, workbench.plugins)
    analysis, run = opened.analysis, opened.run
    answers = [one for queries in workbench.plugins.queries.values() for one in _explained(queries, run)]
    known = bool(analysis.streams or answers)
    wanted = known or arguments.confirm
    front, simulations, said_of_front = _front_of(arguments, workbench, run) if wanted else (None, (), ())
    problems = [*analysis.diagnostics, *([] if known else [_not_counted(run, arguments.target)]), *said_of_front]
    if arguments.json:
        edges, fifos = map(stream_json, analysis.streams), map(fifo_json, analysis.fifos)
        said = [{"question": one.question, "answer": one.answer, "evidence": list(one.statements)} for one in answers]
        document: dict[str, Any] = {"edges": list(edges), "fifos": list(fifos), "answers": said}
        document |= {
            "front": front_json(front) if front else None,
            "simulations": list(map(_simulation_json, simulations)),
        }
        print_json({**document, "diagnostics": as_json(problems)})
    else:
        print_diagnostics(problems)
        counted_in_design = [_run_text(analysis)] if analysis.streams else []
        said_of_application = "\n".join(f"{one.question}\n    {one.answer}" for one in answers)
        more = f"For more, write a query: workbench query {shlex.quote(str(arguments.target))} QUERY_FILE"
        depths = [front_text(front)] if front else []
        depths += [_confirmed_text(simulations)] if simulations else []
        print("\n\n".join([*counted_in_design, *([said_of_application] if answers else []), *depths,
                           *([more] if known else [])]))  # fmt: skip
    return DONE if known else FAILED


def _front_of(
    arguments: argparse.Namespace, workbench: Opened, run: Run
) -> tuple[Front | None, tuple[DepthSimulation, ...], tuple[Diagnostic, ...]]:  # fmt: skip
    """The front of time against memory by replay of what the run recorded, and the simulations that confirm it; without
    one, why."""
    loss, problems, front = arguments.loss / 100, tuple[Diagnostic, ...](), None
    with progress() as watch:
        job = Job(watch)
        try:
            front = front_of_run(run, workbench.plugins, job, loss)
        except WorkbenchError as error:
            problems = tuple(replace(one, severity=Severity.NOTE) for one in error.diagnostics)
        if not arguments.confirm:
            return front, (), (*problems, *(warnings_of(front) if front else ()))
        confirmed = confirm_depths(run, front, workbench.plugins, job, loss)
    return confirmed.front, confirmed.simulations, warnings_of(confirmed.front)


def _confirmed_text(simulations: Sequence[DepthSimulation]) -> str:
    """What each simulation came to beside what was predicted of it."""
    said = []
    for number, one in enumerate(simulations):
        depths = ", ".join(f"{name} {thousands(words)}" for name, words in one.depths.items())
        came = "did not end" if one.measured_ps is None else f"took {time_text(one.measured_ps / PS_PER_S, 4)}"
        expected = "" if one.predicted_ps is None else f", predicted {time_text(one.predicted_ps / PS_PER_S, 4)}"
        said.append(f"Simulation {number + 1} ({depths}) {came}{expected}.")
    last = simulations[-1]
    said.append("Confirmed." if last.came_true else "Not confirmed: the time differs from the predicted one.")
    return "\n".join(said)


def front_text(front: Front) -> str:
    """The points of a front, what to change for the chosen one, and what that gains."""
    lines = front_table(front, shown_points(front))
    rows = [tuple(column.head for column in lines.columns)]
    rows += [(*(column.text(point) for column in lines.columns), "chosen" if point is front.choice else "")
             for point in lines.rows]  # fmt: skip
    rows[0] = (*rows[0], "")
    return "\n".join(["Depths, time against memory, predicted from this run:", table(rows), "", choice_words(front),
                      *depth_changes(front)])  # fmt: skip


def _simulation_json(one: DepthSimulation) -> dict[str, Any]:
    times = {"predicted_ps": one.predicted_ps, "measured_ps": one.measured_ps}
    return {"depths": dict(one.depths), **times, "confirmed": one.came_true}


def _explained(queries: RunQueries, run: Run) -> Sequence[Explained]:
    """What the edges of an application show that was made of blocks and edges."""
    subject = queries.subject(run)
    return queries.explain(run) if subject and subject.edges else ()


def _not_counted(run: Run, folder: Path) -> Diagnostic:
    """Why a run has no streams, and how it would have."""
    said = [one for one in run.manifest.diagnostics if "streams are not counted" in one.message]
    if not run.manifest.instrumented:
        why, hint = "it is a plain run, without counts", "Run it without --plain."
    elif not run.manifest.simulated:
        why, hint = "it was made on a real machine", "Streams are counted on the simulated card: run it there."
    elif said:
        return replace(said[0], severity=Severity.ERROR)
    elif run.manifest.streams:
        why, hint = "it ended before its design did", "Its diagnostics say why: workbench report."
    else:
        why = "no stream of its design was recognised by its signals' names"
        hint = "Name their signals in the project: hardware.streams. "
        hint += "A streaming application's edges are recorded by workbench run --trace."
    return Diagnostic(f"this run counted no streams: {why}", hint, file=str(folder))


def _run_text(analysis: Analysis) -> str:
    names = stream_names(analysis.streams)
    rows: list[tuple[str, ...]] = [("stream", "transfers", "source stalls", "sink stalls", "idle", "rate", "held by")]
    for one in analysis.streams:
        share = [percent_text(cycles / max(one.cycles, 1)) for cycles in (one.source_stalls, one.sink_stalls, one.idle)]
        rows.append((one.stream.id, thousands(one.transfers), *share, rate_words(one), held_words(one, names)))
    fifos = [(one.fifo.id, f"held {fifo_words(one)}", f"{one.mean:.1f} on average") for one in analysis.fifos]
    said = [f"{one.title}. {one.suggestions[0]}" for one in analysis.findings if one.scope == "fifo"]
    parts = [table(rows), table(fifos) if fifos else "", *said]
    return "\n\n".join(part for part in parts if part)


def depth_rows(depths: Depths) -> list[dict[str, Any]]:
    into = {fifo.input: fifo for fifo in depths.fifos}
    rows = []
    for number, stream in enumerate(depths.streams):
        fifo = into.get(number)
        by_source, by_sink = depths.built.stalls[number]
        rows.append(
            {
                "edge": stream.id,
                "transfers": depths.built.transfers[number],
                "stalls_source": by_source,
                "stalls_sink": by_sink,
                "fifo": fifo.id if fifo else None,
                "occupancy_max": depths.ample.most[depths.fifos.index(fifo)] if fifo else None,
                "advised_depth": depths.advised.get(fifo.id) if fifo else None,
                "throughput_before": depths.built.rate(number),
                "throughput_after": depths.after.rate(number),
            }
        )
    return rows


def _fifos(depths: Depths) -> list[dict[str, Any]]:
    return [
        {
            "fifo": fifo.id,
            "depth": fifo.depth,
            "occupancy_max": most,
            "advised_depth": depths.advised.get(fifo.id),
            "cycles_before": depths.built.cycles,
            "cycles_after": depths.after.cycles,
        }
        for fifo, most in zip(depths.fifos, depths.ample.most, strict=True)
    ]


def _front(depths: Depths) -> list[dict[str, Any]]:
    return [{"cycles": one.cycles, "bits": one.bits, "depths": dict(one.depths)} for one in depths.front]


def depths_text(depths: Depths, loss: float) -> str:
    """The FIFOs with what they held and need, what to change of them, and how long the runs took."""
    rows = [("FIFO", "depth", "held at most", "advised")]
    for fifo, most in zip(depths.fifos, depths.ample.most, strict=True):
        advised = depths.advised.get(fifo.id)
        rows.append((fifo.id, str(fifo.depth or "unknown"), str(most), str(advised) if advised else "not tried"))
    cycles = [
        f"{counted(run.cycles, 'cycle')} {what}" if run.cycles is not None else f"{what}, it does not finish"
        for run, what in (
            (depths.built, "as built"),
            (depths.ample, "with ample FIFOs"),
            (depths.after, "as advised"),
        )
    ]
    said = "".join(
        f"\n{_change(fifo, depths.advised[fifo.id], loss)}" for fifo in depths.fifos if fifo.id in depths.advised
    )
    parts = [
        f"{table(rows)}\n{said}",
        f"Up to the last transfer: {'; '.join(cycles)}. {counted(depths.runs, 'run')}.",
        *([_front_text(depths)] if len(depths.front) > 1 else []),
    ]
    return "\n\n".join(parts)


def _front_text(depths: Depths) -> str:
    """What less memory costs, by replay; of many choices those that differ most."""
    chosen = depths.front[:: -(-len(depths.front) // _CHOICES)]
    names = [fifo.id for fifo in depths.fifos if fifo.id in depths.advised]
    rows = [("cycles, predicted", "memory (bits)", *names)]
    rows += [(thousands(one.cycles), thousands(one.bits), *(str(one.depths[n]) for n in names)) for one in chosen]
    return f"Cycles against memory:\n{table(rows)}"


def _change(fifo: Fifo, advised: int, loss: float) -> str:
    least = f"the least that loses under {100 * loss:g} % of the throughput"
    if not fifo.depth:
        return f"{fifo.id} needs {counted(advised, 'word')}: {least}."
    if advised > fifo.depth:
        return f"Deepen {fifo.id} from {thousands(fifo.depth)} to {counted(advised, 'word')}: {least}."
    if advised == fifo.depth:
        return f"{fifo.id} has just the {counted(advised, 'word')} that it needs: {least}."
    return f"{fifo.id} could have {counted(advised, 'word')} instead of {thousands(fifo.depth)}: {least}."
