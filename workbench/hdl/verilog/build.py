"""Writes the instrumented design: observed copies of the sources, the monitor, and the top level around both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from workbench.api import HdlBuild, HdlChecks, HdlFiles, HdlSimulation
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument import wrapper
from workbench.hdl.board import clocks_by_pin
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance
from workbench.hdl.instrument import Copies
from workbench.hdl.layout import Layout
from workbench.hdl.monitored import Monitored
from workbench.hdl.reading import comparison
from workbench.hdl.verilog.addresses import addresses_answered
from workbench.hdl.verilog.cones import with_depends
from workbench.hdl.verilog.copies import copy_of, edit_modules, explained, include_dirs_of, name_top, write_copies
from workbench.hdl.verilog.depths import below_stores, vary_depths
from workbench.hdl.verilog.design import Design, read_design
from workbench.hdl.verilog.labels import Label, labelled
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.source_file import as_synthesised
from workbench.hdl.verilog.streams import FoundStreams
from workbench.hdl.verilog.tapped import held_in_reset, tapped
from workbench.hdl.verilog.top import read_top
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.hardware import Hardware
from workbench.model.streams import Stream

_INNER = "__recap_user"


@dataclass(frozen=True)
class Written:
    """Where a design in Verilog is written to, and with what values of its parameters; `vary`: its FIFOs' depths can be
    chosen."""

    design: Design
    hardware: HardwareSources
    parameters: Mapping[str, str]
    out: Path
    vary: bool = False

    def copies(
        self, top: Instance, layout: Layout, board: Hardware, streams: FoundStreams, single: Mapping[str, str]
    ) -> Copies:
        """The copies with the states of a layout. Blocks in `single` are not observed, by their paths."""
        design = self.design
        shell, clocks = read_top(design.top, top.module + _INNER), clocks_by_pin(board)
        expressions, held = tapped(design.nets, top, layout, clocks, single), held_in_reset(design.nets, top, clocks)
        edits = edit_modules(design, top, layout, expressions, held)
        name_top(design, edits, shell, self.hardware.values(self.parameters))
        labels = streams.labels if streams.streams else {}
        for label in set(labels.values()):
            edits.setdefault(label.path, Edits(label.path)).insert(label.offset, f" : {label.name}")
        stores, varied, not_varied = vary_depths(design, top, streams, edits) if self.vary else ("", {}, ())
        seen = below_stores(with_labels(streams, top.path), varied.values())
        copies, timescale = write_copies(design, edits, self.out)
        ports = hdl_ports(design)

        def build(watched: Monitored, around: tuple[Path, ...]) -> HdlBuild:
            sources = (*copies, *around)
            self._check(sources, edits)
            answered = addresses_answered(design, watched.addresses(board), self.hardware.read_out)
            return HdlBuild(
                sources=sources,
                top=top.module,
                blocks=(),
                ports=ports,
                files=HdlFiles(
                    include_dirs_of(design, self.hardware),
                    stand_ins=(copy_of(design, design.primitives.file, self.out),) if design.primitives else (),
                ),
                simulation=HdlSimulation(varied=varied, made=watched.made),
                checks=HdlChecks(self._compared(top, copies, shell.inner, watched.own_width, labels)),
                diagnostics=(*answered, *not_varied),
            )

        idle = tuple(labelled(one, top.path, streams.labels) for one in streams.idle)
        return Copies(
            shell, {port.name: port.bits for port in ports}, replace(streams, streams=seen, idle=idle), build,
            lambda blocks: with_depends(blocks, design.nets, top, board.clocks), expressions, stores, timescale,
        )  # fmt: skip

    def _compared(
        self, top: Instance, copies: tuple[Path, ...], inner: str, width: int, labels: Mapping[str, Label]
    ) -> Comparison:
        """The design beside its copy, in which the parameters' values are written already."""
        design, hardware = self.design, self.hardware
        include_dirs, defines = include_dirs_of(design, hardware), {k: str(v) for k, v in hardware.defines.items()}
        values = hardware.values(self.parameters)
        original = HdlSide(as_synthesised(design.needed), top.module, include_dirs, defines, values)
        copy = HdlSide(copies, inner, include_dirs, defines)
        renamed = dict.fromkeys((label.name, place.rpartition(".")[2]) for place, label in labels.items())
        compared = comparison(original, copy, top, (wrapper.STATE_PORT,) if width else ())
        return replace(compared, renamed=tuple(renamed))

    def _check(self, sources: tuple[Path, ...], edits: Mapping[Path, Edits]) -> None:
        """Elaborate what was written: what is wrong there is wrong in a pragma's condition, or in the port's."""
        design, out = self.design, self.out
        include_dirs = tuple(str(path) for path in include_dirs_of(design, self.hardware))
        changes = {"sources": tuple(str(s) for s in sources), "include_dirs": include_dirs}
        copied = read_design(out, self.hardware.model_copy(update=changes), self.parameters)
        problems = [one for one in copied.diagnostics if one.severity is Severity.ERROR]
        if not problems:
            return
        originals = {copy_of(design, path, out): path for path in design.sources}
        raise WorkbenchError(*dict.fromkeys(explained(design, one, originals, edits, out) for one in problems))


def with_labels(streams: FoundStreams, top: str) -> list[Stream]:
    """The streams by the names that their signals have in the copies."""
    below = partial(labelled, top=top, labels=streams.labels)
    return [
        replace(one, valid=below(one.valid), ready=below(one.ready), mark=below(one.mark)) for one in streams.streams
    ]
