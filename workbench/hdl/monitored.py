"""Plans the monitors of a design's layout, for every language: counted blocks, engines and read-outs."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.api.instrument import wrapper
from workbench.api.instrument.crossing import (
    Monitor,
    ReadPlace,
    read_out_plan,
)
from workbench.api.instrument.metric_probe import DERIVED, MetricProbe
from workbench.api.instrument.port_probe import STATE_BITS, STATES, PortProbe
from workbench.api.instrument.probes import (
    MOST_STATES,
    STATES_OF_A_BLOCK_RAM,
    MonitorPlan,
    Probe,
    TraceStore,
    state_bits,
)
from workbench.api.instrument.wrapper import Top
from workbench.api.ports import HardwarePort, monitor_front
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.board import clocks_by_pin
from workbench.hdl.derived import clock_name, has_own_clock, made_clocks, other_clock
from workbench.hdl.instances import BlockUse, Instance, Key
from workbench.hdl.layout import Layout
from workbench.hdl.metrics import MetricBlock
from workbench.hdl.own import is_own
from workbench.hdl.own_port import OWN_ADDRESSES, own_port, own_ports
from workbench.model.application import HardwareSources
from workbench.model.blocks import Block, Side, State
from workbench.model.custom import FAILED, RESET, SUMMED, MetricKind
from workbench.model.diagnostic import Diagnostic, OfProject, Severity, WorkbenchError, did_you_mean
from workbench.model.hardware import Clock, Hardware
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import ReadOut, ReadOutPlan
from workbench.model.streams import Stream
from workbench.model.text import listed


def why_not_observed(
    blocks: Iterable[SourceBlock],
    top: Instance | None,
    clocks: Sequence[str],
    why_not_editable: Callable[[Instance], str],
) -> tuple[dict[Key, str], dict[str, str]]:
    """Why blocks cannot be observed: those that can be nowhere, by where they stand, and single ones by their paths.
    `clocks` are the platform's; what stands in an instance that is not editable leads to none of its states."""
    unreachable: dict[str, str] = {}
    paths: dict[str, str] = {}
    nowhere: dict[Key, str] = {}
    somewhere: set[Key] = set()
    for instance in top.walk() if top else ():
        above = unreachable.get(instance.path, "") or why_not_editable(instance)
        unreachable.update({child.path: above for child in instance.children})
        for use in instance.observed:
            reason = above
            if not reason and clocks and use.root_clock not in clocks:
                reason = other_clock(use, clocks)
            if reason:
                paths[use.path] = reason
                nowhere.setdefault(use.source.key, reason)
            else:
                somewhere.add(use.source.key)
    nowhere = {key: reason for key, reason in nowhere.items() if key not in somewhere}
    in_source = ((block.key, block.why_not or _too_many(len(block.states))) for block in blocks)
    return nowhere | {key: reason for key, reason in in_source if reason}, paths


def _too_many(states: int) -> str:
    return f"it has {states} different pragmas; at most {MOST_STATES} can be counted" if states > MOST_STATES else ""


