"""What the monitors counted, as the run's tables: of their words, or where a simulated design has none, of its taps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.builds import HdlBuild
from workbench.api.instrument import lfsr
from workbench.api.instrument.probes import HEADER_WORDS, MAGIC, state_bits
from workbench.api.records import read_dwell, read_end, read_transitions
from workbench.api.tables import table_of
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.read_out import ReadOutPlan
from workbench.model.run import Table


def decode(build: HdlBuild, words: NDArray[np.uint32]) -> dict[str, Table]:
    """Tables `state_time` and `transitions` of a build's blocks from the words of a read-out, plan after plan.

    A block without a counter is in state 0 for all cycles of its clock; one whose clock has no monitor, for 0 cycles.
    A state's visits are the transitions into it, and the starts in it. WorkbenchError where the words cannot come from
    these monitors, or a counter may have overflown.
    """
    times: list[tuple[int, ...]] = []
    moves: list[tuple[int, ...]] = []
    position = 0
    numbers = range(len(build.blocks))
    unread = set(numbers)
    for plan in build.read_outs:
        of_clock = numbers if plan.blocks is None else plan.blocks
        unread -= set(of_clock)
        own = np.asarray(words[position : position + plan.words], dtype=np.uint64)
        _count(plan, of_clock, own, times, moves)
        position += plan.words
    times += [(block, 0, 0, 0, 1) for block in unread]
    return {"state_time": table_of("state_time", sorted(times)), "transitions": table_of("transitions", sorted(moves))}


def of_taps(build: HdlBuild, raw: Path, clocks: Sequence[str]) -> dict[str, Table]:
    """The tables that `decode` makes of a build's counters, of what the simulated card counted itself in the folder
    `raw`; none where it did not. `clocks` names the platform's, in its order."""
    told = read_end(raw / "card_end.txt").get("of_cards", "")
    if not build.uncounted or not told:
        return {}
    cycles = np.array(told.split(), dtype=np.int64).reshape(build.cards, len(clocks))
    dwell, moves = read_dwell(raw), read_transitions(raw)
    one = len(build.blocks) // build.cards
    counted = {n for plan in build.read_outs for n in (range(one) if plan.blocks is None else plan.blocks)}
    times: list[tuple[int, ...]] = []
    for number, block in enumerate(build.blocks):
        card, place = divmod(number, one)
        if not build.taps[place][1]:
            of_clock = int(cycles[card, clocks.index(block.clock)]) if place in counted else 0
            times.append((number, 0, 0, of_clock, min(of_clock, 1) if place in counted else 1))
            continue
        mine, states = dwell[dwell["block"] == number], len(block.states)
        spent, visits = np.zeros(states, np.int64), np.zeros(states, np.int64)
        np.add.at(spent, mine["state"], mine["cycles"])
        np.add.at(visits, mine["state"], mine["count"])
        times += [(number, s, 0, int(spent[s]), int(visits[s])) for s in range(states)]
    columns = ("block", "from_state", "to_state", "count")
    rows = sorted(moves[list(columns)].tolist())
    return {"state_time": table_of("state_time", times), "transitions": table_of("transitions", rows)}


def _count(
    plan: ReadOutPlan,
    blocks: Sequence[int],
    words: NDArray[np.uint64],
    times: list[tuple[int, ...]],
    moves: list[tuple[int, ...]],
) -> None:
    """Add the rows of the blocks of one clock."""
    header, count_bits = plan.header, plan.count_bits
    own = words[header : header + HEADER_WORDS]
    if len(own) < HEADER_WORDS or own[0] != MAGIC or own[3] != len(plan.counters):
        raise WorkbenchError(_wrong("the words read out do not come from this design's monitor"))
    cycles = int(own[1]) | int(own[2]) << 32
    if cycles > (1 << count_bits) - 2:
        raise WorkbenchError(_wrong(f"{cycles} cycles were counted, more than a counter of {count_bits} bits can hold"))
    registers = words[0:header:2] | words[1:header:2] << np.uint64(32)
    try:
        counts = lfsr.counts(registers, count_bits)
    except ValueError:
        raise WorkbenchError(_wrong("a counter holds a value that no count leads to")) from None

    observed = {counter.block: (counter.states, counts[counter.base // 2 :]) for counter in plan.counters}
    for block in blocks:
        if block not in observed:
            times.append((block, 0, 0, cycles, min(cycles, 1)))
            continue
        states, entries = observed[block]
        width = 1 << state_bits(states)
        starts = entries[width * width : width * width + width]
        matrix = entries[: width * width].reshape(width, width)
        if matrix.sum() + starts.sum() != cycles:
            raise WorkbenchError(_wrong(f"the counts of block {block} do not add up to the {cycles} cycles counted"))
        stays = matrix.diagonal()
        visits = matrix.sum(axis=0) - stays + starts
        in_state = visits + stays
        times += [(block, s, 0, int(in_state[s]), int(visits[s])) for s in range(states)]
        moves += [(block, int(a), int(b), int(matrix[a, b])) for a, b in np.argwhere(matrix) if a != b]


def _wrong(what: str) -> Diagnostic:
    return Diagnostic(what, "Build and run again; if the design was not reset at the start, reset it.")
