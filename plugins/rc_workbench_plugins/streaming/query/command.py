"""`workbench query`: what a query's measures came to in a run, and whether its assertions held."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.streaming.agents.conditions import edges_along
from rc_workbench_plugins.streaming.agents.division import agents_of, counted_by
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.composer import fpga_clock_hz, read_topology
from rc_workbench_plugins.streaming.dummies import INTERVALS, dummy_intervals
from rc_workbench_plugins.streaming.limit_finding import limits
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.limits import Walk
from rc_workbench_plugins.streaming.query.measures import (
    Assert,
    AssertResult,
    FrameLength,
    Measure,
    MeasureResult,
    Query,
)
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.seen import no_streams, something_seen
from rc_workbench_plugins.streaming.query.words import assert_words, result_words, trace_words
from workbench.api import Block, Diagnostic, Run, Workbench, WorkbenchError, has_errors, listed, table
from workbench.api.unstable import StreamBlock, Topology, read_file


def add_arguments(parser: ArgumentParser) -> None:
    frame = "length of a frame: a time (10 ms), or a number of transfers; without it the run is one frame"
    target = "a run; or a project of a streaming application: then the query is only checked; without a query, the "
    target += "blocks and edges to ask about are listed"
    parser.add_argument("run_folder", type=Path, metavar="TARGET", help=target)
    parser.add_argument(
        "query",
        type=Path,
        nargs="?",
        metavar="QUERY_FILE",
        help="statements: measure ..., assert ...; without it, what agents counted in the run",
    )
    parser.add_argument(
        "--limits", action="store_true", help="print what limits the throughput, with the answers to seven questions"
    )
    parser.add_argument("--frame", type=frame_of, default=FrameLength(), metavar="LENGTH", help=frame)
    parser.add_argument("--json", action="store_true")


def run(arguments: Namespace, workbench: Workbench) -> int:
    """Exit code 1 where an assertion is broken."""
    if os.path.isfile(arguments.run_folder):
        return _checked(arguments, workbench)
    run = workbench.open_run(arguments.run_folder).run
    if arguments.query is None and not arguments.limits:
        return _agents(run, arguments, workbench)
    there = something_seen(run, str(arguments.run_folder))
    if arguments.limits and not there.is_application:
        raise WorkbenchError(no_streams(run, str(arguments.run_folder)))
    query = Query(())
    if arguments.query:
        query = asked(arguments.query, there.topology, arguments.frame, there.blocks)
    results, asserts = there.answer(query)
    _say(query, results, asserts, arguments, workbench, limits(there.events) if arguments.limits else None)
    return 0 if all(result.holds for result in asserts) else 1


def _checked(arguments: Namespace, workbench: Workbench) -> int:
    """A project's query as it would be asked, or what can be asked about; nothing is run."""
    composition = workbench.open_project(arguments.run_folder)
    if composition.project.streaming is None:
        hint = "Name a project with a 'streaming' section. Or name a run: a query can ask about its blocks and streams."
        raise WorkbenchError(Diagnostic("this project has no streams", hint, file=str(arguments.run_folder)))
    topology = read_topology(composition)
    if arguments.query is None:
        _list(topology, arguments, workbench)
        return 0
    query = asked(arguments.query, topology, arguments.frame)
    agents = agents_of(query, topology, fpga_clock_hz(composition.platform), str(arguments.query))
    query = replace(query, diagnostics=(*query.diagnostics, *agents.diagnostics))
    by = counted_by(agents, topology)
    if arguments.json:
        said = [one.as_json() | {"agent": by.get(one.measure)} for one in map(_unasked, query.measures)]
        held = [AssertResult(one, (), known=False).as_json() | {"agent": by.get(one)} for one in query.asserts]
        problems = [problem.as_json() for problem in query.diagnostics]
        workbench.print_json({"measures": said, "asserts": held, "diagnostics": problems})
        return 0
    for problem in query.diagnostics:
        print(problem.text(), file=sys.stderr)
    words = [(measure, result_words(_unasked(measure))) for measure in query.measures]
    for statement, said_of_it in (*words, *((one, one.text) for one in query.asserts)):
        print(said_of_it + (_counting(statement, by[statement], topology) if statement in by else ""))
    return 0


