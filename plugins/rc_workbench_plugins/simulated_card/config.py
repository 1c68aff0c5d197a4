"""What a run of the simulated card is told, by its host library and by the card process (`resources/card`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rc_workbench_plugins.simulated_card.port_check import all_ports, port_of
from workbench.api.builds import HdlBuild
from workbench.api.ports import HardwarePort
from workbench.api.targets import Task
from workbench.model.application import Project
from workbench.model.cycles import period_ps, trillionths
from workbench.model.hardware import Clock
from workbench.model.run import PS_PER_S
from workbench.model.transfer_time import table_points_ps

_FOREVER_PS = (1 << 63) - 1


def _fraction(clock: Clock, ppm: float) -> str:
    period = period_ps(clock.frequency_hz, ppm)
    return f"{period.numerator} {period.denominator}"


def _flags(port: HardwarePort) -> str:
    return f"{int(port.answers)} {int(port.in_packets())}"


#: The file beside a card that tells where in the sources its design may fail.
PLACES = "places.txt"


def left_out(hdl: HdlBuild, project: Project) -> tuple[str, ...]:
    """The defines by which a card is built without the counters, whose work it does itself."""
    return () if project.simulation.hardware_counters else hdl.uncounted


def card_config(hdl: HdlBuild, task: Task) -> str:
    """The text that host library and card read: one key and its numbers a line."""
    project, platform, simulation = task.project, task.platform, task.project.simulation
    ports, hardware = all_ports(platform, hdl), platform.hardware
    assert hardware is not None
    ppm = simulation.clock_ppm
    lines = [
        f"clock_drift {trillionths(simulation.clock_drift_ppm_per_s)}",
        *(f"clock {_fraction(clock, ppm)}" for clock in hardware.clocks),
        *(f"port {port.word_bits // 8} {_fraction(hardware.clock_of(port), ppm)} {_flags(port)}" for port in ports),
        f"deterministic {int(task.deterministic)}",
        f"basic_block_ps {simulation.basic_block_ps}",
        f"host_factor {simulation.host_factor!r}",
        *(f"{name} {getattr(simulation, name)}" for name in ("cores", "slice_ps", "call_ps", "wake_ps", "switch_ps")),
        f"cards {project.hardware.cards}",
        f"blocks {len(hdl.taps)}",
        f"interrupt_clock {hardware.interrupt_clock_number}",
        f"cycle_limit {simulation.cycle_limit}",
        f"idle_cycle_limit {simulation.idle_cycle_limit}",
        f"trace {int(task.trace)}",
        f"skip_rest {int(simulation.skip_rest)}",
        f"counters {int(not left_out(hdl, project))}",
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
    if plan := hdl.read_out:
        names = [port.name for port in ports]
        number = names.index(plan.port) if plan.port else 0
        lines.append(f"read_out {plan.words} {plan.first} {plan.last} {number}")
        for key, accesses in (("freeze", (plan.freeze,)), ("each", plan.each)):
            for access in accesses:
                lines.append(f"{key} {access.act.value} {access.address} {access.value} {access.settle_cycles}")
        lines.append(f"pieces {plan.parts} {plan.block_words} {plan.acts_cycles}")
        if plan.marks:
            lines.append(f"marks {plan.marks.base} {names.index(plan.answer_port)}")
    clocks = [clock.name for clock in hardware.clocks]
    of_block = {n: clocks.index(block.clock) for n, block in enumerate(hdl.blocks) if block.clock in clocks}
    lines += [f"tap {n} {lsb} {width} {of_block.get(n, 0)}" for n, (lsb, width) in enumerate(hdl.taps) if width]
    lines += _streams(hdl, clocks, task.depths)
    return "\n".join(lines) + "\n"


def _streams(hdl: HdlBuild, clocks: Sequence[str], depths: Mapping[str, int]) -> Iterator[str]:
    """The streams and FIFOs of one card, and who holds whom."""
    streams, fifos = hdl.streams[: len(hdl.streams) // hdl.cards], hdl.fifos[: len(hdl.fifos) // hdl.cards]
    for number, stream in enumerate(streams):
        clock = clocks.index(stream.clock)
        yield f"stream {number} {clock}"
        for place, wait in enumerate(stream.waits):
            own, by = int(wait.signal == "valid"), int(wait.held_by == "valid")
            yield f"stream_wait {number} {place} {own} {wait.other} {by} {clock}"
    for number, fifo in enumerate(fifos):
        takes, gives = (clocks.index(streams[end].clock) for end in (fifo.input, fifo.output))
        yield f"fifo {number} {fifo.input} {fifo.output} {takes} {gives}"
    for fifo_id, words in depths.items():
        yield f"depth {hdl.varied[fifo_id]} {words}"
