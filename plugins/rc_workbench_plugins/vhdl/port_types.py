"""The types of a top's ports and generics, for a testbench that is written around it."""

from pathlib import Path

from rc_workbench_plugins.vhdl.joined import read_joined
from rc_workbench_plugins.vhdl.rewrite import written
from rc_workbench_plugins.vhdl.syntax import plain
from workbench.api import HardwareSources, Job
from workbench.api.testbench import PortTypes


def port_types(root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> PortTypes | None:
    """The types of the ports of a VHDL top without Verilog below it; None for another."""
    joined = read_joined(root, hardware, (), parameters, Job())
    top = joined.entities.top
    if top is None or joined.mixed:
        return None
    values = {plain(name): value for name, value in hardware.values(parameters).items()}
    generics = tuple(
        (one.name, one.type, written(one.type, values[plain(one.name)]) if plain(one.name) in values else one.default)
        for one in top.generics
    )
    context = top.file.data[top.start : top.node.start_byte].decode("latin-1")
    return PortTypes({port.name: port.type for port in top.ports}, generics, context)