def _counting(statement: Measure | Assert, agent: str, topology: Topology) -> str:
    """A line on which agent counts a statement while the application runs, and under which conditions."""
    words = f"\n    while it runs, the {agent}'s agent can count it"
    between = dict.fromkeys(
        topology.within(edge.sink.block)
        for path in edges_along(statement)
        for edge in topology.edges
        if edge.label in path[:-1]
    )
    if not between:
        return words
    one = len(between) == 1
    words += f", if {listed([*between])} {'gives' if one else 'give'} exactly the number of elements that "
    return words + ("it takes" if one else "they take") + "; otherwise a trace shows it"


def _unasked(measure: Measure) -> MeasureResult:
    return MeasureResult(measure, ())


def _list(topology: Topology, arguments: Namespace, workbench: Workbench) -> None:
    """What can be asked about: blocks and where they stand, edges between them."""

    def on(block: StreamBlock) -> str:
        return topology.mapping.get(block.name, "")

    def by(block: StreamBlock) -> str:
        return f", {block.threads} threads" if block.threads > 1 else ""

    if arguments.json:
        blocks = [
            {"name": one.name, "kind": one.kind.name, "resource": on(one), "place": topology.place(one.name)}
            | {"threads": one.threads, "file": one.at.file, "line": one.at.line}
            for one in topology.blocks
        ]
        edges = [
            {"label": one.label, "source": str(one.source), "sink": str(one.sink), "type": one.type, "depth": one.depth}
            | {"file": one.at.file, "line": one.at.line}
            for one in topology.edges
        ]
        dummies = [one.as_json() for one in dummy_intervals(topology) or ()]
        workbench.print_json({"name": topology.name, "blocks": blocks, "edges": edges, "dummy_intervals": dummies})
        return
    rows = [(one.name, one.kind.name, on(one) + by(one), one.at) for one in topology.blocks]
    rows += [(one.label, one.text, f"{one.depth} x {one.type}", one.at) for one in topology.edges]
    print(table([(*words, f"{Path(at.file).name}:{at.line}") for *words, at in rows]))
    if intervals := dummy_intervals(topology):
        print(f"\n{INTERVALS}")
        heads = ("edge", "passed on by the blocks behind", "kept by each block")
        print(table([heads, *((one.edge.label, str(one.passed_on or ""), str(one.each)) for one in intervals)]))


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
    print("\n".join([*map(trace_words, results), *map(assert_words, asserts), *answers]))


def _agents(run: Run, arguments: Namespace, workbench: Workbench) -> int:
    """What agents counted while the application ran."""
    answers = kept_answers(run.tables, str(arguments.run_folder))
    if answers is None:
        hint = "Name a file of statements, or --limits, or both. Agents count what the project's streaming.query asks."
        there = something_seen(run, str(arguments.run_folder))  # nor, perhaps, is there anything that could be asked
        if there.topology.edges and not there.is_application:
            hint = f"Name a file of statements. `workbench streams {arguments.run_folder}` shows counts of the streams."
        raise WorkbenchError(Diagnostic("the query is empty, and no agent counted anything", hint))
    if arguments.json:
        workbench.print_json(answers.as_json())
    else:
        for problem in answers.diagnostics:
            print(problem.text(), file=sys.stderr)
        costs = (one.words() for one in answers.costs)
        print("\n".join([*map(trace_words, answers.measures), *map(assert_words, answers.asserts), *costs]))
    return 0 if all(one.holds for one in answers.asserts) else 1


def asked(file: Path, topology: Topology, frame: FrameLength, blocks: Sequence[Block] | None = None) -> Query:
    """The query in a file, of a topology's edges and a run's blocks. WorkbenchError with all that is wrong in it."""
    query = read_query(read_file(file).decode("utf-8-sig", "replace"), topology, str(file), frame, blocks)
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    if not query.measures and not query.asserts:
        hint = "For example: measure rate at EDGE, or measure share of state STATE of BLOCK"
        raise WorkbenchError(Diagnostic("this file has no statements", hint, file=str(file)))
    return query
