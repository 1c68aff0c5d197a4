"""The counters in simulation against pairs counted in Python: any states, resets, freezes, resumptions, clears, widths,
and blocks chosen for fewer counters. EXAMPLES=1000 in the environment tries more of them."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_port import CLOCK, HARDWARE, PORT
from rtl_simulator import Cycle, Seen, Simulator, simulate

from workbench.api import HdlBuild
from workbench.api.instrument import readout
from workbench.api.instrument.crossing import Monitor, ReadPlace, read_out_plan
from workbench.api.instrument.lfsr import TAPS
from workbench.api.instrument.probes import MonitorPlan, Probe
from workbench.api.instrument.wrapper import (
    RUNTIME,
    Top,
    TopPort,
    check_port,
    runtime_source,
    uncounted,
    wrapper,
)
from workbench.api.ports import MonitorFront
from workbench.model.application import ReadOut
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import UNCLASSIFIED

TOP = Top(
    "dut",
    "dut__recap_user",
    (
        TopPort("clk", "input"),
        TopPort("rst", "input"),
        TopPort("addr", "input", "[15:0]"),
        TopPort("wr_en", "input"),
        TopPort("rd_en", "input"),
        TopPort("wr_data", "input", "[31:0]"),
        TopPort("rd_data", "output", "[31:0]"),
        TopPort("in", "input", "[5:0]"),
        TopPort("out", "output", "[5:0]"),
    ),
)
# A "design" whose three blocks do what the stimulus says: states of 1, 2 and 3 bits, which are told a cycle later. Two
# more tell the first and the third of them at once.
USER = """
module dut__recap_user(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,
                       output [31:0] rd_data, input [5:0] in, output [5:0] out, output [11:0] recap_state);
    reg [5:0] late;
    assign rd_data = 32'hcafe0000 | addr;
    assign out = in;
    assign recap_state = {in, late};
    always @(posedge clk) late <= in;
endmodule
"""
PROBES = (Probe(0, 0, 2), Probe(2, 1, 4), Probe(3, 3, 7), Probe(4, 9, 7, late=0), Probe(5, 6, 2, late=0))
BLOCKS = 6  # block 1 has no counter
CONTROL = 0x40
EXAMPLES = int(os.environ.get("EXAMPLES", "8"))


ADDRESSES = ReadOut(first=CONTROL, last=CONTROL + 15)
FRONT = PORT.monitor(ADDRESSES, {})
PLACE = ReadPlace(PORT.name, FRONT, CLOCK, ADDRESSES)
SELECT, DATA = (access.address for access in FRONT.each)


def plan(count_bits: int, engines: int = 0) -> MonitorPlan:
    return MonitorPlan(PROBES, 12, count_bits, engines=engines)


PLANS = (*map(plan, TAPS), *(plan(36, engines) for engines in (1, 2, 4)))


@dataclass(frozen=True)
class Built:
    """One of the monitors that a model has. `number` says to the stimulus which of them is read."""

    executable: Path
    plan: MonitorPlan
    number: int

    def simulate(self, cycles: Iterable[Cycle]) -> Seen:
        chosen = self.number << 6
        return simulate(self.executable, (replace(cycle, stimulus=cycle.stimulus | chosen) for cycle in cycles))


def build(this: MonitorPlan) -> HdlBuild:
    block = Block("dut.b", Side.FPGA, "dut", "always", "dut.b", (State(0, UNCLASSIFIED),))
    return HdlBuild((), "dut", (block,) * BLOCKS, read_out=read_out_plan([Monitor(this, CLOCK)], PLACE))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All plans' monitors side by side, each with a design of its own."""
    folder = tmp_path_factory.mktemp("monitor")
    texts = {"user.v": USER, **{name: runtime_source(name) for name in RUNTIME}}
    names = ("clk", "rst", "addr", "wr_en", "rd_en", "wr_data")
    pins = ", ".join(f".{name}({name})" for name in names)
    uses = ""
    for number, this in enumerate(PLANS):
        text = wrapper(replace(TOP, name=f"dut_{number}"), [Monitor(this, CLOCK)], PLACE)
        texts[f"top_{number}.v"] = re.sub(r"\b(recap_monitor|recap_port)\b", rf"\1_of_{number}", text)
        uses += f"    dut_{number} d{number}({pins}, .in(in[5:0]), .out(), .rd_data(all[32 * {number} +: 32]));\n"
    texts["dut.v"] = (
        "module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,\n"
        "           output [31:0] rd_data, input [9:0] in, output [5:0] out);\n"
        f"    wire [{32 * len(PLANS) - 1}:0] all;\n{uses}"
        "    assign rd_data = all[32 * in[9:6] +: 32];\n    assign out = in[5:0];\nendmodule\n"
    )
    for name, text in texts.items():
        (folder / name).write_text(text)
    return Simulator(folder).build([folder / name for name in texts], "dut")


