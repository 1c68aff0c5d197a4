"""Predicts what changes of the catalogue would gain of a run, by replaying it as a graph of who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from workbench.api.queues import RunQueues
from workbench.model.changes import Change
from workbench.model.cycles import period_ps
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.model.prediction import Bottleneck, CriticalPath, Prediction, Trust
from workbench.model.run import PS_PER_S, Run
from workbench.replay.answers import AwaitedEvents, begun_earlier, find_answers
from workbench.replay.causes import Causes, find_causes
from workbench.replay.cones import possible_waits, taken_for_work, with_waits
from workbench.replay.critical import bottlenecks, path_lines, path_steps, steps_of
from workbench.replay.edge_changes import EdgeChanges
from workbench.replay.editing import Edited, RefusedError, has_links
from workbench.replay.edits import edit
from workbench.replay.estimates import estimated_within, let_estimates_be
from workbench.replay.events import AllEvents
from workbench.replay.fpga import Rows, fpga_of_rows, read_rows
from workbench.replay.host import HostPart, read_host
from workbench.replay.likely import Likely, likely_course
from workbench.replay.lowering import Lowered, lower
from workbench.replay.predicted_round import PredictedRound, predicted_round
from workbench.replay.program import Program, begin_program
from workbench.replay.refusals import (
    FROM_PROFILE,
    ONE_THREAD,
    POLL_TOGETHER,
    asked_again,
    cannot_replay,
    goes_round,
    refuse_left_out,
    refuse_opaque,
)
from workbench.replay.resolve import Named, resolve
from workbench.replay.servers import Server, find_servers, served_otherwise
from workbench.replay.settling import all_times_ps, whole
from workbench.replay.several_threads import HostThreads, read_threads
from workbench.replay.thread_edits import edited_threads
from workbench.replay.threads import Replay, StuckError, differences
from workbench.replay.unchanged import beyond_tables, differences_of
from workbench.replay.waits import find_spare, poll_together, run_path, slack_of
from workbench.traces.path import RunPath
from workbench.traces.trace import trace_of

#: By which ratio the ends of an interval may be off the predicted speedup, and it is trusted.
_WIDE = 1.02
#: What the id of a FIFO between FPGAs begins with.


@dataclass(frozen=True)
class Replayed:
    """A run made ready for predictions.

    `modelled_ps` is the time that replay of the unchanged run comes to, None where it cannot be replayed. `exact` says
    that this, and all that it models, is as recorded, and `why` what is not, or why it cannot be replayed.
    `intervals` counts the calls, calls that synchronise threads and stretches of the FPGA's work that replay finds
    anew, `off` those of them that begin or end at another time. `unknown` says of which waits no cause is known,
    `assumed` which causes no wait of this run shows, and `taken_for_work` where blocks may wait without a mark. Of a
    run without a trace, `likely` is what its FPGA did as its profile shows, and `others` are the same with other
    courses.
    """

    run: Run
    platform: Platform | None
    modelled_ps: int | None
    exact: bool
    why: str
    intervals: int = 0
    off: int = 0
    unknown: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    taken_for_work: tuple[str, ...] = ()
    program: Program | None = None
    servers: Sequence[Server] = ()  # blocks that serve several others one after the other
    threads: HostThreads | None = None  # where there are several
    likely: Likely | None = None
    others: tuple[Replayed, ...] = ()  # other courses of the FPGA with the same profile
    platforms: Mapping[str, Platform] = field(default_factory=dict)
    edges: EdgeChanges | None = None  # of a streaming application

    def predict(self, changes: Sequence[Change]) -> Prediction:
        """What the changes, made together, would gain. Raises WorkbenchError where one names what the run lacks."""
        changes = tuple(changes)
        named = self._named(changes)
        if self.edges and self.edges.concerns(changes):
            return self.edges.predict(changes, named, self.platforms)
        if not self.exact or self.program is None:
            return Prediction(changes, Trust.REFUSED, why=self.why)
        try:
            refuse_left_out(self.likely, self.program, named)
            program, edited, threads = self._edited(self.program, changes, named)
            refuse_opaque(program, changes)
            if edited.fpga and (why := goes_round(self.program)):
                raise RefusedError(why)
            if edited.fpga and self.unknown:
                raise RefusedError(f"it is not known what every wait behind this is for: {self.unknown[0]}")
            lowered = lower(program)
            times = all_times_ps(program, lowered, edited, threads)
            if program.fpga is self.program.fpga and (why := served_otherwise(self.servers, program, lowered)):
                raise RefusedError(why)
            for way in range(1, edited.ways):
                other, also, threads = self._edited(self.program, changes, named, way)
                times += all_times_ps(other, lower(other), also, threads)
        except RefusedError as error:
            return Prediction(changes, Trust.REFUSED, why=str(error))
        speedup = self.run.manifest.time_ps / times[0]
        others = [replace(other, platforms=self.platforms).times_ps(changes, named) for other in self.others]
        speedups = sorted(self.run.manifest.time_ps / time_ps for time_ps in (*times, *chain(*others)))
        doubts = list(edited.doubts)
        if self.likely and len(program.fpga.first) and (edited.fpga or len(lowered.answered)):
            doubts.append(FROM_PROFILE)
        if max(speedups[-1] / speedup, speedup / speedups[0]) > _WIDE:
            doubts.append("it depends on times that the run does not record, such as when a poll comes")
        if edited.fpga and lowered.opaque.any():
            doubts.append("of the FPGA no more is known than how long the host waits for it")
            if self.run.manifest.memory_ports:  # a memory is as fast as before
                speedups = sorted((*speedups, 1.0))
        if edited.fpga and has_links(program):
            doubts.append("how fast words go from one FPGA to another is known no further than this run shows")
            speedups = sorted((*speedups, 1.0))
        if not edited.in_order:
            doubts.append("the threads lock what they share in another order: where one then waits is not known")
            room_ps = self.threads.waits_more_ps if self.threads else 0
            ends = (self.run.manifest.time_ps / max(times[0] + more, 1) for more in (-room_ps, room_ps))
            speedups = sorted((*speedups, 1.0, *ends))
        if otherwise := goes_round(self.program) or asked_again(program, lowered):
            doubts.append(otherwise)
            speedups = sorted((*speedups, 1.0))
        if self.unknown:
            doubts.append(f"a wait of which no cause is known ends as in the run: {self.unknown[0]}")
            speedups = sorted((*speedups, 1.0))
        if edited.fpga and self.assumed:
            doubts.append(f"assumed: {self.assumed[0]}")
        if self.taken_for_work:
            doubts.append(f"assumed: {self.taken_for_work[0]}")
            speedups = sorted((*speedups, 1.0))
        if (times_off := estimated_within(program)) > 1:
            doubts.append(f"transfer times are estimates, and may be {times_off:g} times longer or shorter")
            speedups = sorted((*speedups, *self._where_estimates_are_off(changes, named)))
        held = bottlenecks(program, lowered)
        return Prediction(
            changes,
            Trust.DOUBTFUL if doubts else Trust.TRUSTED,
            times[0] / PS_PER_S,
            speedup,
            (speedups[0], speedups[-1]),
            "; ".join(dict.fromkeys([*doubts, *edited.notes])),
            f"{held[0].block} {held[0].state}" if held else "",
        )

    def _where_estimates_are_off(self, changes: Sequence[Change], named: Sequence[Named]) -> Iterator[float]:
        """The speedups where all estimated transfer times, the run's too, are as long, or short, as they may be."""
        assert self.program is not None
        for longer, before_ps in self._times_by_estimates.items():
            after, edited, threads = self._edited(self.program, changes, named, longer=longer)
            yield from (before_ps / after_ps for after_ps in all_times_ps(after, lower(after), edited, threads))

    @cached_property
    def _times_by_estimates(self) -> dict[bool, int]:
        """The unchanged run's time where estimated transfer times are as long (True), or short, as they may be."""
        assert self.program is not None
        copies = {longer: self._edited(self.program, (), (), longer=longer) for longer in (True, False)}
        return {longer: all_times_ps(copy[0], lower(copy[0]), *copy[1:])[0] for longer, copy in copies.items()}

    def times_ps(self, changes: Sequence[Change], named: Sequence[Named]) -> list[int]:
        """The times to which the changes may come; none where they are refused."""
        if self.program is None:
            return []
        try:
            program, edited, threads = self._edited(self.program, changes, named)
            return all_times_ps(program, lower(program), edited, threads)
        except RefusedError:
            return []

    def next_bottlenecks(self, changes: Sequence[Change] = ()) -> tuple[Bottleneck, ...]:
        """What holds the run once these changes are made: its critical path by block and state, the longest first; none
        where they are refused."""
        if not self.exact or self.program is None:
            return ()
        try:
            if not changes:
                return bottlenecks(self.program, self._base[0]) if self._base else ()
            return bottlenecks(*self._settled(self.program, changes))
        except RefusedError:
            return ()

    @property
    def opaque(self) -> int:
        """Of how many of the host's waits no more is known than how long they last."""
        return sum(answer.opaque for answer in self.program.answers.values()) if self.program else 0

    def _named(self, changes: Sequence[Change]) -> list[Named]:
        labels = self.edges.labels if self.edges else ()
        return [resolve(change, self.run.manifest, self.platform, labels) for change in changes]

    def _edited(
        self,
        program: Program,
        changes: Sequence[Change],
        named: Sequence[Named],
        way: int = 0,
        longer: bool | None = None,
    ) -> tuple[Program, Edited, HostThreads | None]:
        """A copy of the program with these changes, read in one of their ways, what they touched, and its threads;
        estimated transfer times are as long, or short, as they may be where `longer` is given. Raises RefusedError."""
        program, edited = program.copy(), Edited(self.platforms, way=way)
        for change, what in zip(changes, named, strict=True):
            edit(program, change, what, self.platform, edited)
        if longer is not None:
            let_estimates_be(program, longer)
        return program, edited, edited_threads(self.threads, program) if self.threads else None

    def _settled(self, program: Program, changes: Sequence[Change]) -> tuple[Program, Lowered]:
        """The program with these changes, and its graph with the times at which all happens. Raises RefusedError."""
        program, edited, threads = self._edited(program, changes, self._named(changes))
        return program, whole(program, edited, threads)[0]

    def critical_path(self) -> CriticalPath:
        """The run's critical path; without steps, and with the reason, where it cannot be replayed."""
        if not self.exact or self.program is None or self._base is None:
            return CriticalPath(self.run.time_s, (), why=self.why)
        lowered, order = self._base
        steps = steps_of(self.program, lowered)
        slack = slack_of(self.program, find_spare(self.program, lowered, order), lowered.rows)
        doubts = [FROM_PROFILE] if self.likely and len(self.program.fpga.first) else []
        doubts += [ONE_THREAD] if self.threads and lowered.rows is None else []
        doubts += [POLL_TOGETHER] if self.threads and poll_together(self.program) else []
        return CriticalPath(
            lowered.total_ps() / PS_PER_S, path_steps(self.program, steps), path_lines(self.program, steps), slack,
            "; ".join(doubts),
        )  # fmt: skip

    def predicted_round(self, changes: Sequence[Change]) -> PredictedRound | None:
        """One round of the run as measured and as predicted after these changes; None where they are refused."""
        if not self.exact or self.program is None:
            return None
        try:
            return predicted_round(self.program, *self._settled(self.program, changes))
        except RefusedError:
            return None

    def run_path(self) -> RunPath | None:
        """The critical path over time, with the slack and the cause of everything; None where it is not known."""
        if not self.exact or self.program is None or self._base is None:
            return None
        return run_path(self.program, *self._base, self.unknown)

    @cached_property
    def _base(self) -> tuple[Lowered, NDArray[np.int32]] | None:
        """The unchanged run as a graph, and the order in which all happens."""
        if self.program is None:
            return None
        return whole(self.program, Edited(), self.threads)


