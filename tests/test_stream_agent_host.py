"""The agent on the host: the same answers as a trace's, and an application that goes on whatever becomes of it."""

import os
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.fpga import fpga_answers, triples
from rc_workbench_plugins.streaming.agents.hardware import hardware_agent
from rc_workbench_plugins.streaming.agents.host import FILE, HostAgent, host_agent, host_answers
from rc_workbench_plugins.streaming.agents.joints import AgentEdge
from rc_workbench_plugins.streaming.agents.layout import KILLED, AgentClock
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import FrameLength, FrameValue, Query
from rc_workbench_plugins.streaming.query.resolve import read_query
from stream_topologies import STATEMENTS, STREAM
from workbench.resources import __file__ as resources

from workbench.api.stream_events import EdgeEvents, Events, Times, of_topology
from workbench.model.diagnostic import has_errors

HEADERS = Path(resources).parent / "streaming"
FRAMES = (FrameLength(), FrameLength(time_ps=13), FrameLength(time_ps=20), FrameLength(elements=3))
EDGES = dict(enumerate(STREAM.edges))

QUERY = (
    STATEMENTS
    + """
    r1: measure rate at a
    h1: measure hist occupancy at c
    l1: measure hist(bins=3, low=0, high=12 ps) latency at c
    l2: measure trace latency at b when !(latency at a > 4 ps | backpressure at b)
    l5: measure mean latency at c
    p1: measure mean latency at a -> b
    p2: assert rate at c > 1 tps | latency at a -> b < 9 ps
"""
)

REPLAY = """
#include <iostream>
#include <map>
#include "agent_server.hpp"
using namespace streaming::agent;
int main(int, char** args) {
    const Query queries[] = {PLANS};
    Query query = queries[std::atoi(args[1])];
    std::deque<Part> parts;
    for (const Plan& plan : query.parts) parts.emplace_back(plan, query.room);
    const std::atomic<bool> stop{false};
    long long at, edge, kind, bits, end = std::atoll(args[2]), period = std::atoll(args[3]), next = period;
    for (Part& part : parts) part.counter.begin();
    while (std::cin >> at >> edge >> kind >> bits) {
        for (; next <= at; next += period)
            for (Part& part : parts) part.collect(next, stop);
        if (End* told = end_of(int(edge), Way(kind % 2)); told && (kind < 2 || told->waits))
            told->tell({at, uint64_t(bits), kind >= 2});
    }
    std::map<int, bool> known;
    for (size_t i = 0; i < parts.size(); ++i) {
        parts[i].collect(end + 1, stop);
        parts[i].counter.finish(end);
        if (parts[i].late || parts[i].lost()) return 1;
        std::cout << parts[i].counter.lines;
        for (size_t j = 0; j < query.parts[i].asserts.size(); ++j)
            known[query.parts[i].asserts[j].number] = parts[i].counter.known(j);
    }
    std::cout << "end " << end << " 0 0 known";
    for (const auto& [number, one] : known) std::cout << (one ? " 1" : " 0");
    std::cout << std::endl;
}
"""


