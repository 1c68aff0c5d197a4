"""What each kind of optimisation could still gain: the paper's four potentials (section 5; Eqs. 20 to 24), each a share
from 0 (nothing) to 1. `ERRATA.md` here numbers the readings ("R9")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rc_workbench_plugins.opencl.model import REPAIRED, Estimate, Number
from workbench.api import Values
from workbench.api.unstable import KernelBoard

#: The potentials in the paper's order: symbol, what it is, and the optimisations that it asks for (section 5).
KINDS = {
    "b_mem": ("B_mem", "global memory", ("MC", "UL", "SM", "PM", "VT")),
    "b_comp": ("B_comp", "computing", ("CU", "UL", "SIMD")),
    "b_balance": ("B_balance", "balance of the pipeline", ("UL",)),
    "b_itpp": ("B_itpp", "work items in the pipeline", ("#WI",)),
}


@dataclass(frozen=True)
class Resources:
    """What a design takes of the FPGA, the board's own controllers among it: shares of logic, memory and DSP blocks."""

    logic: Values
    memory: Values
    dsp: Values

    def scaled(self, board: KernelBoard, logic: Values, memory: Values, dsp: Values) -> Resources:
        """The kernel's part so many times over, beside the board's own."""
        return Resources(*(
            (1 - available) + np.maximum(used - (1 - available), 0.0) * times
            for used, available, times in (
                (self.logic, board.logic_available, logic),
                (self.memory, board.memory_available, memory),
                (self.dsp, board.dsp_available, dsp),
            )
        ))  # fmt: skip

    @property
    def shares(self) -> Mapping[str, Values]:
        return {"logic": self.logic, "memory blocks": self.memory, "DSP blocks": self.dsp}


def left_over(shares: Mapping[str, Values], board: KernelBoard) -> dict[str, Values]:
    """The part of each resource that is left of what kernels may use (Eq. 20)."""
    available = {"logic": board.logic_available, "memory blocks": board.memory_available,
                 "DSP blocks": board.dsp_available}  # fmt: skip
    return {name: (1 - share) / available[name] for name, share in shares.items()}


@dataclass(frozen=True)
class Potentials:
    """By key of `KINDS`; `b_comp` is left out where nothing says what the design takes."""

    values: Mapping[str, Values]
    numbers: tuple[Number, ...]

    @property
    def highest(self) -> str:
        return max(self.values, key=lambda name: float(np.mean(self.values[name])))


def potentials(estimate: Estimate, board: KernelBoard, used: Resources | None = None) -> Potentials:
    """The potentials of a design. B_comp needs `used`, and is left out without it."""
    repaired = estimate.profile == REPAIRED
    blocks = list(estimate.blocks.values())
    width = board.transaction_bytes
    weights = [block.weight if repaired else 1.0 for block in blocks]
    real = sum((w * b.mem_bytes * b.mem_insts * b.mem_burst for w, b in zip(weights, blocks, strict=True)), 0.0)
    insts = sum((w * b.mem_insts for w, b in zip(weights, blocks, strict=True)), 0.0)
    whole = width * np.asarray(insts, float)
    b_mem = np.where(whole > 0, np.clip(1 - real / np.where(whole > 0, whole, 1.0), 0, 1), 0.0)
    taken = np.stack(
        np.broadcast_arrays(*(np.asarray(b.total_cycles if repaired else b.cycles, float) for b in blocks))
    )
    slowest = taken.max(axis=0)
    second = np.sort(taken, axis=0)[-2] if len(blocks) > 1 else slowest
    b_balance = np.where(slowest > 0, (slowest - second) / np.where(slowest > 0, slowest, 1.0), 0.0)
    b_itpp: Values = np.float64(0.0)
    for block in blocks:
        pick = np.maximum if repaired else np.minimum
        least = pick(block.comp_min, block.mem_min)
        b_itpp = np.maximum(b_itpp, np.clip((block.cycles - least) / block.cycles, 0, 1))
    numbers = [
        Number("B_mem", "", "Eq. 21", b_mem,
               {"sum Mem_bytes x Mem_insts x Mem_burst": real, "#Mem_trans_width x sum Mem_insts": whole},
               "R11" if repaired else ""),
        Number("B_balance", "", "Eq. 22", b_balance, {"C of the slowest": slowest, "C of the next": second},
               "R6" if repaired else ""),
        Number("B_itpp", "", "Eq. 23", b_itpp, {f"C {b.work.id}": b.cycles for b in blocks}, "R9" if repaired else ""),
    ]  # fmt: skip
    values = {"b_mem": b_mem, "b_balance": b_balance, "b_itpp": b_itpp}
    if used is not None:
        left = left_over(used.shares, board)
        logic, memory, dsp = left.values()
        least = np.clip(np.minimum(np.minimum(logic, memory), dsp), 0, 1)
        values["b_comp"] = least
        numbers.append(Number("B_comp", "", "Eq. 20", least, left, "R10"))
    return Potentials({name: values[name] for name in KINDS if name in values}, tuple(numbers))
