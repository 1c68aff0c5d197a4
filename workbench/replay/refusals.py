"""Refuses changes, or adds doubts, if less is known of a run than replay needs."""

from collections.abc import Sequence

import numpy as np

from workbench.model.blocks import Side, fpga_of
from workbench.model.changes import Asynchronous, Change, Early, Replicas, ScaleState
from workbench.model.platform import Platform
from workbench.model.pragma import WAITS, Category
from workbench.model.run import Run
from workbench.model.syncs import SyncKind
from workbench.replay.editing import RefusedError
from workbench.replay.host import ASK
from workbench.replay.likely import Likely
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program
from workbench.replay.resolve import Named
from workbench.traces.groups import rows_of_block

ONE_THREAD = "it follows one of the host's threads: waits for other threads count as its own time"
POLL_TOGETHER = "several threads poll over one bus and shift each other's polls: their slack is unknown"
FROM_PROFILE = "the run has no trace: the FPGA's activity over time is estimated from its profile"


def refuse_left_out(likely: Likely | None, program: Program, named: Sequence[Named]) -> None:
    """Refuse changes of blocks whose course is unknown without a trace, or whose neighbour may wait without a
    pragma."""
    for of_change in named if likely else ():
        changed = {
            program.run.manifest.blocks[n] for n in (*of_change.blocks, *(number for number, _ in of_change.states))
        }
        for block in changed:
            if likely and block.id in likely.left_out:
                raise RefusedError(f"without a trace {block.id} cannot be followed: {likely.left_out[block.id]}")
        if any(block.side is Side.FPGA for block in changed) and (unmarked := unmarked_most(program.run)):
            raise RefusedError(f"most of {unmarked} has no mark, and without a trace it may work or wait there")


def refuse_opaque(program: Program, changes: Sequence[Change]) -> None:
    """Refuse changes of the FPGA's time for calls of which only the host's wait is known."""
    opaque = [a for op in program.base.tolist() if (a := program.answers.get(op)) is not None and a.opaque]
    for change in changes if opaque else ():
        if isinstance(change, ScaleState | Replicas):
            raise RefusedError(f"'{change}': it is unknown which FPGA work some of the host's waits are for")
    sources = np.unique(np.array([source for answer in opaque for source in answer.sources], np.int64))
    at, now = program.at[sources], np.bincount(program.at[program.at >= 0], minlength=len(program.ops))
    same = (at >= 0) & (now[at] == 1) & (program.parts[sources] == 1)
    same &= program.span[sources] == program.host.ops["bytes"][sources]
    for source in sources[~same].tolist():
        site = program.run.manifest.sites[int(program.host.ops["site"][source])]
        raise RefusedError(
            f"of the FPGA's work after the calls at {site.file}:{site.line} only the host's wait is known, not its "
            "time for more or fewer calls"
        )


def unmarked_most(run: Run) -> str:
    """The working FPGA block with the longest unmarked time, if it is longer than its marked waits and than a twentieth
    of the run; "" if there is none."""
    table = run.tables["state_time"]
    shares = []
    for number, block in enumerate(run.manifest.blocks):
        if block.side is not Side.FPGA or not block.works:
            continue
        rows = rows_of_block(table["block"], number)
        states, times_ps = (np.asarray(table[name][rows]).tolist() for name in ("state", "time_ps"))
        spent_ps = dict(zip(states, times_ps, strict=True))
        waited_ps = sum(spent_ps.get(state.index, 0) for state in block.states if state.category in WAITS)
        works = any(spent_ps.get(state.index, 0) for state in block.states if state.category is Category.WORK)
        if works and (unmarked_ps := spent_ps.get(0, 0)) > max(waited_ps, run.manifest.time_ps // 20):
            shares.append((unmarked_ps, block.id))
    return max(shares, default=(0, ""))[1]


def goes_round(program: Program) -> str:
    """The reason why the host's actions depend on the order of answers to its polls; "" if the run shows no such
    dependence. It is shown by a site that polls again after other polls only."""
    ops = program.host.ops
    asks = np.flatnonzero(ops["kind"] == ASK)
    poll_kind = np.unique(ops[["thread", "site", "address"]][asks], return_inverse=True)[1].reshape(-1)
    row = np.cumsum(np.append(1, np.diff(asks) != 1))[: len(asks)]  # consecutive polls
    begins_row = np.append(True, (np.diff(poll_kind) != 0) | (np.diff(row) != 0))[: len(asks)]
    _, first, times = np.unique(
        np.stack([row, poll_kind])[:, begins_row], axis=1, return_index=True, return_counts=True
    )
    if not (times > 1).any():
        return ""
    site = program.run.manifest.sites[int(ops["site"][asks[begins_row][first[times > 1][0]]])]
    return f"the host asks others if {site.file}:{site.line} has no answer yet: its next steps depend on that"


def asked_again(program: Program, lowered: Lowered) -> str:
    """The poll that must be repeated in the changed program, and never was in the run; "" if there is none. The graph
    must be swept."""
    ops, sites = program.host.ops, program.run.manifest.sites
    asks = np.flatnonzero(ops["kind"] == ASK)
    longest_row = np.zeros(len(sites), np.int64)
    np.maximum.at(longest_row, ops["site"][asks], ops["rows"][asks])
    again = lowered.asks[lowered.graph.polls["asked"] > 1]
    once = again[longest_row[program.ops["site"][again]] == 1]
    if not len(once):
        return ""
    site = sites[int(program.ops["site"][once[0]])]
    return (
        f"{site.file}:{site.line} is answered at once each time in this run: it is unknown whether the host would ask "
        "again"
    )


def shared_memory(run: Run, platform: Platform | None, changes: Sequence[Change]) -> str:
    """The doubt if the changes let transfers run beside the design's work in a memory of both; "" otherwise."""
    if platform is None or not any(isinstance(change, (Asynchronous, Early)) for change in changes):
        return ""
    ports = {table.port for table in platform.transfer_tables.values()}
    memories = [port.memory for port in run.manifest.memory_ports]
    shared = next((one for one in memories if one.removeprefix(fpga_of(one)) in ports), "")
    return shared and f"transfers and the FPGA would use {shared} at the same time, and each may take longer"


def cannot_replay(run: Run) -> str:
    """The reason why a run cannot be replayed, or ""."""
    if not run.complete:
        return "the run is not complete"
    if not run.manifest.simulated and run.manifest.cores.ranks < 2:
        return "the run is of a real machine, which keeps no order of calls: run it, traced, on the simulated card"
    ranks, syncs = run.manifest.cores.ranks, run.tables.get("syncs", {})
    if not run.manifest.simulated and syncs:
        block, argument = np.asarray(syncs["block"]), np.asarray(syncs["argument"])
        started = argument[np.asarray(syncs["kind"]) == SyncKind.CREATE]
        if (~np.isin(block[block >= ranks], started)).any():
            return "several threads of a rank exchange messages, and who started them is not recorded"
    if "calls" not in run.tables or (len(run.manifest.threads) < 2 and not len(run.tables["calls"]["site"])):
        return "the run has no calls"
    if not run.manifest.clocks:
        return "the run has no clock"
    if run.manifest.drift_ppm_per_s:
        return "the FPGA's clock drifts: run with `clock_drift_ppm_per_s: 0` in the project's simulation"
    return ""