def named(this: MonitorPlan) -> str:
    return f"{this.count_bits} bits" + (f", {this.engines} counters" if this.engines else "")


@pytest.fixture(params=range(len(PLANS)), ids=[named(this) for this in PLANS])
def monitor(request: pytest.FixtureRequest, model: Path) -> Built:
    return Built(model, PLANS[request.param], request.param)


@pytest.mark.parametrize(
    ("reset_hdl", "left_out"),
    [("", True), ("!rst", True), ("rst == 1'b0", True), ("rst | halt", False), ("rst && addr[0]", False)],
)
def test_counters_are_left_out_only_where_a_pin_alone_says_what_counts(reset_hdl: str, left_out: bool) -> None:
    clock = CLOCK.model_copy(update={"reset": "rst", "reset_hdl": reset_hdl})
    assert bool(uncounted([Monitor(plan(36), CLOCK), Monitor(plan(36), clock)])) == left_out


def read_out(this: MonitorPlan) -> list[Cycle]:
    words = [(Cycle(addr=SELECT, wr_en=1, wr_data=i), Cycle(), Cycle(addr=DATA, rd_en=1), Cycle())
             for i in range(this.words)]  # fmt: skip
    return [cycle for word in words for cycle in word]


def write(value: int, stimulus: int = 0) -> Cycle:
    return Cycle(addr=CONTROL, wr_en=1, wr_data=value, stimulus=stimulus)


def expected(cycles: list[Cycle], this: MonitorPlan) -> tuple[list[Counter[tuple[int, int]]], int]:
    """Pairs (previous or -1, current) of each probe over the cycles that count, and their number."""
    pairs: list[Counter[tuple[int, int]]] = [Counter() for _ in PROBES]
    frozen, before, total = False, None, 0
    for cycle in cycles:
        control = cycle.wr_en and cycle.addr == CONTROL
        stop = bool(control and cycle.wr_data & 3)
        if cycle.rst or frozen or stop:
            before = None
        else:
            total += 1
            for probe, counter in zip(PROBES, pairs, strict=True):
                place, mask = probe.lsb % 6, (1 << probe.bits) - 1
                now = cycle.stimulus >> place & mask
                last = -1 if before is None else before >> place & mask
                counter[last, now] += 1
            before = cycle.stimulus
        if control:
            frozen = stop
            if cycle.wr_data & 2:
                pairs, total = [Counter() for _ in PROBES], 0
    return pairs, total


