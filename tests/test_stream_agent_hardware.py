"""The agent in hardware against the truth: random traffic, simulated cycle by cycle, and evaluated event by event."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.hardware import AgentEdge, hardware_agent
from rc_workbench_plugins.streaming.agents.layout import END_FRAMES, FRAME_LENGTH, TELL_TIME, AgentClock, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import answers, times_told
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import COUNTED, FrameLength, FrameValue, Query, Statistic, Tap
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.words import result_words
from rtl_simulator import Cycle, Simulator, simulate
from stream_topologies import topology

from workbench.api import virtual_time
from workbench.api.stream_events import EdgeEvents, Events, of_topology
from workbench.model.topology import Topology
from workbench.system.process import run_program
from workbench.system.toolchain import Tool, find_verilator, verilator_environment

PERIOD_PS, DEPTH = 10_000, 8
APP = topology("App", "a: source.y -> work.x\nb: work.y -> sink.x\nc: work.z -> log.x", DEPTH, "signed16")

#: Every metric and statistic, conditions of the moment and of frames, and both kinds of frames.
QUERY = """
    r: measure rate at a
    u: measure util at work.x
    p: measure backpressure at b
    o: measure mean occupancy at a
    os: measure sum(frame=3000) occupancy at b
    on: measure min occupancy at b
    ox: measure max occupancy at b when backpressure at a
    oh: measure hist occupancy at a
    oc: measure hist(bins=3, low=1, high=8) occupancy at b when occupancy at a >= 2
    ot: measure trace(frame=20 us) occupancy at c
    l: measure mean latency at b
    lx: measure max latency at b when !backpressure at a | occupancy at c > 3
    lh: measure hist(bins=7, low=0 ns, high=200 ns) latency at a
    lt: measure trace(frame=20 us) latency at c
    lp: measure mean latency at a -> b
    ip: measure mean interval at work.x
    ih: measure hist(bins=9, low=0 ns, high=300 ns) interval at b
    ix: measure max(frame=2000) interval at c when !(interval at work.x > 30 ns)
    it: measure trace(frame=20 us) interval at sink.x
    v: measure mean value at a
    vs: measure sum value at a when value at a > 100
    vm: measure min(frame=2500) value at c
    vx: measure max value at c
    vh: measure hist(bins=10, low=-32768, high=32768) value at a
    vi: measure hist value at c
    w1: measure rate at a when mean occupancy at b >= 3
    w2: measure mean latency at b when (r < 40 Mtps & o > 1.5)
    w3: measure rate at c when (l >= 60 ns & backpressure at a) | vm < -30000
    w4: measure sum latency at c when latency at c > 30 ns
    w5: measure backpressure at b when u < p
    w6: measure mean value at a when v > 0 & !(max occupancy at c == 8)
    a1: assert occupancy at b < 7
    a2: assert r > 20 Mtps | occupancy at b < 8
    a3: assert u > p | value at a < 32000
    q: measure mean occupancy at a -> b
    qh: measure hist occupancy at a -> b
    qx: measure max(frame=2000) occupancy at a -> b when occupancy at a -> b >= occupancy at b
    qt: measure trace(frame=20 us) occupancy at a -> b
    w7: measure rate at c when occupancy at a -> b > 5 & q < 9
    a4: assert occupancy at a -> b < 12 | occupancy at a -> b > occupancy at a
