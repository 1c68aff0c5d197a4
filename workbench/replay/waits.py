"""The cause of each wait of a run, and the slack of each call and each stretch of work."""

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.prediction import Slack
from workbench.model.run import PS_PER_S
from workbench.replay.critical import steps_of, work_states
from workbench.replay.engine import BY_BEGIN, BY_BUS, Graph, times_ps
from workbench.replay.fpga import waiting_stays
from workbench.replay.host import ASK
from workbench.replay.lowering import HostRows, Lowered
from workbench.replay.program import Program
from workbench.traces.path import NO_LIMIT_PS, UNKNOWN_PS, Causes, Parts, RunPath

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Spare:
    """The time (ps) by which each operation, each stretch and each stay of the FPGA, and each thread's own code before
    a row (empty if one thread makes all calls) may end later: `NO_LIMIT_PS` if nothing waits for it, `UNKNOWN_PS` if
    that is unknown; meaningless for a stay that waits."""

    ops_ps: Numbers
    stretches_ps: Numbers
    stays_ps: Numbers
    rows_ps: Numbers


def find_spare(program: Program, lowered: Lowered, order: NDArray[np.int32]) -> Spare:
    """The slack after a sweep in that order. If several host threads are not in the graph, or poll over one bus, the
    threads' slack is unknown, and the FPGA's slack is what delays no operation."""
    graph, fpga, rows = lowered.graph, program.fpga, lowered.rows
    several = poll_together(program) or (rows is None and len(np.unique(program.ops["thread"])) > 1)
    if several:
        graph, order = _with_ends_fixed(lowered), np.append(order[order != lowered.last], np.int32(lowered.last))
    _, latest = graph.latest(lowered.last, order)
    latest_ps = times_ps(graph, np.arange(len(graph)), latest)
    spare_ps = latest_ps - times_ps(graph, np.arange(len(graph)), graph.end)
    spare_ps[latest_ps > lowered.total_ps()] = NO_LIMIT_PS
    stretches_ps = spare_ps[lowered.of_stretch]
    stays_ps = stretches_ps[fpga.stretch_of] if len(fpga.first) else np.zeros(0, np.int64)
    first = graph.cause_first[lowered.marks]
    owner = ~graph.cause[first].astype(np.int64)
    stretch_of_node = np.full(len(graph), -1, np.int64)
    stretch_of_node[lowered.of_stretch] = np.arange(len(lowered.of_stretch))
    stretch = stretch_of_node[owner]
    marks, stretch = lowered.marks[stretch >= 0], stretch[stretch >= 0]
    if len(marks):  # events that others saw within a stretch limit the stays before them
        apart = int(max(fpga.stay_begin.max(), graph.end[marks].max())) + 1
        keys = fpga.stay_block.astype(np.int64) * apart + fpga.stay_begin
        before = np.searchsorted(keys, fpga.block[stretch].astype(np.int64) * apart + graph.end[marks]) - 1
        np.minimum.at(stays_ps, before, spare_ps[marks])
        some = np.flatnonzero(np.isin(fpga.stretch_of, np.unique(stretch)))[::-1]
        # the minimum over the rest of its stretch; an offset separates the stretches
        new = np.append(True, np.diff(fpga.stretch_of[some]) != 0)
        below = np.cumsum(new) * (far := 2 * lowered.total_ps())
        least_ps = np.minimum.accumulate(np.minimum(stays_ps[some], far - 1) - below) + below
        stays_ps[some] = np.where(least_ps == far - 1, NO_LIMIT_PS, least_ps)
    ops_ps, rows_ps = spare_ps[lowered.of_op], spare_ps[rows.asked] if rows else np.zeros(0, np.int64)
    if several:
        ops_ps[:], rows_ps[:] = UNKNOWN_PS, UNKNOWN_PS
    return Spare(ops_ps, stretches_ps, stays_ps, rows_ps)


def poll_together(program: Program) -> bool:
    """Whether a thread polls over a bus that another one uses; a delay of one then shifts the other's polls."""
    ops = program.ops
    asks = (ops["kind"] == ASK) & (ops["bus"] >= 0)
    polled_buses = np.unique(np.stack([ops["thread"][asks], ops["bus"][asks]]), axis=1).T.tolist()
    return any(((ops["bus"] == bus) & (ops["thread"] != thread)).any() for thread, bus in polled_buses)


def _with_ends_fixed(lowered: Lowered) -> Graph:
    """The graph with added edges to the run's end, so that no operation may end later."""
    graph, last = copy(lowered.graph), lowered.last
    nodes = np.unique(np.concatenate((lowered.of_op, lowered.of_return)))
    at, ends = graph.cause_first[last + 1], times_ps(graph, nodes, graph.end[nodes])
    graph.cause = np.insert(graph.cause, at, nodes.astype(np.int32))
    graph.lag = np.insert(graph.lag, at, np.maximum(lowered.total_ps() - ends, 0))
    graph.cause_first = graph.cause_first.copy()
    graph.cause_first[last + 1 :] += len(nodes)
    return graph


