"""What a kernel takes of an FPGA, by how often its setting replicates its operations."""

from collections.abc import Iterator

import numpy as np

from rc_workbench_plugins.opencl.kernel import enclosing
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.potentials import Resources
from rc_workbench_plugins.opencl.statistics import BlockWork, Work
from workbench.api import Values
from workbench.api.unstable import KernelBoard


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


def dsp_share(work: Work, setting: Setting, board: KernelBoard) -> Values | None:
    """The share of the board's DSP blocks that a kernel's multiplications take, by how often they are there; None where
    the board does not say how many it has."""
    if board.dsps is None:
        return None
    taken: Values = np.float64(0.0)
    for block, factor in _replicated_blocks(work, setting):
        taken = taken + block.dsps * factor
    return taken / board.dsps + (1 - board.dsp_available)
