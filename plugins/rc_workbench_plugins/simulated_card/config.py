"""The configuration of a simulated run for its host library and its card process (`resources/card`)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rc_workbench_plugins.simulated_card.beside import command_lines
from rc_workbench_plugins.simulated_card.port_check import all_clocks, all_ports, driven_ports, port_of
from rc_workbench_plugins.simulated_card.rules import rule_lines
from workbench.api import PS_PER_S, Clock, Diagnostic, HardwarePort, HdlBuild, Platform, Project, Task, WorkbenchError
from workbench.api.unstable import Network, link_words, period_ps, table_points_ps, trillionths

_FOREVER_PS = (1 << 63) - 1


def _fraction(clock: Clock, ppm: float) -> str:
    period = period_ps(clock.frequency_hz, ppm)
    return f"{period.numerator} {period.denominator}"


def _step_and_flags(port: HardwarePort) -> str:
    step = port.constants().get("address_step", port.word_bits // 8) if port.addressed else 0
    return f"{step} {int(port.answers)} {int(port.in_packets())}"


def uncounted(hdl: HdlBuild, project: Project) -> bool:
    """Whether designs are built without the counters, whose work the card then does itself: all of them, or none."""
    return not project.simulation.hardware_counters and all(one.simulation.uncounted for one in hdl.each)


def places_of(library: Path) -> Path:
    """The file beside a design's library that tells where in the sources it may fail."""
    return library.with_suffix(".txt")


def card_config(hdl: HdlBuild, task: Task, libraries: Sequence[Path]) -> str:
    """The text that host library and card read: one key and its numbers a line. `libraries` are the compiled design of
    each FPGA."""
    project, platform, simulation = task.project, task.platform, task.project.simulation
    ports, hardware = driven_ports(platform), platform.hardware
    assert hardware is not None
    ppm = simulation.clock_ppm
    lines = [
        f"clock_drift {trillionths(simulation.clock_drift_ppm_per_s)}",
        *(f"clock {_fraction(clock, ppm)}" for clock in all_clocks(platform, hdl)),
        *(
            f"port {port.word_bits // 8} {_fraction(hardware.clock_of(port), ppm)} {_step_and_flags(port)}"
            for port in ports
        ),
        f"deterministic {int(task.deterministic)}",
        f"basic_block_ps {simulation.basic_block_ps}",
        f"host_factor {simulation.host_factor!r}",
        *(f"{name} {getattr(simulation, name)}" for name in ("cores", "slice_ps", "call_ps", "wake_ps", "switch_ps")),
        f"cards {len(hdl.each)}",
        f"ranks {project.host.ranks}",
        *_network(task),
        f"interrupt_clock {hardware.interrupt_clock_number}",
        f"cycle_limit {simulation.cycle_limit}",
        f"idle_cycle_limit {simulation.idle_cycle_limit}",
        f"trace {int(task.trace)}",
        f"skip_rest {int(simulation.skip_rest)}",
        f"counters {int(not uncounted(hdl, project))}",
    ]
    if simulation.waves:
        until = round(simulation.waves_to_s * PS_PER_S) or _FOREVER_PS
        lines.append(f"waves {round(simulation.waves_from_s * PS_PER_S)} {until} {simulation.waves_bytes}")
    resources = list(dict.fromkeys(table.resource for table in platform.transfer_tables.values()))
    for name, table in platform.transfer_tables.items():
        lines.append(f"table {resources.index(table.resource)} {int(table.overlaps)} {name}")
        lines.append(f"through {port_of(table, ports)}")
        lines.append(f"holds_core {int(table.holds_core)}")
        lines += [f"point {size} {time_ps}" for size, time_ps in table_points_ps(table)]
    lines += rule_lines(task.rules)
    of_library = dict(zip(libraries, hdl.each, strict=True))
    first = dict(reversed([*zip(libraries, hdl.places, strict=True)]))
    for library, one in of_library.items():
        place = first[library]
        depths = {name.removeprefix(place): words for name, words in task.depths.items() if name.startswith(place)}
        lines += [
            f"design {library}",
            f"places {places_of(library)}",
            *_design(one, platform, all_clocks(platform, hdl), depths),
        ]
        lines += command_lines(one, library.parent)
    names = (re.sub(r"\[(\d+)\]\.?", r" \1 ", place).rstrip(":. ") for place in hdl.places)
    lines += [f"card {list(of_library).index(of)} {name}" for of, name in zip(libraries, names, strict=True)]
    lines += _links(hdl, task)
    return "\n".join(lines) + "\n"