@dataclass(frozen=True)
class Monitored:
    """The application's blocks (`uses`), those on the platform's clocks (`counted`: in their order they are numbered),
    where the observed ones' states lie among `width` bits, of which the user's top tells `own_width`, and the monitors
    that count them."""

    uses: tuple[BlockUse, ...]
    counted: tuple[BlockUse, ...]
    clocks: Mapping[str, Clock]  # by the top's ports
    bits: Mapping[str, int]  # lowest, by the blocks' paths
    width: int
    monitors: tuple[Monitor, ...]
    place: ReadPlace
    own_width: int
    ports: tuple[PortProbe, ...]  # that are observed too; they are numbered after the blocks
    derived: tuple[MetricProbe, ...]  # metrics whose states the new top makes
    top: str
    made: Mapping[
        str, Clock
    ]  # the PLLs' of which the project says how fast they are, by their places below the new top

    @property
    def read_out(self) -> ReadOutPlan:
        return read_out_plan(self.monitors, self.place)

    @property
    def own_port(self) -> tuple[str, str]:
        """The port that is the monitors' alone, and its clock; empty where there is none."""
        return (self.place.port, self.place.clock.name) if self.place.more else ("", "")

    def around(self, shell: Top, streams: Sequence[Stream], pll_nets: Mapping[str, str]) -> str:
        """Verilog of the new top, with all that observes the design. `pll_nets` are nets of clocks, by their names."""
        more: tuple[PortProbe | MetricProbe, ...] = (*self.ports, *self.derived)
        return wrapper.wrapper(shell, self.monitors, self.place, streams, more, pll_nets)

    @property
    def taps(self) -> tuple[tuple[int, int], ...]:
        blocks = (
            (self.bits[use.path], state_bits(len(use.source.named) + 1)) if use.path in self.bits else (0, 0)
            for use in self.counted
        )
        return (*blocks, *((port.lsb, STATE_BITS) for port in self.ports))

    def addresses(self, hardware: Hardware) -> tuple[str, ...]:
        """The top's signals with the addresses at which the monitors are read; none where they have no port of the
        platform's with any."""
        port = next((port for port in hardware.ports if port.name == self.place.port), None)
        if not isinstance(port, HardwarePort):
            return ()
        signals = port.signals()
        return tuple(signals[role].name for role in port.address_roles)

    def blocks(self, name_of: Callable[[Path], str]) -> tuple[Block, ...]:
        of_plls = {clock.name for clock in self.made.values()}
        own_clocks = {n: one.clock for one in self.monitors if one.clock.name in of_plls for n in one.blocks or ()}
        blocks = (
            _block(name_of, use, own_clocks.get(number, self.clocks[use.root_clock]), use.path in self.bits)
            for number, use in enumerate(self.counted)
        )
        return (*blocks, *(port.block(self.top) for port in self.ports))

    def large(self, name_of: Callable[[Path], str]) -> tuple[Diagnostic, ...]:
        """A note for each block whose counter needs more than one block RAM."""
        notes: dict[Key, Diagnostic] = {}
        for use in self.counted:
            source, states = use.source, len(use.source.named) + 1
            if use.path in self.bits and states > STATES_OF_A_BLOCK_RAM:
                name = f"{source.module}.{source.label}"
                message = f"the block {name} has {states} states: counting their pairs takes several block RAMs"
                hint = f"Up to {STATES_OF_A_BLOCK_RAM - 1} different pragmas in a block fit into one."
                file = name_of(source.path)
                notes.setdefault(source.key, Diagnostic(message, hint, Severity.NOTE, file, source.line))
        return tuple(notes.values())

    def missed(
        self, name_of: Callable[[Path], str], why_not: Mapping[Key, str], single: Mapping[str, str]
    ) -> Iterator[Diagnostic]:
        """One diagnostic for each block in the source that has something to observe and is not observed everywhere.
        `why_not` tells of blocks that are observed nowhere, `single` of those that are not, by their paths."""
        missed: dict[Key, list[BlockUse]] = {}
        for use in self.uses:
            if use.path not in self.bits and (use.source.key in why_not or use.path in single or use.source.named):
                missed.setdefault(use.source.key, []).append(use)
        everywhere = Counter(use.source.key for use in self.uses)
        for key, some in missed.items():
            use = some[0]
            reason = why_not.get(key) or single.get(use.path) or "no path leads up"
            others = f" and {len(some) - 1} more" if len(some) > 1 else ""
            where = f" in {use.path.rpartition('.')[0]}{others}" if len(some) < everywhere[key] else ""
            yield Diagnostic(
                f"the block {use.source.module}.{use.source.label} is not observed{where}: {reason}",
                "", Severity.WARNING, name_of(use.source.path), use.source.line,
            )  # fmt: skip