def slack_of(program: Program, spare: Spare, rows: HostRows | None) -> tuple[Slack, ...]:
    """The least slack of each call site, of each state other than waits, and of the own code of each of several
    threads; the least first."""
    manifest, ops, fpga = program.run.manifest, program.ops, program.fpga
    slacks: list[Slack] = []

    def add(block: int, state: int, least_ps: int, site: int = -1) -> None:
        if least_ps == UNKNOWN_PS:
            return
        one, place = manifest.blocks[block], manifest.sites[site] if site >= 0 else None
        slack_s = None if least_ps == NO_LIMIT_PS else least_ps / PS_PER_S
        in_state = one.states[state]
        where = (place.label, place.file, place.line) if place else ("", in_state.file or "", in_state.line or 0)
        slacks.append(Slack(one.id, in_state.name, slack_s, *where))

    if len(ops):
        kinds, kind_index = np.unique(np.stack([ops["thread"], ops["state"], ops["site"]]), axis=1, return_inverse=True)
        least_ps = np.full(kinds.shape[1], NO_LIMIT_PS)
        np.minimum.at(least_ps, kind_index.reshape(-1), spare.ops_ps)
        for (block, state, site), least in zip(kinds.T.tolist(), least_ps.tolist(), strict=True):
            add(block, state, least, site)
    for thread in np.unique(rows.thread).tolist() if rows else ():
        assert rows
        add(thread, int(work_states(manifest.blocks)[thread]), int(spare.rows_ps[rows.thread == thread].min()))
    works = np.flatnonzero(~waiting_stays(fpga, manifest.blocks))
    if len(works):
        kinds = fpga.stay_block[works].astype(np.int64) * (states := int(fpga.stay_state.max()) + 1)
        kinds += fpga.stay_state[works]
        least_ps = np.full(int(kinds.max()) + 1, NO_LIMIT_PS)
        np.minimum.at(least_ps, kinds, spare.stays_ps[works])
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            add(*divmod(kind, states), int(least_ps[kind]))
    return tuple(sorted(slacks, key=lambda one: one.slack_s if one.slack_s is not None else float("inf")))


def run_path(program: Program, lowered: Lowered, spare: Spare, unknown: tuple[str, ...]) -> RunPath:
    """The critical path over time, for the run's views."""
    graph, ops, fpga = lowered.graph, program.ops, program.fpga
    rows, owners = lowered.rows, _Owners(program, lowered)
    parts: dict[int, Parts] = {}
    thread, site = ops["thread"].astype(np.int64), ops["site"].astype(np.int64)
    nodes, begin_ps, end_ps, spare_ps = lowered.of_op, ops["begin_ps"], ops["end_ps"], spare.ops_ps
    if rows:  # synchronising calls that waited
        met = np.flatnonzero((rows.op < 0) & (rows.over_ps > rows.asked_ps))
        thread, site = np.append(thread, rows.thread[met]), np.append(site, np.full(len(met), -1))
        nodes, spare_ps = np.append(nodes, rows.over[met]), np.append(spare_ps, np.full(len(met), UNKNOWN_PS))
        begin_ps, end_ps = np.append(begin_ps, rows.asked_ps[met]), np.append(end_ps, rows.over_ps[met])
    causes = owners.of(nodes)
    threads = np.unique(thread).tolist()
    for one in threads:
        mine = np.flatnonzero(thread == one)
        mine = mine[np.argsort(begin_ps[mine], kind="stable")]
        parts[one] = Parts(begin_ps[mine], end_ps[mine], spare_ps[mine], site[mine], causes.some(mine))
    causes = owners.of(lowered.of_stretch)
    begin_ps = times_ps(graph, lowered.of_stretch, graph.begin[lowered.of_stretch])
    end_ps = times_ps(graph, lowered.of_stretch, graph.end[lowered.of_stretch])
    for block in np.unique(fpga.block).tolist() if len(fpga.first) else []:
        mine = np.flatnonzero(fpga.block == block)
        none = np.full(len(mine), -1, np.int64)
        parts[block] = Parts(begin_ps[mine], end_ps[mine], spare.stretches_ps[mine], none, causes.some(mine))
    return RunPath(steps_of(program, lowered), parts, frozenset(threads), unknown)


class _Owners:
    """The block and the call that each node of a graph belongs to."""

    def __init__(self, program: Program, lowered: Lowered) -> None:
        graph, ops, fpga = lowered.graph, program.ops, program.fpga
        self.graph = graph
        self.due, self.how = graph.due()
        count = len(graph)
        self.block, self.site = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        for nodes in (lowered.of_op, lowered.of_return):
            self.block[nodes], self.site[nodes] = ops["thread"], ops["site"]
        if len(fpga.first):
            self.block[lowered.of_stretch] = fpga.block
        if lowered.rows:
            mine = lowered.rows.owner >= 0
            self.block[mine] = lowered.rows.owner[mine]
        self.is_mark = np.zeros(count, bool)
        self.is_mark[lowered.marks] = True
        owner = ~graph.cause[graph.cause_first[lowered.marks]].astype(np.int64)
        self.block[lowered.marks], self.site[lowered.marks] = self.block[owner], self.site[owner]
        self.between = self.block < 0  # nodes that only join others, and the run's begin and end
        self.between[[0, lowered.last]] = False

    def of(self, nodes: Numbers) -> Causes:
        """The causes of these nodes."""
        source, how = self.due[nodes].astype(np.int64), self.how[nodes]
        for _ in range(4):
            joins = (source >= 0) & self.between[np.maximum(source, 0)]
            if not joins.any():
                break
            how = np.where(joins, self.how[source], how)
            source = np.where(joins, self.due[source], source)
        there, at = source >= 0, np.maximum(source, 0)
        moments = np.where((how == BY_BEGIN) & ~self.is_mark[at], self.graph.begin[at], self.graph.end[at])
        at_ps = np.where(there, times_ps(self.graph, at, moments), 0)
        block, site = np.where(there, self.block[at], -1), np.where(there, self.site[at], -1)
        return Causes(block, site, at_ps, how == BY_BUS)