def check(monitor: Built, cycles: list[Cycle], watched: Collection[int] | None = None) -> None:
    """`watched` are the blocks that were counted; without it those that are where nothing was chosen."""
    this = monitor.plan
    everything = [*cycles, write(1), *read_out(this)]
    seen = monitor.simulate(everything)
    words = seen.rd_data[len(cycles) + 4 :: 4][: this.words].astype(np.uint32)
    pairs, total = expected(cycles, this)
    if total > (1 << this.count_bits) - 2:
        with pytest.raises(WorkbenchError, match=f"{total} cycles were counted, more than a counter of"):
            readout.decode(build(this), words)
        return
    tables = readout.decode(build(this), words)
    time, moves = tables["state_time"], tables["transitions"]
    if watched is None:
        watched = [counter.probes[0].block for counter in this.counters]
    assert set(readout.unwatched(build(this), words)) == {probe.block for probe in PROBES} - set(watched)
    for probe, counter in zip(PROBES, pairs, strict=True):
        mine, rows = moves["block"] == probe.block, time["block"] == probe.block
        if probe.block not in watched:
            assert (time["state"][rows].tolist(), time["cycles"][rows].tolist(), mine.any()) == ([0], [total], False)
            continue
        got = zip(moves["from_state"][mine], moves["to_state"][mine], moves["count"][mine], strict=True)
        assert {(a, b): n for a, b, n in got} == {(a, b): n for (a, b), n in counter.items() if a not in (-1, b)}
        for state in range(probe.states):
            assert time["cycles"][rows][state] == sum(n for (_, b), n in counter.items() if b == state)
            assert time["visits"][rows][state] == sum(n for (a, b), n in counter.items() if b == state and a != b)
        assert time["cycles"][rows].sum() == total
    assert time["cycles"][time["block"] == 1].tolist() == [total]


def states(values: list[int]) -> list[int]:
    """Six bits as the three probes' states; the third has only seven."""
    return [v & 0x37 if v >> 3 == 7 else v for v in values]


RUN = st.lists(st.integers(0, 63), min_size=1, max_size=60).map(states)
STAY = st.tuples(st.integers(0, 55), st.integers(1, 120)).map(lambda pair: [pair[0]] * pair[1])
PARTS = st.lists(
    st.one_of(
        st.tuples(st.just("go"), st.one_of(RUN, STAY)),
        st.tuples(st.sampled_from(["reset", "freeze", "run", "clear"]), st.just([0])),
    ),
    min_size=1,
    max_size=8,
)


def cleared(this: MonitorPlan) -> list[Cycle]:
    """A clear, and what it takes."""
    return [write(2), *[Cycle(stimulus=9)] * ((1 << this.entry_bits) + 4)]


def of_parts(this: MonitorPlan, parts: list[tuple[str, list[int]]]) -> list[Cycle]:
    cycles: list[Cycle] = []
    for kind, values in parts:
        if kind == "go":
            cycles += [Cycle(stimulus=value) for value in values]
        elif kind == "reset":
            cycles += [Cycle(rst=1, stimulus=21)] * 2
        elif kind == "clear":
            cycles += cleared(this)
        else:
            cycles.append(write({"freeze": 1, "run": 0}[kind], stimulus=13))
    return cycles


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PARTS)
def test_every_cycle_is_counted_once(monitor: Built, parts: list[tuple[str, list[int]]]) -> None:
    check(monitor, [*[Cycle(rst=1)] * 3, *of_parts(monitor.plan, parts)])


@pytest.mark.parametrize("number", [n for n, this in enumerate(PLANS) if this.engines])
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PARTS, st.sets(st.sampled_from([probe.block for probe in PROBES]), min_size=1))
def test_counters_watch_the_blocks_that_are_chosen(
    model: Path, number: int, parts: list[tuple[str, list[int]]], blocks: set[int]
) -> None:
    this = PLANS[number]
    chosen = read_out_plan([Monitor(this, CLOCK)], PLACE).watching(blocks)
    watch = [Cycle(addr=access.address, wr_en=1, wr_data=access.value, stimulus=9) for access in chosen.watch]
    choose = [Cycle(rst=1), *[Cycle(stimulus=50)] * 5, *watch, *cleared(this), write(0)]
    watched = {probe.block for probe in PROBES} - set(chosen.not_watched())
    assert len(watched) == len(this.counters)
    of_counters = [[probe.block for probe in counter.probes] for counter in this.counters]
    assert watched & blocks == {next(b for b in of if b in blocks) for of in of_counters if blocks.intersection(of)}
    check(Built(model, this, number), [*choose, *of_parts(this, parts)], watched)


