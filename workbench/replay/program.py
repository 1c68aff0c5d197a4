"""An application for replay: the host's operations, the FPGA's stretches, and the causes of waits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import rank_of
from workbench.model.platform import TransferTable
from workbench.model.run import Run
from workbench.model.run_tables import RowArray
from workbench.model.transfer_time import transfer_ps
from workbench.replay.answers import AwaitedEvents
from workbench.replay.cones import States
from workbench.replay.fpga import FpgaPart
from workbench.replay.host import ASK, ASYNC, MOVE, HostPart

Numbers = NDArray[np.int64]


@dataclass
class Program:
    """The program that changes edit.

    `ops` are its operations in order. For each operation of the run, `at` is the operation that does its work now (-1:
    none), `byte` the position of its bytes there, `span` their number, and `parts` the number of consecutive parts;
    conversely `base` is the operation of the run that an operation represents. `loop_ps` is the part of an operation's
    own time that belongs to removed calls, `unsure_ps` the time by which it may be longer, `delay_ps` the delay before
    it asks, `sooner_ps` the part of its own time that a wait for a faster FPGA on a real machine does without. Of
    asynchronous operations `buffers` may be under way (0: any number). `stays` are the lengths of the FPGA's stays.
    `results` are operations of the run that also wait for the end of a stretch, whose results they move. States in
    `taken` are taken for waits without a pragma.
    """

    run: Run
    host: HostPart
    fpga: FpgaPart
    ops: RowArray
    at: Numbers
    byte: Numbers
    span: Numbers
    parts: Numbers
    base: Numbers
    loop_ps: Numbers
    unsure_ps: Numbers
    delay_ps: Numbers
    sooner_ps: Numbers
    buffers: Numbers
    stays: Numbers
    edges: RowArray
    lag_after: Numbers
    answers: dict[int, AwaitedEvents]  # for each operation of the run
    periods_ps: list[Fraction]
    tables: list[tuple[str, TransferTable]]
    buses: tuple[str, ...]
    rest_ps: dict[int, int]
    results: list[tuple[int, int]]
    taken: States = frozenset()

    def copy(self) -> Program:
        """A copy for edits."""
        copy = replace(self)
        for name, value in vars(copy).items():
            if isinstance(value, np.ndarray | dict | list):
                setattr(copy, name, value.copy())
        return copy


def begin_program(
    run: Run,
    host: HostPart,
    fpga: FpgaPart,
    edges: RowArray,
    lag_after: Numbers,
    answers: dict[int, AwaitedEvents],
    periods_ps: list[Fraction],
) -> Program:
    count = len(host.ops)
    zeros = np.zeros(count, np.int64)
    return Program(
        run, host, fpga, host.ops, np.arange(count), zeros, host.ops["bytes"], zeros + 1, np.arange(count), zeros,
        zeros, zeros, zeros, zeros, fpga.stay_end - fpga.stay_begin, edges, lag_after, answers, periods_ps,
        list(host.tables), run.manifest.resources, dict(host.rest_ps), [],
    )  # fmt: skip


def set_bus(program: Program, mine: NDArray[np.bool_] | Numbers, resource: str) -> None:
    """Move these operations to the bus of that name; each rank has its own."""
    rows = np.arange(len(program.ops))[mine]
    for thread in np.unique(program.ops["thread"][rows]).tolist():
        rank = rank_of(program.run.manifest.blocks[thread].id)
        name = f"{rank}.{resource}" if rank else resource
        if name not in program.buses:
            program.buses = (*program.buses, name)
        program.ops["bus"][rows[program.ops["thread"][rows] == thread]] = program.buses.index(name)


def work_ps(program: Program) -> Numbers:
    """The times of operations by their tables and current bytes."""
    ops = program.ops
    lasts: Numbers = ops["work_ps"].copy()
    moved = np.isin(ops["kind"], (MOVE, ASYNC, ASK)) & (ops["table"] >= 0)
    if moved.any():
        sizes, size_index = np.unique(np.stack([ops["table"], ops["bytes"]])[:, moved], axis=1, return_inverse=True)
        times_ps = [transfer_ps(program.tables[t][1], max(int(n), 1)) for t, n in sizes.T]
        lasts[moved] = np.array(times_ps, np.int64)[size_index.reshape(-1)] + ops["beyond_ps"][moved]
    return lasts
