"""Counters read out through a pair of streams: every word of the application's passes, whatever it is, and the answer
is whole, with the design idle, busy or held up on either side."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rc_workbench_plugins.ports.bus import StreamInPort, StreamOutPort
from rtl_simulator import Cycle, Simulator, simulate

from workbench.api import HdlBuild
from workbench.api.instrument import readout
from workbench.api.instrument.crossing import Monitor, ReadPlace, read_out_plan
from workbench.api.instrument.probes import MonitorPlan, Probe
from workbench.api.instrument.wrapper import RUNTIME, Top, TopPort, runtime_source, wrapper
from workbench.api.ports import monitor_front
from workbench.model.application import ReadOut
from workbench.model.blocks import Block, Side, State
from workbench.model.hardware import Clock, Hardware
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import Marks, ReadOutPlan

CLOCK = Clock(name="clk", frequency_hz=100e6, reset="rst")
# The design takes a word when it is told to, keeps one, and gives it again; its block's state is told as well.
USER = """
module echo__recap_user (
    input clk, input rst, input [1:0] told, input may_take,
    input [W-1:0] tdata, input tvalid, output tready,
    output [W-1:0] back_tdata, output back_tvalid, input back_tready, output back_tlast,
    output took, output reg [1:0] recap_state
);
    reg [W-1:0] held;
    reg full = 0;
    assign tready = may_take & (~full | back_tready);
    assign took = tvalid & tready;
    assign back_tdata = held, back_tvalid = full, back_tlast = 0;
    always @(posedge clk) begin
        recap_state <= told;
        if (took) held <= tdata;
        full <= ~rst & (took | (full & ~back_tready));
    end
endmodule
"""
# What the host sends waits in a queue; an offered word stays. `in`: push, may take, out ready, offer, state (2 bits).
HARNESS = """
module dut (
    input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [63:0] wr_data, output [63:0] rd_data,
    input [63:0] in, output [63:0] out
);
    reg [W-1:0] queue [0:8191];
    reg [12:0] first = 0, last = 0;
    reg offered = 0;
    wire valid = first != last & (offered | in[3]), ready, back_valid, took, back_last;
    wire [W-1:0] back;
    reg [W+1:0] waited = 0;
    wire changed = waited[W+1] & waited != {back_valid, back_last, back};
    echo echo (
        .clk(clk), .rst(rst), .told(in[5:4]), .may_take(in[1]), .tdata(queue[first]), .tvalid(valid), .tready(ready),
        .back_tdata(back), .back_tvalid(back_valid), .back_tready(in[2]), .back_tlast(back_last), .took(took)
    );
    always @(posedge clk) begin
        if (in[0]) begin
            queue[last] <= wr_data[W-1:0];
            last <= last + 1;
        end
        if (valid & ready) first <= first + 1;
        offered <= valid & ~ready;
        waited <= {back_valid & ~in[2], back_last, back};
    end
    assign out = {60'd0, changed, valid & ready & ~took, back_last, took};
    assign rd_data = back_valid & in[2] ? {1'b1, {63-W{1'b0}}, back} : queue[first];
endmodule
"""
PROBES, WATCHED = (Probe(0, 0, 2), Probe(1, 0, 4)), 1  # of one counter
BLOCK = Block("dut.b", Side.FPGA, "dut", "always", "dut.b", (State(0, UNCLASSIFIED),))
GIVEN = 1 << 63  # a word of the stream out of the design


@pytest.fixture(scope="module", params=[8, 32])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ReadOutPlan]:
    bits: int = request.param
    packed = f"[{bits - 1}:0]"
    ports = [
        *(TopPort(name, "input") for name in ("clk", "rst")), TopPort("told", "input", "[1:0]"),
        *(TopPort(name, "input") for name in ("may_take", "tvalid", "back_tready")), TopPort("tdata", "input", packed),
        *(TopPort(name, "output") for name in ("tready", "back_tvalid", "back_tlast", "took")),
        TopPort("back_tdata", "output", packed),
    ]  # fmt: skip
    into, back = StreamInPort(word_bits=bits), StreamOutPort(name="back", prefix="back_", word_bits=bits)
    widths = {port.name: 1 if not port.packed else bits for port in ports}
    hardware = Hardware(clocks=(CLOCK,), ports=(into, back))
    addresses = ReadOut(first=0, last=3)
    found = monitor_front(hardware, [CLOCK], addresses, widths)
    assert found is not None
    place = ReadPlace(into.name, found[1], CLOCK, addresses)
    monitors, top = [Monitor(MonitorPlan(PROBES, 2, engines=1), CLOCK)], Top("echo", "echo__recap_user", tuple(ports))
    folder = tmp_path_factory.mktemp("streams")
    texts = {
        "user.v": USER.replace("W-1", str(bits - 1)),
        "dut.v": HARNESS.replace("W-1", str(bits - 1)).replace("63-W", str(63 - bits)).replace("W+1", str(bits + 1)),
        "top.v": wrapper(top, monitors, place),
        **{name: runtime_source(name) for name in RUNTIME},
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    simulator = Simulator(folder).build([folder / name for name in texts], "dut")
    return simulator, read_out_plan(monitors, place).watching({WATCHED})


def split(value: int, words: int, bits: int) -> list[int]:
    return [value >> at * bits & ((1 << bits) - 1) for at in range(words)]


def sent(data: Sequence[int], marks: Marks) -> list[int]:
    """A transfer of the application's as it goes into the stream."""
    if all(not 0 <= word - marks.base < 8 for word in data):
        return list(data)
    return [marks.base + marks.DATA, *split(len(data), marks.argument_words, marks.word_bits), *data]


