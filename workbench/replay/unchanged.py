"""The differences between a run and its unchanged replay."""

from collections.abc import Iterator

import numpy as np

from workbench.replay.events import AllEvents
from workbench.replay.host import ASK, ASYNC, MOVE
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program


def beyond_tables(program: Program) -> Iterator[str]:
    """A sentence for each site with calls that deviate from their transfer table."""
    ops = program.ops
    for site in np.unique(ops["site"][ops["beyond_ps"] != 0]).tolist():
        place = program.run.manifest.sites[site]
        count = int((ops["beyond_ps"][ops["site"] == site] != 0).sum())
        yield f"{count} calls at {place.file}:{place.line} take another time than their transfer table says"


def differences_of(program: Program, lowered: Lowered, events: AllEvents, total_ps: int) -> tuple[str, int]:
    """The differences between the unchanged replay and the run, "" without any, and the number of different
    intervals."""
    ops, graph = program.ops, lowered.graph
    returned = np.where(ops["kind"] == ASYNC, ops["grant_ps"] + ops["work_ps"], ops["end_ps"] - ops["after_ps"])
    granted = np.where(ops["grant_ps"] >= 0, ops["grant_ps"], graph.begin[lowered.of_op])
    moves = np.isin(ops["kind"], (MOVE, ASYNC, ASK))
    wrong = (graph.end[lowered.of_op] != returned) | (moves & (graph.begin[lowered.of_op] != granted))
    late = np.flatnonzero(wrong)
    fpga = program.fpga
    modelled = ~events.of_questions[fpga.first] if len(fpga.first) else np.zeros(0, bool)
    moved = np.flatnonzero((graph.begin[lowered.of_stretch] != fpga.begin) & modelled)
    parts = []
    if total_ps != program.run.manifest.time_ps:
        off = total_ps / program.run.manifest.time_ps - 1
        parts.append(f"replay of the unchanged run takes {off:+.4%} of its time")
    if len(late):
        site = program.run.manifest.sites[int(ops["site"][late[0]])]
        parts.append(f"{len(late)} of {len(ops)} calls end at other times, the first at {site.file}:{site.line}")
    if len(moved):
        block = program.run.manifest.blocks[int(fpga.block[moved[0]])].id
        parts.append(f"{len(moved)} of {len(fpga.first)} stretches of work begin at other times, the first of {block}")
    return "; ".join(parts), len(late) + len(moved)
