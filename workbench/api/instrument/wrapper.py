"""The generated top level, in Verilog-2001: the user's design, a counter for each observed block, and the read-out."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from workbench.api.instrument.crossing import Monitor, ReadPlace, instances
from workbench.api.instrument.metric_probe import MetricProbe
from workbench.api.instrument.monitor_text import UNCOUNTED_DEFINE, monitor_text
from workbench.api.instrument.port_probe import PortProbe
from workbench.api.ports import USER_WIRE, HardwarePort
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.hardware import Clock, Hardware
from workbench.model.scan import HdlPort
from workbench.model.streams import Stream
from workbench.model.text import counted

#: The Verilog sources that every instrumented design needs besides the generated ones.
RUNTIME = ("recap_counter.v", "recap_control.v")
#: What those need besides that record changes of states.
TRACE_SOURCE = "recap_trace.v"
#: And those that sum a signal: the second is the agents' of queries, under another name.
VALUE_SOURCE = "recap_value.v"
AVERAGE_SOURCE = "agent/agent_average.v"
#: And those that keep the cycle in which an assertion failed first.
FIRST_SOURCE = "recap_first.v"
#: And those that keep the cycle in which began what of an assertion is open at the end.
OPEN_SOURCE = "recap_open.v"
TOP_FILE = "recap_top.v"
TAPS_DEFINE = "RECAP_TAPS"
#: Set by what simulates the design: it then gives valid and ready of its streams, as `recap_valid` and `recap_ready`.
STREAMS_DEFINE = "RECAP_STREAMS"
#: Set where the simulated card runs the design.
SIMULATED_DEFINE = "RECAP_SIMULATED_CARD"
#: What the signal is called that says which bits of a bidirectional port are driven, before the port's name.
DRIVEN = "recap_driven_"
STATE_PORT = "recap_state"
_RANGE = re.compile(r"(?:\[(\d+):(0)\])?")
USER_INSTANCE = "recap_user"


@dataclass(frozen=True)
class TopPort:
    """A port of the user's top level. `packed` and `unpacked` are ranges as text, such as `[31:0]`, or empty."""

    name: str
    direction: str  # input, output, inout
    packed: str = ""
    unpacked: str = ""
    signed: bool = False

    @property
    def type(self) -> str:
        return " ".join(part for part in ("wire", "signed" if self.signed else "", self.packed) if part)


@dataclass(frozen=True)
class TopParameter:
    """A parameter of the top level: how it is declared without its value (`parameter [7:0] N`), and the value."""

    name: str
    declaration: str
    value: str


@dataclass(frozen=True)
class Top:
    """The user's top level as the wrapper stands in for it; `inner` is its name in the instrumented copy."""

    name: str
    inner: str
    ports: tuple[TopPort, ...]
    parameters: tuple[TopParameter, ...] = ()


def runtime_source(name: str) -> str:
    return files("workbench.resources").joinpath("hdl", name).read_text(encoding="utf-8")


def check_port(top: Top, hardware: Hardware) -> None:
    """Raise WorkbenchError where the top level lacks a signal that the platform names."""
    if lacking := lacking_ports(top.name, [port.name for port in top.ports], hardware):
        raise WorkbenchError(lacking)


def lacking_ports(top: str, ports: Collection[str], hardware: Hardware) -> Diagnostic | None:
    """A diagnostic if a top with these ports lacks signals that the platform names, otherwise None."""
    missing: list[str] = []
    for clock in hardware.clocks:
        named = {f"clock {clock.name}": clock.pin, f"reset of {clock.name}": clock.reset}
        missing += [f"{role} '{signal}'" for role, signal in named.items() if signal and signal not in ports]
    for port in hardware.ports:
        roles: dict[str, list[str]] = defaultdict(list)
        for role, signal in port.signals().items() if isinstance(port, HardwarePort) else ():
            if signal.name and not signal.optional and signal.name not in ports:
                roles[signal.name].append(role.replace("_", " "))
        lacking = [f"{' and '.join(same)} '{name}'" for name, same in roles.items()]
        missing += [f"port {port.name}'s {', '.join(lacking)}"] if lacking else []
    if not missing:
        return None
    return Diagnostic(
        f"the top module '{top}' has no ports named as the platform says: {', '.join(missing)}",
        f"Its ports are {', '.join(sorted(ports))}. Name the matching ports under hardware.signals in the project, "
        "choose a platform with its interfaces, or write a module around it with these ports.",
    )


