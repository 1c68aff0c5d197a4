"""What a kernel takes of an FPGA, by how often its setting replicates its operations: an estimate until it is built."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rc_workbench_plugins.opencl.dependent import LANE
from rc_workbench_plugins.opencl.kernel import Loop, enclosing
from rc_workbench_plugins.opencl.memory_blocks import memory_blocks
from rc_workbench_plugins.opencl.model import Setting, joined, side_by_side
from rc_workbench_plugins.opencl.potentials import Resources
from rc_workbench_plugins.opencl.statistics import BlockWork, Work
from workbench.api import Values, percent_text
from workbench.api.unstable import KernelBoard

MEMORY = "memory blocks"


@dataclass(frozen=True)
class Needed:
    """Shares of a board that a kernel is estimated to take, the board's own included; None where the board's template
    does not say what an operation takes."""

    logic: Values | None
    memory: Values | None
    dsp: Values | None

    @property
    def shares(self) -> Mapping[str, Values]:
        """By what a compiler's report calls them, those that are known."""
        shares = (("logic", self.logic), (MEMORY, self.memory), ("DSP blocks", self.dsp))
        return {name: share for name, share in shares if share is not None}


def largest(shares: Mapping[str, Values]) -> Values | None:
    """The scarcest resource's share, None where none is known."""
    most: Values | None = None
    for share in shares.values():
        most = share if most is None else np.maximum(most, share)
    return most


def scarcest(shares: Mapping[str, Values]) -> str:
    """Its name, "" where none is known."""
    return max(shares, key=lambda name: float(np.mean(shares[name])), default="")


def share_text(share: Values) -> str:
    """A share in percent, those over the whole too."""
    mean = float(np.mean(share))
    return percent_text(mean) if mean <= 1 else f"{mean * 100:.0f}\u202f%"


def too_much(shares: Mapping[str, Values], estimated: bool) -> str:
    """Why a design does not fit the board, "" where it does."""
    name = scarcest(shares)
    if not name or float(np.mean(shares[name])) <= 1:
        return ""
    return f"it takes {'an estimated ' if estimated else ''}{share_text(shares[name])} of the {name}"


def needed(work: Work, setting: Setting, board: KernelBoard) -> Needed:
    """What the board's costs come to for a kernel's operations, accesses and barriers.

    Operations are there as often as loops and work items are replicated. An access of replicas side by side is one that
    is wide. A multiplication of whole numbers is copied only where its result differs; it is built of logic where the
    DSP blocks run out. SIMD that a kernel does not take (`Work.varying`) adds nothing.
    """
    setting = replace(setting, simd=1.0) if work.varying else setting
    cost, units, above = board.logic_cost, setting.compute_units, enclosing(work.root)
    floats: Values = np.float64(0.0)
    integers: Values = np.float64(0.0)
    blocks: Values = np.float64(0.0)
    for block, factor in _replicated_blocks(work, setting):
        loops = above.get(block.id, ())
        floats = floats + block.dsps * factor
        integers = integers + units * _integers(block, loops, setting)
        accesses: Values = np.float64(0.0)
        for stream in block.streams:
            once = joined(work, block.id, stream, loops, setting)
            accesses = accesses + side_by_side(stream, loops, once)[1]
        blocks = blocks + block.logic * factor + units * (cost.access * accesses + cost.barrier * block.barriers)
    dsps = floats + integers * board.int_mul_dsps
    if board.dsps is None:
        logic = _logic(blocks, board)
        return Needed(logic, _memory(work, setting, board, logic), None)
    if cost.int_mul and board.int_mul_dsps:
        missing = np.maximum(dsps - board.dsps * board.dsp_available, 0.0) / board.int_mul_dsps
        moved = np.minimum(np.ceil(missing), integers)
        dsps, blocks = dsps - moved * board.int_mul_dsps, blocks + moved * cost.int_mul
    logic = _logic(blocks, board)
    return Needed(logic, _memory(work, setting, board, logic), dsps / board.dsps + (1 - board.dsp_available))


