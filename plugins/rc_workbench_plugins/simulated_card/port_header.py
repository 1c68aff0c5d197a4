"""The generated part of a card: the names of the design's signals, and a driver for each port."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rc_workbench_plugins.simulated_card.beside import beside_defines
from rc_workbench_plugins.simulated_card.port_check import all_ports
from workbench.api import Clock, Diagnostic, Hardware, HardwarePort, HdlBuild, Platform, WorkbenchError

MADE_CLOCKS = "recap_made"
TAP_PORT = "recap_taps"
_ACTIVE_LOW = re.compile(r"^[\s(]*[!~]|==\s*(1'b)?0[\s)]*$")
Pins = Mapping[str, tuple[str, int, str]]  # of the Verilated top: name -> ("IN" or "OUT", width, the model's member)


def made_clocks(hdl: HdlBuild) -> str:
    """Verilog that puts the card's clocks in the places of those that PLLs make: a variable for each, which design.cpp
    sets as it does clocks that are inputs."""
    public = "/*verilator public_flat_rw*/"
    lines = [
        f"package {MADE_CLOCKS};",
        *(f"    logic clock_{n} {public} = 0;" for n in range(len(hdl.simulation.made))),
    ]
    lines += ["endpackage", f"module {MADE_CLOCKS}_given;"]
    for number, path in enumerate(hdl.simulation.made):
        clock = f"{MADE_CLOCKS}::clock_{number}"
        lines.append(f"    always @({clock}) force {hdl.top}.{path} = {clock};")
    return "\n".join([*lines, "endmodule", f"bind {hdl.top} {MADE_CLOCKS}_given {MADE_CLOCKS}_given ();", ""])


@dataclass(frozen=True)
class Model:
    """A design that is Verilated: its `pins`, its state on which no stream depends (`idle`), whether its state is all
    that it does by (`whole`), and whether its signals are written (`waves`)."""

    pins: Pins
    idle: Sequence[str]
    whole: bool
    waves: bool


def port_header(
    platform: Platform, hdl: HdlBuild, clocks: Sequence[Clock], model: Model, constants: Mapping[str, int]
) -> str:
    """The generated card_port.h. `clocks` are the run's, of which another FPGA may make some. WorkbenchError where the
    top module lacks a signal of the platform's ports."""
    ports, hardware, pins = all_ports(platform, hdl), platform.hardware, model.pins
    assert hardware is not None
    wanted: list[tuple[str, str, int | None]] = [(clock.pin, "IN", None) for clock in hardware.clocks]
    wanted += [(clock.reset, "IN", None) for clock in hardware.clocks if clock.reset]
    for port in ports:
        for signal in port.signals().values():
            if not signal.optional or signal.name in pins:
                wanted.append((signal.name, "IN" if signal.direction == "input" else "OUT", signal.bits))
    if hdl.simulation.tap_bits:
        wanted.append((TAP_PORT, "OUT", None))
    problems = list(_problems(platform, hdl, pins, wanted))
    if problems:
        raise WorkbenchError(*problems)
    return _text(ports, hardware, hdl, clocks, model, constants)


def _problems(
    platform: Platform, hdl: HdlBuild, pins: Pins, wanted: list[tuple[str, str, int | None]]
) -> Iterator[Diagnostic]:
    for name, direction, bits in wanted:
        word = "input" if direction == "IN" else "output"
        if name not in pins or pins[name][0] != direction:
            have = ", ".join(pin for pin, (d, _, _) in pins.items() if d == direction)
            yield Diagnostic(
                f"the top module {hdl.top} has no {word} '{name}', which platform {platform.name}'s port needs",
                f"Its {word}s are: {have}.",
            )
        elif bits is not None and pins[name][1] != bits:
            yield Diagnostic(f"{hdl.top}.{name} has {pins[name][1]} bits, but the platform's words have {bits}")