def prepare(
    run: Run, platform: Platform | None,
    platforms: Mapping[str, Platform] | None = None, queues: RunQueues | None = None,
) -> Replayed:  # fmt: skip
    """The run made ready for predictions. `platform` is the one that it ran on, as its template says now, `platforms`
    are others that changes may name, `queues` those of a streaming application."""
    edges = EdgeChanges(run, queues, platform) if queues and run.complete else None
    refused = Replayed(run, platform, None, False, "", platforms=platforms or {}, edges=edges)
    if why := cannot_replay(run):
        return replace(refused, why=why)
    if len(run.manifest.threads) > 1:
        return _of_threads(refused)
    return _of_graph(refused)[0]


def _of_graph(refused: Replayed) -> tuple[Replayed, HostPart]:
    """The run as a graph, with each thread's times between its calls as they were, and its host."""
    run, platform = refused.run, refused.platform
    periods_ps = [period_ps(clock.frequency_hz) for clock in run.manifest.clocks]
    host = read_host(run, platform, periods_ps)
    trace = trace_of(run)
    if trace is not None:
        return _of_trace(refused, host, read_rows(run, trace, periods_ps), periods_ps), host
    return _of_profile(refused, host, periods_ps), host


def _of_profile(refused: Replayed, host: HostPart, periods_ps: list[Fraction]) -> Replayed:
    """The graph of a host and what the FPGA probably did: of the courses by which the run is replayed exactly the one
    that is nearest to the profile, and which leaves the fewest of the host's waits without their cause."""
    run = refused.run
    likely = likely_course(run, host, periods_ps)
    answers = []
    for rows in (*likely.courses, {}):
        events = AllEvents(run, host, fpga_of_rows(run, rows), periods_ps)
        answers.append(_with_readings(refused, events, find_causes(events)))
    opaque = [one.opaque if one.exact else len(host.ops) + 1 for one in answers]
    best, *others = (one for one, count in zip(answers, opaque, strict=True) if count == min(opaque))
    others = [*best.others, *(one for other in others for one in (other, *other.others))]
    return replace(best, likely=likely, others=tuple(others))


