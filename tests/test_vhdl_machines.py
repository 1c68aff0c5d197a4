"""State machines in VHDL whose dwell times are known: counters, transitions, taps and the trace in hardware are exact.

EXAMPLES=1000 in the environment tries more of them. Their counters are the Verilog's, at each width and where they wrap
around, in test_hdl_monitor.py.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage
from rtl_simulator import Cycle, Simulator, simulate
from state_machines import PART, Machine, check_counts, cycles_of, machine, read_out
from tools import NEEDS_GHDL

from workbench.api import HdlBuild
from workbench.api.instrument.traced import UNKNOWN, changes
from workbench.model.application import HardwareSources, ReadOut, TraceMemory

pytestmark = NEEDS_GHDL
MACHINES = 8
DRAIN = MACHINES * 64  # what buffers hold is in the store by then
EXAMPLES = int(os.environ.get("EXAMPLES", "10"))
PORTS = """clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
        i : in std_logic_vector(31 downto 0)"""


def write(folder: Path, machines: list[Machine]) -> HardwareSources:
    uses = "".join(f"    {m.name}_here : entity work.{m.name} port map (clk, rst, i({m.bit}));\n" for m in machines)
    top = (
        f"library ieee; use ieee.std_logic_1164.all;\nentity top is\n    port ({PORTS});\nend entity;\n"
        f'architecture rtl of top is\nbegin\n{uses}    rd_data <= x"0000" & addr;\nend architecture;\n'
    )
    (folder / "top.vhd").write_text("".join(m.vhdl(m.name) for m in machines) + top)
    memory = TraceMemory(records=256, burst=64)
    return HardwareSources(sources=("top.vhd",), top="top", read_out=ReadOut(first=0x3F00, last=0x3F0F), trace=memory)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, HdlBuild, list[Machine]]:
    folder, source = tmp_path_factory.mktemp("machines"), random.Random(21)
    machines = [machine(source, f"m{n}") for n in range(MACHINES)]
    build = VhdlLanguage().instrument(folder, write(folder, machines), PLATFORM, {}, folder / "observed")
    dut = (
        "module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,\n"
        "output [31:0] rd_data, input [31:0] in, output [63:0] out, output [63:0] taps);\n"
        f"wire [{build.tap_bits - 1}:0] all_; assign taps = all_, out = 0;\n"
        "top top(.clk(clk), .rst(rst), .addr(addr), .wr_en(wr_en), .rd_en(rd_en), .wr_data(wr_data),\n"
        ".rd_data(rd_data), .i(in), .recap_taps(all_));\nendmodule\n"
    )
    (folder / "dut.v").write_text(dut)
    sources = [folder / "dut.v", *build.sources]
    return Simulator(folder).build(sources, "dut", defines=build.defines, taps="dut.taps"), build, machines


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PART, min_size=1, max_size=8))
def test_all_that_is_told_is_what_the_tables_say(
    built: tuple[Path, HdlBuild, list[Machine]], parts: list[tuple[int, int, int]]
) -> None:
    model, build, machines = built
    plan = build.read_out
    assert plan is not None
    cycles = cycles_of(parts)
    freeze, *reads = read_out(plan)
    seen = simulate(model, [*cycles, freeze, *[Cycle()] * DRAIN, *reads])
    words = seen.rd_data[len(cycles) + DRAIN + 4 :: 4][: plan.words].astype(np.uint32)
    tables = VhdlLanguage().decode(build, words)
    told, lost = changes(plan, build.blocks, words)
    number = {block.component.removeprefix("top."): n for n, block in enumerate(build.blocks)}
    out = np.array([not cycle.rst for cycle in cycles])
    for one in machines:
        block, states = number[f"{one.name}_here"], one.states(cycles)
        check_counts(tables, block, states, out)
        low, width = build.taps[block]
        taps = seen.taps[: len(cycles)].astype(int) >> low & (1 << width) - 1
        assert taps[1:][out[:-1]].tolist() == states[:-1][out[:-1]].tolist()
        counted, mine = states[out], told[told["block"] == block]
        if width == 0:
            continue
        ends = [*mine["cycle"][1:].tolist(), len(counted)]
        for begin, end, state in zip(mine["cycle"].tolist(), ends, mine["state"].tolist(), strict=True):
            assert state == UNKNOWN or set(counted[begin:end].tolist()) <= {state}
        if not lost:
            changed = [n for n in range(len(counted)) if n == 0 or counted[n] != counted[n - 1]]
            assert {(n, int(counted[n])) for n in changed} <= set(zip(mine["cycle"], mine["state"], strict=True))
