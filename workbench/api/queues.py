"""The queues of a streaming application as a run recorded them: plain data, for a replay with other depths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from workbench.model.run import Run


@dataclass(frozen=True)
class EdgeQueue:
    """An edge between two blocks. `source_fpga` and `sink_fpga` name the FPGAs of its ends, empty on the host.

    `depth` is what the application declares, in elements of `bits`; `rooms` what the queues on the host and in an FPGA
    hold with a declared depth. `push_ps` and `pop_ps` are when elements entered and left the edge. `place` is where it
    is written: file and line.
    """

    label: str
    source: str
    sink: str
    source_fpga: str
    sink_fpga: str
    depth: int
    bits: int
    push_ps: NDArray[np.int64]
    pop_ps: NDArray[np.int64]
    rooms: Callable[[int], tuple[int, int]]
    place: tuple[str, int] | None = None

    @property
    def crosses(self) -> bool:
        return self.source_fpga != self.sink_fpga

    @property
    def on_host(self) -> bool:
        """Whether the host has a part of it."""
        return self.crosses or not self.source_fpga


@dataclass(frozen=True)
class RunQueues:
    """All edges. Transfers over a bus carry `bulk` elements, or those that are there after `flush_ps`."""

    edges: tuple[EdgeQueue, ...]
    bulk: int
    flush_ps: int


@dataclass(frozen=True)
class Deeper:
    """The least depth (words) of one FIFO or edge, and the time until the last word in the replay of the unchanged run
    and with that depth (ps)."""

    words: int
    before_ps: int
    after_ps: int

    @property
    def saved_ps(self) -> int:
        return self.before_ps - self.after_ps


@runtime_checkable
class HasQueues(Protocol):
    """A protocol of a plugin's `RunQueries`: runs have queues whose depths can be chosen."""

    def queues(self, run: Run) -> RunQueues | None:
        """The queues of a traced run; None if it has none. Raises WorkbenchError for a damaged run."""
        ...