def _of_trace(refused: Replayed, host: HostPart, rows: Rows, periods_ps: list[Fraction]) -> Replayed:
    """The graph of a host and what the FPGA did. States that may be waits although no mark says so are taken for some
    where what ends them is found."""
    run, possible = refused.run, possible_waits(refused.run, rows)
    waits = possible
    while True:
        marked = with_waits(run, waits)
        events = AllEvents(marked, host, fpga_of_rows(marked, rows), periods_ps)
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
    """The graph of a host and what the FPGA did, of events whose causes are known."""
    answers, missing = find_answers(events, causes, refused.edges.explained if refused.edges else None)
    return _of_answers(refused, events, causes, answers, missing)


def _with_readings(refused: Replayed, events: AllEvents, causes: Causes) -> Replayed:
    """The same, with the other readings of waits that are opaque: what they wait for may have started earlier."""
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
        return replace(refused, why="the causes that were found wait for one another")
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
    """A run of several threads: whether their calls are replayed exactly, on the same cores and with the same card, and
    the graph of bus and FPGA where that is exact as well. Without it the run is exact, and its changes are refused."""
    syncs = refused.run.tables.get("syncs")
    if syncs is None or not len(syncs["t0_ps"]):
        return replace(refused, why="how the host's threads waited for one another is not recorded: trace the run")
    try:
        alone = Replay(syncs, refused.run.manifest.cores).times()
    except StuckError:
        return replace(refused, why="replay of the host's threads comes to an end at which none can go on")
    late, off_ps = differences(syncs, alone), alone.end_ps - refused.run.manifest.time_ps
    refused = replace(refused, intervals=len(syncs["t0_ps"]), off=len(late))
    if len(late) or off_ps:
        why = f"{len(late)} of {len(syncs['t0_ps'])} calls of the threads come otherwise, the end {off_ps} ps late"
        return replace(refused, modelled_ps=alone.end_ps, why=why)
    replayed, host = _of_graph(refused)
    why = replayed.why
    if replayed.exact:
        threads = read_threads(refused.run, host)
        if isinstance(threads, str):
            why = threads
        elif len(host.ops):  # else they are those that were replayed just now
            why = threads.wrong(refused.run.manifest.time_ps)
        if not why and not isinstance(threads, str):
            return replace(replayed, threads=threads, others=())
    why = f"several threads share this work ({why}): only a re-run on the card shows what a change does to them"
    replayed = replace(refused, intervals=replayed.intervals, off=replayed.off, unknown=replayed.unknown)
    return replace(replayed, modelled_ps=alone.end_ps, exact=True, why=why)
