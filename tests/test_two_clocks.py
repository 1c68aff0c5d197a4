"""Statements over two clocks, whose agents tell each other in Gray code what passes: held against every event, and
joined by their times."""

import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.hardware import AgentEdge, hardware_agent
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.agents.layout import END_FRAMES, AgentClock
from rc_workbench_plugins.streaming.agents.packets import answers
from rc_workbench_plugins.streaming.agents.two_clocks import (
    AllOf,
    AnyOf,
    counted_parts,
    joined,
    key_of,
    needed,
    parts_of,
)
from rc_workbench_plugins.streaming.query.measures import (
    AssertResult,
    Condition,
    FrameValue,
    Measure,
    MeasureResult,
    Query,
)
from rc_workbench_plugins.streaming.query.resolve import read_query
from rtl_simulator import Cycle, Simulator, simulate
from run_query import asked
from stream_topologies import topology

from workbench.api.job import Job
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parent / "data"
PS = 1000  # of a step of the simulation
APP = topology("App", "a: source.y -> cross.x\nb: cross.y -> sink.x", 8, "unsigned8")
#: On b's clock, of elements that came in on a's.
QUERY = """
    t: measure trace(frame=24) latency at a -> b
    m: measure mean latency at a -> b
    s: measure sum latency at a -> b
    n: measure min latency at a -> b
    x: measure max latency at a -> b
    h: measure hist(bins=8, low=0 ns, high=160 ns) latency at a -> b
    o: measure mean occupancy at a -> b
    r: measure rate at b when latency at a -> b > 60 ns
"""
_DUT = """
module dut (
    input  wire clk, input wire rst, input wire [63:0] addr, input wire wr_en, input wire rd_en,
    input  wire [63:0] wr_data, output wire [63:0] rd_data, input wire [63:0] in, output wire [63:0] out
);
    wire clk_a = in[62], clk_b = in[63];
    reg a, b;  // as monitors see what passes: a cycle late
    always @(posedge clk_a) a <= in[0];
    always @(posedge clk_b) b <= in[1];
    wire [7:0] link;
    assign rd_data = 0;
    assign out[63:33] = 0;
    agent_a of_a (
        .clock_0(clk_a), .reset_0(in[2]), .counts_0(1'b1), .command_valid(1'b0), .command_data(0), .report_ready(1'b1),
        .push_valid_0(a), .push_ready_0(1'b1), .pop_valid_0(a), .pop_ready_0(1'b1), .link_0(link),
        .command_ready(), .report_valid(), .report_last(), .report_data()
    );
    agent_b of_b (
        .clock_0(clk_b), .reset_0(in[2]), .counts_0(1'b1), .command_valid(in[3]), .command_data(wr_data[31:0]),
        .push_valid_1(b), .push_ready_1(1'b1), .pop_valid_1(b), .pop_ready_1(1'b1), .far_0(link),
        .command_ready(), .report_valid(out[32]), .report_last(), .report_data(out[31:0]), .report_ready(1'b1)
    );
endmodule
"""