def monitored(
    top: Instance,
    layout: Layout,
    platform_hardware: Hardware,
    hardware: HardwareSources,
    port_bits: Mapping[str, int],
    library: Container[Path],
    single: Mapping[str, str],
    early: Collection[Key] = (),
) -> Monitored:
    """Monitors for each of the platform's clocks that has blocks, read through one of its ports, at the addresses of
    the project's read-out; through a port of their own where it has none that can be. `port_bits` are the widths of the
    top's ports; blocks in `single` are not observed, by their paths; those that are `early` tell the state of the same
    cycle, others that of the cycle before."""
    bits = {path: bit for path, bit in layout.bits(top).items() if path not in single}
    uses = tuple(use for instance in top.walk() for use in instance.observed if is_own(use.source, library))
    clocks = clocks_by_pin(platform_hardware)
    counted = tuple(use for use in uses if use.root_clock in clocks)
    first, own_width = platform_hardware.clocks[0], layout.widths.get(top.module, 0)
    ports = tuple(_observed(platform_hardware, hardware.observed_ports, clocks, port_bits, own_width))
    derived = tuple(_derived(counted, bits, clocks, own_width + STATE_BITS * len(ports)))
    told = dict(bits)
    bits.update((counted[one.block].path, one.lsb) for one in derived)
    width = own_width + STATE_BITS * len(ports) + sum(one.bits for one in derived)
    monitors: list[Monitor] = []
    store = TraceStore.of(hardware.trace.records, hardware.trace.burst) if hardware.trace else None
    agent_bits = (hardware.agent_words - 1).bit_length() if hardware.agent_words else 0
    for clock in clocks.values():
        numbers = tuple(
            n for n, use in enumerate(counted) if clocks[use.root_clock] == clock and not has_own_clock(use)
        )
        of_clock = [(n, port) for n, port in enumerate(ports, len(counted)) if port.clock.name == clock.name]
        if not numbers and not of_clock and clock.name != first.name:
            continue
        of_ports = (Probe(number, port.lsb, len(STATES) + 1) for number, port in of_clock)
        probes = (*_probes(counted, numbers, bits, told, early), *of_ports)
        numbers = (*numbers, *(number for number, _ in of_clock))
        plan = MonitorPlan(probes, width, trace=store, engines=hardware.engines, agent_bits=agent_bits)
        monitors.append(Monitor(plan, clock, numbers))
    names = {pin: clock.name for pin, clock in clocks.items()}
    of_plls = made_clocks(top, hardware, f"{wrapper.USER_INSTANCE}.", names)
    given_hz = {clock.name: clock.frequency_hz for clock in of_plls.values()}
    place = _place(platform_hardware, [monitor.clock for monitor in monitors], hardware.read_out, port_bits)
    for source, bit, numbers in _own_clocks(counted, layout.clock_bits(top), bits):
        use, number = counted[numbers[0]], sum(monitor.led is not None for monitor in monitors)
        name = _new_clock(
            use, [monitor.clock.name for monitor in monitors] + [clock.name for clock in clocks.values()], top.path
        )
        changes = {"name": name, "signal": f"recap_clock_{number}", "derived_from": clocks[source].name,
                "frequency_hz": given_hz.get(name, clocks[source].frequency_hz)}  # fmt: skip
        own, is_given = tuple(_probes(counted, numbers, bits, told, early)), name in given_hz
        plan = MonitorPlan(own, width, trace=store, engines=hardware.engines, agent_bits=agent_bits if is_given else 0)
        clock = clocks[source].model_copy(update=changes)
        monitors.append(Monitor(plan, clock, numbers, (source, bit), is_given))
    monitors = _linked(monitors)
    derived = tuple(replace(one, clock=_clock_of(one, monitors)) for one in derived)
    return Monitored(
        uses, counted, clocks, bits, width, tuple(monitors), place, own_width, ports, derived, top.path, of_plls
    )


def _linked(monitors: Sequence[Monitor]) -> list[Monitor]:
    """The monitors, those with an agent first. Several agents tell each other what passes."""
    ordered = sorted(monitors, key=lambda one: not one.plan.agent_bits)
    agents = sum(bool(one.plan.agent_bits) for one in ordered)
    return [
        replace(one, plan=replace(one.plan, linked=agents)) if agents > 1 and one.plan.agent_bits else one
        for one in ordered
    ]


