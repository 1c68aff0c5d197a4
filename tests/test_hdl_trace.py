"""The trace in hardware against changes found in Python: every change is there with its cycle, or counted as lost where
it was."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_port import CLOCK, PORT
from rtl_simulator import Cycle, Simulator, simulate

from workbench.api.instrument.crossing import Monitor, ReadPlace, read_out_plan
from workbench.api.instrument.probes import MonitorPlan, Probe, TraceStore
from workbench.api.instrument.traced import changes
from workbench.api.instrument.wrapper import runtime_source
from workbench.model.application import ReadOut
from workbench.model.blocks import Block, Side, State
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import ReadOutPlan

BITS = (1, 2, 3)  # of the blocks' states
LOWEST = (0, 1, 3)
DEPTH, STORE = 2, 5
TOP = """
module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,
           output [31:0] rd_data, input [5:0] in, output [63:0] out);
    wire [3:0] counted;
    wire counting = counted[0], first = counted[0] & ~counted[1], clearing;
    wire [47:0] cycles;
    recap_control #(.ENTRY_BITS(3), .SELECT_BITS(6)) control (
        .clock(clk), .reset(rst), .write_control(wr_en), .write_select(1'b0), .write_data(wr_data),
        .counted(counted), .frozen(), .held(), .clearing(clearing),
        .clear_write(), .select(), .cycles(cycles));
    reg [5:0] state;
    always @(posedge clk) state <= in;
    wire [2:0] there, take;
    wire [63:0] record_0, record_1, record_2;
    wire [31:0] lost_0, lost_1, lost_2, word;
    wire [5:0] stored;
    wire [31:0] dropped;
    recap_trace_buffer #(.BLOCK(0), .STATE_BITS(1), .DEPTH_BITS(2)) buffer_0 (.clock(clk), .clear(clearing),
        .state(state[0]), .counting(counting), .first(first), .cycle(cycles[39:0]), .take(take[0]), .there(there[0]),
        .record(record_0), .lost(lost_0));
    recap_trace_buffer #(.BLOCK(7), .STATE_BITS(2), .DEPTH_BITS(2)) buffer_1 (.clock(clk), .clear(clearing),
        .state(state[2:1]), .counting(counting), .first(first), .cycle(cycles[39:0]), .take(take[1]), .there(there[1]),
        .record(record_1), .lost(lost_1));
    recap_trace_buffer #(.BLOCK(9), .STATE_BITS(3), .DEPTH_BITS(2)) buffer_2 (.clock(clk), .clear(clearing),
        .state(state[5:3]), .counting(counting), .first(first), .cycle(cycles[39:0]), .take(take[2]), .there(there[2]),
        .record(record_2), .lost(lost_2));
    recap_trace_collector #(.BUFFERS(3), .STORE_BITS(5)) collector (.clock(clk), .clear(clearing), .there(there),
        .take(take), .record(record_0 | record_1 | record_2), .entry(addr[5:0]), .word(word), .stored(stored),
        .dropped(dropped));
    assign rd_data = word;
    assign out = {lost_2[7:0], lost_1[7:0], lost_0[7:0], dropped[15:0], 18'd0, stored};
endmodule
"""
NUMBERS = (0, 7, 9)
RECORDS = 1 << STORE
DRAIN = [Cycle(stimulus=5)] * (3 * (1 << DEPTH) + 8)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    texts = {"dut.v": TOP} | {name: runtime_source(name) for name in ("recap_control.v", "recap_trace.v")}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return Simulator(folder).build([folder / name for name in texts], "dut")


Record = tuple[bool, int, int, int]  # states were lost before it, its block, state, cycle from 0


def recorded(executable: Path, cycles: list[Cycle]) -> tuple[list[Record], list[int], int]:
    """What is in the store after these cycles and a freeze, how much each block lost, and how much found it full."""
    reads = [Cycle(addr=address) for address in range(2 * RECORDS)]
    seen = simulate(executable, [*cycles, Cycle(wr_en=1, wr_data=1), *DRAIN, *reads, Cycle()])
    words = [int(word) for word in seen.rd_data[-len(reads) :]]
    end = int(seen.out[-1])
    whole = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    records = [(bool(w >> 63), w >> 50 & 0x1FFF, w >> 40 & 0x3FF, (w & (1 << 40) - 1) - 1) for w in whole[: end & 63]]
    return records, [end >> shift & 0xFF for shift in (40, 48, 56)], end >> 24 & 0xFFFF


def happened(cycles: list[Cycle]) -> tuple[list[list[tuple[int, int]]], list[list[int]]]:
    """By block (state, counted cycle) of each change and start since the last clear; and its state in each cycle."""
    found: list[list[tuple[int, int]]] = [[] for _ in BITS]
    states: list[list[int]] = [[] for _ in BITS]
    frozen, before = False, False
    for cycle in cycles:
        stop = bool(cycle.wr_en and cycle.wr_data & 3)
        counts = not (cycle.rst or frozen or stop)
        for number, (bits, lowest) in enumerate(zip(BITS, LOWEST, strict=True)):
            state = cycle.stimulus >> lowest & (1 << bits) - 1
            if counts:
                if not before or state != states[number][-1]:
                    found[number].append((state, len(states[number])))
                states[number].append(state)
        before = counts
        if cycle.wr_en:
            frozen = stop
            if cycle.wr_data & 2:
                found, states = [[] for _ in BITS], [[] for _ in BITS]
    return found, states


def check(executable: Path, cycles: list[Cycle]) -> list[int]:
    records, lost, dropped = recorded(executable, cycles)
    wanted, states = happened(cycles)
    for number, block in enumerate(NUMBERS):
        mine = [(state, cycle) for _, of, state, cycle in records if of == block]
        gaps = [after for after, of, _, _ in records if of == block]
        assert mine == sorted(mine, key=lambda record: record[1])
        assert all(states[number][cycle] == state for state, cycle in mine)
        there = [record for record in mine if record in wanted[number]]
        assert dropped or len(wanted[number]) - len(there) == lost[number]
        places = [wanted[number].index(record) for record in there]
        for (before, after), record in zip(pairwise(places), there[1:], strict=False):
            assert after == before + 1 or any(gaps[: mine.index(record) + 1])
        if not lost[number]:
            assert mine == (wanted[number][: len(mine)] if dropped else wanted[number])
            assert not any(gaps)
        for (_, cycle), gap, (last, since) in zip(mine[1:], gaps[1:], mine, strict=False):
            if not gap:  # nothing happened between the two
                assert set(states[number][since:cycle]) == {last}
    assert not dropped or len(records) == RECORDS
    return lost


STAYS = st.lists(st.tuples(st.integers(0, 63), st.integers(1, 9)), min_size=1, max_size=30)
PARTS = st.lists(st.one_of(STAYS, st.sampled_from(["reset", "freeze", "run", "clear"])), min_size=1, max_size=6)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PARTS)
def test_every_change_is_recorded_or_counted_as_lost(traced: Path, parts: list[list[tuple[int, int]] | str]) -> None:
    cycles = [Cycle(rst=1)] * 3
    for part in parts:
        if part == "reset":
            cycles += [Cycle(rst=1, stimulus=21)] * 2
        elif part == "clear":
            cycles += [Cycle(wr_en=1, wr_data=2), *[Cycle(stimulus=9)] * 12, Cycle(wr_en=1, wr_data=0, stimulus=9)]
        elif isinstance(part, str):
            cycles.append(Cycle(wr_en=1, wr_data={"freeze": 1, "run": 0}[part], stimulus=13))
        else:
            cycles += [Cycle(stimulus=value) for value, length in part for _ in range(length)]
    check(traced, cycles)


def test_a_burst_fits_into_the_buffers(traced: Path) -> None:
    burst = [0, 63, 0]  # with what comes then four changes of each block, one a cycle: as deep as a buffer is
    assert check(traced, [Cycle(rst=1), *(Cycle(stimulus=value) for value in burst), *DRAIN]) == [0, 0, 0]


def test_more_than_can_be_taken_is_lost_and_said_so(traced: Path) -> None:
    lost = check(traced, [Cycle(rst=1), *(Cycle(stimulus=63 * (at % 2)) for at in range(16))])
    assert all(lost)


def test_the_first_are_kept_when_the_store_is_full(traced: Path) -> None:
    slow = [Cycle(stimulus=(at // 8 % 2)) for at in range(8 * (RECORDS + 20))]
    records, lost, dropped = recorded(traced, [Cycle(rst=1), *slow])
    assert len(records) == RECORDS
    assert [cycle for _, block, _, cycle in records if block == 0] == [8 * at for at in range(RECORDS - 2)]
    assert (lost, dropped) == ([0, 0, 0], 20 + 2)


def words_of(records: list[Record], dropped: int, lost: list[int], cycles: int) -> tuple[ReadOutPlan, list[int]]:
    """A plan for blocks 4 and 6, and the words that a design would answer."""
    store = MonitorPlan((Probe(4, 0, 3), Probe(6, 2, 3)), 4, trace=TraceStore.of(8, 4))
    addresses = ReadOut(first=0x40, last=0x4F)
    place = ReadPlace(PORT.name, PORT.monitor(addresses, {}), CLOCK, addresses)
    plan = read_out_plan([Monitor(store, CLOCK)], place)
    (monitor,) = plan.monitors
    trace = monitor.trace
    assert trace is not None
    words = [0] * plan.words
    for at, (gap, buffer, state, cycle) in enumerate(records):
        whole = gap << 63 | buffer << 50 | state << 40 | cycle + 1
        words[trace.base + 2 * at] = whole & 0xFFFFFFFF
        words[trace.base + 2 * at + 1] = whole >> 32
    words[trace.counts : trace.counts + 4] = [len(records), dropped, *lost]
    words[monitor.header + 1] = cycles
    return plan, words


@pytest.mark.parametrize(
    ("records", "dropped", "lost", "expected", "told"),
    [
        ([], 0, [0, 0], [(100, 4, 0), (100, 6, 0)], []),
        (
            [(False, 0, 1, 0), (False, 1, 2, 0), (False, 0, 2, 7)], 0, [0, 0],
            [(0, 4, 1), (0, 6, 2), (7, 4, 2), (100, 4, 0), (100, 6, 0)], [],
        ),
        (  # what came between cycle 1 and 9 is not known, nor what came after 12
            [(False, 0, 1, 0), (True, 0, 2, 9), (False, 0, 1, 12)], 0, [5 | 1 << 31, 0],
            [(0, 4, 1), (1, 4, 0), (9, 4, 2), (12, 4, 1), (13, 4, 0), (100, 6, 0)],
            ["the trace lacks 5 changes of the block b4, which came too fast for it"],
        ),
        (  # the next change of either may have waited 12 cycles when the last one was stored
            [(False, 1, 1, 3), (False, 0, 1, 60)], 7, [0, 0],
            [(3, 6, 1), (48, 6, 0), (60, 4, 1), (61, 4, 0)],
            ["the trace is full after 8 changes of states: 7 that came later are not in it"],
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_is_in_no_state(
    records: list[Record], dropped: int, lost: list[int], expected: list[tuple[int, int, int]], told: list[str]
) -> None:
    plan, words = words_of(records, dropped, lost, 100)
    blocks = [Block(f"b{number}", Side.FPGA, "b", "always", "b", (State(0, UNCLASSIFIED),)) for number in range(7)]
    taps, diagnostics = changes(plan, blocks, np.array(words, np.uint32))
    assert taps.tolist() == expected
    assert [d.message for d in diagnostics] == told
