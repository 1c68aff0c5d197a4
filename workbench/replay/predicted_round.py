"""One round of the run as measured and as predicted, with the state of every block, for pictures of both."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.model.run_tables import Table
from workbench.replay.engine import times_ps
from workbench.replay.fpga import waiting_stays
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
Stretch = tuple[int, int]  # from when, and how long, in picoseconds


@dataclass(frozen=True)
class PredictedRound:
    """A predicted run with a trace of its states, and the same `rounds` (0: all) in the measured and in the predicted
    run."""

    run: Run
    rounds: int
    measured: Stretch
    predicted: Stretch


def predicted_round(base: Program, program: Program, lowered: Lowered) -> PredictedRound:
    """The predicted round of the changed program, whose graph must be swept. `base` is the unchanged program."""
    total_ps = lowered.total_ps()
    heads = _round_heads(base)
    middle = max(len(heads) // 2 - 1, 0)
    for count in (1, 2, 4, 8, 16):
        if middle + count >= len(heads):
            break
        ops = int(heads[middle]), int(heads[middle + count])
        asked_ps = _asked_ps(program, lowered, ops)
        if asked_ps is not None and asked_ps[1] > asked_ps[0]:
            measured = tuple(base.ops["begin_ps"][list(ops)].tolist())
            spans = [(begin, end - begin) for begin, end in (measured, asked_ps)]
            return PredictedRound(_predicted_run(program, lowered), count, *spans)
    whole_run = (0, base.run.manifest.time_ps), (0, total_ps)
    return PredictedRound(_predicted_run(program, lowered), 0, *whole_run)


def _round_heads(program: Program) -> Numbers:
    """The first thread's operations at which a new round begins: calls whose site was first reached no later than that
    of the call before."""
    ops = program.ops
    of_first_thread = np.flatnonzero(ops["thread"] == ops["thread"][0]) if len(ops) else np.zeros(0, np.int64)
    sites = ops["site"][of_first_thread]
    first: dict[int, int] = {}
    rank = np.array([first.setdefault(site, len(first)) for site in sites.tolist()], np.int64)
    falls = np.flatnonzero(rank[1:] < rank[:-1]) + 1
    return of_first_thread[falls]


def _asked_ps(program: Program, lowered: Lowered, ops: tuple[int, int]) -> Stretch | None:
    """The times at which the operations that now do the work of these two are requested; None if one was removed."""
    now = program.at[list(ops)]
    if (now < 0).any():
        return None
    begin, end = (int(lowered.graph.begin[lowered.of_return[op]]) - int(program.ops["before_ps"][op]) for op in now)
    return begin, end


def _predicted_run(program: Program, lowered: Lowered) -> Run:
    """The run's blocks in their predicted states, as a traced run without calls."""
    total_ps, blocks = lowered.total_ps(), program.run.manifest.blocks
    starts: list[Numbers] = []
    states: list[Numbers] = []
    threads = set(np.unique(program.ops["thread"]).tolist())
    of_stays = _stay_begins_ps(program, lowered)
    for number in range(len(blocks)):
        if number in threads:
            intervals = _of_thread(program, lowered, number)
        else:
            mine = np.flatnonzero(program.fpga.stay_block == number)
            intervals = of_stays[mine], program.fpga.stay_state[mine].astype(np.int64)
        begin, state = _tidy(*intervals, total_ps)
        starts.append(begin)
        states.append(state)
    offsets = np.append(0, np.cumsum([len(one) for one in starts]))
    tables: dict[str, Table] = {
        "intervals": {
            "start_ps": np.concatenate(starts).astype(np.uint64),
            "state": np.concatenate(states).astype(np.uint16),
        },
        "interval_offsets": {"offset": offsets.astype(np.uint64)},
    }
    manifest = replace(program.run.manifest, time_ps=total_ps)
    return Run(None, manifest, tables)


def _of_thread(program: Program, lowered: Lowered, thread: int) -> tuple[Numbers, Numbers]:
    """The states of calls, with the host's own code between them."""
    ops, graph = program.ops, lowered.graph
    mine = np.flatnonzero(ops["thread"] == thread)
    nodes = lowered.of_return[mine]
    end = graph.end[nodes] + ops["after_ps"][mine]
    # a call begins before its transfer has the bus
    begin = np.minimum(np.append(0, end[:-1]) + ops["own_ps"][mine], graph.begin[nodes])
    states = program.run.manifest.blocks[thread].states
    work = next((state.index for state in states if state.name == "work"), 0)
    times = np.stack([begin, end], axis=1).reshape(-1)
    kinds = np.stack([ops["state"][mine].astype(np.int64), np.full(len(mine), work)], axis=1).reshape(-1)
    return np.append(0, times), np.append(work, kinds)


def _stay_begins_ps(program: Program, lowered: Lowered) -> Numbers:
    """The begin (ps) of each stay of the FPGA's blocks: after the earlier work of its stretch; waits come last."""
    fpga, graph = program.fpga, lowered.graph
    if not len(fpga.first):
        return np.zeros(0, np.int64)
    waiting = waiting_stays(fpga, program.run.manifest.blocks)
    worked = np.cumsum(np.where(waiting, 0, program.stays)) - np.where(waiting, 0, program.stays)
    nodes = lowered.of_stretch[fpga.stretch_of]
    cycles = graph.begin[nodes] + worked - worked[fpga.first][fpga.stretch_of]
    return times_ps(graph, nodes, cycles)


def _tidy(begin: Numbers, state: Numbers, total_ps: int) -> tuple[Numbers, Numbers]:
    """Stays from time 0, in order, without empty ones."""
    if not len(begin):
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    begin = np.clip(np.maximum.accumulate(begin), 0, total_ps)
    begin[0] = 0
    lasts = np.diff(np.append(begin, total_ps)) > 0
    return begin[lasts], state[lasts]
