"""The generated top level, in Verilog-2001: the user's design, a counter for each observed block, and the read-out."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from workbench.api.instrument.crossing import Monitor, ReadPlace, instances, numbered
from workbench.api.instrument.port_probe import STATE_BITS, PortProbe
from workbench.api.instrument.probes import HEADER_WORDS, MAGIC, Counter, MonitorPlan, Probe
from workbench.api.ports import USER_WIRE, HardwarePort
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.hardware import Clock, Hardware
from workbench.model.streams import Stream

#: The Verilog sources that every instrumented design needs besides the generated ones.
RUNTIME = ("recap_counter.v", "recap_control.v")
#: What those need besides that record changes of states.
TRACE_SOURCE = "recap_trace.v"
TOP_FILE = "recap_top.v"
TAPS_DEFINE = "RECAP_TAPS"
#: Set by what simulates the design: it then gives valid and ready of its streams, as `recap_valid` and `recap_ready`.
STREAMS_DEFINE = "RECAP_STREAMS"
#: Set by what simulates the design and counts its taps by itself: the counters are then left out.
UNCOUNTED_DEFINE = "RECAP_UNCOUNTED"
STATE_PORT = "recap_state"
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
    """That a top with these ports has not all signals that the platform names; None where it has."""
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
        f"Its ports are {', '.join(sorted(ports))}. Say under hardware.signals of the project which are meant, name a "
        "platform that has its interfaces, or write a module around it that has these ports.",
    )


def uncounted(monitors: Sequence[Monitor]) -> tuple[str, ...]:
    """What leaves the counters of a simulated design out: none where only they know which cycles count, as a reset that
    is more than a pin says."""
    plain = (set(re.findall(r"(?<![\w'])[A-Za-z_]\w*", m.clock.reset_hdl)) <= {m.clock.reset} for m in monitors)
    return (UNCOUNTED_DEFINE,) if all(plain) else ()


def wrapper(
    top: Top,
    monitors: Sequence[Monitor],
    place: ReadPlace,
    streams: Sequence[Stream] = (),
    ports: Sequence[PortProbe] = (),
) -> str:
    """Verilog text of the new top level (of the old name), of the monitors and of the front behind the port at which
    they are read. `ports` are observed too: their states follow those of the design. Where it is simulated, the top
    also gives valid and ready of `streams`, the first in the least significant bit."""
    texts = [_monitor(monitor.plan, number) for number, monitor in enumerate(monitors)]
    parts = ("`default_nettype none", *texts, place.front.text, _top(top, monitors, place, streams, ports))
    return "\n".join([*parts, "`default_nettype wire", ""])


def leaves_inputs(top: Top, place: ReadPlace) -> bool:
    """Whether the new top hands all inputs to the user's design as they are."""
    return not any(port.direction == "input" and port.name in place.front.taken for port in top.ports)


def _top(
    top: Top, monitors: Sequence[Monitor], place: ReadPlace, streams: Sequence[Stream], observed: Sequence[PortProbe]
) -> str:
    width = monitors[0].plan.state_width
    own_width = width - STATE_BITS * len(observed)  # of the design's states
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
        lines += [f"`ifdef {STREAMS_DEFINE}", f"    , {packed} recap_valid, {packed} recap_ready"]
        lines.append("`endif")
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
    for probe in observed:
        lines += probe.text(_reset(probe.clock), STATE_PORT)
    for own_clock in (monitor for monitor in monitors if monitor.led is not None):
        source, bit = own_clock.led or ("", 0)
        own = f"    wire {own_clock.clock.pin} = {STATE_PORT}[{bit}];"
        simulated = [f"`ifdef {TAPS_DEFINE}", f"    wire {own_clock.clock.pin} = {source};", "`else", own, "`endif"]
        lines += [own] if own_clock.told else simulated
    lines += instances(monitors, place, reset_of, STATE_PORT)
    if width:
        lines += [f"`ifdef {TAPS_DEFINE}", *_taps(monitors, width), "`endif"]
    lines += _seen(streams, {monitor.clock.name: monitor.clock.pin for monitor in monitors})
    return "\n".join([*lines, "endmodule", ""])


def _taps(monitors: Sequence[Monitor], width: int) -> Iterator[str]:
    """All states as the simulation is told them: a cycle late, 0 in reset."""
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
    yield "    /* verilator lint_off MULTIDRIVEN */  // a clock's own bits of both"
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


