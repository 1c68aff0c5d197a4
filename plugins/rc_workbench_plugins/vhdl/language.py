"""What the workbench asks of a hardware language as its sources are read, answered for VHDL."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.vhdl.asked import Asks
from rc_workbench_plugins.vhdl.blocks import SourceBlock, check_names, read_blocks
from rc_workbench_plugins.vhdl.clocks import Clocks
from rc_workbench_plugins.vhdl.conditions import check_conditions
from rc_workbench_plugins.vhdl.design import Design, library_of, read_design
from rc_workbench_plugins.vhdl.hierarchy import elaborate
from rc_workbench_plugins.vhdl.order import defined_twice
from rc_workbench_plugins.vhdl.ports import hdl_ports, uses
from rc_workbench_plugins.vhdl.source_file import pragmas_of
from rc_workbench_plugins.vhdl.states import States, find_states
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.vendors import stands_for_clocks
from workbench.api import Branch, Diagnostic, HardwareSources, HdlBlock, HdlPort, HdlScan, Job, Platform, Severity
from workbench.hdl.derived import derived, gives, other_clock
from workbench.hdl.instances import Instance, Key
from workbench.hdl.instrument import Reading
from workbench.hdl.own import is_own
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog.primitives import CLOCKS_TOLD

_UNBOUND = (
    "no source defines an entity or a module for the component '{}'",
    "Add its source, or a vendor's model of it, to the hardware sources: else its outputs stay open.",
)


@dataclass(frozen=True)
class Read(Reading):
    """A design in VHDL. `names` follows its names."""

    design: Design
    blocks: tuple[SourceBlock, ...]
    names: Clocks | None


def scan(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], job: Job | None = None
) -> HdlScan:
    found = read(root, hardware, platform, parameters, job or Job())
    design, top = found.design, found.top
    paths, states = found.paths(), find_states(design, found.blocks)
    asks = Asks(top, found.names) if top is not None and found.names is not None else None
    blocks = tuple(
        hdl_block(design, states, asks, block, paths.get(block.key, ()), found.why_not.get(block.key, ""))
        for block in found.blocks
        if is_own(block, found.library)
    )
    own = {block.id for block in blocks}
    return HdlScan(
        blocks, found.instances(), found.diagnostics, top_ports(design, top), clocks(top), resets(top),
        registers=tuple(register for register in states.registers if register.block in own),
    )  # fmt: skip


def read(root: Path, hardware: HardwareSources, platform: Platform, parameters: Mapping[str, str], job: Job) -> Read:
    """The design with its blocks, and all that is wrong. Never raises for what stands in the sources."""
    job.progress(0.0, "reading the design")
    design = read_design(root, hardware, parameters, job)
    blocks: list[SourceBlock] = []
    shown = {file.number: design.name_of(file.path) for file in design.files}
    diagnostics = [*design.diagnostics, *defined_twice(design.units, design.used, shown)]
    for file in design.files:
        source, wrong = pragmas_of(design, file)
        own = [block for unit in design.units_of(file) for block in read_blocks(unit, source)]
        blocks += own
        diagnostics += [*wrong, *source.stray("process", "a choice of a case")]
        for block in own:
            diagnostics += check_names(block)
    job.progress(0.7, "looking at its instances")
    top, names = elaborate(design, {block.key: block for block in blocks})
    why_not, single = _why_not(design, blocks, top, platform)
    diagnostics += check_conditions(design, blocks, top, why_not, job)
    library = library_of(design, hardware)
    diagnostics += [*unbound(design, top, hardware), *derived(top, design.name_of, library, hardware)]
    return Read(top, why_not, single, library, design.name_of, tuple(diagnostics), design, tuple(blocks), names)


def tree_of(design: Design) -> Instance | None:
    """What is instantiated below the top, with the blocks."""
    files = [(file, pragmas_of(design, file)[0]) for file in design.files]
    blocks = (b for file, source in files for unit in design.units_of(file) for b in read_blocks(unit, source))
    return elaborate(design, {block.key: block for block in blocks})[0]


def top_ports(design: Design, top: Instance | None) -> tuple[HdlPort, ...]:
    """The top's ports; none where it could not be elaborated."""
    if top is None or design.top is None or design.top.interface is None:
        return ()
    ports = {port.name: port for port in design.top.interface.ports}
    found = hdl_ports(design.top, design.units, design.told, design.name_of(design.top.file.path))
    return tuple(replace(one, used=one.direction != "input" or uses(top, ports[one.port or one.name])) for one in found)


def _why_not(
    design: Design, blocks: Sequence[SourceBlock], top: Instance | None, platform: Platform
) -> tuple[dict[Key, str], dict[str, str]]:
    clocks = [plain(clock.pin) for clock in platform.hardware.clocks] if platform.hardware is not None else []
    paths: dict[str, str] = {}
    nowhere: dict[Key, str] = {}
    somewhere: set[Key] = set()
    for instance in top.walk() if top is not None else ():
        for use in instance.blocks:
            if clocks and plain(use.root_clock) not in clocks:
                paths[use.path] = other_clock(use, clocks)
                nowhere.setdefault(use.source.key, paths[use.path])
            else:
                somewhere.add(use.source.key)
    nowhere = {key: reason for key, reason in nowhere.items() if key not in somewhere}
    return nowhere | {block.key: block.why_not for block in blocks if block.why_not}, paths


def unbound(
    design: Design, top: Instance | None, hardware: HardwareSources, others: Container[str] = ()
) -> Iterator[Diagnostic]:
    """A warning for each component that nothing is bound to, or what makes clocks in place of a vendor's and the
    project does not say how fast, where it is instantiated; but for `others`, which another language defines."""
    told: set[Key] = set()
    clocks = [clock.name for clock in hardware.clocks]
    for instance in top.walk() if top is not None else ():
        makes_clocks = stands_for_clocks(instance.module, instance.body.file if instance.body else None)
        if instance.node is None or instance.key in told or (instance.body is not None and not makes_clocks):
            continue
        if makes_clocks and gives(instance, clocks):
            continue
        if plain(instance.node.unit.rpartition(".")[2]) in others and not makes_clocks:
            continue
        told.add(instance.key)
        message, hint = CLOCKS_TOLD if makes_clocks else _UNBOUND
        file = design.name_of(Path(instance.key[0]))
        message = message.format(instance.node.unit.rpartition(".")[2])
        yield Diagnostic(message, hint, Severity.WARNING, file, instance.node.line, instance.node.column)


def hdl_block(
    design: Design, states: States, asks: Asks | None, block: SourceBlock, instances: tuple[str, ...], why_not: str
) -> HdlBlock:
    terms = asks.of(block.key, block.arms) if asks is not None else {}
    branches = tuple(
        Branch(arm.line, arm.kind, arm.label, arm.pragma_line, arm.indent, arm.end_line, arm.pragmas,
               *states.of(block, arm), terms.get(arm.at, ()), arm.pragma_column)
        for arm in block.arms
    )  # fmt: skip
    return HdlBlock(
        f"{block.module}.{block.label}", block.module, block.kind, design.name_of(block.path), block.line,
        block.end_line, block.clock, block.edge, branches, instances, why_not,
    )  # fmt: skip
