"""The monitors of all clocks behind one port: what leads from the port to each, and the plan by which their words are
read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.api.instrument.probes import LINKS, MonitorPlan
from workbench.api.ports import MonitorFront
from workbench.model.cycles import period_ps
from workbench.model.hardware import Clock
from workbench.model.read_out import ReadOut, ReadOutPlan

if TYPE_CHECKING:
    from workbench.api.instrument.wrapper import TopPort

#: What several monitors need besides the other sources.
CROSSING_SOURCE = "recap_crossing.v"
CROSSING_MODULE = "recap_crossing"
#: From what is asked to its answer, in `recap_crossing.v`: cycles of the port's clock, and of the monitor's, at most.
_HERE_CYCLES, _THERE_CYCLES = 5, 11
_MADE_SLOWER = 256  # so many times slower than what it is made of a clock may be of which nothing is said
_SENDS = 4  # cycles of its clock, at most, in which an agent sends a word of its last frames
SLOWER = 2  #: so many times slower than the platform says a clock may be, and is still waited for


@dataclass(frozen=True)
class Monitor:
    """The counters of one clock's blocks; `blocks` are the build's numbers of all blocks on it, None where that is
    each. Of a clock that the design itself makes `led` is the top's clock of which it is made, and which bit of the
    state vector it is; where the design is simulated that top's clock counts, unless it is `told` how fast it is."""

    plan: MonitorPlan
    clock: Clock
    blocks: tuple[int, ...] | None = None
    led: tuple[str, int] | None = None
    told: bool = False

    @property
    def least_hz(self) -> float:
        """How slow its clock may be, as far as is known."""
        return self.clock.frequency_hz / (_MADE_SLOWER if self.led and not self.told else 1)


@dataclass(frozen=True)
class ReadPlace:
    """Where all monitors are read: a port, what stands behind it, its clock, and the addresses left to the monitors.
    `more` is what the new top has for a port of the monitors' own."""

    port: str
    front: MonitorFront
    clock: Clock
    addresses: ReadOut
    more: tuple[TopPort, ...] = ()

    def far(self, monitor: Monitor) -> bool:
        """Whether a monitor has another clock than the port."""
        return monitor.clock.name != self.clock.name

    def limit_bits(self, least_hz: float) -> int:
        """How many bits count the port's cycles until a monitor on a clock so fast at least is not waited for."""
        slower = float(period_ps(least_hz) / period_ps(self.clock.frequency_hz))
        return (SLOWER * (_HERE_CYCLES + math.ceil(_THERE_CYCLES * slower))).bit_length()

    def waits(self, monitors: Sequence[Monitor]) -> int:
        """Cycles of the port in which any monitor has answered, or is not waited for any longer; 0 where all have the
        port's clock."""
        return max(((1 << self.limit_bits(m.least_hz)) + 4 for m in monitors if self.far(m)), default=0)


def read_out_plan(monitors: Sequence[Monitor], place: ReadPlace) -> ReadOutPlan:
    """How the words of all monitors are read, one monitor's after the other's."""
    front, waits = place.front, place.waits(monitors)
    words, first = [], 0
    for monitor in monitors:
        own = monitor.plan.words_from(first, monitor.clock.name, place.far(monitor), monitor.blocks, front)
        words.append(replace(own, made_of=monitor.clock.derived_from if monitor.led else ""))
        first += monitor.plan.words
    slower = [max(1.0, place.clock.frequency_hz / monitor.least_hz) for monitor in monitors]
    entries = max(1 << monitor.plan.entry_bits for monitor in monitors)
    agents = [(one.plan.agent_words, ratio) for one, ratio in zip(monitors, slower, strict=True)]
    sent = max((math.ceil(_SENDS * agent.words * ratio) for agent, ratio in agents if agent), default=0)
    each = tuple(front.each)
    if each:
        each = (*each[:-1], replace(each[-1], settle_cycles=max(each[-1].settle_cycles, waits)))
    return ReadOutPlan(
        words=first,
        first=place.addresses.first,
        last=place.addresses.last,
        freeze=front.freeze,
        run=front.run,
        clear=front.clear,
        each=each,
        monitors=tuple(words),
        port=place.port,
        acts_cycles=2 * waits + sent,  # to choose what a counter watches is to ask twice
        clear_cycles=waits + 2 * math.ceil((entries + 8) * max(slower)),
        parts=front.parts,
        block_words=front.block_words,
        marks=front.marks,
        answer_port=front.answer_port,
    )


