"""What happened: a run's manifest and its tables, as `workbench.formats.run_folder` reads and writes them.

Time is integer picoseconds on the one virtual clock. A table is a dict of equally long numpy columns. Aggregates and
traces are separate tables, and any table may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.model.alignment import Alignment
from workbench.model.blocks import COUNT, Block, Side
from workbench.model.diagnostic import Diagnostic
from workbench.model.memory import MemoryPort
from workbench.model.streams import Fifo, Stream
from workbench.model.syncs import SyncKind, SyncResult, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA_VERSION = 2
#: Picoseconds in a second.
PS_PER_S = 1_000_000_000_000
MOST_AMOUNT = 1 << 52  # that a table may hold, so that sums of thousands are exact: 75 minutes, in picoseconds

#: A table of a run: its columns by name, of equal length.
Table = Mapping[str, "NDArray[Any]"]


class RunStatus(StrEnum):
    """How a run ended, if it did."""

    RUNNING = "running"  # also what a killed run leaves behind
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"


#: Tables and their columns, with the type of each as numpy writes it; an unsigned one may be stored in fewer bytes.
#: Any table may be absent, and a plugin may add some of its own.
TABLES: dict[str, dict[str, str]] = {
    "state_time": {"block": "i4", "state": "i4", "time_ps": "i8", "cycles": "i8", "visits": "i8"},
    "transitions": {"block": "i4", "from_state": "i4", "to_state": "i4", "count": "i8"},
    "dwell": {"block": "i4", "state": "i4", "log2_cycles": "i4", "count": "i8", "cycles": "i8"},
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
        "card": "i4",
        "parts": "i4",
        "call_ps": "i8",
        "end_ps": "i8",
        "value": "u8",
        "value_bytes": "u1",
    },
    "syncs": {
        "block": "i4",
        "kind": "u1",
        "object": "i4",
        "argument": "i8",
        "result": "u1",
        "t0_ps": "i8",
        "t1_ps": "i8",
        "woken_ps": "i8",
        "own_ps": "i8",
        "woken_by": "i4",
    },
    "call_order": {"block": "i4", "site": "i4", "state": "i4", "repeat": "i8", "body": "i4", "host_ps": "i8"},
    "streams": {"stream": "i4", "transfers": "i8", "source_stalls": "i8", "sink_stalls": "i8", "idle": "i8"},
    "stream_transfers": {"stream": "i4", "cycle": "i8", "early": "i4"},
    "stream_waits": {"stream": "i4", "wait": "i4", "cycles": "i8"},
    "occupancy": {"fifo": "i4", "words": "i4", "cycles": "i8"},
    "memory_ports": {
        "memory_port": "i4",
        "reads": "i8",
        "writes": "i8",
        "read_bytes": "i8",
        "written_bytes": "i8",
        "moving": "i8",
        "waiting": "i8",
        "held": "i8",
        "idle": "i8",
        "latency_cycles": "i8",
        "row_hits": "i8",
        "row_opened": "i8",
        "row_conflicts": "i8",
        "bus_ps": "i8",
    },
    "intervals": {"start_ps": "i8", "state": "u4"},
    "interval_offsets": {"offset": "i8"},
    "virtual_time": {
        "card": "i4",
        "clock": "i4",
        "first_cycle": "i8",
        "last_cycle": "i8",
        "rate_ps": "f8",
        "offset_ps": "f8",
        "lower_ps": "f8",
        "upper_ps": "f8",
        "uncertainty_ps": "i8",
        "messages": "i8",
        "crossed_ps": "f8",
    },
}

#: Columns that earlier runs do not have, and what then is in them.
LATER_COLUMNS: dict[str, dict[str, int]] = {
    "call_order": {"block": -1, "host_ps": -1},
    "calls": {"card": -1, "parts": 0, "call_ps": -1, "end_ps": -1, "value": 0, "value_bytes": 0},
}

#: What a row of each table is.
ROWS = {
    "state_time": "a state of a block, host and FPGA alike",
    "transitions": "a pair of states of a block that follow one another",
    "dwell": "how often a state lasted between 2**log2_cycles and 2**(log2_cycles + 1) - 1 cycles",
    "call_stats": "the calls of one site while its block was in one state",
    "calls": "a call, in order",
    "syncs": "on virtual cores (without a trace at most a million rows): a call of a thread that others may depend on, "
    "thread by thread in order",
    "call_order": "the calls' order as loops, thread by thread: a loop, or a call, in pre-order",
    "streams": "a stream, in cycles of its clock",
    "stream_transfers": "traced runs: a transfer of a stream, each stream's in order; those of a FIFO's input are its "
    "pushes, those of its output its pops",
    "stream_waits": "how long a stream stalled while another held it, through logic alone",
    "occupancy": "how long a FIFO held so many words; none of what gave more than it took",
    "memory_ports": "a port by which the design asks the card's memory, in cycles of its clock",
    "intervals": "traced runs, in chunks: in chunk c block b is in state[i] from start_ps[i] until its next interval "
    "begins, for offset[c * blocks + b] <= i < offset[c * blocks + b + 1] of interval_offsets; the last interval of a "
    "block ends at the run's end",
    "interval_offsets": "a block in a chunk, and one row more: where its intervals there begin",
    "virtual_time": "a frame of a clock of the FPGA's, fitted to messages that both clocks stamped: its cycle c begins "
    "at rate_ps * c + offset_ps on the host's clock (Lancaster 2011, section 4.6)",
}

#: What the columns hold, in whichever table. -1 means none.
COLUMNS = {
    "block": "index of the manifest's blocks; -1 in call_order of earlier runs: all threads together",
    "state": "index of the block's states; for host calls, of the host block that the call was in",
    "from_state": "index of the block's states",
    "to_state": "index of the block's states",
    "site": "index of the manifest's sites; -1 in call_order: a loop",
    "entry": "index of the manifest's entries",
    "resource": "index of the manifest's resources: the bus that it went over",
    "message": "index of the manifest's messages",
    "time_ps": "time in all",
    "cycles": "FPGA cycles in all; 0 on the host",
    "stream": "index of the manifest's streams",
    "fifo": "index of the manifest's FIFOs",
    "wait": "index of the stream's waits",
    "words": "words held",
    "transfers": "cycles in which it was offered and taken",
    "source_stalls": "cycles in which it would have been taken, and was not offered",
    "sink_stalls": "cycles in which it was offered, and not taken",
    "idle": "cycles in which it was neither; of a memory port, in which nothing was asked for",
    "cycle": "in which cycle of its clock, from 0",
    "early": "for how many cycles it had been offered before it would be taken; below 0: for how many it would have "
    "been taken before it was offered",
    "memory_port": "index of the manifest's memory_ports",
    "reads": "bursts read",
    "writes": "bursts written",
    "read_bytes": "bytes read",
    "written_bytes": "bytes written",
    "moving": "cycles in which a word passed",
    "waiting": "cycles in which none did, and something that was asked for was not there yet",
    "held": "cycles in which none did, and the design did not take or give one that it had asked for or announced",
    "latency_cycles": "cycles from each burst's request to its last answer",
    "row_hits": "accesses that found their row open",
    "row_opened": "accesses that had to open their row",
    "row_conflicts": "accesses that had to close another row before",
    "bus_ps": "time in which it had a bus of the memory's",
    "visits": "how often the state was entered",
    "count": "how many",
    "log2_cycles": "binary logarithm of the cycles that it lasted, rounded down",
    "bytes": "bytes moved",
    "min_bytes_per_s": "the slowest call's rate",
    "max_bytes_per_s": "the fastest call's rate",
    "runs": "how many times calls of this site followed one another without another call between",
    "min_run": "the least calls in such a row",
    "max_run": "the most calls in such a row",
    "t0_ps": "when the call began",
    "t1_ps": "when it ended",
    "address": "address on the FPGA",
    "host_ps": "time of the host's own code before it; in call_order, before all calls of the row, in all rounds",
    "grant_ps": "when it got the bus",
    "port_first_ps": "when its first word passed the FPGA's port",
    "port_last_ps": "when its last word passed the FPGA's port",
    "parts": "transfers and waits of the card's that it is made of",
    "call_ps": "when the first of its parts was asked for",
    "end_ps": "when the last of its parts was through, which of an asynchronous one may be after the call",
    "value": "what it read: the bytes of its receives, the first one lowest; 0 where there is none",
    "value_bytes": "how many bytes of `value` it read; 0: none, or more than 8",
    "kind": f"what the call does: {numbered(SyncKind)}",
    "object": "number of the mutex, condition, semaphore or the like, in order of first use",
    "argument": "of create, join and cancel the other thread, of a wait for a condition the mutex, of a barrier how "
    "many meet, of take and post the semaphore's value before, of futex wake how many at most, of bind the core, of "
    "pipe how often it waited, of card, card held and interrupt which of the thread's transfers and waits it is; -1: "
    "none",
    "result": f"how it ended: {numbered(SyncResult)}; of card, timed out where its table's time was the end, and done "
    "where the card said so",
    "woken_ps": "when what it waited for came, before waking up and waiting for a core; -1: it did not wait",
    "own_ps": "the thread's own time on a core since its call before",
    "woken_by": "row of the call that woke it",
    "repeat": "how often, for loops and single calls alike",
    "body": "rows that follow and belong to the loop; 0 for a call",
    "start_ps": "when the state was entered",
    "offset": "index of the first row in intervals of the block in the chunk",
    "card": "number of the card, from 0",
    "clock": "index of the manifest's clocks",
    "first_cycle": "the frame's first cycle",
    "last_cycle": "the first cycle after it",
    "rate_ps": "how long a cycle lasts",
    "offset_ps": "when cycle 0 would have started, at that rate",
    "lower_ps": "the least offset that the messages allow at that rate",
    "upper_ps": "the largest",
    "uncertainty_ps": "how far a time in the frame may be off at most",
    "messages": "how many there were",
    "crossed_ps": "by how much the least offset is above the largest; 0 where a clock of one rate is possible",
}


@dataclass(frozen=True)
class Entry:
    """A platform entry as the run saw it; index in `Manifest.entries` is its number in the tables."""

    name: str = field(metadata={"description": "the function that is called"})
    subtype: str = field(metadata={"description": "separates entries of one prototype", "examples": ["nonblocking"]})
    kind: str = field(metadata={"description": "what the call is for"})
    transfer: str = field(metadata={"description": "its transfer table, or empty"})
    suggestion: str = field(default="", metadata={"description": "the platform's advice on it"})


@dataclass(frozen=True)
class Site:
    """A call in the host's source. `label` is the pragma's name there, or the callee's."""

    file: str = field(metadata={"description": "the source, below the project's folder"})
    line: int = field(metadata={**COUNT, "description": "from 1"})
    column: int = field(metadata={**COUNT, "description": "from 1"})
    callee: str = field(metadata={"description": "the function that is called"})
    label: str = field(metadata={"description": "the pragma's name there, or the callee's"})
    block: int = field(metadata={**COUNT, "description": "the host block that it belongs to, as an index"})


