"""What ends a wait in a design of both languages: its processes' decisions, by the signals of what is simulated."""

from collections.abc import Iterable
from typing import Any

from rc_workbench_plugins.vhdl import cones
from rc_workbench_plugins.vhdl.mixed.joined import Joined
from rc_workbench_plugins.vhdl.mixed.streams import instances_called
from workbench.api import Block, Clock
from workbench.hdl.instances import Instance
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.decisions import Decisions, decisions_of
from workbench.hdl.verilog.expressions import Kind


def with_depends(
    blocks: tuple[Block, ...], made: verilog.Design, joined: Joined, top: Instance, clocks: Iterable[Clock]
) -> tuple[Block, ...]:
    """The blocks, whose waits say what they depend on in the simulated design `made`."""

    def called(top: Instance, path: str) -> Iterable[tuple[str, Instance]]:
        """Each instance once, by the last of its paths."""
        return {one.path: (name, one) for name, one in instances_called(joined, top, path)}.values()

    return cones.with_depends(blocks, made, top, clocks, called, _of_module)


def _of_module(instance: Instance, body: Any) -> dict[str, Decisions]:
    """Those of a module's clocked blocks, by the symbols of its copy, whose slang `body` this is."""
    begin = f"{instance.body.parentInstance.hierarchicalPath}."

    def there(symbol: Any) -> Any:
        place = str(symbol.hierarchicalPath)
        found = body.lookupName(place.removeprefix(begin)) if place.startswith(begin) else None
        return found if found is not None and found.kind in (Kind.Net, Kind.Variable) else place

    return {use.path: decisions_of(use).moved(there) for use in instance.blocks}