_WORDS, _BITS = ("word", "write_data"), ("frozen", "clearing", "write_control", "write_select")


def instances(monitors: Sequence[Monitor], place: ReadPlace, reset_of: dict[str, str], state: str) -> Iterator[str]:
    """Verilog at the top level: the front, the monitors (`recap_monitor`, `recap_monitor_1`, ...), and where there are
    several clocks what leads to each of them. `reset_of` has each clock's reset by its name, `state` is the design's
    state vector."""
    direct = len(monitors) == 1 and not place.far(monitors[0])
    bus = {name: f"recap_{name}" for name in (*_WORDS, *_BITS)}
    yield from _wires(bus)
    yield "    wire recap_answered;"
    first, linked = 0, sum(bool(monitor.plan.linked) for monitor in monitors)
    if linked:
        yield f"    wire [{linked * LINKS - 1}:0] recap_links;  // in Gray code, each part on its own clock"
    for number, monitor in enumerate(monitors):
        own = bus if direct else {name: f"{signal}_{number}" for name, signal in bus.items()}
        if not direct:
            yield from _wires(own)
            yield from _crossing(monitor, place, number, first)
            first += monitor.plan.words
        module = numbered("recap_monitor", number)
        yield f"    {module} {module} ("
        yield f"        .clock({monitor.clock.pin}), .reset({reset_of[monitor.clock.name]}),"
        if monitor.plan.state_width:
            yield f"        .state({state}),"
        if monitor.plan.linked:
            yield f"        .far(recap_links), .links(recap_links[{number * LINKS} +: {LINKS}]),"
        yield f"        {_connected(own)}"
        yield "    );"
    if direct:
        yield "    assign recap_answered = 1'b1;"
    else:
        for name, joint in (("word", " | "), ("frozen", " & "), ("clearing", " | "), ("answered", " & ")):
            yield f"    assign recap_{name} = {joint.join(f'seen_{name}_{n}' for n in range(len(monitors)))};"
    yield "    /* verilator lint_off WIDTH */  // the top may have fewer address bits than the platform"
    yield "    recap_port recap_port ("
    yield f"        .clock({place.clock.pin}), .reset({reset_of[place.clock.name]}),"
    yield f"        {_connected(bus)}, .answered(recap_answered),"
    yield ",\n".join(f"        .{name}({signal})" for name, signal in place.front.connections.items())
    yield "    );"
    yield "    /* verilator lint_on WIDTH */"


def _crossing(monitor: Monitor, place: ReadPlace, number: int, first: int) -> Iterator[str]:
    plan, far = monitor.plan, place.far(monitor)
    sizes = f".FIRST({first}), .WORDS({plan.words}), .BITS({max(3, plan.select_bits)}), .FAR({int(far)})"
    limit = f", .LIMIT_BITS({place.limit_bits(monitor.least_hz)})" if far else ""
    yield f"    wire [31:0] seen_word_{number};"
    yield f"    wire seen_frozen_{number}, seen_clearing_{number}, seen_answered_{number};"
    yield f"    {CROSSING_MODULE} #({sizes}{limit}) recap_crossing_{number} ("
    yield f"        .clock({place.clock.pin}), .write_control(recap_write_control), .write_select(recap_write_select),"
    yield f"        .write_data(recap_write_data), .word(seen_word_{number}), .frozen(seen_frozen_{number}),"
    yield f"        .clearing(seen_clearing_{number}), .answered(seen_answered_{number}),"
    yield f"        .far_clock({monitor.clock.pin}),"
    yield "        " + ", ".join(f".far_{name}(recap_{name}_{number})" for name in (*_WORDS, *_BITS))
    yield "    );"


def _wires(names: dict[str, str]) -> Iterator[str]:
    yield f"    wire [31:0] {', '.join(names[name] for name in _WORDS)};"
    yield f"    wire {', '.join(names[name] for name in _BITS)};"


def _connected(names: dict[str, str]) -> str:
    return ", ".join(f".{name}({signal})" for name, signal in names.items())


def numbered(name: str, number: int) -> str:
    return f"{name}_{number}" if number else name