@dataclass(frozen=True)
class RunClock:
    """A clock of the design in a run. Cycle k begins at `start_ps + k * 10^12 / frequency_hz` on the host's clock."""

    name: str = field(metadata={"description": "name in blocks"})
    frequency_hz: float = field(metadata={"gt": 0, "allow_inf_nan": False, "description": "its frequency"})
    derived_from: str = field(
        default="", metadata={"description": "the clock that it is made from, or empty", "examples": ["clk"]}
    )
    cycles: int = field(default=0, metadata={**COUNT, "description": "its cycles in the run"})
    alignment: Alignment = field(
        default=Alignment.START,
        metadata={
            "description": "how its times were put on the host's clock: cycle 0 is the run's start (start), or the "
            "cycle in which its counters were frozen is when the host did it (read_out)"
        },
    )
    start_ps: int = field(default=0, metadata={"description": "when its cycle 0 began"})
    uncertainty_ps: int = field(
        default=0, metadata={**COUNT, "description": "how far a time on it may be off on the host's clock"}
    )
    drift_ppm_per_s: float = field(
        default=0.0,
        metadata={
            "allow_inf_nan": False,
            "description": "how much faster it ran with each second, in parts per million of what it ran at first; "
            "0 on a real machine, which has fits (virtual_time)",
        },
    )