def compiled(folder: Path, text: str) -> Path:
    source = folder / "main.cpp"
    source.write_text(text)
    command = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}", source, "-pthread", "-o"]
    done = subprocess.run([*command, folder / "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "main"


def asked(frame: FrameLength) -> tuple[Query, HostAgent]:
    query = read_query(QUERY, STREAM, frame=frame)
    assert not has_errors(query.diagnostics), query.diagnostics
    agent = host_agent(query, EDGES)
    assert (agent.measures, agent.asserts) == (query.measures, query.asserts)
    return query, agent


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plans = ", ".join(asked(frame)[1].plan for frame in FRAMES)
    return compiled(tmp_path_factory.mktemp("agent"), REPLAY.replace("PLANS", plans))


def random_events(random: np.random.Generator, end: int = 60) -> Events:
    """Several transfers often at one time; who waits for room pushes next, who waits for an element pops next."""
    edges = {}
    for edge in STREAM.edges:
        pushes = np.sort(random.integers(1, end + 1, random.integers(0, 31)))
        pops = np.maximum.accumulate(pushes + random.integers(0, end // 5, len(pushes)))
        pops = pops[pops <= end]
        values = random.integers(0, 8, len(pushes)).astype(np.uint64)
        edges[edge.label] = EdgeEvents(edge, pushes, pops, values, spells(pushes, random), spells(pops, random))
    return of_topology(STREAM, edges, end)


def spells(times: Times, random: np.random.Generator) -> Times:
    before = np.concatenate(([0], times[:-1])) if len(times) else times
    begins = before + ((times - before) * random.random(len(times))).astype(np.int64)
    found = np.stack((begins, times), axis=1)[random.random(len(times)) < 0.4]
    return found[found[:, 0] < found[:, 1]].reshape(-1, 2)


def told(events: Events) -> Iterator[tuple[int, int, int, int, int]]:
    """(time, that waiting begins after all else, edge, kind, value) as threads tell them."""
    for number, one in enumerate(events.edges.values()):
        assert one.values is not None
        yield from ((t, 0, number, 0, v) for t, v in zip(one.push_ps.tolist(), one.values.tolist(), strict=True))
        yield from ((t, 0, number, 1, 0) for t in one.pop_ps.tolist())
        yield from ((t, 1, number, 2, 0) for t in one.blocked_ps[:, 0].tolist())
        yield from ((t, 1, number, 3, 0) for t in one.waiting_ps[:, 0].tolist())


@pytest.mark.parametrize("number", range(len(FRAMES)))
def test_answers_are_those_of_the_trace(replay: Path, number: int, tmp_path: Path) -> None:
    query, agent = asked(FRAMES[number])
    for seed in range(25):
        events = random_events(np.random.default_rng(seed))
        lines = "".join(
            f"{t} {edge} {kind} {value}\n" for t, _, edge, kind, value in sorted(told(events), key=lambda e: e[:2])
        )
        arguments = [replay, str(number), str(events.end_ps), "7"]  # looked at every 7 ps
        done = subprocess.run(arguments, input=lines, capture_output=True, text=True, check=True)
        (tmp_path / FILE).write_text(done.stdout)
        found = host_answers(agent, tmp_path / FILE)
        a, b = events.edges["Stream.a"], events.edges["Stream.b"]
        unknown = {"p1", "p2"} if len(a.pop_ps) != len(b.push_ps) and len(a.pop_ps) and len(b.push_ps) else set()
        assert {one.line for one in found.diagnostics} == {s.line for s in (*query.measures, *query.asserts)
                                                           if s.label in unknown}  # fmt: skip
        measures, asserts = evaluate(query, events)
        for ours, true in zip(found.measures, measures, strict=True):
            if true.measure.label == "p1":  # blocks of these events give before they take: numbers are asked of runs
                assert bool(ours.frames) != ("more or fewer elements than they took" in ours.trust)
                assert bool(ours.frames) == (not unknown)
                continue
            assert len(ours.frames) == len(true.frames), (seed, true.measure.text)
            for mine, theirs in zip(ours.frames, true.frames, strict=True):
                same(mine, theirs, f"{seed} {true.measure.text}")
        for held, truth in zip(found.asserts, asserts, strict=True):
            if held.asserted.label == "p2":
                assert not (unknown and held.known)
                continue
            assert lasting(held.broken_ps, events) == lasting(truth.broken_ps, events), (seed, held.asserted.text)


def lasting(broken: tuple[tuple[int, int], ...], events: Events) -> list[tuple[int, int]]:
    return [spell for spell in broken if spell[0] < min(spell[1], events.end_ps)]


def same(mine: FrameValue, theirs: FrameValue, text: str) -> None:
    numbers = [(one.start_ps, one.end_ps, one.collected_ps, one.count, one.histogram) for one in (mine, theirs)]
    assert numbers[0] == numbers[1], text
    if theirs.samples is None:
        assert mine.value == (None if theirs.value is None else pytest.approx(theirs.value, rel=1e-12)), text
        return
    assert mine.samples is not None
    (times, values), (wanted, held) = mine.samples, theirs.samples
    if "trace occupancy" not in text:
        assert (times.tolist(), values.tolist()) == (wanted.tolist(), held.tolist()), text
    else:  # a queue's occupancy may be told again where it stays
        assert values[np.searchsorted(times, wanted, "right") - 1].tolist() == held.tolist(), text


APPLICATION = """
#include "agent_server.hpp"
using namespace streaming::agent;
int main(int, char** args) {
    {
        Query query = PLAN;
        if (args[1][0] == 'l') query.period_ps = 200000000000, query.room = 256;
        if (args[1][0] == 'd') query.parts[0].asserts[0].condition.push_back({Code::gt, 0, 0});
        Server server(query);
        const auto passes = [](Way way, int first) {
            for (int i = 0; i < 5000; ++i) end_of(0, way)->tell({i + first, uint64_t(i), false});
        };
        std::thread producer(passes, pushes, 1), consumer(passes, pops, 3);
        producer.join();
        consumer.join();
    }
    std::puts("the application is done");
}
"""


@pytest.fixture(scope="module")
def measured() -> HostAgent:
    return host_agent(read_query("r: measure rate at a\nassert occupancy at a < 9999", STREAM), EDGES)


@pytest.fixture(scope="module")
def application(measured: HostAgent, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("application"), APPLICATION.replace("PLAN", measured.plan))


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("late", "events of the streams were lost"),
        ("dead", "the agent died"),
        ("full", "No space left on device"),
    ],
)
def test_the_application_goes_on_whatever_becomes_of_the_agent(
    application: Path, measured: HostAgent, what: str, words: str, tmp_path: Path
) -> None:
    if what == "full":
        (tmp_path / FILE).symlink_to("/dev/full")
    environment = {**os.environ, "RCW_RAW": str(tmp_path)}
    done = subprocess.run([application, what], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "the application is done\n")
    if what == "full":
        assert words in done.stderr
        return
    found = host_answers(measured, tmp_path / FILE)
    assert any(words in problem.message for problem in found.diagnostics), found.diagnostics
    if what == "late":
        (result,) = found.measures
        assert 0 < result.frames[0].count < 5000
        assert words in result.trust
        assert words in found.asserts[0].trust


def test_a_file_that_breaks_off_is_said_to(tmp_path: Path) -> None:
    query = read_query("r: measure rate at a", STREAM, frame=FrameLength(time_ps=10))
    agent = host_agent(query, EDGES)
    (tmp_path / FILE).write_text("frame 0 0 10 10 3 0 nan nan 0\nframe 0 10 20 10 4 0 nan n")
    found = host_answers(agent, tmp_path / FILE)
    assert [frame.count for frame in found.measures[0].frames][:1] == [3]
    assert [problem.hint for problem in found.diagnostics] == [KILLED]
    (tmp_path / FILE).write_text("frame 0 0 10 10 3 0 nan nan 0\n")
    (problem,) = host_answers(agent, tmp_path / FILE).diagnostics
    assert (problem.hint, "did not finish" in problem.message) == (KILLED, True)


#: A card whose agent counts 5 elements in 100 cycles, and tells so when frames are to end.
CARD = """
#include <deque>
#include <stdexcept>
#include "agent_card.hpp"
static bool dies;
static std::deque<uint32_t> sent;
extern "C" {
void stream_card_open(int) {}
void stream_card_close(int) {}
void stream_card_wait(int) {}
void stream_card_write(int, uint32_t, const uint32_t* words, int count) {
    for (int i = 0; i < count; ++i)
        if (words[i] >> 28 == 2) sent.insert(sent.end(), {0xA6010000, 0, 0, 0, 100, 0, 5});
}
void stream_card_read(int, uint32_t address, uint32_t* words, int count) {
    static uint32_t cycle = 0;
    if (dies && cycle > 1 && !sent.empty()) throw std::runtime_error("the bus is gone");
    if (address < 0x10000) {
        words[0] = ++cycle, words[1] = 1, words[2] = uint32_t(sent.size());
        return;
    }
    for (int i = 0; i < count; ++i) words[i] = sent.front(), sent.pop_front();
}
}
int main(int, char** args) {
    dies = args[1][0] == 'd';
    { streaming::agent::Collector collector(0, "FPGA", 0, 1, 1000000000, 1000000000); }
    std::puts("the application is done");
}
"""


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("card"), CARD)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("goes on", ""),
        ("dead", "the agent died: the bus is gone"),
        ("full", "No space left on device; 7 of the words that it sent were lost"),
        ("killed", "its answers are incomplete"),
    ],
)
def test_the_application_goes_on_whatever_becomes_of_what_an_fpga_counts(
    card: Path, what: str, words: str, tmp_path: Path
) -> None:
    if what == "full":
        (tmp_path / "stream_fpga0.words").symlink_to("/dev/full")
    environment = {**os.environ, "RCW_RAW": str(tmp_path)}
    done = subprocess.run([card, what], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "the application is done\n")
    assert (words.partition(";")[0] in done.stderr) if what in ("dead", "full") else not done.stderr
    if what == "full":
        (tmp_path / "stream_fpga0.words").unlink()
    if what == "killed":
        (tmp_path / "stream_fpga0.end").unlink()
    edges = [AgentEdge(edge) for edge in STREAM.edges]
    agent = hardware_agent(read_query("r: measure rate at a", STREAM), edges, [AgentClock(Fraction(10_000))])
    found = fpga_answers(agent, tmp_path)
    (result,) = found.measures
    assert [frame.count for frame in result.frames] == ([5] if what in ("goes on", "killed") else [])
    assert [problem.message for problem in found.diagnostics if words in problem.message] or not words
    stamps = triples(tmp_path)
    assert stamps.t_f2.tolist()[:2] == [(1 << 32) + 1, (1 << 32) + 2]
    assert (stamps.t_p3 >= stamps.t_p1).all()