def _monitor(plan: MonitorPlan, number: int) -> str:
    count, entry, select = plan.count_bits, plan.entry_bits, plan.select_bits
    lines = [
        f"module {numbered('recap_monitor', number)} (",
        "    input wire clock, input wire reset,",
        *([f"    input wire [{plan.state_width - 1}:0] state,"] if plan.state_width else []),
        "    input wire write_control, input wire write_select, input wire [31:0] write_data,",
        "    output wire [31:0] word, output wire frozen, output wire clearing",
        ");",
        f"`ifdef {UNCOUNTED_DEFINE}",
        "    assign word = 0, frozen = 0, clearing = 0;",
        "`else",
        "    wire [3:0] counted;",
        "    wire held, clear_write;",
        f"    wire [{select - 1}:0] select;",
        "    wire [47:0] cycles;",
        f"    recap_control #(.ENTRY_BITS({entry}), .SELECT_BITS({select})) control (",
        "        .clock(clock), .reset(reset),",
        "        .write_control(write_control), .write_select(write_select), .write_data(write_data),",
        "        .counted(counted), .frozen(frozen), .held(held),",
        "        .clearing(clearing), .clear_write(clear_write), .select(select), .cycles(cycles)",
        "    );",
    ]
    if any(counter.place_bits for counter in plan.counters):
        lines.append("    wire watch = write_control & write_data[2];")
    for slot, (counter, base) in enumerate(zip(plan.counters, plan.bases, strict=True), 1):
        lines += _counter(plan, counter, slot, _at(select, base, counter.words))
    lines += _trace(plan, select)
    shown = _or_tree([f"count_{slot}" for slot in range(1, len(plan.counters) + 1)])
    places = [f"place_shown_{slot}" for slot, counter in enumerate(plan.counters, 1) if counter.place_bits]
    place = f"({_or_tree(places)})" if places else "16'd0"
    half = f"{{{place}, 16'd0}}" if count <= 32 else f"{{{place}, {48 - count}'d0, shown[{count - 1}:32]}}"
    low = "shown[31:0]" if count >= 32 else f"{{{{{32 - count}{{1'b0}}}}, shown}}"
    lines += [
        f"    wire [{count - 1}:0] shown = {shown};" if shown else f"    wire [{count - 1}:0] shown = 0;",
        "    reg own = 0;  // as the counters' outputs: of the word that was selected a cycle ago",
        "    reg [1:0] part = 0;",
        "    always @(posedge clock) begin",
        f"        own <= {_at(select, plan.header, HEADER_WORDS)};",
        "        part <= select[1:0];",
        "    end",
        "    reg [31:0] header;",
        "    always @*",
        "        case (part)",
        f"            2'd0: header = 32'h{MAGIC:08x};",
        "            2'd1: header = cycles[31:0];",
        "            2'd2: header = {16'd0, cycles[47:32]};",
        f"            default: header = 32'd{len(plan.counters)};",
        "        endcase",
        f"    wire [31:0] counter_word = part[0] ? {half} : {low};",
        f"    assign word = own ? header : counter_word{' | trace_word' if plan.trace_words else ''};",
    ]
    assert HEADER_WORDS == 4
    return "\n".join([*lines, "`endif", "endmodule", ""])


def _counter(plan: MonitorPlan, counter: Counter, slot: int, selected: str) -> Iterator[str]:
    """A counter, `count_SLOT`, and where it watches one of several blocks, which (`place_shown_SLOT`, 0 where another
    counter's words are asked for). Those states come one cycle later."""
    bits, width, several = counter.bits, plan.count_bits, counter.place_bits
    yield f"    wire at_{slot} = {selected};"
    (state, last, older) = _of_probe(counter.probes[0])
    if several:
        place, probes = f"place_{slot}", counter.probes
        (state, last, older) = f"seen_{slot}", f"last_{slot}", f"older_{slot}"
        yield f"    reg [{several - 1}:0] {place} = 0;"
        yield f"    reg [{bits - 1}:0] {state} = 0;"
        for bit in range(bits):
            of_each = (f"state[{p.lsb + bit}]" if bit < p.bits else "1'b0" for p in reversed(probes))
            yield f"    wire [{len(probes) - 1}:0] bit_{slot}_{bit} = {{{', '.join(of_each)}}};"
        seen = ", ".join(f"bit_{slot}_{bit}[{place}]" for bit in reversed(range(bits)))
        yield "    always @(posedge clock) begin"
        yield f"        if (watch & at_{slot}) {place} <= select[{several - 1}:0];"
        yield f"        {state} <= {{{seen}}};"
        yield "    end"
        late = sorted({probe.late for probe in probes})
        if len(late) > 1:
            those = "".join(str(probe.late) for probe in reversed(probes))
            yield f"    wire [{len(probes) - 1}:0] late_of_{slot} = {len(probes)}'b{those};"
            chosen = f"late_of_{slot}[{place}] ? "
            yield f"    wire {last} = {chosen}counted[2] : counted[1], {older} = {chosen}counted[3] : counted[2];"
        else:
            yield f"    wire {last} = counted[{late[0] + 1}], {older} = counted[{late[0] + 2}];"
        yield f"    reg [15:0] place_shown_{slot} = 0;"
        yield f"    always @(posedge clock) place_shown_{slot} <= {place} & {{{several}{{at_{slot}}}}};"
    yield f"    wire [{width - 1}:0] count_{slot};"
    yield f"    recap_counter #(.STATE_BITS({bits}), .COUNT_BITS({width}), .TAP({plan.tap})) counter_{slot} ("
    yield f"        .clock(clock), .state({state}), .last_counted({last}), .older_counted({older}),"
    yield f"        .frozen(held), .selected(~clearing & at_{slot}), .entry(select[{1 + 2 * bits}:1]),"
    yield f"        .clearing(clear_write), .count(count_{slot})"
    yield "    );"