def passing(a: int, b: int, steps: int) -> tuple[list[int], list[int]]:
    """When elements go in on a clock of the period `a`, and come out on one of `b` (steps), through a queue of 20 whose
    state each side knows two cycles late, as one that crosses clocks does."""
    chance = np.random.default_rng(a * b)
    into, out = list[int](), list[int]()
    for step in range(1, steps):
        eager = chance.random() < (0.5 if step // 400 % 2 else 0.1)
        if step % a == 0 and eager and len(into) - len(out) < 20:
            into.append(step)
        there = len(out) < len(into) and into[len(out)] + 2 * b <= step
        if step % b == 0 and chance.random() < (0.1 if step // 700 % 2 else 0.17) and there:
            out.append(step)
    return into, out[: len(into)]


@pytest.mark.parametrize(("a", "b"), [(4, 7), (20, 6)])
def test_times_across_clocks_are_true_to_half_a_cycle(a: int, b: int, tmp_path: Path) -> None:
    query = read_query(QUERY, APP)
    first, second = APP.edges
    far = [AgentEdge(first, far_ps=Fraction(a * PS)), AgentEdge(second)]
    of_b = hardware_agent(query, far, [AgentClock(Fraction(b * PS), 1)], "", "agent_b")
    assert (of_b.diagnostics, of_b.far) == ((), (("App.a", "push"), ("App.a", "pop")))
    places = of_b.far[:1]
    of_a = hardware_agent(Query(()), [AgentEdge(first)], [AgentClock(Fraction(a * PS), 0)], "", "agent_a", (), places)
    texts = {**of_a.verilog, **of_b.verilog, "dut.v": _DUT.replace(".far_0(link)", ".far_0(link), .far_1(link)")}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "models").mkdir()
    program = Simulator(tmp_path / "models").build([tmp_path / name for name in texts], "dut")
    steps, before, after = 14000, 40 * max(a, b), 400 * b
    into, out = passing(a, b, steps)
    into = into[: len(out)]
    word = np.zeros(before + steps + after, np.uint64)
    step = np.arange(len(word)) - before
    for bit, period, times in ((0, a, into), (1, b, out)):
        word |= (step % period < period // 2).astype(np.uint64) << np.uint64(62 + bit)
        edges = before + np.array(times)
        for early in range(2):
            word[edges - early] |= np.uint64(1 << bit)
    word[: before // 2] |= np.uint64(4)
    last = before + (steps // b + 20) * b
    word[last - 1 : last + 1] |= np.uint64(8)
    seen = simulate(program, [Cycle(stimulus=int(one), wr_data=END_FRAMES) for one in word.tolist()])
    rises = np.flatnonzero((step % b == 0) & (np.arange(len(step)) > before // 2 + 4 * b))
    sent = seen.out[rises[(seen.out[rises] >> np.uint64(32) & np.uint64(1)).astype(bool)]]
    told = answers(of_b, (sent & np.uint64(0xFFFFFFFF)).tolist())
    assert [one.message for one in told.diagnostics] == []
    by = {one.measure.label: one for one in told.measures}
    true, half = (np.array(out) - into) * PS, b * PS / 2
    assert len(true) > 200
    measured = np.concatenate([frame.samples[1] for frame in by["t"].frames if frame.samples]).astype(float)
    assert by["t"].trust == by["m"].trust
    assert len(measured) == len(true)
    assert np.abs(measured - true).max() <= half
    assert np.abs(measured - true).max() > 0.6 * half, "no better than is said"
    (mean, total, least, most, hist, held, rate) = (by[name].frames[0] for name in "msnxhor")
    assert mean.count == total.count == len(true)
    later = 0.05 * len(true)  # a condition hears of a time some cycles later
    assert rate.count == pytest.approx(np.count_nonzero(measured[:-1] > 60 * PS), abs=later)
    for frame, value in (
        (mean, measured.mean()),
        (total, measured.sum()),
        (least, measured.min()),
        (most, measured.max()),
    ):
        assert frame.value == pytest.approx(value, abs=len(true) if frame is total else 1)
    assert (mean.uncertainty, total.uncertainty) == (half, half * len(true))
    bounds = [*np.arange(0, 161, 20) * PS]
    assert hist.histogram == tuple(np.histogram(measured, [-np.inf, *bounds, np.inf])[0])
    assert held.value == pytest.approx(true.sum() / (held.end_ps - held.start_ps), rel=0.08), "Little's law"
    assert by["m"].trust == f"counted, each time to within {half / PS:.2f}\u202fns: its ends are on different clocks"


def spells(*times: int) -> tuple[tuple[int, int], ...]:
    return tuple(zip(times[::2], times[1::2], strict=True))


def test_an_assertion_is_joined_of_what_each_clock_counted() -> None:
    text = """x: assert !(occupancy at a > 3 & (occupancy at b > 3 | occupancy at b < 1))
        y: assert rate(frame=10 ns) at a >= rate(frame=10 ns) at b
        z: assert occupancy at a > occupancy at b"""
    query = read_query(text, APP)
    of_edges = {"App.a": "fast", "App.b": "slow"}

    def on_one_clock(condition: Condition) -> bool:
        return len({of_edges[name] for _, name in needed(condition)}) == 1

    x, y, z = query.asserts
    assert parts_of(z, on_one_clock) is None
    whole = parts_of(x, on_one_clock)
    assert isinstance(whole, AnyOf)
    first, second = whole.parts
    broken = {first: spells(10, 40, 60, 90), second: spells(30, 70)}
    answer = joined(x, whole, {one: AssertResult(one, of) for one, of in broken.items() if not isinstance(one, AllOf)})
    assert answer is not None
    assert (answer.broken_ps, answer.known, answer.trust) == (spells(30, 40, 60, 70), True, "counted on each clock")
    compared = parts_of(y, on_one_clock)
    assert compared is not None
    sides = [one for one in counted_parts(compared) if isinstance(one, Measure)]
    rates = ((5, 5, 9), (4, 6, 9)), ((0, 10_000, 20_000, 30_000), (0, 10_040, 20_030, 29_990))
    results = {
        key_of(side): MeasureResult(side, tuple(
            FrameValue(begin, end, end - begin, value=value)
            for value, begin, end in zip(values, ends, ends[1:], strict=False)
        ))
        for side, values, ends in zip(sides, *rates, strict=True)
    }  # fmt: skip
    answer = joined(y, compared, results)
    assert answer is not None
    assert answer.broken_ps == spells(20_030, 30_000), "ends of frames that two clocks put 40 ps apart are one"
    assert [value for _, value in answer.compared] == [5, 6]


#: Of a design whose feeder is on a bus clock, in Verilog, and whose adder is on a faster one, in VHDL.
ASKED = """
    there: measure mean latency at feeder.m_axis -> there.out
    longest: measure max latency at feeder.m_axis -> there.out
    each: measure trace latency at feeder.m_axis -> there.out
    held: measure mean occupancy at feeder.m_axis -> there.out
    most: measure max occupancy at feeder.m_axis -> there.out
    back: measure trace latency at adder.m_axis -> back.out
    round: measure mean latency at feeder.m_axis -> back.out
    added: measure rate at adder.m_axis
    one: assert !backpressure at feeder.m_axis | !backpressure at adder.m_axis
    two: assert rate(frame=200 ns) at feeder.m_axis >= rate(frame=200 ns) at adder.m_axis
    three: assert interval at adder.m_axis < 100 ns & interval at feeder.m_axis < 1 us
    no: measure rate at adder.m_axis when backpressure at feeder.m_axis
    name: measure mean latency at there
    full: measure max occupancy at there
    taken: measure rate at there.out when occupancy at there > 3
"""


#: The same design with a PLL in place of the input for the faster clock.
PLL = """wire fast, back_again;
    PLLE2_BASE #(.CLKFBOUT_MULT(9), .CLKOUT0_DIVIDE(6)) pll (.CLKIN1(clk), .CLKOUT0(fast), .CLKOUT1(), .CLKOUT2(),
        .CLKOUT3(), .CLKOUT4(), .CLKOUT5(), .LOCKED(), .CLKFBOUT(back_again), .CLKFBIN(back_again), .RST(1'b0),
        .PWRDWN(1'b0));
    reg [31:0] count;
    reg start;"""


def write_round_trip(folder: Path, pll: str = "") -> Path:
    """The project file of a copy with the adder in VHDL. With a `pll` its faster clock is made, and the project has
    this text about it."""
    for name in ("round_trip", "two_clocks"):
        shutil.copytree(DATA / "applications" / name, folder / name)
    design, project = folder / "round_trip" / "round_trip.v", folder / "round_trip" / "round_trip.workbench.yaml"
    text = design.read_text().replace("LOG = 2", "LOG = 5")
    begin, end = text.index("module adder"), text.index("module round_trip")
    text = text[:begin] + text[end:]
    if pll:
        card = folder / "two_clocks" / "card.yaml"
        of_card = card.read_text().replace("    - {name: fast, frequency_hz: 150 MHz, derived_from: bus}\n", "")
        card.write_text(of_card.replace("interrupt_clock: fast", "interrupt_clock: bus"))
        text = text.replace(" input wire fast,", "").replace("reg [31:0] count;\n    reg start;", PLL)
    design.write_text(text)
    shutil.copy(DATA / "round_trip" / "adder.vhd", design.parent)
    (design.parent / "asked.tt").write_text(ASKED)
    of_agents = f"top: round_trip\n  count_streams: true\n  query: asked.tt\n  query_words: 4096\n{pll}"
    project.write_text(project.read_text().replace("'*.v'", "'*.v', '*.vhd'").replace("top: round_trip\n", of_agents))
    return project


@pytest.mark.parametrize("fast", ["fast", "pll.CLKOUT0"], ids=["an input", "made by a PLL"])
def test_agents_of_two_clocks_count_what_the_trace_shows(fast: str, tmp_path: Path) -> None:
    stated = "  clocks: [{name: pll.CLKOUT0, frequency_hz: 150 MHz}]\n"
    project = write_round_trip(tmp_path, stated if fast == "pll.CLKOUT0" else "")
    options = RunOptions(out=tmp_path / "run", trace=True, deterministic=True, settings={"WORDS": 40})
    traced = run_workspace(open_workspace(project, load_plugins()), options, Job())
    assert traced.complete, traced.manifest.reason
    counts = kept_answers(traced.tables, "")
    assert counts is not None
    (problem,) = counts.diagnostics
    both = f"'round_trip.adder.m_axis' (clock {fast}) and 'round_trip.feeder.m_axis' (clock bus)"
    assert problem.message == f"no agent counts 'no': no cycle has both {both}"
    by = {one.measure.label: one for one in counts.measures} | {one.asserted.label: one for one in counts.asserts}
    true = asked(traced, ASKED)
    assert len(true) == len(by) + 1
    for result in true:
        if isinstance(result, AssertResult):
            held = by[result.asserted.label]
            assert isinstance(held, AssertResult)
            assert np.allclose(held.broken_ps, result.broken_ps, atol=10_000), result.asserted.text
            assert (held.holds, held.known) == (result.holds, True)
            assert result.holds == (result.asserted.label != "two")
            continue
        if result.measure.label == "no":
            continue
        counted = by[result.measure.label]
        assert isinstance(counted, MeasureResult)
        (ours,), (theirs,) = counted.frames, result.frames
        half = (5_000 if counted.measure.edges[-1].endswith("back.out") else 1e12 / 150e6 / 2) + 2
        assert ours.count == theirs.count
        if ours.samples and theirs.samples:
            assert np.abs(ours.samples[1] - theirs.samples[1]).max() <= half
        elif "occupancy" in result.measure.text or result.measure.label == "added":
            assert ours.value == pytest.approx(theirs.value, rel=0.02)  # the run's last cycle is not counted
        else:
            assert abs((ours.value or 0) - (theirs.value or 0)) <= (2 if result.measure.label == "round" else half)


def test_an_agent_needs_the_frequency_of_a_plls_clock(tmp_path: Path) -> None:
    workspace = open_workspace(write_round_trip(tmp_path, "  clocks: []\n"), load_plugins())
    _, hdl = instrument_workspace(workspace, {}, tmp_path / "tree")
    unseen = [one for one in hdl.diagnostics if one.message.startswith("no agent counts")]
    assert len(unseen) == len(ASKED.strip().splitlines())
    for one in unseen:
        assert one.message.endswith("is on the clock pll.CLKOUT0, whose frequency is not stated")
        assert one.hint.endswith("add it to hardware.clocks: {name: pll.CLKOUT0, frequency_hz: 200 MHz}.")