def _network(task: Task) -> Iterator[str]:
    """The times of the network between ranks: those of a message, and of a byte (fs); the longest message that a
    standard send does not wait with (-1: any); then what nodes and pairs of them have of their own."""
    for network in task.platform.networks:
        if network.name != task.project.host.network:
            continue
        ranks = range(task.project.host.ranks)
        if network.nodes and network.nodes < len(ranks):
            message = (
                f"the network '{network.name}' describes {network.nodes} nodes, but the run has {len(ranks)} ranks"
            )
            raise WorkbenchError(Diagnostic(message, "Describe each node in the template, or run fewer ranks."))
        latency_ps, overhead_ps, gap_ps = map(_ps, (network.latency_s, network.overhead_s, network.gap_s))
        byte_fs, reduction_fs = _fs(network.gap_per_byte_s), _fs(network.reduction_per_byte_s)
        eager_bytes = -1 if network.eager_bytes is None else network.eager_bytes
        yield f"network {latency_ps} {overhead_ps} {gap_ps} {byte_fs} {reduction_fs} {eager_bytes}"
        if not network.nodes:
            continue
        for one in ranks:
            own_ps = _ps(network.overheads_s[one]) if network.overheads_s else overhead_ps
            yield f"node {one} {own_ps} {_ps(network.gaps_s[one]) if network.gaps_s else gap_ps}"
            for other in ranks:
                way_ps = _ps(network.latencies_s[one][other]) if network.latencies_s else latency_ps
                each_fs = _fs(network.gaps_per_byte_s[one][other]) if network.gaps_per_byte_s else byte_fs
                yield f"pair {one} {other} {way_ps} {each_fs}"


def _ps(time_s: float) -> int:
    return round(time_s * PS_PER_S)


def _fs(time_s: float) -> int:
    return round(time_s * PS_PER_S * 1000)


def _links(hdl: HdlBuild, task: Task) -> Iterator[str]:
    """The links between FPGAs: the two ends, the network's times, the words, and which FIFO each is."""
    hardware, networks = task.project.hardware, {network.name: network for network in task.platform.networks}
    fpgas, fifos = [fpga.name for fpga in hardware.fpgas], [fifo.id for fifo in hdl.fifos]
    for link in hardware.links:
        ends = []
        for end in (link.source, link.target):
            name, _, signals = end.partition(".")
            fpga = fpgas.index(name)
            ports = [port.name for port in all_ports(task.each[fpga].platform, hdl.each[fpga])]
            ends.append(f"{fpga} {ports.index(f'link {link_words(signals)}')}")
        network = networks.get(link.network, Network(name=""))
        times = (network.latency_s * PS_PER_S, network.gap_s * PS_PER_S, network.gap_per_byte_s * PS_PER_S * 1000)
        fifo = fifos.index(link.name) if link.name in fifos else -1
        words = task.depths.get(link.name, link.words)
        yield f"link {' '.join(ends)} {' '.join(str(round(time)) for time in times)} {words} {fifo}"


def _design(hdl: HdlBuild, platform: Platform, given: Sequence[Clock], depths: Mapping[str, int]) -> Iterator[str]:
    """What one design has; `given` are the run's clocks."""
    names = [port.name for port in all_ports(platform, hdl)]
    yield f"blocks {len(hdl.simulation.taps)}"
    if plan := hdl.read_out:
        number = names.index(plan.port) if plan.port else 0
        yield f"read_out {plan.words} {plan.first} {plan.last} {number}"
        for key, accesses in (("freeze", (plan.freeze,)), ("each", plan.each)):
            for access in accesses:
                yield f"{key} {access.act.value} {access.address} {access.value} {access.settle_cycles}"
        yield f"pieces {plan.parts} {plan.block_words} {plan.acts_cycles}"
        if plan.marks:
            yield f"marks {plan.marks.base} {names.index(plan.answer_port)}"
    clocks = [clock.name for clock in given]
    of_block = {n: clocks.index(block.clock) for n, block in enumerate(hdl.blocks) if block.clock in clocks}
    for n, (lsb, width) in enumerate(hdl.simulation.taps):
        if width:
            yield f"tap {n} {lsb} {width} {of_block.get(n, 0)}"
    for monitor, numbers in (hdl.agent.switched if hdl.agent else {}).items():
        yield from (f"switch {monitor} {number}" for number in numbers)
    yield from _streams(hdl, clocks, depths)


def _streams(hdl: HdlBuild, clocks: Sequence[str], depths: Mapping[str, int]) -> Iterator[str]:
    """The streams and FIFOs of a design, and which streams hold each other."""
    for number, stream in enumerate(hdl.streams):
        clock = clocks.index(stream.clock)
        yield f"stream {number} {clock}"
        for place, wait in enumerate(stream.waits):
            own, by = int(wait.signal == "valid"), int(wait.held_by == "valid")
            yield f"stream_wait {number} {place} {own} {wait.other} {by} {clock}"
    for number, fifo in enumerate(hdl.fifos):
        takes, gives = (clocks.index(hdl.streams[end].clock) for end in (fifo.input, fifo.output))
        yield f"fifo {number} {fifo.input} {fifo.output} {takes} {gives}"
    for fifo_id, words in depths.items():
        if fifo_id in hdl.simulation.varied:
            yield f"depth {hdl.simulation.varied[fifo_id]} {words}"