@dataclass(frozen=True)
class Cores:
    """The virtual cores that the host's threads ran on, and what using them took, as the project set it."""

    count: int = field(default=0, metadata={**COUNT, "description": "how many; 0 where the target does not count them"})
    slice_ps: int = field(default=0, metadata={**COUNT, "description": "how long one kept a core that others wanted"})
    call_ps: int = field(default=0, metadata={**COUNT, "description": "a call that synchronises threads"})
    wake_ps: int = field(default=0, metadata={**COUNT, "description": "from what wakes a thread to its being ready"})
    switch_ps: int = field(default=0, metadata={**COUNT, "description": "a core's change of threads"})


@dataclass(frozen=True)
class ThreadTime:
    """What a thread of the host did with its time. It has no core while it waits, queues or calls the card."""

    begin_ps: int = field(metadata={**COUNT, "description": "when it was started"})
    end_ps: int = field(metadata={**COUNT, "description": "when it ended, or the run did"})
    work_ps: int = field(metadata={**COUNT, "description": "its own code"})
    waited_ps: int = field(metadata={**COUNT, "description": "for other threads and for times, the card's calls apart"})
    queued_ps: int = field(metadata={**COUNT, "description": "ready, while others had the cores"})
    core_ps: tuple[int, ...] = field(
        default=(), metadata={"description": "how long it had each core", "examples": [[389160000, 0]]}
    )


