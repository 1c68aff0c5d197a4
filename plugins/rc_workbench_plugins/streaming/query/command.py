"""`workbench query`: what a query's measures came to in a run, and whether its assertions held."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from rc_workbench_plugins.streaming.agents.cost import Cost
from rc_workbench_plugins.streaming.agents.told import answers_told, problem_told
from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.cores import away
from rc_workbench_plugins.streaming.events import Events, events_of
from rc_workbench_plugins.streaming.query.evaluate import evaluate, waiting_for_the_bus
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.limits import Walk, questions, walk
from rc_workbench_plugins.streaming.query.measures import AssertResult, Frame, MeasureResult, Query
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.words import assert_words, result_words
from rc_workbench_plugins.streaming.topology import Topology
from workbench.api.commands import Workbench
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.run import Table
from workbench.system.files import read_file


def add_arguments(parser: ArgumentParser) -> None:
    frame = "length of a frame: a time (10 ms), or a number of transfers; without it the run is one frame"
    target = "a run of a streaming application; of a project, the query is read and checked alone"
    parser.add_argument("run_folder", type=Path, metavar="TARGET", help=target)
    parser.add_argument(
        "query",
        type=Path,
        nargs="?",
        metavar="QUERY_FILE",
        help="statements: measure ..., assert ...; without it, what agents counted in the run",
    )
    parser.add_argument(
        "--limits", action="store_true", help="what limits the throughput, and seven questions on the way"
    )
    parser.add_argument("--frame", type=frame_of, default=Frame(), metavar="LENGTH", help=frame)
    parser.add_argument("--json", action="store_true")


def run(arguments: Namespace, workbench: Workbench) -> int:
    """Exit code 1 where an assertion is broken."""
    if arguments.run_folder.is_file():
        return _checked(arguments, workbench)
    measured = workbench.open_run(arguments.run_folder)
    if arguments.query is None and not arguments.limits:
        return _agents(measured.run.tables, arguments, workbench)
    events = recorded(measured.run.tables, str(arguments.run_folder))
    query = asked(arguments.query, events.topology, arguments.frame) if arguments.query else Query(())
    results, asserts = evaluate(query, events)
    _say(query, results, asserts, arguments, workbench, limits(events) if arguments.limits else None)
    return 0 if all(result.holds for result in asserts) else 1


def _checked(arguments: Namespace, workbench: Workbench) -> int:
    """A project's query as it would be asked; nothing is run."""
    composition = workbench.open_project(arguments.run_folder)
    if composition.project.streaming is None or arguments.query is None:
        message = "this project has no streams" if arguments.query else "nothing is asked"
        hint = "Name a file of statements, and a project with a 'streaming' section, or a run of one."
        raise WorkbenchError(Diagnostic(message, hint, file=str(arguments.run_folder)))
    query = asked(arguments.query, read_topology(composition), arguments.frame)
    results = [MeasureResult(measure, ()) for measure in query.measures]
    _say(query, results, [AssertResult(one, (), known=False) for one in query.asserts], arguments, workbench)
    return 0


def _say(
    query: Query, results: Sequence[MeasureResult], asserts: Sequence[AssertResult], arguments: Namespace,
    workbench: Workbench, walked: Walk | None = None,
) -> None:  # fmt: skip
    if arguments.json:
        workbench.print_json(
            {
                "measures": [result.as_json() for result in results],
                "asserts": [result.as_json() for result in asserts],
                "diagnostics": [problem.as_json() for problem in query.diagnostics],
                **({"limits": walked.as_json()} if walked else {}),
            }
        )
        return
    for problem in query.diagnostics:
        print(problem.text(), file=sys.stderr)
    answers = [f"{one.question}\n    {one.words}" for one in walked.answers] if walked else []
    print("\n".join([*map(result_words, results), *map(assert_words, asserts), *answers]))


def _agents(tables: Mapping[str, Table], arguments: Namespace, workbench: Workbench) -> int:
    """What agents counted while the application ran."""
    found = answers_told(tables, str(arguments.run_folder))
    if found is None:
        hint = "Name a file of statements, or --limits, or both. Agents count what the project's streaming.query asks."
        raise WorkbenchError(Diagnostic("nothing is asked, and no agent counted anything", hint))
    words = found.pop("words")
    if arguments.json:
        workbench.print_json(found)
    else:
        for problem in found["diagnostics"]:
            print(problem_told(problem).text(), file=sys.stderr)
        print("\n".join([*map(str, words), *(Cost(**one).words() for one in found["agents"])]))
    return 0 if all(isinstance(one, dict) and one["holds"] for one in found["asserts"]) else 1


def recorded(tables: Mapping[str, Table], folder: str) -> Events:
    """What a run tells of its streams. WorkbenchError where it tells nothing."""
    events = events_of(tables, folder)
    if events is None:
        hint = "A project with a 'streaming' section has them recorded by `workbench run PROJECT --trace --out RUN`."
        raise WorkbenchError(Diagnostic("this run did not record the transfers of any stream", hint, file=folder))
    return events


def limits(events: Events) -> Walk:
    """What limits a run's throughput."""
    results, _ = evaluate(read_query(questions(events.topology), events.topology), events)
    clocked = {label for label, edge in events.edges.items() if edge.tick_ps}
    return walk(events.topology, results, clocked, waiting_for_the_bus(events), away(events))


def asked(file: Path, topology: Topology, frame: Frame) -> Query:
    """The query in a file, of a topology's edges. WorkbenchError with all that is wrong in it."""
    query = read_query(read_file(file).decode("utf-8-sig", "replace"), topology, str(file), frame)
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    return query