def _own_clocks(
    counted: Sequence[BlockUse], clock_bits: Mapping[str, int], bits: Mapping[str, int]
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """What the design makes of the platform's clocks, and observed blocks run on: of which top's port, the bit of the
    state vector that it is, and the numbers of the blocks."""
    by_clock: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, use in enumerate(counted):
        if has_own_clock(use):
            by_clock[use.root_clock, use.clock_net].append(number)
    for (source, _), numbers in by_clock.items():
        observed = [number for number in numbers if counted[number].path in bits]
        if observed:
            yield source, clock_bits[counted[observed[0]].path], (*observed, *(n for n in numbers if n not in observed))


def _new_clock(use: BlockUse, taken: Collection[str], top: str) -> str:
    """What a clock is called that the design makes."""
    name = clock_name(use)
    return next((one for one in (name, f"{top}.{name}") if name and one not in taken), use.clock_net)


def _observed(
    hardware: Hardware, names: Sequence[str], clocks: Mapping[str, Clock], bits: Mapping[str, int], lsb: int
) -> Iterator[PortProbe]:
    """What is observed of the platform's ports with these names. WorkbenchError where that cannot be."""
    ports = {port.name: port for port in hardware.ports if isinstance(port, HardwarePort)}
    for name in dict.fromkeys(names):
        doing = ports[name].activity(bits) if name in ports else None
        if doing is None:
            known = [other for other, port in ports.items() if port.activity(bits)]
            what = "its activity cannot be read from its signals" if name in ports else "the platform has no such port"
            hint = did_you_mean(name, known) or f"Those that can be are {listed(known)}."
            message = f"the port '{name}' cannot be observed (hardware.observed_ports): {what}"
            raise WorkbenchError(OfProject(message, hint, keys=("hardware", "observed_ports", names.index(name))))
        yield PortProbe(name, clocks[hardware.clock_of(ports[name]).pin], doing, lsb)
        lsb += STATE_BITS


def _place(
    platform_hardware: Hardware, clocks: Sequence[Clock], read_out: ReadOut, bits: Mapping[str, int]
) -> ReadPlace:
    by_name = {clock.name: clock for clock in clocks_by_pin(platform_hardware).values()}
    if place := monitor_front(platform_hardware, clocks, read_out, bits):
        port, front = place
        return ReadPlace(port.name, front, by_name[platform_hardware.clock_of(port).name], read_out)
    port, front = own_port("recap", clocks[0].name)
    return ReadPlace(port.name, front, clocks[0], OWN_ADDRESSES, own_ports(port))


def _probes(
    counted: Sequence[BlockUse], numbers: Sequence[int], bits: Mapping[str, int], told: Mapping[str, int],
    early: Collection[Key],
) -> Iterator[Probe]:  # fmt: skip
    """`bits` are the lowest of the states, `told` of what the design itself tells."""
    for number in numbers:
        use = counted[number]
        if use.path not in bits:
            continue
        beside = use.source if isinstance(use.source, MetricBlock) else None
        late = 0 if use.source.key in early or (beside is not None and beside.early) else 1
        probe = Probe(number, bits[use.path], len(use.source.named) + 1, late)
        metric = beside.metric if beside is not None else None
        if beside is not None:
            probe = replace(probe, value=beside.value)
        if metric is not None and metric.kind in SUMMED:
            squares = metric.kind is MetricKind.DEVIATION
            probe = replace(probe, value_lsb=told[use.path] + metric.bits, squares=squares)
        if metric is not None and metric.kind is MetricKind.ASSERT:
            is_strong = metric.checks is not None and metric.checks.is_strong
            probe = replace(probe, first_of=FAILED, open_lsb=probe.lsb + probe.bits if is_strong else -1)
        yield probe


def _derived(
    counted: Sequence[BlockUse], bits: Mapping[str, int], clocks: Mapping[str, Clock], lsb: int
) -> Iterator[MetricProbe]:
    """The metrics whose states the new top makes, in bits from `lsb` on."""
    for number, use in enumerate(counted):
        if isinstance(use.source, MetricBlock) and _is_derived(use.source) and use.path in bits:
            source = use.source
            probe = MetricProbe(number, source.metric, clocks[use.root_clock], bits[use.path], lsb, source.value)
            lsb += probe.bits
            yield probe


def _is_derived(block: MetricBlock) -> bool:
    return block.metric.kind in DERIVED and not block.marks


def _clock_of(probe: MetricProbe, monitors: Sequence[Monitor]) -> Clock:
    """The clock of the monitor that counts a metric."""
    return next((one.clock for one in monitors if probe.block in (one.blocks or ())), probe.clock)


def _is_decision(block: SourceBlock) -> bool:
    return isinstance(block, MetricBlock) and block.metric.kind is MetricKind.BRANCH


def _block(name_of: Callable[[Path], str], use: BlockUse, clock: Clock, observed: bool) -> Block:
    source = use.source
    named = source.named if observed else ()
    if use.reset is not None and use.reset[0].lower() == clock.reset.lower() and _is_decision(source):
        named = (replace(named[0], reasons=(RESET,)), *named[1:]) if named else ()
    return Block(
        id=use.path,
        side=Side.FPGA,
        component=use.path.rpartition(".")[0],
        kind=source.kind,
        group=re.sub(r"\[-?\d+\]", "[*]", use.path),
        states=(State(0, UNCLASSIFIED), *named),
        file=name_of(source.path),
        line=source.line,
        clock=clock.name,
    )
