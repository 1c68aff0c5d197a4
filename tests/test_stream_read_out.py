"""Counters read out through a pair of streams: every word of the application's passes, whatever it is, and the answer
is whole, with the design idle, busy or held up on either side."""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rc_workbench_plugins.ports import workbench_port_kinds
from rtl_simulator import Cycle, Simulator, simulate

from workbench.api import HdlBuild
from workbench.api.instrument import readout
from workbench.api.instrument.crossing import Monitor, ReadPlace, read_out_plan
from workbench.api.instrument.probes import MonitorPlan, Probe
from workbench.api.instrument.wrapper import RUNTIME, Top, TopPort, runtime_source, wrapper
from workbench.api.ports import HardwarePort, monitor_front
from workbench.model.application import ReadOut
from workbench.model.blocks import Block, Side, State
from workbench.model.hardware import Clock, Hardware
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import Marks, ReadOutPlan

_KINDS = {kind.name: kind.port for kind in workbench_port_kinds()}
StreamInPort = _KINDS["stream_in"]()
StreamOutPort = _KINDS["stream_out"]()
AvalonStreamInPort = _KINDS["avalon_st_in"]()
AvalonStreamOutPort = _KINDS["avalon_st_out"]()

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
# Avalon-ST's packets, which wait in a queue: a question overtakes what it holds.
PACKETS = """
module echo__recap_user (
    input clk, input rst, input [1:0] told, input may_take,
    input [W-1:0] data, input valid, output ready, input startofpacket, input endofpacket, input [1:0] empty,
    output [W-1:0] back_data, output back_valid, input back_ready,
    output back_startofpacket, output back_endofpacket, output [1:0] back_empty,
    output took, output reg [1:0] recap_state
);
    reg [W+3:0] held [0:7];
    reg [3:0] first = 0, last = 0;
    assign ready = may_take & ~(last[2:0] == first[2:0] & last != first);
    assign took = valid & ready;
    assign {back_empty, back_endofpacket, back_startofpacket, back_data} = held[first[2:0]], back_valid = last != first;
    always @(posedge clk) begin
        recap_state <= told;
        if (took) held[last[2:0]] <= {empty, endofpacket, startofpacket, data};
        last <= rst ? 0 : last + took;
        first <= rst ? 0 : first + (back_valid & back_ready);
    end
endmodule
"""
PACKET_PINS = """
        .clk(clk), .rst(rst), .told(in[5:4]), .may_take(in[1]),
        .data(queue[first][W-1:0]), .valid(valid), .ready(ready),
        .startofpacket(queue[first][W]), .endofpacket(queue[first][W+1]), .empty({2{queue[first][W+1]}}),
        .back_data(back), .back_valid(back_valid), .back_ready(in[2]), .back_startofpacket(back_ends[0]),
        .back_endofpacket(back_ends[1]), .back_empty(back_ends[3:2]), .took(took)
"""
PINS = """
        .clk(clk), .rst(rst), .told(in[5:4]), .may_take(in[1]),
        .tdata(queue[first][W-1:0]), .tvalid(valid), .tready(ready),
        .back_tdata(back), .back_tvalid(back_valid), .back_tready(in[2]), .back_tlast(back_ends[1]), .took(took)
"""
# What the host sends waits in a queue; an offered word stays. `in`: push, may take, out ready, offer, state (2 bits).
HARNESS = """
module dut (
    input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [63:0] wr_data, output [63:0] rd_data,
    input [63:0] in, output [63:0] out
);
    reg [W+1:0] queue [0:8191];
    reg [12:0] first = 0, last = 0;
    reg offered = 0;
    wire valid = first != last & (offered | in[3]), ready, back_valid, took;
    wire [W-1:0] back;
    wire [3:0] back_ends;
    reg [W+4:0] waited = 0;
    wire changed = waited[W+4] & waited != {back_valid, back_ends, back};
    echo echo (PINS);
    always @(posedge clk) begin
        if (in[0]) begin
            queue[last] <= wr_data[W+1:0];
            last <= last + 1;
        end
        if (valid & ready) first <= first + 1;
        offered <= valid & ~ready;
        waited <= {back_valid & ~in[2], back_ends, back};
    end
    assign out = {60'd0, changed, valid & ready & ~took, 1'b0, took};
    assign rd_data = back_valid & in[2] ? {1'b1, {59-W{1'b0}}, back_ends, back} : {{62-W{1'b0}}, queue[first]};
endmodule
"""
PROBES, WATCHED = (Probe(0, 0, 2), Probe(1, 0, 4)), 1  # of one counter
BLOCK = Block("dut.b", Side.FPGA, "dut", "always", "dut.b", (State(0, UNCLASSIFIED),))
Built = tuple[Path, ReadOutPlan, bool]  # whether the streams are of packets
GIVEN = 1 << 63  # a word of the stream out of the design