def asked(plan: ReadOutPlan, question: int) -> list[int]:
    assert plan.marks is not None
    argument = split(question << 32 | plan.words, plan.marks.argument_words, plan.marks.word_bits)
    return [plan.freeze.value, plan.marks.base + plan.marks.READ, *argument]


def words(bits: int) -> st.SearchStrategy[int]:
    marks = Marks.of(bits)
    return st.one_of(st.integers(0, 9).map(lambda n: marks.base - 1 + n), st.integers(0, (1 << bits) - 1))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_data_pass_whatever_they_are_and_the_answer_is_whole(
    built: tuple[Path, ReadOutPlan], data: st.DataObject
) -> None:
    simulator, plan = built
    marks = plan.marks
    assert marks is not None
    bits, question = marks.word_bits, data.draw(st.integers(0, (1 << 32) - 1))
    transfers = data.draw(st.lists(st.lists(words(bits), min_size=1, max_size=12), max_size=8))
    before = data.draw(st.integers(0, len(transfers)))
    begun = [*(access.value for access in plan.watch), plan.clear.value, plan.run.value]
    queue = [word for one in transfers[:before] for word in sent(one, marks)]
    freeze = len(begun) + len(queue)
    queue += asked(plan, question)
    queue += [word for one in transfers[before:] for word in sent(one, marks)]
    chance, seed = data.draw(st.tuples(*[st.sampled_from([0.1, 0.3, 1.0])] * 3)), data.draw(st.integers(0, 99))
    cycles = [*clear(begun, 2 * plan.words), *held_up(queue, chance, seed, 9 * plan.words * marks.parts + 400)]
    seen = simulate(simulator, cycles)

    assert not (seen.out & 8).any()  # what was offered and not taken stays
    took, own = seen.out & 1 != 0, seen.out & 4 != 0
    given_out = [int(word) & ((1 << bits) - 1) for word in seen.rd_data if int(word) & GIVEN]
    answer = [marks.base + marks.READ, *split(question, marks.parts, bits)]
    begins = next(i for i in range(len(given_out)) if given_out[i : i + len(answer)] == answer and i >= 0)
    ends = begins + len(answer) + plan.words * marks.parts
    everything = [word for one in transfers for word in one]
    assert given_out[:begins] + given_out[ends:] == everything
    assert int(took.sum()) == len(everything)

    parts = np.array(given_out[begins + len(answer) : ends], dtype=np.uint64).reshape(-1, marks.parts)
    read = (parts << np.arange(0, marks.parts * bits, bits, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
    times = readout.decode(HdlBuild((), "echo", (BLOCK, BLOCK), read_out=plan), read)["state_time"]
    moved = np.flatnonzero(took | own)
    counted = [cycle.stimulus >> 4 & 3 for cycle in cycles[moved[len(begun) - 1] + 1 : moved[freeze]]]
    mine = times["block"] == WATCHED
    assert times["cycles"][mine].tolist() == [counted.count(state) for state in range(4)]


def clear(words: Sequence[int], waits: int) -> Iterator[Cycle]:
    """What comes before the application: these words, of which the last one starts the counters."""
    yield from (Cycle(rst=1), Cycle(rst=1))
    flows = stimulus(random.Random(0), (1, 1, 1))
    yield from (Cycle(wr_data=word, stimulus=1 | flows) for word in words[:-1])
    yield from [Cycle(stimulus=flows)] * waits
    yield Cycle(wr_data=words[-1], stimulus=1 | flows)
    yield Cycle(stimulus=flows)


def held_up(queue: Sequence[int], chance: Sequence[float], seed: int, more: int) -> Iterator[Cycle]:
    """The host's words, then time until all went through; the design takes, and gives, by chance at first."""
    draw = random.Random(seed)
    for word in queue:
        yield Cycle(wr_data=word, stimulus=1 | stimulus(draw, chance))
    for _ in range(300):
        yield Cycle(stimulus=stimulus(draw, chance))
    for _ in range(more):
        yield Cycle(stimulus=stimulus(draw, (1, 1, 1)))


def stimulus(draw: random.Random, chance: Sequence[float]) -> int:
    bits = [draw.random() < one for one in chance]
    return bits[0] << 1 | bits[1] << 2 | bits[2] << 3 | draw.randrange(4) << 4