@dataclass(frozen=True)
class Manifest:
    """What a run was. `time_ps` is from the host's start to its end on the virtual clock."""

    name: str = field(metadata={"description": "the project's title or name"})
    status: RunStatus = field(metadata={"description": "how the run ended; `running` is also what a killed one leaves"})
    created: str = field(metadata={"description": "when it began (ISO 8601, UTC)"})
    project: str = field(default="", metadata={"description": "the project file's path"})
    platform: str = field(default="", metadata={"description": "the platform template's name"})
    sources: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "description": "the SHA-256 of each source as the run began, by its path in the project",
            "examples": [{"host/main.c": "e3b0c44298fc1c14..."}],
        },
    )
    reason: str = field(
        default="",
        metadata={"description": "why it is failed, cancelled or incomplete", "examples": ["the host exited with 1"]},
    )
    simulated: bool = field(default=True, metadata={"description": "ran on the simulated card"})
    instrumented: bool = field(
        default=True, metadata={"description": "with recording and counters; false for `--plain`"}
    )
    traced: bool = field(default=False, metadata={"description": "every change of state was kept"})
    deterministic: bool = field(default=False, metadata={"description": "host time from counted work"})
    confined: bool = field(
        default=False, metadata={"description": "ran without network access; writes to the run folder only"}
    )
    settings: Mapping[str, int | float | str] = field(
        default_factory=dict, metadata={"description": "the settings' values"}
    )
    parameters: Mapping[str, int | float | str] = field(
        default_factory=dict,
        metadata={
            "description": "the project's parameters of the top module that no setting gives, with their values",
            "examples": [{"DEPTH": 16}],
        },
    )
    changes: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "changes that the run tries on the simulated card, as `workbench whatif` takes them",
            "examples": [["unite calls=host/main.c:31 count=16"]],
        },
    )
    tools: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "description": "the tools that built it, with their versions",
            "examples": [{"verilator": "Verilator 5.048"}],
        },
    )
    clocks: tuple[RunClock, ...] = field(
        default=(), metadata={"description": "the design's clocks; the first is the one meant where none is named"}
    )
    time_ps: int = field(default=0, metadata={**COUNT, "description": "virtual time from the host's start to its end"})
    cores: Cores = field(default_factory=Cores, metadata={"description": "what the host's threads ran on"})
    threads: tuple[ThreadTime, ...] = field(
        default=(), metadata={"description": "the host's threads, in order of their start, main first"}
    )
    exit: int | None = field(default=None, metadata={"description": "the host's exit code"})
    stdout_sha256: str = field(
        default="",
        metadata={"description": "of what the host printed, to compare runs", "examples": ["e3b0c44298fc1c14..."]},
    )
    overhead: Mapping[str, float] = field(
        default_factory=dict,
        metadata={
            "description": "instrumentation overhead, in percent of virtual time: `taken_off_pct` was subtracted; "
            "`virtual_pct` may be left in it, `host_pct` in the host's, `own_pct` in the host's own code, plus or "
            "minus `unsure_pct`"
        },
    )
    blocks: tuple[Block, ...] = field(default=(), metadata={"description": "the blocks; tables refer to them by index"})
    entries: tuple[Entry, ...] = field(
        default=(), metadata={"description": "the platform's calls; tables refer to them by index"}
    )
    sites: tuple[Site, ...] = field(
        default=(), metadata={"description": "the calls in the host's sources; tables refer to them by index"}
    )
    resources: tuple[str, ...] = field(default=(), metadata={"description": "the buses; tables refer to them by index"})
    messages: tuple[str, ...] = field(
        default=(), metadata={"description": "the messages; tables refer to them by index"}
    )
    streams: tuple[Stream, ...] = field(
        default=(), metadata={"description": "the design's streams that were counted; tables refer to them by index"}
    )
    fifos: tuple[Fifo, ...] = field(
        default=(), metadata={"description": "FIFOs between them; tables refer to them by index"}
    )
    memory_ports: tuple[MemoryPort, ...] = field(
        default=(),
        metadata={
            "description": "the ports by which the design asks memory on the card; tables refer to them by index"
        },
    )
    diagnostics: tuple[Diagnostic, ...] = field(
        default=(), metadata={"description": "what was found wrong while building and running"}
    )
    schema_version: int = field(default=SCHEMA_VERSION, metadata={"description": "schema version of this document"})

    @property
    def clock_hz(self) -> float:
        """The first clock's frequency; 0 where the run has none."""
        return self.clocks[0].frequency_hz if self.clocks else 0.0

    @property
    def cycles(self) -> int:
        """The first clock's cycles."""
        return self.clocks[0].cycles if self.clocks else 0

    @property
    def drift_ppm_per_s(self) -> float:
        """That of all clocks, which one oscillator makes."""
        return self.clocks[0].drift_ppm_per_s if self.clocks else 0.0

    def clock_of(self, block: Block) -> RunClock | None:
        """The clock that a block runs on; None for the host's."""
        return next((clock for clock in self.clocks if clock.name == block.clock), None)


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
    def kind_of_time(self) -> str:
        """What its time is, in a word."""
        return "virtual" if self.manifest.simulated else "measured"

    @property
    def complete(self) -> bool:
        return self.manifest.status is RunStatus.COMPLETE

    def host_blocks(self) -> tuple[Block, ...]:
        return tuple(b for b in self.manifest.blocks if b.side is Side.HOST)