@pytest.fixture(scope="module", params=["8", "32", "32 in packets"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    bits, packets = int(request.param.split()[0]), "packets" in request.param
    into: HardwarePort = StreamInPort(word_bits=bits)
    back: HardwarePort = StreamOutPort(name="back", prefix="back_", word_bits=bits)
    if packets:
        into = AvalonStreamInPort(word_bits=bits)
        back = AvalonStreamOutPort(name="back", prefix="back_", word_bits=bits)
    driven = {
        signal.name: (signal.direction, signal.bits or 2)
        for port in (into, back) for role, signal in port.signals().items()
        if packets or role in {"tdata", "tvalid", "tready"} or signal.name == "back_tlast"
    }  # fmt: skip
    driven |= {
        "clk": ("input", 1),
        "rst": ("input", 1),
        "told": ("input", 2),
        "may_take": ("input", 1),
        "took": ("output", 1),
    }
    ports = [TopPort(name, way, f"[{wide - 1}:0]" if wide > 1 else "") for name, (way, wide) in driven.items()]
    hardware = Hardware(clocks=(CLOCK,), ports=(into, back))
    addresses = ReadOut(first=0, last=3)
    found = monitor_front(hardware, [CLOCK], addresses, {name: wide for name, (_, wide) in driven.items()})
    assert found is not None
    place = ReadPlace(into.name, found[1], CLOCK, addresses)
    monitors, top = [Monitor(MonitorPlan(PROBES, 2, engines=1), CLOCK)], Top("echo", "echo__recap_user", tuple(ports))
    folder = tmp_path_factory.mktemp("streams")
    texts = {
        "user.v": PACKETS if packets else USER,
        "dut.v": HARNESS.replace("PINS", PACKET_PINS if packets else PINS),
        "top.v": wrapper(top, monitors, place),
        **{name: runtime_source(name) for name in RUNTIME},
    }
    for name, text in texts.items():
        (folder / name).write_text(re.sub(r"\bW\b", str(bits), text))
    simulator = Simulator(folder).build([folder / name for name in texts], "dut")
    return simulator, read_out_plan(monitors, place).watching({WATCHED}), packets


def split(value: int, words: int, bits: int) -> list[int]:
    return [value >> at * bits & ((1 << bits) - 1) for at in range(words)]


def packet(data: Sequence[int], marks: Marks) -> list[int]:
    """A transfer's words, with a bit at the first and another at the last above them."""
    ends = {0: 1} | {len(data) - 1: 2} if len(data) > 1 else {0: 3}
    return [word | ends.get(at, 0) << marks.word_bits for at, word in enumerate(data)]


def sent(data: Sequence[int], marks: Marks) -> list[int]:
    """A transfer of the application's as it goes into the stream."""
    if all(not 0 <= word - marks.base < 8 for word in data):
        return packet(data, marks)
    announced = [marks.base + marks.DATA, *split(len(data), marks.argument_words, marks.word_bits)]
    return [*packet(announced, marks), *packet(data, marks)]


def asked(plan: ReadOutPlan, question: int) -> list[int]:
    assert plan.marks is not None
    argument = split(question << 32 | plan.words, plan.marks.argument_words, plan.marks.word_bits)
    return [
        *packet([plan.freeze.value], plan.marks),
        *packet([plan.marks.base + plan.marks.READ, *argument], plan.marks),
    ]


def words(marks: Marks | None) -> st.SearchStrategy[int]:
    assert marks is not None
    bits = marks.word_bits
    return st.one_of(st.integers(0, 9).map(lambda n: marks.base - 1 + n), st.integers(0, (1 << bits) - 1))


Transfers = Sequence[Sequence[int]]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_data_pass_whatever_they_are_and_the_answer_is_whole(built: Built, data: st.DataObject) -> None:
    question = data.draw(st.integers(0, (1 << 32) - 1))
    transfers = data.draw(st.lists(st.lists(words(built[1].marks), min_size=1, max_size=12), max_size=8))
    before = data.draw(st.integers(0, len(transfers)))
    chance, seed = data.draw(st.tuples(*[st.sampled_from([0.1, 0.3, 1.0])] * 3)), data.draw(st.integers(0, 99))
    passes_and_answers(built, transfers, before, question, chance, seed)


def test_an_answer_waits_for_the_end_of_a_packet_that_the_design_still_gives(built: Built) -> None:
    passes_and_answers(built, [range(12), range(5)], 1, 7, (1.0, 0.1, 1.0), 0)


def passes_and_answers(
    built: Built, transfers: Transfers, before: int, question: int, chance: Sequence[float], seed: int
) -> None:
    simulator, plan, packets = built
    marks = plan.marks
    assert marks is not None
    bits = marks.word_bits
    begun = [*(access.value for access in plan.watch), plan.clear.value, plan.run.value]
    queue = [word for one in transfers[:before] for word in sent(one, marks)]
    freeze = len(begun) + len(queue)
    queue += asked(plan, question)
    queue += [word for one in transfers[before:] for word in sent(one, marks)]
    cycles = [*clear(begun, 2 * plan.words), *held_up(queue, chance, seed, 9 * plan.words * marks.parts + 400)]
    seen = simulate(simulator, cycles)

    assert not (seen.out & 8).any()  # what was offered and not taken stays
    took, own = seen.out & 1 != 0, seen.out & 4 != 0
    given = [int(word) for word in seen.rd_data if int(word) & GIVEN]
    given_out, ends = [word & ((1 << bits) - 1) for word in given], [word >> bits & 15 for word in given]
    answer = [marks.base + marks.READ, *split(question, marks.parts, bits)]
    begins = next(i for i in range(len(given_out)) if given_out[i : i + len(answer)] == answer and i >= 0)
    after = begins + len(answer) + plan.words * marks.parts
    everything = [word for one in transfers for word in one]
    assert given_out[:begins] + given_out[after:] == everything
    assert int(took.sum()) == len(everything)

    assert ends[begins:after] == [int(packets), *[0] * (after - begins - 2), 2]
    assert not packets or not begins or ends[begins - 1] & 2
    sent_ends = [word >> bits for one in transfers for word in packet(one, marks)]
    kept = [one | (one & 2) * 6 if packets else 0 for one in sent_ends]  # empty is told with a packet's end
    assert ends[:begins] + ends[after:] == kept

    parts = np.array(given_out[begins + len(answer) : after], dtype=np.uint64).reshape(-1, marks.parts)
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
