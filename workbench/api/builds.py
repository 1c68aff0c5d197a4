"""What languages make of a project's sources for a run: instrumented copies, and what numbers their records. All paths
absolute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import listed

if TYPE_CHECKING:  # what only types need: a plugin that is found, and not used, costs next to nothing
    from workbench.api.descriptors import HdlLanguage
    from workbench.api.equivalence import Comparison
    from workbench.api.later import Later
    from workbench.model.application import HostSources
    from workbench.model.blocks import Block
    from workbench.model.hardware import Clock
    from workbench.model.platform import Platform
    from workbench.model.read_out import ReadOutPlan
    from workbench.model.run import Entry, Site
    from workbench.model.scan import HdlPort
    from workbench.model.streams import Fifo, Stream

_TOO_LARGE = "{} itself simulates it. Streams within it are not counted. A board's tools may still build it."
_OTHER = "Write `simulator: auto` below simulation, or leave it out."


@dataclass(frozen=True)
class HostBuild:
    """Instrumented host sources in a build folder.

    `sources` replace the project's, in its order, and are compiled with `flags` too; `defines`, `include_dirs` and
    `extra_sources` are added to the compiler's, `link_flags` to the linker's. `blocks` (one per thread function known,
    `host.main` first), `sites` and `entries` number what the records refer to; `missed` says which calls were left
    alone, and why. `read` are all files that decide on any of it: without them it is made anew each time.
    """

    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    extra_sources: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    sites: tuple[Site, ...] = ()
    entries: tuple[Entry, ...] = ()
    missed: tuple[Diagnostic, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    read: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Beside:
    """A design as a simulator of its own language runs it, in a process beside the card's (`resources/card/beside.h`).

    In `sources`, Verilog, a module stands for the design, which asks that process. It is `clocked` where it tells edges
    of the clocks apart from other inputs, and `direct` where these are the top's own pins, which nothing stands before.
    `command` begins the process in the project's folder; `simulator` is its title. `files` are the copies
    that it reads, by their names, with what those are called to people. What it says of the design are lines that
    wholly match the first of a pair of `messages`, whose second, a text with the groups filled in, is what that means;
    groups tell the `kind` (note, warning, error; else it ends by that), the `file` and `line`, the `time` and its
    `unit`. Those without a text tell where it was, of what was said before. `refused` is why the design cannot be
    simulated without it; nothing where it can. `told` is what else to tell whoever uses it.
    """

    sources: tuple[Path, ...]
    command: tuple[Path | str, ...]
    simulator: str
    files: Mapping[str, str]
    messages: tuple[tuple[str, str], ...]
    refused: tuple[Diagnostic, ...] = ()
    told: tuple[Diagnostic, ...] = ()
    clocked: bool = False
    direct: bool = True


@dataclass(frozen=True)
class HdlFiles:
    """What goes with an HDL build's sources.

    What these include lies in `include_dirs`. `board_sources` are what a board's tools take where that is another
    language than what is simulated. Those of the sources that are `stand_ins` do a vendor's primitives' work in
    simulation: its own tools bring them. `data` names the files that the design reads while it runs, relative to the
    project.
    """

    include_dirs: tuple[Path, ...] = ()
    board_sources: tuple[Path, ...] = ()
    stand_ins: tuple[Path, ...] = ()
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class HdlSimulation:
    """What of an HDL build its simulation alone needs.

    `taps` gives (least bit, width) of each block's state in the output `recap_taps` (width 0: no states, nothing
    tapped); `tap_bits` is that port's width, 0 without any. `defines` must be set to have the taps. With `uncounted`
    set too the design has no counters: what simulates it counts the taps; there is none where these do not tell all.
    `own_port` is the memory-style port that the new top has for its monitors alone where none of the platform's can be
    that (name, clock; else empty): the name begins its signals' own (`NAME_write`, `_read`, `_address`, `_written`,
    `_data`). The FIFOs `varied` (by id, with their places below the top) ask the simulation for their depth
    (`recap_depth.v`); no stream ever depends on the signals `idle`. `made` are the clocks of PLLs that what simulates
    it has to give, by their places below the top.
    """

    taps: tuple[tuple[int, int], ...] = ()
    tap_bits: int = 0
    defines: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    own_port: tuple[str, str] = ("", "")
    varied: Mapping[str, str] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    made: Mapping[str, Clock] = field(default_factory=dict)


@dataclass(frozen=True)
class AgentQuery:
    """What an agent beside the counters of an ordinary design counts: the statements of `text`, which is in `file`, and
    with `fifos` how many words each FIFO holds. There is room for so many words of its answers (a power of two). The
    words of streams whose ids are `valued` are led up to it. Names in the text may begin with the FPGA's, of `own` that
    have this design, and then those of `others` are not asked here. `misfits` are why statements fit no part of the
    design; a note is of those that name another FPGA. A run may have it `switched` by numbers (`AgentSettings`), by
    monitor."""

    text: str
    file: str = ""
    fifos: bool = False
    room: int = 1024
    valued: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    misfits: tuple[Diagnostic, ...] = ()
    switched: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class HdlChecks:
    """What an HDL build is held against.

    `compared` tells whether the user's design is what it was, None where that cannot be looked at. `translated` are
    parts of the design in another language beside the Verilog that is simulated of them (`made`), and
    `check_translated` compares them: it takes the build, the project's folder and the job, raises WorkbenchError where
    they differ, and reports to the job what it cannot compare.
    """

    compared: Comparison | None = None
    translated: tuple[Comparison, ...] = ()
    check_translated: Later | None = None


@dataclass(frozen=True)
class HdlBuild:
    """Instrumented HDL in a build folder, with a new top level of the old name and ports.

    `ports` are the top's as the user wrote it, none where they are not told. `blocks` lists every elaborated block,
    whether observed or (without pragmas) wholly unclassified, in the order of `decode`. `read_out` tells how the
    monitors of all clocks are frozen and read. `streams` are seen where it is simulated, as the new top's outputs
    `recap_valid` and `recap_ready` if `RECAP_STREAMS` is defined; `fifos` stand between them. `beside` is how another
    simulator runs the design, where one can; where only that one can, there are no `sources`. `read` are all files that
    decide on any of it: without them it is made anew each time. Of several FPGAs `fpgas` are the builds, in order, and
    `places` what their names begin with; blocks, streams and FIFOs are then all of theirs, one FPGA's after the
    other's, and `read_out` is that of the first that has one; all else is the first one's. `agent` is what an agent
    beside the counters is asked.
    """

    sources: tuple[Path, ...]
    top: str
    blocks: tuple[Block, ...]
    ports: tuple[HdlPort, ...] = ()
    read_out: ReadOutPlan | None = None
    streams: tuple[Stream, ...] = ()
    fifos: tuple[Fifo, ...] = ()
    missed: tuple[Diagnostic, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    read: tuple[Path, ...] = ()
    files: HdlFiles = field(default_factory=HdlFiles)
    simulation: HdlSimulation = field(default_factory=HdlSimulation)
    checks: HdlChecks = field(default_factory=HdlChecks)
    beside: Beside | None = None
    agent: AgentQuery | None = None
    fpgas: tuple[HdlBuild, ...] = ()
    places: tuple[str, ...] = ("",)

    @property
    def asks_beside(self) -> bool:
        """Whether its sources ask the simulator beside."""
        return self.beside is not None and self.sources == self.beside.sources

    @property
    def each(self) -> tuple[HdlBuild, ...]:
        """The build of each FPGA."""
        return self.fpgas or (self,)


@runtime_checkable
class BecomesC(Protocol):
    """A host language whose sources no compiler takes as they are."""

    def plain(self, root: Path, host: HostSources, platform: Platform, out: Path) -> tuple[Path, ...]:
        """The sources in C or C++, without recording, written below `out`. WorkbenchError where they are wrong."""
        ...


@runtime_checkable
class InOwnSimulator(Protocol):
    """A hardware language with a simulator of its own (`Beside`), whose designs usually run as Verilog."""

    def in_own_simulator(self) -> HdlLanguage:
        """The same language without Verilog: its builds have no `sources`, and what `beside` needs."""
        ...


def too_large(hdl: HdlBuild, why: str) -> HdlBuild:
    """A build without Verilog; `why` is what keeps its Verilog from being read."""
    if hdl.beside is None:
        return hdl
    message = f"this design is too large to be simulated as Verilog: {why}"
    note = Diagnostic(message, _TOO_LARGE.format(hdl.beside.simulator), Severity.WARNING)
    refused = (replace(note, hint="Leave `simulation.simulator` out.", severity=Severity.ERROR),)
    return replace(hdl, beside=replace(hdl.beside, refused=refused), diagnostics=(note, *hdl.diagnostics))


def simulated_by(hdl: HdlBuild, simulator: str) -> HdlBuild:
    """A design's build with the simulator that a project asks for: "verilator", "ghdl", or "auto". WorkbenchError where
    that one cannot simulate it."""
    beside = hdl.beside
    if simulator == "ghdl" and beside is None:
        raise WorkbenchError(Diagnostic("GHDL cannot simulate a design that is not VHDL alone", _OTHER))
    if beside is None or (simulator != "ghdl" and not beside.refused):
        return hdl
    if simulator == "verilator":
        raise WorkbenchError(*beside.refused)
    source = {clock.name: clock.derived_from for clock in hdl.simulation.made.values()}
    blocks = tuple(replace(block, clock=source.get(block.clock or "", block.clock)) for block in hdl.blocks)
    if hdl.simulation.made:
        text = f"in GHDL's own simulator these clocks of PLLs are as fast as their inputs: {listed(list(source))}"
        beside = replace(beside, told=(*beside.told, Diagnostic(text, "", Severity.WARNING)))
    return replace(
        hdl,
        beside=beside,
        blocks=blocks,
        sources=beside.sources,
        streams=(),
        fifos=(),
        simulation=replace(hdl.simulation, made={}, idle=()),
        checks=HdlChecks(),
    )
