"""What happened: a run's manifest and its tables, as `workbench.formats.run_folder` reads and writes them.

Time is integer picoseconds on the one virtual clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from workbench.model.alignment import Alignment
from workbench.model.blocks import COUNT, Block, Side
from workbench.model.diagnostic import Diagnostic
from workbench.model.memory import MemoryPort
from workbench.model.run_tables import Table
from workbench.model.streams import Fifo, Stream

SCHEMA_VERSION = 2
#: Picoseconds in a second.
PS_PER_S = 1_000_000_000_000


class RunStatus(StrEnum):
    """How a run ended, if it did."""

    RUNNING = "running"  # also what a killed run leaves behind
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"


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
    queue: str = field(
        default="",
        metadata={
            "description": "name in the source of the queue that is pushed or popped there, in brackets if it is a "
            "parameter",
            "examples": ["jobs", "(out)"],
        },
    )


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
    ranks: int = field(
        default=1,
        metadata={**COUNT, "description": "processes of the host program, each with so many cores of its own"},
    )


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
class RunIdentity:
    """Which run it is, and how it ended."""

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


@dataclass(frozen=True)
class RunConditions:
    """How the program was built and run."""

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


@dataclass(frozen=True)
class RunOutcome:
    """What was measured of the whole run: its time, clocks, cores and threads."""

    clocks: tuple[RunClock, ...] = field(
        default=(), metadata={"description": "the design's clocks; the first is the one meant where none is named"}
    )
    time_ps: int = field(default=0, metadata={**COUNT, "description": "virtual time from the host's start to its end"})
    cores: Cores = field(default_factory=Cores, metadata={"description": "what the host's threads ran on"})
    threads: tuple[ThreadTime, ...] = field(
        default=(), metadata={"description": "the host's threads, in order of their start, main first"}
    )
    unrecorded_waits: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "the ways in which the host's threads wait for each other that the run does not record",
            "examples": [["by OpenMP tasks"]],
        },
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
class RunNumbers:
    """What the numbers in the run's tables mean: each is an index of one of these."""

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


@dataclass(frozen=True)
class Manifest(RunNumbers, RunOutcome, RunConditions, RunIdentity):
    """What a run was. `time_ps` is from the host's start to its end on the virtual clock."""

    diagnostics: tuple[Diagnostic, ...] = field(
        default=(), metadata={"description": "what was found wrong while building and running"}
    )
    schema_version: int = field(default=SCHEMA_VERSION, metadata={"description": "schema version of this document"})


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