def wrong_widths(ports: Sequence[HdlPort], hardware: Hardware) -> Iterator[Diagnostic]:
    """An error for each of a top's ports that is wider or narrower than the signal of the platform that it is for."""
    own = {port.name: port for port in ports if not port.port or port.port == port.name}
    for port in hardware.ports:
        for role, signal in port.signals().items() if isinstance(port, HardwarePort) else ():
            here = own.get(signal.name)
            if here is None or signal.bits in (None, here.bits):
                continue
            of_word = signal.bits == port.word_bits and here.bits % 8 == 0
            hint = f"Say `word_bits: {here.bits}` in the template" if of_word else "Correct the port in the template"
            yield Diagnostic(
                f"'{here.name}' has {counted(here.bits, 'bit')}, but {role.replace('_', ' ')} of the platform's port "
                f"{port.name} has {signal.bits}",
                f"{hint}, choose another platform, or write a module around the top that has this width.",
                file=here.file or None, line=here.line or None,
            )  # fmt: skip


def uncounted(monitors: Sequence[Monitor]) -> tuple[str, ...]:
    """What leaves the counters of a simulated design out: none where only they know which cycles count, as a reset that
    is more than a pin says, or sum a signal, or keep since when an assertion is open, or an agent counts."""
    if any(monitor.plan.summed or monitor.plan.strong or monitor.plan.agent_bits for monitor in monitors):
        return ()
    plain = (set(re.findall(r"(?<![\w'])[A-Za-z_]\w*", m.clock.reset_hdl)) <= {m.clock.reset} for m in monitors)
    return (UNCOUNTED_DEFINE,) if all(plain) else ()


