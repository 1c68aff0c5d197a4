"""Writes the trace of a run from the card's taps while these are being recorded."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import Records, read_taps
from workbench.model.blocks import Block
from workbench.model.cycles import cycle_starts_ps
from workbench.model.run_tables import Table
from workbench.run.host_tables import host_intervals
from workbench.traces.writer import TraceWriter

CHUNK_TAPS = 1 << 20
_POLL_S = 0.2
_STATES_OF_ANY = 1 << 15


class TapTrace:
    """Follows the taps in `raw` and writes them as a trace below `tables`, in chunks.

    `hardware` are the blocks that the taps number, each with the frequency of its clock, all with one drift. `host` is
    the program's main thread, None if it records its own states. The clocks' first cycle begins at `began_ps`. Raises
    OSError.
    """

    def __init__(
        self,
        raw: Path,
        tables: Path,
        host: Block | None,
        hardware: Sequence[Block],
        clocks_hz: Sequence[float],
        drift_ppm_per_s: float = 0.0,
        began_ps: int = 0,
    ) -> None:
        self._began_ps = began_ps
        self._drift_ppm_per_s = drift_ppm_per_s
        self._raw, self._blocks = raw, len(hardware)
        self._of_clock = {hz: np.array([other == hz for other in clocks_hz]) for hz in clocks_hz}
        of_host = len(host.states) if host else _STATES_OF_ANY
        most = max([of_host + 2, *(len(block.states) for block in hardware)])  # threads may wait and queue
        self._writer = TraceWriter(tables, most)
        self._done = 0
        self._begun = np.zeros(self._blocks, bool)
        self._failed: OSError | None = None

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow the taps in a thread of its own during the context."""
        over = threading.Event()
        thread = threading.Thread(target=self._follow, args=(over,), name="trace", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _follow(self, over: threading.Event) -> None:
        try:
            while not over.wait(_POLL_S):
                self.catch_up()
        except OSError as error:
            self._failed = error  # reported by `finish`; the run continues

    def catch_up(self) -> None:
        """Write all complete chunks that exist now."""
        taps = read_taps(self._raw)
        while len(taps) - self._done >= CHUNK_TAPS:
            chunk = taps[self._done : self._done + CHUNK_TAPS]
            self._writer.append(*self._stretches(chunk))
            self._done += CHUNK_TAPS

    def finish(self, stretches: Table, threads: int, time_ps: int, known: bool = False) -> dict[str, Table]:
        """Write the remaining taps and the host's threads (see `host_intervals`); returns the trace's tables."""
        if self._failed:
            raise self._failed
        self.catch_up()
        starts, states, counts = self._stretches(read_taps(self._raw)[self._done :])
        silent = np.flatnonzero(~self._begun)  # a block without a tap stays in its first state
        at = np.cumsum(counts)[silent]
        starts, states = np.insert(starts, at, 0), np.insert(states, at, 0)
        counts[silent] += 1
        hosts = [host_intervals(stretches, number, time_ps, known) for number in range(threads)]
        self._writer.append(
            np.concatenate([*(start for start, _ in hosts), starts]),
            np.concatenate([*(state for _, state in hosts), states]),
            np.concatenate(([len(start) for start, _ in hosts], counts)).astype(np.int64),
        )
        return self._writer.close(threads + self._blocks)

    def _stretches(self, taps: Records) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The starts (ps) and states of taps, block by block, and the number of each block's taps."""
        order = np.argsort(taps["block"].astype(np.int16 if self._blocks < 1 << 15 else np.int32), kind="stable")
        block = taps["block"][order]
        counts = np.bincount(block, minlength=self._blocks)
        cycles = np.maximum(taps["cycle"][order], 0)
        starts = np.zeros(len(cycles), np.int64)
        for clock_hz, on_clock in self._of_clock.items():
            rows = slice(None) if len(self._of_clock) == 1 else np.flatnonzero(on_clock[block])
            starts[rows] = cycle_starts_ps(cycles[rows], clock_hz, self._drift_ppm_per_s) + self._began_ps
        states = taps["state"][order]
        started = np.flatnonzero((counts > 0) & ~self._begun)
        self._begun[started] = True
        heads = (np.cumsum(counts) - counts)[started]
        late = starts[heads] > 0  # unclassified until its first tap
        counts[started[late]] += 1
        return np.insert(starts, heads[late], 0), np.insert(states, heads[late], 0), counts
