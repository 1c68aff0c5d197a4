"""Prepares a run for predictions: its host, its FPGA and the causes of waits, checked by replaying it unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.api.queues import RunQueues
from workbench.model.cycles import period_ps
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.model.text import listed
from workbench.replay.answers import AwaitedEvents, begun_earlier, find_answers
from workbench.replay.causes import Causes, find_causes
from workbench.replay.cones import possible_waits, taken_for_work, with_waits
from workbench.replay.edge_changes import EdgeChanges
from workbench.replay.events import AllEvents
from workbench.replay.fpga import Rows, fpga_of_rows, read_rows, works
from workbench.replay.host import HostPart, read_host
from workbench.replay.host_noise import host_noise
from workbench.replay.likely import likely_course
from workbench.replay.lowering import lower
from workbench.replay.machine_noise import machine_noise
from workbench.replay.predict import Replayed
from workbench.replay.program import begin_program
from workbench.replay.refusals import cannot_replay
from workbench.replay.servers import find_servers
from workbench.replay.several_threads import read_threads
from workbench.replay.threads import Replay, StuckError, differences
from workbench.replay.unchanged import beyond_tables, differences_of
from workbench.traces.trace import trace_of

REAL_BOARD = "on a real machine only the host is followed: calls of the board take what they took in this run"

OWN_LOCKS = "locks for which no thread of a rank waited in this run are free after a change too"


def prepare(
    run: Run, platform: Platform | None,
    platforms: Mapping[str, Platform] | None = None, queues: RunQueues | None = None, equal_ps: Sequence[int] = (),
) -> Replayed:  # fmt: skip
    """The run prepared for predictions. `platform` is the run's platform as its template is today, `platforms` are
    others that changes may name, `queues` are those of a streaming application. `equal_ps` are the times of the host's
    own code, or on a real machine of the whole run, in earlier runs of the same program."""
    edges = EdgeChanges(run, queues, platform) if queues and run.complete else None
    noise = (host_noise if run.manifest.simulated else machine_noise)(run, equal_ps)
    refused = Replayed(run, platform, None, False, "", platforms=platforms or {}, edges=edges, noise=noise)
    if why := cannot_replay(run):
        return replace(refused, why=why)
    replayed = _of_threads(refused) if len(run.manifest.threads) > 1 else _of_graph(refused)[0]
    if run.manifest.simulated:
        return replayed
    several = len(run.manifest.threads) > run.manifest.cores.ranks
    assumed = (*replayed.assumed, REAL_BOARD, *[OWN_LOCKS] * several)
    ways = run.manifest.unrecorded_waits
    own_time = [f"waits of the host's threads {listed(ways)}, which are not recorded, are their own work"] * bool(ways)
    return replace(replayed, assumed=assumed, taken_for_work=(*replayed.taken_for_work, *own_time))


def _of_graph(refused: Replayed) -> tuple[Replayed, HostPart]:
    """The run as a graph, with the recorded times between each thread's calls, and its host."""
    run, platform = refused.run, refused.platform
    measured = not run.manifest.simulated  # without an FPGA to follow, whole picoseconds are sufficient
    periods_ps = [
        Fraction(round(p)) if measured else p for p in (period_ps(clock.frequency_hz) for clock in run.manifest.clocks)
    ]
    host = read_host(run, platform, periods_ps)
    trace = trace_of(run)
    if trace is not None:
        return _of_trace(refused, host, read_rows(run, trace, periods_ps), periods_ps), host
    return _of_profile(refused, host, periods_ps), host


def _of_profile(refused: Replayed, host: HostPart, periods_ps: list[Fraction]) -> Replayed:
    """The graph of a host and its FPGA's likely course: of the courses whose replay is exact, the one closest to the
    profile that leaves the fewest host waits without a cause."""
    run = refused.run
    likely = likely_course(run, host, periods_ps)
    answers = []
    for rows in (*likely.courses, {}):
        events = AllEvents(run, host, fpga_of_rows(run, rows), periods_ps)
        answers.append(_with_readings(refused, events, find_causes(events)))
    opaque = [replayed.opaque if replayed.exact else len(host.ops) + 1 for replayed in answers]
    best, *others = (replayed for replayed, count in zip(answers, opaque, strict=True) if count == min(opaque))
    others = [*best.others, *(replayed for other in others for replayed in (other, *other.others))]
    return replace(best, likely=likely, others=tuple(others))