@pytest.mark.parametrize("number", [n for n, this in enumerate(PLANS) if this.count_bits <= 15])
def test_a_counter_holds_as_many_cycles_as_its_bits_say_and_tells_of_more(model: Path, number: int) -> None:
    this = PLANS[number]
    most = (1 << this.count_bits) - 2
    check(Built(model, this, number), [Cycle(rst=1), *[Cycle(stimulus=22)] * most])
    check(Built(model, this, number), [Cycle(rst=1), *[Cycle(stimulus=22)] * (most + 1)])


def test_alternating_and_long_stays(model: Path) -> None:
    cycles = [Cycle(rst=1), *[Cycle(stimulus=0)] * 69_600]
    cycles += [Cycle(stimulus=value) for value in (0, 1, 2, 1, 2, 3, 3, 1, 0, 0, 1, 1, 0) for _ in (0, 1)] * 3
    check(Built(model, PLANS[6], 6), cycles)


def test_other_addresses_are_the_users(model: Path) -> None:
    registers = {CONTROL, DATA}
    reads = [Cycle(rd_en=1, addr=address) for address in range(CONTROL - 4, CONTROL + 20)]
    answers = simulate(model, [Cycle(rst=1), *(c for read in reads for c in (read, Cycle(addr=read.addr)))])
    for read, answer in zip(reads, answers.rd_data[2::2].tolist(), strict=True):
        assert (answer == 0xCAFE0000 | read.addr) == (read.addr not in registers)


def test_words_of_another_design_are_refused() -> None:
    this = plan(36)
    with pytest.raises(WorkbenchError, match="do not come from this design"):
        readout.decode(build(this), np.zeros(this.words, dtype=np.uint32))


def test_an_overlong_run_is_noticed() -> None:
    this = plan(36)
    words = np.zeros(this.words, dtype=np.uint32)
    words[this.header :] = 0x52434150, 0xFFFFFFFF, 0xF, len(this.counters)
    with pytest.raises(WorkbenchError, match="68719476735 cycles were counted, more than"):
        readout.decode(build(this), words)


def test_registers_are_aligned_where_there_is_room() -> None:
    def places(front: MonitorFront) -> tuple[int, ...]:
        return front.freeze.address, *(access.address for access in front.each)

    assert places(PORT.monitor(ReadOut(first=0x41, last=0x4F), {})) == (0x44, 0x45, 0x46)
    assert places(PORT.monitor(ReadOut(first=0x41, last=0x43), {})) == (0x41, 0x42, 0x43)
    bytewise = PORT.model_copy(update={"address_unit_bytes": 1})
    assert places(bytewise.monitor(ReadOut(first=0x40, last=0x7F), {})) == (0x40, 0x44, 0x48)


@pytest.mark.parametrize(
    ("changes", "read_out", "message"),
    [
        ({}, (0x40, 0x41), "too small for the monitor's 3 registers"),
        ({"word_bits": 8}, (0x40, 0x44), "too small for the monitor's 6 registers"),
        ({}, (0xFFFE, 0x10003), "past the port's 16 address bits"),
    ],
)
def test_ports_that_cannot_be_used(changes: dict[str, object], read_out: tuple[int, int], message: str) -> None:
    port = type(PORT).model_validate({**PORT.model_dump(), **changes})
    with pytest.raises(WorkbenchError, match=message):
        port.monitor(ReadOut(first=read_out[0], last=read_out[1]), {})


def test_a_missing_signal_is_named() -> None:
    with pytest.raises(WorkbenchError, match=r"no ports named .*port host's write data 'wr_data'"):
        check_port(replace(TOP, ports=tuple(p for p in TOP.ports if p.name != "wr_data")), HARDWARE)