def wrapper(
    top: Top,
    monitors: Sequence[Monitor],
    place: ReadPlace,
    streams: Sequence[Stream] = (),
    ports: Sequence[PortProbe | MetricProbe] = (),
    pll_nets: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Verilog text of the new top level (of the old name), of the monitors and of the front behind the port at which
    they are read. `ports` are observed too: what they tell follows in the state vector what the design tells. Where it
    is simulated, the top also gives valid and ready of `streams`, the first in the least significant bit. `pll_nets`
    are nets of clocks that the design makes, by their names."""
    texts = [monitor_text(monitor.plan, number) for number, monitor in enumerate(monitors)]
    parts = ("`default_nettype none", *texts, place.front.text, _top(top, monitors, place, streams, ports, pll_nets))
    return "\n".join([*parts, "`default_nettype wire", ""])


def leaves_inputs(top: Top, place: ReadPlace) -> bool:
    """Whether the new top hands all inputs to the user's design as they are."""
    return not any(port.direction == "input" and port.name in place.front.taken for port in top.ports)


def _top(
    top: Top,
    monitors: Sequence[Monitor],
    place: ReadPlace,
    streams: Sequence[Stream],
    observed: Sequence[PortProbe | MetricProbe],
    pll_nets: Mapping[str, str],
) -> str:
    width = monitors[0].plan.state_width
    own_width = width - sum(probe.bits for probe in observed)  # of the design's states
    taken = set(place.front.taken)
    head = f"module {top.name}"
    if top.parameters:
        head += " #(\n" + ",\n".join(f"    {p.declaration} = {p.value}" for p in top.parameters) + "\n)"
    ports = [f"    {p.direction} {p.type} {p.name}{p.unpacked}" for p in (*top.ports, *place.more)]
    lines = [head + " (", ",\n".join(ports)]
    if width:
        lines += [f"`ifdef {TAPS_DEFINE}", f"    , output wire [{width - 1}:0] recap_taps", "`endif"]
    if streams:
        packed = f"output reg [{len(streams) - 1}:0]"
        lines += [f"`ifdef {STREAMS_DEFINE}", "    /* verilator lint_off MULTIDRIVEN */  // a clock's own bits of both"]
        lines += [f"    , {packed} recap_valid, {packed} recap_ready"]
        lines += ["    /* verilator lint_on MULTIDRIVEN */", "`endif"]
    lines.append(");")
    lines += [f"    {p.type} {USER_WIRE}{p.name};" for p in top.ports if p.name in taken]
    if width:
        lines.append(f"    wire [{width - 1}:0] {STATE_PORT};")
    connections = [f".{p.name}({USER_WIRE if p.name in taken else ''}{p.name})" for p in top.ports]
    if own_width:
        connections.append(f".{STATE_PORT}({STATE_PORT}[{own_width - 1}:0])")
    values = ", ".join(f".{p.name}({p.name})" for p in top.parameters)
    lines.append(f"    {top.inner}{f' #({values})' if values else ''} {USER_INSTANCE} (")
    lines += [",\n".join(f"        {c}" for c in connections), "    );"]
    reset_of = {clock.name: _reset(clock) for clock in (place.clock, *(monitor.clock for monitor in monitors))}
    for own_clock in (monitor for monitor in monitors if monitor.led is not None):
        source, bit = own_clock.led or ("", 0)
        own = f"    wire {own_clock.clock.pin} = {STATE_PORT}[{bit}];"
        simulated = [f"`ifdef {TAPS_DEFINE}", f"    wire {own_clock.clock.pin} = {source};", "`else", own, "`endif"]
        lines += [own] if own_clock.told else simulated
    for probe in observed:
        lines += probe.text(_reset(probe.clock), STATE_PORT)
    lines += instances(monitors, place, reset_of, STATE_PORT)
    if width:
        lines += [f"`ifdef {TAPS_DEFINE}", *_taps(monitors, width), "`endif"]
    lines += _driven(top)
    pins = {name: f"{USER_INSTANCE}.{net}" for name, net in pll_nets.items()}
    lines += _seen(streams, pins | {monitor.clock.name: monitor.clock.pin for monitor in monitors})
    return "\n".join([*lines, "endmodule", ""])


def _driven(top: Top) -> Iterator[str]:
    """Which bits of bidirectional ports are driven, for the record of a simulated run, where an undriven bit is 0."""
    for port in top.ports:
        found = _RANGE.fullmatch(port.packed) if port.direction == "inout" and not port.unpacked else None
        if found is not None:
            bits = (
                [f"{port.name}[{n}]" for n in range(int(found[1]), int(found[2]) - 1, -1)] if found[1] else [port.name]
            )
            yield f"`ifdef {SIMULATED_DEFINE}"
            yield f"    wire [{max(len(bits), 1) - 1}:0] {DRIVEN}{port.name} = {{"
            yield ", ".join(f"{bit} !== 1'bz" for bit in bits) + "};"
            yield "`endif"


def _taps(monitors: Sequence[Monitor], width: int) -> Iterator[str]:
    """All states as the simulation reads them: a cycle late, 0 in reset."""
    free = 0
    probes = [(probe, monitor) for monitor in monitors for probe in monitor.plan.probes if not probe.late]
    for number, (probe, monitor) in enumerate(sorted(probes, key=lambda pair: pair[0].lsb)):
        if probe.lsb > free:
            yield f"    assign recap_taps[{probe.lsb - 1}:{free}] = {STATE_PORT}[{probe.lsb - 1}:{free}];"
        free, kept = probe.lsb + probe.bits, f"recap_late_{number}"
        yield f"    reg [{probe.bits - 1}:0] {kept} = 0;"
        late = f"{_reset(monitor.clock)} ? {probe.bits}'d0 : {STATE_PORT}[{probe.lsb} +: {probe.bits}]"
        yield f"    always @(posedge {monitor.clock.pin}) {kept} <= {late};"
        yield f"    assign recap_taps[{probe.lsb} +: {probe.bits}] = {kept};"
    if width > free:
        yield f"    assign recap_taps[{width - 1}:{free}] = {STATE_PORT}[{width - 1}:{free}];"


def _reset(clock: Clock) -> str:
    return clock.reset_hdl or clock.reset or "1'b0"


def _seen(streams: Sequence[Stream], pins: Mapping[str, str]) -> Iterator[str]:
    """What keeps valid and ready of each cycle until the next: looked at once, whatever settles meanwhile."""
    if not streams:
        return
    yield f"`ifdef {STREAMS_DEFINE}"
    for clock in dict.fromkeys(stream.clock for stream in streams):
        mine = [number for number, stream in enumerate(streams) if stream.clock == clock]
        yield f"    always @(posedge {pins[clock]}) begin"
        for signal in ("valid", "ready"):
            kept = ", ".join(f"recap_{signal}[{number}]" for number in reversed(mine))
            whole = f"recap_{signal}" if len(mine) == len(streams) else f"{{{kept}}}"
            bits = [_seen_of(streams[number], signal) for number in reversed(mine)]
            yield f"        {whole} <= {{\n            " + ",\n            ".join(bits) + "\n        };"
        yield "    end"
    yield "`endif"


def _seen_of(stream: Stream, signal: str) -> str:
    """Valid or ready of a stream; neither while its end is passed, which is no word."""
    signal_name = _below(getattr(stream, signal))
    return f"({signal_name} && !({_below(stream.valid)} && {_below(stream.mark)}))" if stream.mark else signal_name


def _below(signal: str) -> str:
    """A signal that is named below the user's top, as the new top reads it."""
    return f"!{USER_INSTANCE}.{signal[1:]}" if signal.startswith("!") else f"{USER_INSTANCE}.{signal}"
