"""A design in VHDL, alone or with Verilog, as its parts were elaborated and joined."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.vhdl.blocks import SourceBlock as VhdlBlock
from rc_workbench_plugins.vhdl.clocks import Clocks
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import Diagnostic, HardwareSources
from workbench.hdl.blocks import SourceBlock as VerilogBlock
from workbench.hdl.instances import Instance
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.heads import Head


@dataclass(frozen=True)
class Part:
    """An entity that Verilog instantiates, with the values that it gives (`generics`, as GHDL is told them): what it is
    elaborated to. `parameters` are all of them in Verilog."""

    number: int
    box: str  # what Verilog calls it
    entity: Unit
    generics: Mapping[str, str]
    parameters: Mapping[str, str]
    design: Design
    tree: Instance | None


@dataclass(frozen=True)
class Joined:
    """`top` is the whole hierarchy's, None where errors leave none. `entities` are all of the VHDL, with a `top` where
    that is the design's own, `designs` those that were elaborated, each by itself; `processes` and `always` are the
    clocked blocks. `halves` are the Verilog's trees by themselves, each with the design that it is of. `parts` are by
    their paths in the whole; `boxes` the files that stand for what is not Verilog. `wrong` is what is wrong with the
    design, `unobserved` with it as one that is observed. Where it is Verilog alone, `verilog` are its sources."""

    root: Path
    entities: Design
    processes: tuple[VhdlBlock, ...]
    designs: tuple[tuple[Design, Instance | None], ...]
    clocks: Clocks | None  # of the first of these, where it is the design's own
    modules: verilog.Design | None
    always: tuple[VerilogBlock, ...]
    halves: tuple[tuple[verilog.Design, Instance], ...]
    top: Instance | None
    parts: Mapping[str, Part]
    heads: Mapping[str, Head]
    asked: Mapping[str, tuple[str, ...]]  # the names that Verilog connects, by what it instantiates
    boxes: frozenset[Path]
    turns: Mapping[str, str]  # where the Verilog's instances stand in the whole, by their paths below `ROOTS`
    wrong: tuple[Diagnostic, ...]
    unobserved: tuple[Diagnostic, ...]
    verilog: HardwareSources | None = None

    @property
    def mixed(self) -> bool:
        """Whether one language reaches the other, be it that an entity in Verilog could not be elaborated."""
        lost = self.entities.top is None and any(tree is None for _, tree in self.designs)
        return bool(self.parts or self.turns or lost)

    def name_of(self, path: Path) -> str:
        return verilog.shown_path(self.root, path)