"""


def traffic(cycles: int, seed: int, eager: float = 1.0) -> dict[str, np.ndarray]:
    """Bits (push valid and ready, pop valid and ready) and values, a cycle, of each edge's queue. Sources and sinks
    come and go in bursts; `work` hands on in the cycle in which it takes; c's queue is passed at once."""
    chance = np.random.default_rng(seed)
    busy = np.repeat(chance.random((cycles // 16 + 1, 5)) < 0.5, 16, axis=0)[:cycles]
    wants = (eager * np.where(busy, 0.9, 0.25) > chance.random((cycles, 5))).tolist()
    rows = {edge: np.zeros((cycles, 5), np.int64) for edge in "abc"}
    held = dict.fromkeys("abc", 0)
    for cycle, (source, work, sink, logs, log) in enumerate(wants):
        room = {edge: held[edge] < DEPTH for edge in "abc"}
        there = {"a": held["a"] > 0, "b": held["b"] > 0, "c": held["c"] > 0 or logs}
        bits = {
            "a": (source, room["a"], there["a"], work and room["b"]),
            "b": (there["a"] and work, room["b"], there["b"], sink),
            "c": (logs, room["c"], there["c"], log),
        }
        for edge, (valid, ready, there_is, takes) in bits.items():
            rows[edge][cycle, :4] = valid, ready, there_is, takes
            held[edge] += (valid and ready) - (there_is and takes)
    for edge in "abc":
        rows[edge][:, 4] = chance.integers(-32768, 32768, cycles)
    return rows


def truth(found: dict[str, np.ndarray], end: int, period_ps: int = PERIOD_PS, app: Topology = APP) -> Events:
    """What an onlooker sees who notes every cycle until `end`."""
    edges = {}
    for edge in app.edges:
        rows = found[edge.label.rpartition(".")[2]][:end]
        pushed, popped = ((rows[:, way] & rows[:, way + 1]).nonzero()[0] for way in (0, 2))
        stuck = (rows[:, 0] & ~rows[:, 1] & 1).nonzero()[0]
        starved = (rows[:, 3] & ~rows[:, 2] & 1).nonzero()[0]
        edges[edge.label] = EdgeEvents(
            edge,
            (pushed + 1) * period_ps,
            (popped + 1) * period_ps,
            rows[pushed, 4],
            np.column_stack((stuck, stuck + 1)) * period_ps,
            np.column_stack((starved, starved + 1)) * period_ps,
            tick_ps=period_ps,
        )
    return of_topology(app, edges, end * period_ps)


_BITS = {"a": 8, "b": 12, "c": 16}  # of a cycle's stimulus: where an edge's four bits begin; values of a and c follow
_DUT = """
module dut (
    input  wire clk, input wire rst, input wire [63:0] addr, input wire wr_en, input wire rd_en,
    input  wire [63:0] wr_data, output wire [63:0] rd_data, input wire [63:0] in, output wire [63:0] out
);
    assign rd_data = 0;
    assign out[63:35] = 0;
    stream_agent agent (
        .clock_0(clk), .reset_0(rst), .command_valid(in[1]), .command_ready(out[34]), .command_data(wr_data[31:0]),
        .report_valid(out[33]), .report_last(out[32]), .report_data(out[31:0]), .report_ready(in[0]){joins}
    );
endmodule
"""


def bits_of_ports(agent: HardwareAgent) -> dict[str, tuple[int, int]]:
    """Of the agent's ports that look at edges, the lowest bit of a cycle's stimulus and how many bits."""
    found = {}
    for number, label in enumerate(agent.labels):
        name = label.rpartition(".")[2]
        if agent.tapped[number]:
            for bit, signal in enumerate(("push_valid", "push_ready", "pop_valid", "pop_ready")):
                found[f"{signal}_{number}"] = _BITS[name] + bit, 1
        if agent.data_bits[number]:
            found[f"data_{number}"] = 24 if name == "a" else 40, 16
    return found


def dut(agent: HardwareAgent, more: str = "") -> str:
    joins = "".join(f", .{port}(in[{low} +: {bits}])" for port, (low, bits) in bits_of_ports(agent).items())
    return _DUT.replace("{joins}", joins + more)


def stimuli(found: dict[str, np.ndarray]) -> np.ndarray:
    cycles = len(found["a"])
    words = np.zeros(cycles, np.uint64)
    for name, low in _BITS.items():
        for bit in range(4):
            words |= found[name][:, bit].astype(np.uint64) << np.uint64(low + bit)
    for name, low in (("a", 24), ("c", 40)):
        words |= (found[name][:, 4].astype(np.int64) & 0xFFFF).astype(np.uint64) << np.uint64(low)
    return words


RESET, AFTER = 16, 9000


def cycles_of(
    found: dict[str, np.ndarray], commands: dict[int, int], stall: float = 0.0, more: np.ndarray | None = None
) -> list[Cycle]:
    """This traffic with what comes before and after it."""
    every = np.concatenate((np.zeros(RESET, np.uint64), stimuli(found), np.zeros(AFTER, np.uint64)))
    if more is not None:
        every |= more
        every[:RESET] |= np.uint64(1 << 57)
    takes = np.random.default_rng(5).random(len(every)) >= stall
    return [
        Cycle(
            rst=int(cycle < RESET),
            stimulus=int(word) | int(ready) | (cycle - RESET in commands) << 1,
            wr_data=commands.get(cycle - RESET, 0),
        )
        for cycle, (word, ready) in enumerate(zip(every.tolist(), takes.tolist(), strict=True))
    ]


def run(
    program: Path, found: dict[str, np.ndarray], commands: dict[int, int], *, stall: float = 0.0,
    more: np.ndarray | None = None,
) -> list[int]:  # fmt: skip
    """The words that the agent sends of this traffic, and until some time after it."""
    cycles = cycles_of(found, commands, stall, more)
    seen = simulate(program, cycles)
    takes = np.array([cycle.stimulus & 1 and not cycle.rst for cycle in cycles], bool)
    sent = (seen.out >> np.uint64(33) & np.uint64(1)).astype(bool) & takes
    return (seen.out[sent] & np.uint64(0xFFFFFFFF)).tolist()


def agent_of(text: str, frame: FrameLength) -> tuple[Query, HardwareAgent]:
    query = read_query(text, APP, frame=frame)
    assert not [problem for problem in query.diagnostics if problem.severity == "error"], query.diagnostics
    agent = hardware_agent(query, [AgentEdge(edge) for edge in APP.edges], [AgentClock(Fraction(PERIOD_PS))])
    assert not agent.diagnostics
    return query, agent


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("agents"))


def build(simulator: Simulator, agent: HardwareAgent, wrapper: str) -> Path:
    folder = simulator.folder / f"sources_{len(list(simulator.folder.iterdir()))}"
    folder.mkdir()
    texts = {**agent.verilog, "dut.v": wrapper}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return simulator.build([folder / name for name in texts], "dut")


@dataclass(frozen=True)
class Built:
    query: Query
    agent: HardwareAgent
    program: Path


@pytest.fixture(scope="module")
def built(simulator: Simulator) -> Built:
    query, agent = agent_of(QUERY, FrameLength(time_ps=8000 * PERIOD_PS))
    return Built(query, agent, build(simulator, agent, dut(agent)))


END = 24_500


@pytest.mark.parametrize("eager", [1.0, 0.03])
def test_every_answer_is_that_of_the_trace(built: Built, eager: float) -> None:
    found = traffic(END + 500, 1, eager)
    words = run(built.program, found, {100: TELL_TIME, END: END_FRAMES}, stall=0.1)
    told = answers(built.agent, words)
    assert [time.cycle for time in times_told(built.agent, words)] == [100]
    assert {id(result.measure) for result in told.measures} == set(map(id, built.query.measures))
    for result in told.measures:
        if result.trust != COUNTED:  # there is no room for a trace of everything
            assert eager == 1
            assert result.measure.statistic is Statistic.TRACE
            assert result.diagnostics
            continue
        frames = [frame for frame in result.frames if frame.start_ps < END * PERIOD_PS]
        (true,), _ = evaluate(Query((result.measure,)), truth(found, frames[-1].end_ps // PERIOD_PS))
        assert len(frames) == len(true.frames), result.measure.text
        for ours, theirs in zip(frames, true.frames, strict=True):
            same(ours, theirs, result.measure.text)
    if eager < 1:
        assert not told.diagnostics
        _, true_asserts = evaluate(built.query, truth(found, END))
        for held, true in zip(told.asserts, true_asserts, strict=True):
            ours, theirs = ([spell for spell in one.broken_ps if spell[1] < END * PERIOD_PS] for one in (held, true))
            assert ours == theirs, held.asserted.text
            assert dict(held.compared) == pytest.approx(dict(true.compared), nan_ok=True), held.asserted.text
            assert held.known == true.known
        assert any(held.compared for held in told.asserts)
    else:
        assert told.diagnostics
    # on a clock that is a hundred ppm slow, and then a little less
    slow = Fraction(PERIOD_PS) * Fraction("1.0001")
    times = [
        virtual_time.ClockFrame(0, 12_000, slow, Fraction(5_000), uncertainty_ps=70),
        virtual_time.ClockFrame(12_000, END, Fraction(PERIOD_PS), Fraction(17_000), uncertainty_ps=30),
    ]
    late = answers(built.agent, words, [times])
    for result, other in zip(told.measures, late.measures, strict=True):
        for frame, one in zip(result.frames, other.frames, strict=True):
            edges = [time_ps // PERIOD_PS for time_ps in (frame.start_ps, frame.end_ps)]
            of = [virtual_time.frame_of(times, cycle) for cycle in edges]
            assert [one.start_ps, one.end_ps] == [clock.at(cycle) for clock, cycle in zip(of, edges, strict=True)]
            assert one.uncertainty_ps == max(clock.uncertainty_ps for clock in of)
            assert (frame.uncertainty_ps, frame.count) == (0, one.count)
        assert "known to within 70" in result_words(other)
        assert "within" not in result_words(result)


def same(ours: FrameValue, theirs: FrameValue, text: str) -> None:
    numbers = [(one.start_ps, one.end_ps, one.collected_ps, one.count, one.histogram) for one in (ours, theirs)]
    assert numbers[0] == numbers[1], text
    assert ours.value == (None if theirs.value is None else pytest.approx(theirs.value, rel=1e-12)), text
    if theirs.samples is not None and ours.samples is not None:
        times, values = theirs.samples
        if "occupancy" in text:  # a queue that gives and takes at once stays as it is
            times, values = (part[np.append(True, values[1:] != values[:-1])] for part in (times, values))
        assert np.array_equal(ours.samples[0], times), text
        assert np.array_equal(ours.samples[1], values), text


@pytest.mark.parametrize("length", [1, 7, 400])
def test_frames_too_short_to_be_sent_leave_nothing_out(built: Built, length: int) -> None:
    found = traffic(4000, 2)
    words = run(built.program, found, {5: FRAME_LENGTH | length, 3500: END_FRAMES}, stall=0.3)
    for result in answers(built.agent, words).measures:
        if result.measure.when or (result.measure.statistic is Statistic.TRACE and not result.measure.single):
            continue
        frames = result.frames
        assert [f.end_ps for f in frames[:-1]] == [f.start_ps for f in frames[1:]]
        assert frames[0].start_ps == 0
        end = frames[-1].end_ps
        whole = replace(result.measure, frame=FrameLength())
        (true,), _ = evaluate(Query((whole,)), truth(found, end // PERIOD_PS))
        assert sum(f.count for f in frames) == true.frames[0].count, result.measure.text
        if true.frames[0].histogram:
            sums = np.sum([f.histogram for f in frames], axis=0)
            assert tuple(sums.tolist()) == true.frames[0].histogram, result.measure.text
        if result.measure.statistic is Statistic.SUM:
            assert sum(f.value for f in frames) == true.frames[0].value, result.measure.text


WIDE = """
    h: measure hist(bins=4, low=-4611686018427387904, high=4611686018427387904) value at a
    hd: measure hist value at a
    m: measure min value at a
    w: measure rate at a when value at a >= 2305843009213693952
    we: measure rate at a when max value at a > 9151314442816847872
    wm: measure rate at a when mean value at a > 1099511627776
"""


def test_values_of_64_bits_keep_all_of_them(simulator: Simulator) -> None:
    app = replace(APP, edges=tuple(replace(edge, type="signed64") for edge in APP.edges))
    query = read_query(WIDE, app, frame=FrameLength(time_ps=500 * PERIOD_PS))
    agent = hardware_agent(query, [AgentEdge(edge) for edge in app.edges], [AgentClock(Fraction(PERIOD_PS))])
    assert [problem.message for problem in (*query.diagnostics, *agent.diagnostics)] == []
    wrapper = dut(agent).replace(".data_0(in[24 +: 16])", ".data_0({in[24 +: 16], 48'd0})")
    found = traffic(6000, 7)
    words = run(build(simulator, agent, wrapper), found, {5900: END_FRAMES})
    found["a"][:, 4] <<= 48
    for result in answers(agent, words).measures:
        frames = [frame for frame in result.frames if frame.start_ps < 5900 * PERIOD_PS]
        (true,), _ = evaluate(Query((result.measure,)), truth(found, frames[-1].end_ps // PERIOD_PS, app=app))
        assert len(frames) == len(true.frames) > 5
        for ours, theirs in zip(frames, true.frames, strict=True):
            same(ours, theirs, result.measure.text)


def test_elements_for_whose_times_there_is_no_room_are_told_and_the_next_are_measured(simulator: Simulator) -> None:
    """40 go in, the memory has room for 16, and come out 100 cycles later; then 4 stay for 10 cycles."""
    _, agent = agent_of("l: measure mean latency at b", FrameLength())
    found = traffic(400, 1)
    found["b"][:] = 0
    for begin, count, stay in ((20, 40, 100), (200, 4, 10)):
        found["b"][begin : begin + count, :2] = 1
        found["b"][begin + stay : begin + stay + count, 2:4] = 1
    program = build(simulator, agent, dut(agent))
    (result,) = answers(agent, run(program, found, {390: END_FRAMES})).measures
    assert (result.frames[0].count, result.frames[0].value) == (20, (16 * 100 + 4 * 10) * PERIOD_PS / 20)
    (problem,) = result.diagnostics
    assert problem.message.startswith("24 elements' times had no room in the FPGA")
    assert problem.message in result.trust
    assert "more elements" in problem.hint


ALONG = """
    m1: measure mean latency at a -> b
    m2: measure mean latency at a -> c
    m3: measure mean occupancy at a -> c
    a1: assert latency at a -> c < 9 us
    m4: measure rate at c
"""


def test_of_paths_on_which_blocks_give_more_or_fewer_than_they_take_no_number_is_told(simulator: Simulator) -> None:
    """`work` gives to b what it takes of a, and to c as it likes."""
    _, agent = agent_of(ALONG, FrameLength(time_ps=500 * PERIOD_PS))
    found = traffic(3000, 8)
    words = run(build(simulator, agent, dut(agent)), found, {2900: END_FRAMES})
    told = answers(agent, words)
    why = "unknown to an agent: blocks along App.a -> App.c gave more or fewer elements than they took"
    assert [(one.message, one.line) for one in told.diagnostics] == [(why, line) for line in (3, 4, 5)]
    m1, m2, m3, m4 = told.measures
    (held,) = told.asserts
    assert [(one.trust, one.frames) for one in (m2, m3)] == [(why, ())] * 2
    assert (held.trust, held.known, held.broken_ps) == (why, False, ())
    for one in (m1, m4):
        assert one.trust == COUNTED
        frames = [frame for frame in one.frames if frame.start_ps < 2900 * PERIOD_PS]
        (true,), _ = evaluate(Query((one.measure,)), truth(found, frames[-1].end_ps // PERIOD_PS))
        for ours, theirs in zip(frames, true.frames, strict=True):
            same(ours, theirs, one.measure.text)


@pytest.mark.parametrize("type_", ["unsigned8", "signed16", "signed64"])
def test_an_agent_in_verilog_has_nothing_that_verilator_warns_of(type_: str, tmp_path: Path) -> None:
    app = replace(APP, edges=tuple(replace(edge, type=type_) for edge in APP.edges))
    query = read_query(QUERY, app, frame=FrameLength(time_ps=8000 * PERIOD_PS))
    agent = hardware_agent(query, [AgentEdge(edge) for edge in app.edges], [AgentClock(Fraction(PERIOD_PS))])
    assert not agent.diagnostics
    for name, text in agent.verilog.items():
        (tmp_path / name).write_text(text)
    verilator = find_verilator()
    assert isinstance(verilator, Tool)
    command = [str(verilator.path), "--lint-only", "--top-module", agent.name, *agent.verilog]
    done = run_program(command, cwd=tmp_path, env=verilator_environment(verilator))
    assert (done.returncode, done.stderr) == (0, "")


TWO = """
    r: measure rate at a
    h: measure hist occupancy at a
    l: measure mean latency at b
    k: measure hist occupancy at b when latency at b > 50 ns
    m: measure mean value at c when occupancy at a > 1
"""


def test_each_clock_counts_its_own_cycles(simulator: Simulator) -> None:
    """b's clock is a third as fast as a's; what the agent of both sends goes out on a's."""
    query = read_query(TWO, APP, frame=FrameLength(time_ps=3000 * PERIOD_PS))
    a, b, c = APP.edges
    clocks = [AgentClock(Fraction(PERIOD_PS)), AgentClock(Fraction(3 * PERIOD_PS))]
    agent = hardware_agent(query, [AgentEdge(a), AgentEdge(b, 1), AgentEdge(c)], clocks)
    assert [problem.message for problem in agent.diagnostics] == []
    program = build(simulator, agent, dut(agent, ", .clock_1(in[56]), .reset_1(in[57])"))
    found = traffic(10_000, 3)
    slow = {"b": traffic(4000, 4)["b"]}
    edges = {**found, "b": np.repeat(slow["b"], 3, axis=0)[: len(found["a"])]}
    clock = np.arange(RESET + len(found["a"]) + AFTER) % 3 == RESET % 3  # it rises as the first cycle of three begins
    words = run(program, edges, {50: TELL_TIME, 9500: END_FRAMES}, more=clock.astype(np.uint64) << np.uint64(56))
    told = {(time.clock, time.cycle) for time in times_told(agent, words)}
    assert (0, 50) in told
    assert any(number == 1 and 50 // 3 <= cycle <= 50 // 3 + 4 for number, cycle in told)
    for result in answers(agent, words).measures:
        on_b = result.measure.edges == ("App.b",)
        frames = [frame for frame in result.frames if frame.start_ps < 9500 * PERIOD_PS]
        assert len(frames) == 4
        period = 3 * PERIOD_PS if on_b else PERIOD_PS
        true_of = truth(slow | {"a": slow["b"], "c": slow["b"]} if on_b else found, frames[-1].end_ps // period, period)
        (true,), _ = evaluate(Query((result.measure,)), true_of)
        for ours, theirs in zip(frames, true.frames, strict=True):
            same(ours, theirs, result.measure.text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("measure mean value at f", "hardware can only trace float32 values"),
        ("measure util at out", "waits for the bus"),
        ("measure rate at a when mean occupancy at a > mean occupancy at b", "divisors of their own"),
        ("measure min(frame=15 ns) occupancy at a", "a whole number of cycles"),
        ("measure mean value at wide", "its words have 512 bits; values of at most 64 are counted"),
    ],
)
def test_what_hardware_leaves_out_is_said_with_its_line(text: str, words: str) -> None:
    app = topology("App", "a: s.y -> w.x\nb: w.y -> t.x\nf: s.f -> t.f\nout: t.y -> u.x\nwide: s.z -> t.z")
    of = {"App.f": {"type": "float32"}, "App.wide": {"type": "512 bits", "bits": 512}}
    edges = [replace(e, **of.get(e.label, {})) for e in app.edges]
    query = read_query(f"// a query\n{text}", replace(app, edges=tuple(edges)))
    assert query.measures, query.diagnostics
    seen = [AgentEdge(e, sees=frozenset(Tap) - {Tap.POP} if e.label == "App.out" else frozenset(Tap)) for e in edges]
    agent = hardware_agent(query, seen, [AgentClock(Fraction(PERIOD_PS))], "q.tt")
    (problem,) = agent.diagnostics
    assert words in problem.message
    assert (problem.file, problem.line, problem.severity) == ("q.tt", 2, "warning")
    assert not agent.groups or not any(group.monitors for group in agent.groups)
