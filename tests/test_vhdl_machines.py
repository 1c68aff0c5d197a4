"""State machines in VHDL whose dwell times are known: counters, transitions, taps and the trace in hardware are exact.

EXAMPLES=1000 in the environment tries more of them. Beside the counters stand narrow ones, of the same machines read as
VHDL-93, which are as exact up to where they wrap around, and told beyond that.
"""

import os
import random
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage
from rtl_simulator import Cycle, Simulator, simulate
from state_machines import PART, Machine, check_counts, cycles_of, machine, read_out
from tools import NEEDS_GHDL

from workbench.api import HdlBuild
from workbench.api.instrument.probes import MonitorPlan
from workbench.api.instrument.traced import UNKNOWN, changes
from workbench.hdl import monitored
from workbench.model.application import HardwareSources, ReadOut, TraceMemory
from workbench.model.diagnostic import WorkbenchError

pytestmark = NEEDS_GHDL
MACHINES, NARROW = 8, 9
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


@dataclass(frozen=True)
class Built:
    """A model of machines with two counters each: of `build`, and in `out` those of `narrow`."""

    model: Path
    build: HdlBuild
    narrow: HdlBuild
    machines: list[Machine]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder, source = tmp_path_factory.mktemp("machines"), random.Random(21)
    machines = [machine(source, f"m{n}") for n in range(MACHINES)]
    hardware = write(folder, machines)
    build = VhdlLanguage().instrument(folder, hardware, PLATFORM, {}, folder / "observed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(monitored, "MonitorPlan", partial(MonitorPlan, count_bits=NARROW))
        of_93 = hardware.model_copy(update={"vhdl_standard": "93"})
        narrow = VhdlLanguage().instrument(folder, of_93, PLATFORM, {}, folder / "narrow")
    (top,) = (path for path in narrow.sources if re.search(r"^module top\b", path.read_text(), re.MULTILINE))
    text = re.sub(r"\b(recap_monitor|recap_port)\b", r"narrow_\1", top.read_text())
    (folder / "narrow.v").write_text(re.sub(r"^module top\b", "module narrow", text, flags=re.MULTILINE))
    dut = (
        "module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,\n"
        "output [31:0] rd_data, input [31:0] in, output [63:0] out, output [63:0] taps);\n"
        f"wire [{build.simulation.tap_bits - 1}:0] all_; assign taps = all_;\n"
        "top top(.clk(clk), .rst(rst), .addr(addr), .wr_en(wr_en), .rd_en(rd_en), .wr_data(wr_data),\n"
        ".rd_data(rd_data), .i(in), .recap_taps(all_));\n"
        "narrow narrow(.clk(clk), .rst(rst), .addr(addr), .wr_en(wr_en), .rd_en(rd_en), .wr_data(wr_data),\n"
        ".rd_data(out[31:0]), .i(in), .recap_taps());\nassign out[63:32] = 0;\nendmodule\n"
    )
    (folder / "dut.v").write_text(dut)
    sources = [folder / "dut.v", folder / "narrow.v", *build.sources]
    model = Simulator(folder).build(sources, "dut", defines=build.simulation.defines, taps="dut.taps")
    return Built(model, build, narrow, machines)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PART, min_size=1, max_size=8))
@example([(0, 150, 1), (1, 2, 0), (1, 1, 0), (0, 149, 2), (0, 150, 3), (0, 61, 4)])  # as many as they hold
@example([(0, 150, 1), (0, 150, 2), (0, 150, 3), (0, 61, 4)])
def test_all_that_is_told_is_what_the_tables_say(built: Built, parts: list[tuple[int, int, int]]) -> None:
    build, machines = built.build, built.machines
    plan = build.read_out
    assert plan is not None
    cycles = cycles_of(parts)
    freeze, *reads = read_out(plan)
    seen = simulate(built.model, [*cycles, freeze, *[Cycle()] * DRAIN, *reads])
    words, few = (
        read[len(cycles) + DRAIN + 4 :: 4][: plan.words].astype(np.uint32) for read in (seen.rd_data, seen.out)
    )
    tables = VhdlLanguage().decode(build, words)
    if sum(not cycle.rst for cycle in cycles) > 2**NARROW - 2:
        with pytest.raises(WorkbenchError, match=f"more than a counter of {NARROW} bits can hold"):
            VhdlLanguage().decode(built.narrow, few)
    else:
        for name, table in VhdlLanguage().decode(built.narrow, few).items():
            assert {of: column.tolist() for of, column in table.items()} == {
                of: column.tolist() for of, column in tables[name].items()
            }
    told, lost = changes(plan, build.blocks, words)
    number = {block.component.removeprefix("top."): n for n, block in enumerate(build.blocks)}
    out = np.array([not cycle.rst for cycle in cycles])
    for one in machines:
        block, states = number[f"{one.name}_here"], one.states(cycles)
        check_counts(tables, block, states, out)
        low, width = build.simulation.taps[block]
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