def _memory(work: Work, setting: Setting, board: KernelBoard, logic: Values | None) -> Values | None:
    if board.memory_blocks is None or not board.memory_cost.kernel:
        return None
    return memory_blocks(work, setting, board, logic) / board.memory_blocks + (1 - board.memory_available)


def memory_range(share: Values, board: KernelBoard) -> tuple[float, float]:
    """Between which shares of the memory blocks 4 of 5 builds are, of kernels like none that was fitted."""
    own, cost = 1 - board.memory_available, board.memory_cost
    kernel = max(float(np.mean(share)) - own, 0.0)
    return own + kernel * cost.least, own + kernel * cost.most


def _logic(blocks: Values, board: KernelBoard) -> Values | None:
    if board.logic_blocks is None or not any(value for _, value in board.logic_cost):
        return None
    return blocks / board.logic_blocks + (1 - board.logic_available)


def _integers(block: BlockWork, loops: tuple[Loop, ...], setting: Setting) -> Values:
    """Multiplications of whole numbers in one compute unit, those of 32 bits as one: half as much for 16, twice as much
    for 64."""
    copies = {LANE: setting.simd, **{loop.id: setting.unroll.get(loop.id, 1.0) for loop in loops}}
    total: Values = np.float64(0.0)
    for one in block.integers:
        number: Values = np.float64(0.5 if one.bits <= 16 else 1.0 if one.bits <= 32 else 2.0)
        for name in one.varies:
            number = number * copies[name]
        total = total + number
    return total


def _replicated_blocks(work: Work, setting: Setting) -> Iterator[tuple[BlockWork, Values]]:
    """Each block, and how often it is there by the setting (Eq. 2's f, times #CU)."""
    above = enclosing(work.root)
    for name, block in work.blocks.items():
        factor: Values = setting.simd * setting.compute_units
        for loop in above.get(name, ()):
            factor = factor * setting.unroll.get(loop.id, 1.0)
        yield block, factor


def replication(work: Work, setting: Setting) -> tuple[Values, Values, Values]:
    """How often a kernel's operations, accesses and multipliers are there, by its setting."""
    totals: list[Values] = [0.0, 0.0, 0.0]
    for block, factor in _replicated_blocks(work, setting):
        for n, count in enumerate((block.operations, len(block.streams), block.multipliers)):
            totals[n] = totals[n] + count * factor
    return totals[0], totals[1], totals[2]


def grown(used: Resources, work: Work, before: Setting, after: Setting, board: KernelBoard) -> Resources:
    """What a design takes by another setting, the kernel's part growing as its operations do."""
    now, then = replication(work, before), replication(work, after)
    logic, memory, dsp = (
        np.asarray(b, float) / np.where(np.asarray(a) > 0, a, 1.0) if np.any(np.asarray(a) > 0) else np.float64(1.0)
        for a, b in zip(now, then, strict=True)
    )
    return used.scaled(board, logic, memory, dsp)


def middle_clock_hz(board: KernelBoard, logic: Values | None) -> Values:
    """The geometric middle of the clocks that `usual_clocks` gives, for each of many shares; 1 where it gives none."""
    ranges = [(row.logic, row.least_clock_hz, row.most_clock_hz) for row in board.clocks]
    whole = usual_clocks(board, None)
    middle: Values = np.float64(np.sqrt(whole[0] * whole[1]) if whole else 1.0)
    if logic is not None:
        for share, least, most in sorted(ranges, reverse=True):
            middle = np.where(logic <= share, np.sqrt(least * most), middle)
    return middle


def usual_clocks(board: KernelBoard, logic: float | None) -> tuple[float, float] | None:
    """The slowest and the fastest usual clock of kernels that take this share of the logic (of all, where it is not
    known); None where the template gives none."""
    for row in sorted(board.clocks, key=lambda row: row.logic):
        if logic is not None and logic <= row.logic:
            return row.least_clock_hz, row.most_clock_hz
    if board.least_clock_hz is None or board.most_clock_hz is None:
        return None
    return board.least_clock_hz, board.most_clock_hz