def _text(
    ports: tuple[HardwarePort, ...], hardware: Hardware, hdl: HdlBuild, every: Sequence[Clock], model: Model,
    constants: Mapping[str, int],
) -> str:  # fmt: skip
    pins = model.pins
    clocks, own = hardware.clocks, {clock.name: number for number, clock in enumerate(hdl.simulation.made.values())}
    lines = ["#pragma once", f"#define CARD_WAVES {int(model.waves)}", f"#define CARD_CLOCKS {len(every)}"]
    lines += [f"#define CARD_TAP_BITS {hdl.simulation.tap_bits}", f"#define CARD_WHOLE {int(model.whole)}"]
    lines += beside_defines(hdl)
    lines.append(f"#define CARD_STREAMS {len(hdl.streams)}")
    if hdl.simulation.tap_bits:
        lines.append(f"#define CARD_TAPS {TAP_PORT}")
    if hardware.interrupt and pins.get(hardware.interrupt, ("",))[0] == "OUT":
        lines.append(f"#define CARD_IRQ {pins[hardware.interrupt][2]}")
    headers = dict.fromkeys(str(port.driver_header) for port in ports if port.driver_header)
    lines += [f'#include "{header}"' for header in headers]
    lines.append(f"#define CARD_HAS_RESET {int(any(clock.reset for clock in clocks))}")
    lines.append("inline void set_clock(Vcard& model, int clock, int level) {")
    lines += [f"    if (clock == {n}) model.{pins[clock.pin][2]} = level;" for n, clock in enumerate(clocks)]
    for n, clock in enumerate(every):
        if clock.name in own:
            lines.append(f"    if (clock == {n}) model.__PVT__{MADE_CLOCKS}->clock_{own[clock.name]} = level;")
    lines += ["}", "inline void set_reset(Vcard& model, int clock, bool active) {"]
    for n, clock in enumerate(clocks):
        if clock.reset:
            level = "!active" if _ACTIVE_LOW.search(clock.reset_hdl) else "active"
            lines.append(f"    if (clock == {n}) model.{pins[clock.reset][2]} = {level};")
    lines.append("    (void)model, (void)clock, (void)active;\n}")
    lines += [
        "template <class Blank> void blank_idle(Vcard__Syms& syms, Blank blank) {",
        "    (void)syms, (void)blank;",
    ]
    lines += [f"    blank(&syms.{name}, sizeof syms.{name});" for name in model.idle]
    lines.append("}")
    for number, port in enumerate(ports):
        lines += _pins(number, port, pins)
    vector_type = "std::vector<std::unique_ptr<Port>>"
    lines.append(f"inline {vector_type} make_ports(Vcard& model, std::vector<ClockDomain>& clocks) {{")
    lines += [f"    model.{pins[name][2]} = {value}ULL;" for name, value in constants.items()]
    lines.append(f"    {vector_type} made({len(ports)});")
    names = [port.name for port in ports]
    for number, port in sorted(enumerate(ports), key=lambda one: bool(one[1].served_by())):
        clock_number = clocks.index(hardware.clock_of(port))
        arguments = f"Pins{number}{{&model}}, clocks[{clock_number}]"
        driver = f"{port.driver}<Pins{number}>"
        if other := port.served_by():
            server = names.index(other)
            arguments += f", static_cast<{ports[server].driver}<Pins{server}>&>(*made[{server}])"
        lines.append(f"    made[{number}] = std::make_unique<{driver}>({arguments});")
    return "\n".join([*lines, "    return made;", "}", ""])


def _pins(number: int, port: HardwarePort, pins: Pins) -> Iterator[str]:
    yield f"struct Pins{number} {{"
    yield "    Vcard* model;"
    yield f'    static constexpr const char* name = "{port.name}";'
    yield f"    static constexpr int64_t word_bytes = {port.word_bits // 8};"
    for name, value in port.constants().items():
        yield f"    static constexpr int64_t {name} = {value};"
    for role, signal in port.signals().items():
        there = signal.name in pins
        yield f"    static constexpr bool has_{role} = {str(there).lower()};"
        yield f"    static constexpr int64_t {role}_bits = {pins[signal.name][1] if there else 64};"
        if there:
            yield f"    auto& {role}() {{ return model->{pins[signal.name][2]}; }}"
        else:
            yield f"    Absent& {role}() {{ static Absent none; return none; }}"
    yield "};"
