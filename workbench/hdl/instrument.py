"""Instruments a design of any language: its states are laid out, its language copies it, a new top goes around."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.api import HdlBuild
from workbench.api.instrument import wrapper
from workbench.api.instrument.monitor_text import agents_without
from workbench.api.instrument.wrapper import Top
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.board import hardware_of
from workbench.hdl.copies import write_around, writing
from workbench.hdl.instances import Instance, Key
from workbench.hdl.layout import Layout, lay_out
from workbench.hdl.monitored import Monitored, monitored
from workbench.hdl.own import build_called
from workbench.hdl.reading import Reading
from workbench.hdl.verilog.streams import FoundStreams
from workbench.model.application import HardwareSources
from workbench.model.blocks import Block
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform


@dataclass(frozen=True)
class Copies:
    """The observed copies of a design, written. `shell` is the user's top as the new one holds it, `bits` the widths of
    its ports, `streams` those that are counted. Blocks that are `early` show the state of the same cycle, others that
    of the cycle before. `text` and `timescale` are Verilog that goes behind the new top, and before each file around.
    `depends` adds to blocks what their waits depend on. `build` gives the language's own part of the build, of the
    monitors and the files around the copies."""

    shell: Top
    bits: Mapping[str, int]
    streams: FoundStreams
    build: Callable[[Monitored, tuple[Path, ...]], HdlBuild]
    depends: Callable[[tuple[Block, ...]], tuple[Block, ...]]
    early: Collection[Key] = ()
    text: str = ""
    timescale: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def instrument(
    reading: Reading,
    hardware: HardwareSources,
    platform: Platform,
    out: Path,
    editable: Callable[[str], bool],
    copy: Callable[[Instance, Layout, Hardware], Copies],
    states: bool = True,
) -> HdlBuild:
    """The design below `out` with its monitors; without `states` none of its blocks is observed. Modules by their names
    are `editable` or get no states. Raises WorkbenchError where that cannot be done."""
    top = reading.top
    if top is None or has_errors(reading.diagnostics):
        raise WorkbenchError(*reading.diagnostics)
    board = hardware_of(platform)

    def observed(block: SourceBlock) -> bool:
        return states and bool(block.named) and block.key not in reading.why_not

    layout = lay_out(top, observed, editable)
    copies = copy(top, layout, board)
    wrapper.check_port(copies.shell, board)
    streams = copies.streams
    if has_errors(streams.diagnostics):
        raise WorkbenchError(*streams.diagnostics)
    watched = monitored(top, layout, board, hardware, copies.bits, reading.library, reading.single, copies.early)
    with writing(out):
        generated = watched.around(copies.shell, streams.streams, streams.pll_nets) + copies.text
        agents = agents_without([monitor.plan for monitor in watched.monitors])
        around = tuple(write_around(generated, out, copies.timescale, agents))
    own = copies.build(watched, around)
    build = replace(
        own,
        blocks=copies.depends(watched.blocks(reading.name_of)),
        streams=streams.streams,
        fifos=streams.fifos,
        read_out=watched.read_out,
        simulation=replace(
            own.simulation,
            taps=watched.taps,
            tap_bits=watched.width,
            defines=(wrapper.TAPS_DEFINE,) if watched.width else (),
            uncounted=wrapper.uncounted(watched.monitors),
            own_port=watched.own_port,
            idle=streams.idle,
        ),
        missed=tuple(watched.missed(reading.name_of, reading.why_not, reading.single)),
        diagnostics=(
            *reading.diagnostics,
            *copies.diagnostics,
            *streams.diagnostics,
            *watched.large(reading.name_of),
            *own.diagnostics,
        ),
    )
    return build_called(build, top.path, hardware.names)
