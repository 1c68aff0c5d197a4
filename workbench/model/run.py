"""What happened: a run's manifest and its tables, as `workbench.formats.run_folder` reads and writes them.

Time is integer picoseconds on the one virtual clock. A table is a dict of equally long numpy columns. Aggregates and
traces are separate tables, and any table may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from workbench.model.blocks import Block, Side
from workbench.model.diagnostic import Diagnostic

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA_VERSION = 1
PS_PER_S = 1_000_000_000_000

Table = Mapping[str, "NDArray[Any]"]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]


class RunStatus(StrEnum):
    RUNNING = "running"  # also what a killed run leaves behind
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"


#: Tables and their columns. `block`, `state` and `site` index the manifest's lists; `state` is a state's index in
#: its block; for host calls it is the state of the host block that the call was in.
TABLES: dict[str, dict[str, str]] = {
    # aggregates, one row per (block, state): host and FPGA alike; cycles is 0 on the host
    "state_time": {"block": "i4", "state": "i4", "time_ps": "i8", "cycles": "i8", "visits": "i8"},
    "transitions": {"block": "i4", "from_state": "i4", "to_state": "i4", "count": "i8"},
    # how often a state lasted between 2**log2_cycles and 2**(log2_cycles+1)-1 cycles, and those cycles' sum
    "dwell": {"block": "i4", "state": "i4", "log2_cycles": "i4", "count": "i8", "cycles": "i8"},
    # aggregates per call site and state; rates in bytes/s, runs = lengths of consecutive calls of one site
    "call_stats": {
        "site": "i4",
        "block": "i4",
        "state": "i4",
        "entry": "i4",
        "count": "i8",
        "bytes": "i8",
        "time_ps": "i8",
        "min_bytes_per_s": "f8",
        "max_bytes_per_s": "f8",
        "runs": "i8",
        "min_run": "i8",
        "max_run": "i8",
    },
    # every call in order. host_ps: CPU time of the host's own code before it; port_*_ps: when its first and last word
    # passed the FPGA's port (-1: none); grant_ps: when it got the bus; resource indexes manifest.resources (-1: none)
    "calls": {
        "site": "i4",
        "block": "i4",
        "state": "i4",
        "entry": "i4",
        "t0_ps": "i8",
        "t1_ps": "i8",
        "bytes": "i8",
        "address": "i8",
        "host_ps": "i8",
        "grant_ps": "i8",
        "port_first_ps": "i8",
        "port_last_ps": "i8",
        "resource": "i4",
        "message": "i4",
    },
    # the calls' order as a loop skeleton: rows in pre-order; `site` is -1 for a loop, `body` = rows that follow
    # belonging to the loop (0 for a call), `repeat` = how often (loops and single calls alike)
    "call_order": {"site": "i4", "state": "i4", "repeat": "i8", "body": "i4"},
    # traced runs: block `b` is in state[i] from start_ps[i] to start_ps[i+1], for offset[b] <= i < offset[b+1] in
    # table interval_offsets (len(blocks)+1 rows); the last interval of a block ends at the run's end
    "intervals": {"start_ps": "i8", "state": "u1"},
    "interval_offsets": {"offset": "i8"},
}


@dataclass(frozen=True)
class Entry:
    """A platform entry as the run saw it; index in `Manifest.entries` is its number in the tables."""

    name: str  # the callee
    subtype: str
    kind: str
    transfer: str  # its transfer table, or ""
    suggestion: str = ""


@dataclass(frozen=True)
class Site:
    """A call in the host's source. `label` is the pragma's name there, or the callee's."""

    file: str
    line: Count
    column: Count
    callee: str
    label: str
    block: Count


@dataclass(frozen=True)
class Manifest:
    """What a run was. `time_ps` is from the host's start to its end on the virtual clock."""

    name: str
    status: RunStatus
    created: str
    project: str = ""
    platform: str = ""
    reason: str = ""  # why it is failed, cancelled or incomplete
    simulated: bool = True
    instrumented: bool = True
    traced: bool = False
    deterministic: bool = False
    confined: bool = False  # ran without network, writing to the run folder only
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    clock_hz: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    time_ps: Count = 0
    cycles: Count = 0
    exit: int | None = None
    stdout_sha256: str = ""
    overhead: Mapping[str, float] = field(default_factory=dict)  # of recording, in percent (workbench/run/overhead.py)
    blocks: tuple[Block, ...] = ()
    entries: tuple[Entry, ...] = ()
    sites: tuple[Site, ...] = ()
    resources: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True)
class Run:
    """An opened run folder."""

    path: Path | None
    manifest: Manifest
    tables: Mapping[str, Table]

    @property
    def time_s(self) -> float:
        return self.manifest.time_ps / PS_PER_S

    @property
    def complete(self) -> bool:
        return self.manifest.status is RunStatus.COMPLETE

    def host_blocks(self) -> tuple[Block, ...]:
        return tuple(b for b in self.manifest.blocks if b.side is Side.HOST)