def _of_trace(refused: Replayed, host: HostPart, rows: Rows, periods_ps: list[Fraction]) -> Replayed:
    """The graph of a host and its traced FPGA. States without a pragma that may be waits are taken for waits if events
    end them."""
    run, possible = refused.run, possible_waits(refused.run, rows)
    waits, passing = possible, [n for n, block in enumerate(run.manifest.blocks) if not works(block)]
    while True:
        marked = with_waits(run, waits)
        events = AllEvents(marked, host, fpga_of_rows(marked, rows), periods_ps, passing)
        causes = find_causes(events, waits)
        if not causes.no_waits:
            break
        waits -= causes.no_waits
    replayed = _of_fpga(refused, events, causes)
    if replayed.program is not None:
        replayed.program.taken = waits
    if waits and not replayed.exact:
        events = AllEvents(run, host, fpga_of_rows(run, rows), periods_ps)
        replayed = _of_fpga(refused, events, find_causes(events))
        waits = frozenset()
    return replace(replayed, taken_for_work=taken_for_work(run, rows, possible - waits))


def _of_fpga(refused: Replayed, events: AllEvents, causes: Causes) -> Replayed:
    """The graph of a host and its FPGA, for events with known causes."""
    answers, missing = find_answers(events, causes, refused.edges.explained if refused.edges else None)
    return _of_answers(refused, events, causes, answers, missing)


def _with_readings(refused: Replayed, events: AllEvents, causes: Causes) -> Replayed:
    """The graph of a host and its FPGA, with the other readings of opaque waits, whose work may have started
    earlier."""
    answers, missing = find_answers(events, causes, refused.edges.explained if refused.edges else None)
    replayed = _of_answers(refused, events, causes, answers, missing)
    readings = [begun_earlier(events, answers, back) for back in (1, 2)] if replayed.exact else []
    others = [_of_answers(refused, events, causes, one, missing) for one in readings if one]
    return replace(replayed, others=tuple(other for other in others if other.exact))


def _of_answers(
    refused: Replayed, events: AllEvents, causes: Causes, answers: dict[int, AwaitedEvents], missing: tuple[str, ...]
) -> Replayed:
    run, host, fpga = events.run, events.host, events.fpga
    program = begin_program(run, host, fpga, causes.edges, causes.lag_after, answers, list(events.periods_ps))
    lowered = lower(program)
    try:
        order = lowered.graph.sweep_in_time()
    except WorkbenchError as error:
        return replace(refused, why=str(error))
    if order is None:
        return replace(refused, why="the causes found depend on each other in a cycle")
    total_ps = lowered.total_ps()
    wrong, off = differences_of(program, lowered, events, total_ps)
    intervals = len(program.ops) + len(fpga.first)
    servers = find_servers(program)
    unknown = (*causes.reasons, *missing, *beyond_tables(program))
    return replace(
        refused, modelled_ps=total_ps, exact=not wrong and not host.why, why=wrong or host.why,
        intervals=refused.intervals + intervals, off=refused.off + off, unknown=unknown,
        assumed=tuple(dict.fromkeys(causes.assumed if servers else (*causes.assumed, *causes.in_turn))),
        program=program, servers=servers,
    )  # fmt: skip


def _of_threads(refused: Replayed) -> Replayed:
    """A run of several threads: whether the replay of their calls is exact, on the same cores and card, and the graph
    of bus and FPGA if it is exact too. Without that graph the run is exact, and changes are refused."""
    syncs = refused.run.tables.get("syncs")
    if syncs is None or not len(syncs["t0_ps"]):
        return replace(
            refused, why="the run does not record how the host's threads waited for each other: run with --trace"
        )
    try:
        alone = Replay(syncs, refused.run.manifest.cores).times()
    except StuckError:
        return replace(refused, why="the replay of the host's threads ends in a deadlock")
    late, off_ps = differences(syncs, alone), alone.end_ps - refused.run.manifest.time_ps
    refused = replace(refused, intervals=len(syncs["t0_ps"]), off=len(late))
    if len(late) or off_ps:
        why = f"{len(late)} of {len(syncs['t0_ps'])} calls of the threads come at other times, the end {off_ps} ps late"
        return replace(refused, modelled_ps=alone.end_ps, why=why)
    replayed, host = _of_graph(refused)
    why = replayed.why
    if replayed.exact:
        threads = read_threads(refused.run, host)
        if isinstance(threads, str):
            why = threads
        elif len(host.ops):  # otherwise they were just replayed
            why = threads.wrong(refused.run.manifest.time_ps)
        if not why and not isinstance(threads, str):
            return replace(replayed, threads=threads, others=())
    why = f"several threads share this work ({why}): only a re-run on the card shows what a change does to them"
    replayed = replace(refused, intervals=replayed.intervals, off=replayed.off, unknown=replayed.unknown)
    return replace(replayed, modelled_ps=alone.end_ps, exact=True, why=why)
