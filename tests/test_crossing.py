"""Monitors on another clock than the port's at which they are read: exact whatever the clocks' ratio, bounded where one
stands, and without a path between the clocks that is neither synchronised nor held still. EXAMPLES=1000 tries more."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from memory_port import CLOCK, PORT
from rtl_simulator import Simulator

from workbench.api import HdlBuild
from workbench.api.instrument import readout
from workbench.api.instrument.crossing import CROSSING_SOURCE, Monitor, ReadPlace, read_out_plan
from workbench.api.instrument.probes import MonitorPlan, Probe
from workbench.api.instrument.wrapper import RUNTIME, Top, TopPort, runtime_source, wrapper
from workbench.model.blocks import Block, Side, State
from workbench.model.hardware import Clock
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import LATER_CYCLES, ReadOut, ReadOutPlan
from workbench.system.process import run_program
from workbench.system.toolchain import Tool, find_yosys

EXAMPLES = int(os.environ.get("EXAMPLES", "6"))
ADDRESSES = ReadOut(first=0x40, last=0x4F)
PLACE = ReadPlace(PORT.name, PORT.monitor(ADDRESSES, {}, waits=True), CLOCK, ADDRESSES)
RATIOS = (50.0, 1.0, 0.02)  # the other clock's, as the platform says it
BLOCKS = tuple(Block(f"top.{name}", Side.FPGA, "top", "always", name, (State(0, UNCLASSIFIED),)) for name in "ab")
USER = """
module dut__user(input clk, input other, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,
                 output [31:0] rd_data, input [1:0] at, input [1:0] there, output reg [3:0] recap_state);
    assign rd_data = 32'hcafe0000 | addr;
    always @(posedge clk) recap_state[1:0] <= at;
    always @(posedge other) recap_state[3:2] <= there;
endmodule
"""
#: Drives all three with clocks of any periods and phase; from a moment on the other one may stand. It writes the states
#: of every cycle, counted from 0 at the end of reset, in which cycles of both the freeze was, and the words read.
HARNESS = """
#include <cstdio>
#include <cstdlib>
#include "Vdut.h"
#include "verilated.h"
int main(int, char** argv) {
    long n[12];
    for (int i = 0; i < 12; ++i) n[i] = std::atol(argv[i + 1]);
    const long which = n[0], here = n[1], there = n[2], phase = n[3], cycles = n[5], stop = n[6];
    const long control = n[7], select = n[8], data = n[9], acts = n[10], settle = n[11], words = std::atol(argv[13]);
    unsigned long long random = n[4] * 2654435761ull + 1;
    const auto any = [&] {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        return random >> 33;
    };
    VerilatedContext context;
    Vdut dut(&context);
    long at = 0, other = phase, a = 0, b = 0, held_a = 0, held_b = 0, frozen_b = -1;
    bool stands = false;
    std::FILE* told = std::fopen(argv[14], "w");
    dut.which = which, dut.rst = 1, dut.clk = dut.other = 0;
    const auto edges = [&](bool one, bool two) {
        dut.clk = one, dut.other = two, dut.eval();
        dut.clk = dut.other = 0, dut.eval();
        if (one && !dut.rst) std::fprintf(told, "a %d\\n", int(dut.at)), ++a;
        if (two && !dut.rst) std::fprintf(told, "b %d\\n", int(dut.there)), ++b;
        if (one && held_a-- <= 0) dut.at = any() % 3, held_a = any() % 5;
        if (two && held_b-- <= 0) dut.there = any() % 4, held_b = any() % 3;
        dut.eval();
    };
    const auto cycle = [&] {  // of the port's clock, and what is due of the other one until its end
        for (; other < at + here; other += there)
            if (!stands) edges(false, true);
        const bool both = other == at + here && !stands;
        if (both) other += there;
        at += here;
        const unsigned read = dut.rd_data;
        edges(true, both);
        return read;
    };
    const auto idle = [&](long count) { while (count-- > 0) cycle(); };
    const auto write = [&](long address, unsigned value) {
        dut.wr_en = 1, dut.addr = address, dut.wr_data = value, cycle(), dut.wr_en = 0;
    };
    for (int i = 0; i < 4; ++i) edges(true, true);
    dut.rst = 0, dut.eval();
    idle(cycles);
    stands = stop == 1;
    std::fprintf(told, "frozen %ld %ld\\n", a, b);
    write(control, 1);
    if (stop == 2) idle(acts / 4), stands = true;
    idle(acts);
    for (long i = 0; i < words; ++i) {
        if (stop == 3 && i == words / 2) stands = true;
        write(select, i);
        idle(settle);
        dut.rd_en = 1, dut.addr = data, cycle(), dut.rd_en = 0;
        std::printf("%u\\n", cycle());
    }
    dut.final();
    std::fclose(told);
}
"""


def clocks(ratio: float) -> tuple[Clock, Clock]:
    return CLOCK, CLOCK.model_copy(update={"name": "other", "signal": "", "frequency_hz": CLOCK.frequency_hz * ratio})


def monitors(ratio: float) -> list[Monitor]:
    here, there = clocks(ratio)
    return [
        Monitor(MonitorPlan((Probe(0, 0, 3),), 4), here, (0,)),
        Monitor(MonitorPlan((Probe(1, 2, 4),), 4), there, (1,)),
    ]


def plan(ratio: float) -> ReadOutPlan:
    return read_out_plan(monitors(ratio), PLACE)


def observed(number: int) -> str:
    wide = {"addr": "[15:0]", "wr_data": "[31:0]", "at": "[1:0]", "there": "[1:0]"}
    names = ("clk", "other", "rst", "addr", "wr_en", "rd_en", "wr_data", "at", "there")
    ports = [*(TopPort(name, "input", wide.get(name, "")) for name in names), TopPort("rd_data", "output", "[31:0]")]
    text = wrapper(Top(f"dut_{number}", "dut__user", tuple(ports)), monitors(RATIOS[number]), PLACE)
    return re.sub(r"\brecap_(monitor|port)(_1)?\b(?= #| recap| \()", rf"recap_\1\2_of_{number}", text)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crossing")
    names = ("clk", "other", "rst", "addr", "rd_en", "wr_data", "at", "there")
    pins = ", ".join(f".{name}({name})" for name in names)
    uses = "".join(
        f"    dut_{n} d{n}({pins}, .wr_en(wr_en & which == {n}), .rd_data(all[32 * {n} +: 32]));\n" for n in range(3)
    )
    dut = (
        "module dut(input clk, input other, input rst, input [15:0] addr, input wr_en, input rd_en,\n"
        "    input [31:0] wr_data, output [31:0] rd_data, input [1:0] at, input [1:0] there, input [1:0] which);\n"
        f"    wire [95:0] all;\n    assign rd_data = all[32 * which +: 32];\n{uses}endmodule\n"
    )
    texts = {"user.v": USER, "dut.v": dut, **{name: runtime_source(name) for name in (*RUNTIME, CROSSING_SOURCE)}}
    texts |= {f"top_{number}.v": observed(number) for number in range(3)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return Simulator(folder).build([folder / name for name in texts], "dut", harness=HARNESS)


@dataclass(frozen=True)
class Told:
    """The words read; the states of both clocks' cycles, and how many had passed of each when the freeze came."""

    words: np.ndarray
    states: tuple[list[int], list[int]]
    frozen: tuple[int, int]


