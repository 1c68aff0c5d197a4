"""The changes of states that monitors recorded in hardware, as those that the simulated card tells of."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.api.instrument.readout import answered
from workbench.api.records import TAPS, Records
from workbench.model.blocks import Block
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.read_out import ReadOutPlan, TraceWords
from workbench.model.text import counted

UNKNOWN = 0  # the state in which a block is while its changes were lost
_CYCLE = np.uint64((1 << 40) - 1)


def changes(
    plan: ReadOutPlan | None, blocks: Sequence[Block], words: NDArray[np.uint32]
) -> tuple[Records, tuple[Diagnostic, ...]]:
    """What a read-out's words hold of traces (dtype TAPS, cycles of each block's clock, in their order; none without
    one), and what was lost. Where changes are not known the block is in no state that a pragma names."""
    taps: list[tuple[int, int, int]] = []
    losses: list[Diagnostic] = []
    for monitor, own in answered(plan, words):
        if monitor.trace is not None:
            taps += _of_monitor(monitor.trace, own, monitor.cycles(words))
            losses += _lost(monitor.trace, own, blocks)
    return np.array(sorted(taps), TAPS), tuple(losses)


def _of_monitor(trace: TraceWords, words: NDArray[np.uint32], cycles: int) -> Iterator[tuple[int, int, int]]:
    stored, dropped = int(words[trace.counts]), int(words[trace.counts + 1])
    pairs = words[trace.base : trace.base + 2 * stored].astype(np.uint64).reshape(-1, 2)
    records = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
    since = (records & _CYCLE).astype(np.int64) - 1
    states = (records >> np.uint64(40) & np.uint64(0x3FF)).astype(int)
    buffers = (records >> np.uint64(50) & np.uint64(0x1FFF)).astype(int)
    after_loss = records >> np.uint64(63) == 1
    known_to = int(since.max(initial=0)) - trace.waits if dropped else cycles
    for number, block in enumerate(trace.blocks):
        mine = np.flatnonzero(buffers == number)
        last = -1
        for cycle, state, gap in zip(since[mine].tolist(), states[mine].tolist(), after_loss[mine], strict=True):
            if gap and cycle > last + 1:
                yield last + 1, block, UNKNOWN
            yield cycle, block, state
            last = cycle
        losing = int(words[trace.counts + 2 + number]) >> 31
        end = last + 1 if losing else max(known_to, last + 1)
        yield min(end, cycles), block, UNKNOWN


def _lost(trace: TraceWords, words: NDArray[np.uint32], blocks: Sequence[Block]) -> Iterator[Diagnostic]:
    for number, block in enumerate(trace.blocks):
        if lost := int(words[trace.counts + 2 + number]) & 0x7FFFFFFF:
            text = (
                f"the trace lacks {counted(lost, 'change')} of the block {blocks[block].id}, which came too fast for it"
            )
            hint = "A larger hardware.trace.burst takes more of them at once. Its counters have them all."
            yield Diagnostic(text, hint, Severity.WARNING)
    if dropped := int(words[trace.counts + 1]):
        text = f"the trace is full after {trace.records:,} changes of states: {dropped:,} that came later are not in it"
        hint = "A larger hardware.trace.records keeps more. The counters have them all."
        yield Diagnostic(text, hint, Severity.WARNING)
