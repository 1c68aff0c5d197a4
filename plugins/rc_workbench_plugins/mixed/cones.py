"""What ends a wait in a design of both languages: its processes' decisions, by the signals of what is simulated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rc_workbench_plugins.mixed.joined import Joined
from rc_workbench_plugins.mixed.streams import instances_called
from rc_workbench_plugins.verilog import design as verilog
from rc_workbench_plugins.verilog.cones import combinational, depending, has_waits, quiet_of
from rc_workbench_plugins.verilog.decisions import Decisions, decisions_of
from rc_workbench_plugins.verilog.expressions import Kind
from rc_workbench_plugins.verilog.instances import Instance, elaborate
from rc_workbench_plugins.vhdl.cones import Within
from rc_workbench_plugins.vhdl.units import Unit
from workbench.model.blocks import Block
from workbench.model.hardware import Clock


def with_depends(
    blocks: tuple[Block, ...], made: verilog.Design, joined: Joined, top: Instance, clocks: Iterable[Clock]
) -> tuple[Block, ...]:
    """The blocks, whose waits say what they depend on in the simulated design `made`."""
    read = elaborate(made, {}) if has_waits(blocks) else None
    if read is None:
        return blocks
    bodies = {one.path: one.body for one in read.walk()}
    clocked: dict[str, Decisions] = {}
    logic = combinational(made.nets)
    called = {instance.path: (path, instance) for path, instance in instances_called(joined, top, read.path)}
    for path, instance in called.values():
        if path not in bodies:
            continue
        if isinstance(instance.body, Unit):
            of_instance = Within(instance, instance.body, bodies[path])
            clocked |= of_instance.clocked()
            logic += of_instance.logic()
        elif instance.body is not None:
            clocked |= _of_module(instance, bodies[path])
    return depending(blocks, clocked, logic, made.nets, read.body, quiet_of(top, clocks))


def _of_module(instance: Instance, body: Any) -> dict[str, Decisions]:
    """Those of a module's clocked blocks, by the symbols of its copy, whose slang `body` this is."""
    begin = f"{instance.body.parentInstance.hierarchicalPath}."

    def there(symbol: Any) -> Any:
        place = str(symbol.hierarchicalPath)
        found = body.lookupName(place.removeprefix(begin)) if place.startswith(begin) else None
        return found if found is not None and found.kind in (Kind.Net, Kind.Variable) else place

    return {use.path: decisions_of(use).moved(there) for use in instance.blocks}
