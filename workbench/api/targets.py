"""Where a built application runs: what a target is given, what it does, and what it answers with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from workbench.model.diagnostic import Diagnostic, has_errors
from workbench.model.run import Cores, ThreadTime

if TYPE_CHECKING:  # what only types need: a target that is found, and not used, costs next to nothing
    import numpy as np
    from numpy.typing import NDArray

    from workbench.api.builds import HdlBuild, HostBuild
    from workbench.api.descriptors import PlatformSupport
    from workbench.api.host_probe import HostProbe
    from workbench.api.job import Job
    from workbench.api.virtual_time import ClockFrame
    from workbench.model.application import Project
    from workbench.model.platform import Platform


@dataclass(frozen=True)
class TimingRule:
    """What a simulated card makes of some calls, or of a thread's own code, instead of what they would take: by `kind`
    and `numbers` as `resources/card/README.md` has them, "Under other rules". `change` is what it is for, in words."""

    kind: str
    numbers: tuple[int, ...] = ()
    sites: tuple[int, ...] = ()
    change: str = ""


@dataclass(frozen=True)
class Task:
    """An application that a target is to build and run.

    `host` and `hdl` are the instrumented copies; in a plain run `host` is None and `hdl` names the user's own sources.
    `settings` are the project's with this run's laid over, `parameters` those of the top module. What the target builds
    goes below `build`; at the end the records are in `raw` (`resources/card/records.h`, `workbench/api/records.py`).
    `depths` are how many words the FIFOs hold that the build can vary, by id. `rules` are what a simulated card goes by
    besides its platform's tables. `again`: what was built runs again.
    `switches` are what $RCW_AGENT has for the host program: numbers that switch its agents and those of designs.
    `probe` compiles the host's sources in place of the compiler, to measure them.
    `path` is the project's file. Of several FPGAs with designs of their own, `designs` are the tasks of each, with its
    project, platform, parameters and build.
    """

    project: Project
    platform: Platform
    root: Path
    hdl: HdlBuild
    build: Path
    raw: Path
    support: PlatformSupport | None = None
    host: HostBuild | None = None
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    deterministic: bool = False
    trace: bool = False
    depths: Mapping[str, int] = field(default_factory=dict)
    rules: tuple[TimingRule, ...] = ()
    again: bool = False
    probe: HostProbe | None = None
    switches: tuple[int, ...] = ()
    path: Path = Path()
    designs: tuple[Task, ...] = ()

    @property
    def each(self) -> tuple[Task, ...]:
        """The task of each FPGA."""
        return self.designs or tuple(replace(self, hdl=hdl) for hdl in self.hdl.each)


@dataclass(frozen=True)
class Outcome:
    """What one run came to, whatever the target was. Times are picoseconds on the run's clock.

    A target whose time is real tells `exit`, `stdout` and what went wrong; the rest is then read out of its records.

    `exit` is the host program's code, -N where signal N ended it. `stdout` keeps the first 16 MiB; the hash is of all
    its bytes. `host_ps` is the time that the host's own code took. `clock_cycles` counts each clock's cycles out of
    reset, in the platform's order; a target may tell the first one's alone. `counter_words` are None where the design
    has no monitors or they could not be read. `confined` tells whether host and card ran without network and with
    writing limited to the run folder. `tools` names what built it. `measured_hz` are the FPGA's clocks as the host's
    tells them, none where they are the platform's: else the monitors counted from `counted_from_ps` on, which may be
    off by `unsure_ps`, of each clock, and the rest of the run is nobody's state. `frames` put cycles of the first clock
    of each FPGA on the host's: by the FPGA's number and the clock's. `cores` and `threads` are of virtual cores, if
    the host's threads ran on such. `unrecorded_waits` are the ways in which threads waited for each other unseen.
    """

    exit: int | None
    stdout: str = ""
    stdout_sha256: str = ""
    time_ps: int = 0
    host_ps: int = 0
    clock_cycles: tuple[int, ...] = ()
    counter_words: NDArray[np.uint32] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    confined: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    measured_hz: tuple[float, ...] = ()
    counted_from_ps: tuple[int, ...] = ()
    unsure_ps: tuple[int, ...] = ()
    frames: Mapping[tuple[int, int], Sequence[ClockFrame]] = field(default_factory=dict)
    cores: Cores = field(default_factory=Cores)
    threads: tuple[ThreadTime, ...] = ()
    unrecorded_waits: tuple[str, ...] = ()

    @property
    def cycles(self) -> int:
        """The first clock's cycles."""
        return self.clock_cycles[0] if self.clock_cycles else 0

    @property
    def failed(self) -> bool:
        return has_errors(self.diagnostics)


@runtime_checkable
class MakesApis(Protocol):
    """A target that makes a library of a template's entries."""

    def compile_problems(self, platform: Platform, support: PlatformSupport | None) -> Sequence[Diagnostic]:
        """What a compiler says against that library; nothing where it compiles, or cannot be tried."""
        ...


@runtime_checkable
class Target(Protocol):
    """A kind of place to run at. `title` is its title; `simulated` tells that its time is virtual.

    `steps` are the job's steps that `build` and `run` go through, in order.
    """

    name: str
    title: str
    simulated: bool
    steps: Sequence[str]

    def lacks(self, platform: Platform, support: PlatformSupport | None) -> Sequence[Diagnostic]:
        """What a platform would need before its applications can run here; nothing where they can."""
        ...

    def build(self, task: Task, job: Job) -> Any:
        """Make what runs; the answer is handed to `run`. WorkbenchError with the errors at the user's lines."""
        ...

    def run(self, task: Task, built: Any, job: Job) -> Outcome:
        """Start it, watch it to its end, and fetch its records into the task's `raw`.

        What goes wrong in the run (a crash, a limit, an exit code) is in the outcome. Raises Cancelled, with nothing
        left running, and WorkbenchError where it cannot be started.
        """
        ...
