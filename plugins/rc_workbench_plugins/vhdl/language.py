"""What the workbench asks of a hardware language as its sources are read, answered for VHDL, alone and with Verilog."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.vhdl.asked import Asks
from rc_workbench_plugins.vhdl.blocks import SourceBlock
from rc_workbench_plugins.vhdl.conditions import check_conditions
from rc_workbench_plugins.vhdl.design import Design, library_of
from rc_workbench_plugins.vhdl.joined import Joined, read_joined
from rc_workbench_plugins.vhdl.metrics import MetricBlock, anchor_of
from rc_workbench_plugins.vhdl.ports import hdl_ports, uses
from rc_workbench_plugins.vhdl.states import find_states
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.translated import outside_of
from rc_workbench_plugins.vhdl.units import Unit
from rc_workbench_plugins.vhdl.vendors import stands_for_clocks
from workbench.api import Diagnostic, HardwareSources, HdlPort, HdlScan, Job, Platform, Severity
from workbench.hdl import halves
from workbench.hdl.derived import derived, gives
from workbench.hdl.instances import Instance, Key, keys_in
from workbench.hdl.monitored import why_not_observed
from workbench.hdl.reading import Asked, Part, Reading
from workbench.hdl.reading import scan as scan_of
from workbench.hdl.verilog import language as verilog
from workbench.hdl.verilog.own import library_of as verilog_library_of
from workbench.hdl.verilog.ports import hdl_ports as verilog_ports
from workbench.hdl.verilog.primitives import CLOCKS_TOLD
from workbench.hdl.verilog.rewrite import modules_by_name, why_not_editable
from workbench.hdl.verilog.streams import FoundStreams

_UNBOUND = (
    "no source defines an entity or a module for the component '{}'",
    "Add its source, or a vendor's model of it, to the hardware sources. Otherwise its outputs stay open.",
)


@dataclass(frozen=True)
class Read(Reading):
    """A design with VHDL."""

    joined: Joined


def scan(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], job: Job | None = None
) -> HdlScan:
    reading = read(root, hardware, platform, parameters, job or Job())
    joined = reading.joined
    if joined.verilog is not None:
        return verilog.scan(root, joined.verilog, platform, parameters, job)
    in_verilog = joined.entities.top is None
    streams = halves.streams(joined, hardware, reading.library) if in_verilog else FoundStreams()
    return scan_of(reading, [_processes(joined), halves.part(joined, reading, streams)], top_ports(joined), streams)


def read(root: Path, hardware: HardwareSources, platform: Platform, parameters: Mapping[str, str], job: Job) -> Read:
    """The design with its blocks, and all that is wrong. Never raises for what stands in the sources."""
    job.progress(0.0, "reading the design")
    board = platform.hardware
    joined = read_joined(root, hardware, outside_of(board) if board is not None else (), parameters, job)
    job.progress(0.7, "reading its instances")
    modules = joined.modules
    pins = [clock.pin for clock in board.clocks] if board is not None else []
    nodes = modules_by_name(modules) if modules is not None else {}

    def unreachable(instance: Instance) -> str:
        if isinstance(instance.body, Unit) or modules is None:
            return ""
        return why_not_editable(modules, nodes.get(instance.module))

    observed = (*joined.processes, *joined.always, *joined.metrics)
    why_not, single = why_not_observed(observed, joined.top, pins, unreachable)
    wrong = [*joined.wrong, *joined.unobserved]
    library = library_of(joined.entities, hardware)
    library |= verilog_library_of(modules, hardware) if modules is not None else frozenset()
    wrong += halves.problems(joined, hardware, why_not)
    own = [one for one in joined.metrics if isinstance(one, MetricBlock)]
    left: list[SourceBlock | MetricBlock] = [*joined.processes, *own]
    for below, of in joined.designs:
        reached = keys_in(of)
        mine_too = [block for block in left if anchor_of(block).key in reached]
        left = [block for block in left if anchor_of(block).key not in reached]
        wrong += check_conditions(below, mine_too, of, why_not, job)
        wrong += _unbound(below, of, hardware, joined.heads)
    wrong += check_conditions(joined.entities, left, None, why_not, job)
    wrong += derived(joined.top, joined.name_of, library, hardware)
    return Read(joined.top, why_not, single, library, joined.name_of, tuple(dict.fromkeys(wrong)), joined)


def top_ports(joined: Joined) -> tuple[HdlPort, ...]:
    """The top's ports, as its own language tells them; none where it could not be elaborated."""
    if joined.entities.top is None:
        return verilog_ports(joined.halves[0][0]) if joined.halves else ()
    return ports_of_entity(*joined.designs[0])


def ports_of_entity(design: Design, top: Instance | None) -> tuple[HdlPort, ...]:
    if top is None or design.top is None:
        return ()
    ports = {port.name: port for port in design.top.ports}
    declared = hdl_ports(design.top, design.units, design.values, design.name_of(design.top.file.path))
    return tuple(
        replace(one, used=one.direction != "input" or uses(top, ports[one.port or one.name])) for one in declared
    )


def _processes(joined: Joined) -> Part[SourceBlock]:
    """What a scan says of the VHDL."""
    states = find_states(joined.entities, joined.processes)
    own = joined.designs[0][1] if joined.clocks is not None else None
    asks = Asks(own, joined.clocks) if own is not None and joined.clocks is not None else None

    def asked(block: SourceBlock) -> list[Asked]:
        terms = asks.of(block.key, block.arms) if asks is not None else {}
        return [Asked(*states.of(block, arm), terms.get(arm.at, ())) for arm in block.arms]

    return Part(joined.processes, states.registers, asked)


def _unbound(
    design: Design, top: Instance | None, hardware: HardwareSources, others: Container[str]
) -> Iterator[Diagnostic]:
    """A warning for each component that nothing is bound to, or what makes clocks in place of a vendor's and the
    project does not say how fast, where it is instantiated; but for `others`, which another language defines."""
    reported: set[Key] = set()
    clocks = [clock.name for clock in hardware.clocks]
    for instance in top.walk() if top is not None else ():
        makes_clocks = stands_for_clocks(instance.module, instance.body.file if instance.body else None)
        if instance.node is None or instance.key in reported or (instance.body is not None and not makes_clocks):
            continue
        if makes_clocks and gives(instance, clocks):
            continue
        if plain(instance.node.unit.rpartition(".")[2]) in others and not makes_clocks:
            continue
        reported.add(instance.key)
        message, hint = CLOCKS_TOLD if makes_clocks else _UNBOUND
        file = design.name_of(Path(instance.key[0]))
        message = message.format(instance.node.unit.rpartition(".")[2])
        yield Diagnostic(message, hint, Severity.WARNING, file, instance.node.line, instance.node.column)