def _of_probe(probe: Probe) -> tuple[str, str, str]:
    """A block's state, and whether the two cycles before its own count."""
    return f"state[{probe.lsb} +: {probe.bits}]", f"counted[{probe.late}]", f"counted[{probe.late + 1}]"


def _trace(plan: MonitorPlan, select: int) -> Iterator[str]:
    """The trace's buffers and collector, and `trace_word`, 0 where another word is asked for."""
    words, store = plan.trace_words, plan.trace
    if words is None or store is None:
        return
    slots = range(1, len(plan.probes) + 1)
    last = len(plan.probes) - 1
    yield f"    wire [{last}:0] trace_there, trace_take;"
    for slot, probe in enumerate(plan.probes, 1):
        yield f"    wire [63:0] change_{slot};"
        yield f"    wire [31:0] lost_{slot};"
        state = f"state[{probe.lsb} +: {probe.bits}]"
        if not probe.late:
            yield f"    reg [{probe.bits - 1}:0] late_{slot} = 0;"
            yield f"    always @(posedge clock) late_{slot} <= {state};"
            state = f"late_{slot}"
        sizes = f".BLOCK({slot - 1}), .STATE_BITS({probe.bits}), .DEPTH_BITS({store.burst_bits})"
        yield f"    recap_trace_buffer #({sizes}) changes_{slot} ("
        yield f"        .clock(clock), .clear(clearing), .state({state}),"
        yield "        .counting(counted[0]), .first(counted[0] & ~counted[1]), .cycle(cycles[39:0]),"
        yield f"        .take(trace_take[{slot - 1}]), .there(trace_there[{slot - 1}]),"
        yield f"        .record(change_{slot}), .lost(lost_{slot})"
        yield "    );"
    yield "    wire [31:0] change_word, dropped;"
    yield f"    wire [{store.record_bits}:0] stored;"
    yield f"    recap_trace_collector #(.BUFFERS({last + 1}), .STORE_BITS({store.record_bits})) collector ("
    yield "        .clock(clock), .clear(clearing), .there(trace_there), .take(trace_take),"
    yield f"        .record({_or_tree([f'change_{slot}' for slot in slots])}),"
    yield f"        .entry(select[{store.record_bits}:0]), .word(change_word), .stored(stored), .dropped(dropped)"
    yield "    );"
    bits = (len(plan.probes) + 1).bit_length()
    yield "    reg [31:0] trace_count;"
    yield "    always @(posedge clock)"
    yield f"        case (select[{bits - 1}:0])"
    for number, name in enumerate(("stored", "dropped", *(f"lost_{slot}" for slot in slots))):
        yield f"            {bits}'d{number}: trace_count <= {name};"
    yield "            default: trace_count <= 0;"
    yield "        endcase"
    of_records, of_counts = _at(select, words.base, 2 * words.records), _at(select, words.counts, 1 << bits)
    yield "    reg of_records = 0, of_counts = 0;"
    yield "    always @(posedge clock) begin"
    yield f"        of_records <= {of_records};"
    yield f"        of_counts <= {of_counts};"
    yield "    end"
    yield "    wire [31:0] trace_word = of_records ? change_word : of_counts ? trace_count : 0;"


def _or_tree(names: Sequence[str]) -> str:
    """A balanced tree of ORs, of four inputs each."""
    terms = list(names)
    while len(terms) > 1:
        groups = [terms[i : i + 4] for i in range(0, len(terms), 4)]
        terms = [f"({' | '.join(group)})" if len(group) > 1 else group[0] for group in groups]
    return terms[0] if terms else ""


def _at(select_bits: int, base: int, words: int) -> str:
    """Whether `select` is one of `words` words from `base` on; `base` is a multiple of `words`, a power of two."""
    low = words.bit_length() - 1
    return (
        f"select[{select_bits - 1}:{low}] == {_number(base >> low, select_bits - low)}" if select_bits > low else "1'b1"
    )


def _number(value: int, bits: int) -> str:
    return f"{bits}'h{value:x}"
