"""Computes the times of a program's events, and the possible times of the run given what it leaves uncertain."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workbench.replay.edits import Edited, RefusedError
from workbench.replay.joined import joined
from workbench.replay.lowering import Jitter, Lowered, lower
from workbench.replay.program import Program
from workbench.replay.several_threads import HostThreads, Settled

#: Offsets of the first poll of each row from its computed time, in picoseconds.
_FIRST_PS = (-10_000, -6_000, -2_000, 0, 2_000, 6_000, 10_000)
#: The assumed values of what the run does not show.
_PLAIN = Jitter(loop=1.0, late=0.5)


def settle(
    program: Program, lowered: Lowered, edited: Edited, threads: HostThreads | None
) -> tuple[NDArray[np.int32], Settled | None]:
    """Compute all times; returns the order of the nodes, and the settled threads."""
    lowered.vary(_PLAIN)
    settled = threads.settle(program, lowered, edited.own, _PLAIN.loop) if threads else None
    edited.in_order &= settled is None or settled.in_order
    order = lowered.graph.sweep_in_time()
    if order is None:
        raise RefusedError("the changed program waits for an event that comes only after the wait")
    return order, settled


def with_thread_waits(
    program: Program, edited: Edited, threads: HostThreads | None
) -> tuple[Lowered, NDArray[np.int32]]:
    """The graph, with the threads' own waits if these explain its times, and the order of its nodes."""
    lowered = lower(program)
    order, settled = settle(program, lowered, edited, threads)
    return (joined(program, lowered, settled) if settled else None) or (lowered, order)


def all_times_ps(program: Program, lowered: Lowered, edited: Edited, threads: HostThreads | None) -> list[int]:
    """The run's time (ps), and other possible times. The graph is left at the first one."""
    order, _ = settle(program, lowered, edited, threads)
    jitters = list(_jitters(lowered, edited, threads))
    if not threads:
        return [max(time_ps, 1) for time_ps in (lowered.total_ps(), *lowered.varied_ps(order, jitters))]

    def settled_ps(jitter: Jitter) -> int:
        lowered.vary(jitter)
        edited.in_order &= threads.settle(program, lowered, edited.own, jitter.loop).in_order
        return max(lowered.total_ps(), 1)

    times = [max(lowered.total_ps(), 1), *map(settled_ps, jitters)]
    settled_ps(_PLAIN)
    return times


def _jitters(lowered: Lowered, edited: Edited, threads: HostThreads | None) -> Iterator[Jitter]:
    """The uncertain values to try; a change of the FPGA alone does not shift host code."""
    gone_ps = threads.rows["gone_ps"] if threads else lowered.loop_ps
    loops = (0.0, 1.0) if gone_ps.any() else (1.0,)
    late = (0.0, 0.5, 1.0) if lowered.opaque.any() else (0.5,)
    slow = (0.0, 1.0) if lowered.unsure_ps.any() else (0.0,)
    for first_ps in _FIRST_PS if edited.host and len(lowered.asks) else (0,):
        for seen in (0, 1) if len(lowered.answered) else (0,):
            for loop in loops:
                yield from (Jitter(first_ps, seen, loop, one, more) for one in late for more in slow)