def simulated(
    model: Path, which: int, periods: tuple[int, int], phase: int, cycles: int, seed: int = 1, stop: int = 0
) -> Told:
    read, file = plan(RATIOS[which]), model.with_name("told.txt")
    select, data = read.each
    numbers = (which, *periods, phase, seed, cycles, stop, read.freeze.address, select.address, data.address,
               read.acts_cycles, data.settle_cycles, read.words)  # fmt: skip
    done = run_program([model, *map(str, numbers), file])
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in file.read_text().splitlines()]
    ours, theirs = ([int(line[1]) for line in lines if line[0] == clock] for clock in "ab")
    (frozen,) = ((int(line[1]), int(line[2])) for line in lines if line[0] == "frozen")
    return Told(np.array(done.stdout.split(), dtype=np.uint32), (ours, theirs), frozen)


def build(which: int) -> HdlBuild:
    return HdlBuild((), "top", BLOCKS, read_out=plan(RATIOS[which]))


def check_block(told: Told, which: int, block: int, counted: int) -> None:
    """The tables are what the states of so many cycles say."""
    tables = readout.decode(build(which), told.words)
    states = told.states[block][:counted]
    times, moves = tables["state_time"], tables["transitions"]
    mine, rows = times["block"] == block, moves["block"] == block
    assert times["cycles"][mine].tolist() == [states.count(n) for n in range(3 + block)]
    seen = zip(moves["from_state"][rows], moves["to_state"][rows], moves["count"][rows], strict=True)
    pairs = Counter(pairwise(states))
    assert {(a, b): n for a, b, n in seen} == {pair: n for pair, n in pairs.items() if pair[0] != pair[1]}


PERIODS = st.tuples(st.integers(1, 97), st.integers(1, 97)).filter(lambda both: max(both) <= 50 * min(both))


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((1, 50), 7, 200, 1)
@example((50, 1), 11, 20, 2)
@given(PERIODS, st.integers(0, 200), st.integers(1, 300), st.integers(1, 1 << 30))
def test_every_cycle_of_both_clocks_is_counted_once(
    model: Path, ratio: tuple[int, int], phase: int, cycles: int, seed: int
) -> None:
    here, there = ratio
    which = 2 if there > here else 0 if here > there else 1
    told = simulated(model, which, (20 * here, 20 * there), phase % (20 * there), cycles, seed)
    plans = plan(RATIOS[which]).monitors
    assert not list(readout.silent(build(which), told.words))
    ours, theirs = (monitor.cycles(told.words) for monitor in plans)
    assert ours == told.frozen[0]
    later_ps = LATER_CYCLES * 20 * (here + there)
    assert told.frozen[1] <= theirs <= told.frozen[1] + later_ps // (20 * there) + 1
    for block, counted in enumerate((ours, theirs)):
        check_block(told, which, block, counted)


@pytest.mark.parametrize("which", range(3))
def test_a_clock_of_half_the_speed_that_the_platform_says_is_waited_for(model: Path, which: int) -> None:
    periods = (100, round(2 * 100 / RATIOS[which]))
    told = simulated(model, which, periods, 0, 200)
    assert not list(readout.silent(build(which), told.words))
    check_block(told, which, 1, plan(RATIOS[which]).monitors[1].cycles(told.words))


@pytest.mark.parametrize("stop", [1, 2, 3], ids=["before the freeze", "after it", "amid the reading"])
def test_a_clock_that_stands_is_told_and_the_others_are_read(model: Path, stop: int) -> None:
    told = simulated(model, 1, (10, 10), 3, 100, stop=stop)
    if stop < 3:
        assert told.words[plan(1.0).monitors[1].first :].tolist() == [0] * plan(1.0).monitors[1].words
    assert list(readout.silent(build(1), told.words)) == [("other", (1,))]
    check_block(told, 1, 0, told.frozen[0])
    times = readout.decode(build(1), told.words)["state_time"]
    assert times["cycles"][times["block"] == 1].tolist() == [0]


def netlist(tmp_path: Path) -> dict[str, Any]:
    texts = {"user.v": USER, "top.v": observed(1)} | {n: runtime_source(n) for n in (*RUNTIME, CROSSING_SOURCE)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    script = "hierarchy -top dut_1; proc; flatten; memory_map; simplemap; opt_clean; write_json netlist.json"
    yosys = find_yosys()
    assert isinstance(yosys, Tool)
    done = run_program([yosys.path, "-q", "-p", f"read_verilog {' '.join(texts)}; {script}"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "netlist.json").read_text())["modules"]["dut_1"]


#: The registers of recap_crossing.v that another clock's may feed, or that say when one is looked at.
OWN = ("ask", "ask_1", "ask_2", "ask_3", "controlled", "held", "done", "done_1", "done_2", "told")


def test_what_crosses_is_synchronised_or_held(tmp_path: Path) -> None:
    """Every register that another clock's feeds: two synchronisers, and words that change only while none looks."""
    module = netlist(tmp_path)
    names: dict[int, set[str]] = {}
    for name, net in module["netnames"].items():
        for bit in net["bits"]:
            names.setdefault(bit, set()).add(name.rpartition(".")[2])
    cells = list(module["cells"].values())
    registers = [cell for cell in cells if "Q" in cell["connections"]]
    drivers = {bit: cell for cell in cells for pin in "QY" for bit in cell["connections"].get(pin, [])}
    clock_of = {bit: pin for pin in ("clk", "other") for bit in module["ports"][pin]["bits"]}

    def short(cell: dict[str, Any]) -> str:
        """Its own name, among those of the wires that it leads to."""
        (bit,) = cell["connections"]["Q"]
        return min(names[bit], key=lambda name: (name not in OWN, name))

    def sources(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The registers that decide on this one's next value."""
        todo = [bit for pin, bits in cell["connections"].items() if pin not in ("C", "Q") for bit in bits]
        seen: set[int] = set()
        while todo:
            bit = todo.pop()
            if bit in seen or bit not in drivers:
                continue
            seen.add(bit)
            if "Q" in drivers[bit]["connections"]:
                yield drivers[bit]
            else:
                inputs = drivers[bit]["connections"]
                todo += [one for pin, bits in inputs.items() if pin != "Y" for one in bits]

    crossing: Counter[tuple[str, str]] = Counter()
    for cell in registers:
        clock = clock_of[cell["connections"]["C"][0]]
        feeding = list(sources(cell))
        near = {short(other) for other in feeding if clock_of[other["connections"]["C"][0]] == clock}
        for other in feeding:
            if clock_of[other["connections"]["C"][0]] == clock:
                continue
            crossing[clock, short(other)] += 1
            if short(other) in ("ask", "done"):  # straight into the first of two registers, and nowhere else
                assert short(cell) == f"{short(other)}_1"
                assert cell["connections"]["D"] == other["connections"]["Q"]
            else:  # looked at only where the synchronised bit says that it is there
                assert {"ask_2", "ask_3"} <= near if clock == "other" else {"ask", "done_2"} <= near
    assert {name for clock, name in crossing if clock == "other"} == {"ask", "controlled", "held"}
    assert {name for clock, name in crossing if clock == "clk"} <= {"done", "told"}
    assert crossing["other", "ask"] == crossing["clk", "done"] == 1
