"""The walk from a pipeline's end to its front names what limits the throughput, and what would then (section 6.1)."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.streaming.limit_finding import (
    LIMITS,
    limits,
    limits_table,
    short_queues,
    stream_advice,
    stream_bound,
)
from stream_topologies import DEPTH, LAPLACE, TANDEM, flow

from workbench.analysis import analyse
from workbench.api import FindingSource
from workbench.api.queues import Deeper
from workbench.api.stream_events import Events, Times, events_of, tables
from workbench.api.tables import table_of
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.blocks import Block, Side, State
from workbench.model.changes import Depth
from workbench.model.finding import Finding
from workbench.model.finding import Place as Line
from workbench.model.pragma import Category
from workbench.model.run import RunStatus
from workbench.model.topology import MappedTo, Resource
from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

WAYS = [["e1", "e21", "e31", "e4"], ["e1", "e22", "e32", "e4"]]
NS = 1000


def laplace(split_ns: int, walk_ns: int = 200, random_ns: int = 40) -> Events:
    service = {"mt": random_ns, "s1": split_ns, "w1": walk_ns, "w2": walk_ns, "a1": 20, "out": 10}
    return flow(LAPLACE, {block: ns * NS for block, ns in service.items()}, WAYS, 4000)


def throughput(events: Events) -> float:
    return len(events.edges["Laplace.e4"].pop_ps) / events.end_ps


def test_the_slow_split_limits_and_once_it_is_fixed_the_walks_do() -> None:
    slow = limits(laplace(split_ns=400))
    assert slow.limit == ("Laplace.s1",)
    assert slow.following == ("Laplace.w1", "Laplace.w2")
    assert slow.gain == pytest.approx(4, rel=0.01)  # a walk takes 200 of every 800 ns
    fixed = limits(laplace(split_ns=50))
    assert fixed.limit == ("Laplace.w1", "Laplace.w2")
    assert fixed.following == ("Laplace.s1",)


def test_who_limits_is_not_named_as_the_next_too() -> None:
    service = {"mt": 10, "s1": 20, "w1": 900, "w2": 300, "a1": 10, "out": 10}
    found = limits(flow(LAPLACE, {block: ns * NS for block, ns in service.items()}, WAYS, 1000))
    assert (found.limit, found.following) == (("Laplace.w1",), ("Laplace.w2",))


def test_the_next_limit_may_stand_on_the_other_branch_of_a_split() -> None:
    """Of one kind, and yet no copies: `w1` takes ten times as long as `w2` for an element, which cannot help it."""
    service = {"mt": 1, "s1": 100, "w1": 30, "w2": 3, "a1": 1, "out": 1}
    found = limits(flow(LAPLACE, {block: ns * NS for block, ns in service.items()}, WAYS, 4000))
    assert (found.limit, found.following) == (("Laplace.s1",), ("Laplace.w1",))
    assert found.gain == pytest.approx(200 / 30, rel=0.01)
    busy = [one.busy for one in found.blocks if one.name not in found.limit]
    assert found.gain == pytest.approx(1 / max(busy))
    assert found.answers[6].words.startswith("w1, at 6.6")


def test_what_copies_would_bring_holds_though_they_share_the_work_unevenly() -> None:
    """Each walk takes 200 ns; of five numbers one gets three and the other two, until the split is fixed."""
    service = {"mt": 40, "s1": 130, "w1": 200, "w2": 200, "a1": 20, "out": 10}
    uneven = [WAYS[0], WAYS[1], WAYS[0], WAYS[1], WAYS[0]]
    before = flow(LAPLACE, {block: ns * NS for block, ns in service.items()}, uneven, 4000)
    after = laplace(split_ns=1)
    found = limits(before)
    assert found.limit == ("Laplace.s1",)
    assert throughput(after) / throughput(before) == pytest.approx(1.3, rel=0.01)
    assert found.gain == pytest.approx(1.3, rel=0.01)
    assert found.gain > 0.999 * throughput(after) / throughput(before)


def test_the_time_before_and_after_a_block_and_that_in_which_others_have_its_core_is_not_work() -> None:
    made = laplace(split_ns=400)
    end = made.end_ps
    lives = {"Laplace.mt": (end // 10, end // 2), "Laplace.a1": (0, end)}
    queued = {"Laplace.mt": np.array([[end // 5, end // 5 + end // 100]]), "Laplace.a1": np.array([[0, end // 4]])}
    plain, found = ({one.name: one for one in limits(events).blocks}
                    for events in (made, replace(made, lives_ps=lives, queued_ps=queued)))  # fmt: skip
    free = spells_ps(made.edges["Laplace.e1"].blocked_ps, end // 10, end // 5, end // 5 + end // 100, end // 2)
    assert found["Laplace.mt"].busy == pytest.approx(free / end, abs=1e-6)
    assert found["Laplace.mt"].queued == pytest.approx(0.01, abs=1e-6)
    assert found["Laplace.s1"].busy == plain["Laplace.s1"].busy
    assert found["Laplace.a1"].busy == pytest.approx(0.75 * plain["Laplace.a1"].busy, rel=0.01)
    again = events_of(tables(replace(made, lives_ps=lives, queued_ps=queued)))
    assert again
    assert again.lives_ps == lives
    assert all((again.queued_ps[block] == spells).all() for block, spells in queued.items())


def test_waiting_at_two_queues_at_a_time_is_waiting_once() -> None:
    made = laplace(split_ns=1)
    half, end = made.end_ps // 2, made.end_ps  # its streams have ended, and it with them
    ends = {f"Laplace.{label}": np.array([[half, end]]) for label in ("e31", "e32")}
    edges = {label: replace(one, waiting_ps=ends.get(label, one.waiting_ps)) for label, one in made.edges.items()}
    ended = replace(made, edges=edges, lives_ps={"Laplace.a1": (0, half)})
    (busy,) = (one.busy for one in limits(ended).blocks if one.name == "Laplace.a1")
    assert busy == pytest.approx(0.5, abs=1e-6)


def spells_ps(blocked: Times, *moments: int) -> int:
    """How long nothing was blocked between the first two moments, and between the last two."""
    left = 0
    for begin, end in zip(moments[::2], moments[1::2], strict=True):
        held = np.minimum(blocked[:, 1], end) - np.maximum(blocked[:, 0], begin)
        left += end - begin - int(held[held > 0].sum())
    return left


def test_a_core_that_blocks_share_limits_and_each_on_its_own_would_bring_what_is_said() -> None:
    core = Resource("c0", MappedTo.CORE)
    made = laplace(split_ns=100, walk_ns=100, random_ns=100)
    shared = {f"Laplace.{block}": (0, made.end_ps) for block in ("mt", "s1")}
    half = np.arange(0, made.end_ps, 200 * NS)
    queued = {block: np.stack((half, half + 100 * NS), axis=1) for block in shared}
    events = replace(made, lives_ps=shared, queued_ps=queued, stands=dict.fromkeys(shared, core))
    found = limits(events)
    assert [one.queued for one in found.blocks if one.name in shared] == pytest.approx([0.5, 0.5], rel=0.01)
    assert found.limit == ("Laplace.mt", "Laplace.s1")
    assert found.answers[5].words.startswith("The core c0, which mt, s1 share: it is busy ")


def test_the_gain_is_what_fixing_brings_at_most() -> None:
    before, after = laplace(split_ns=130), laplace(split_ns=1)
    assert throughput(after) / throughput(before) == pytest.approx(1.3, rel=0.01)
    assert limits(before).gain == pytest.approx(1.3, rel=0.01)


@pytest.mark.parametrize("tick_ps", [0, 10 * NS], ids=["host", "hardware"])
@pytest.mark.parametrize("slowest", ["A", "B", "C", "D", "E"])
def test_whichever_block_is_slowest_limits(slowest: str, tick_ps: float) -> None:
    service = dict.fromkeys("ABCDE", 60 * NS) | {slowest: 100 * NS}
    found = limits(flow(TANDEM, service, [["ab", "bc", "cd", "de"]], 1500, tick_ps))
    assert found.limit == (f"Tandem.{slowest}",)
    seen = not (slowest == "A" and tick_ps)  # no block after A ever had data waiting: all that is known is the clock
    assert found.gain == pytest.approx(100 / 60 if seen else 100 / 10, rel=0.03)
    assert [queue.edge.label for queue in found.queues] == ["Tandem.de", "Tandem.cd", "Tandem.bc", "Tandem.ab"]


def test_the_seven_questions_are_answered_with_what_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = RunWriter(tmp_path / "run")
    events = laplace(split_ns=400)
    writer.finish(replace(writer.manifest, status=RunStatus.COMPLETE, time_ps=events.end_ps), tables(events))
    said = document_of(capsys, ["query", str(tmp_path / "run"), "--limits", "--json"])["limits"]
    assert said["limit"] == ["Laplace.s1"]
    answers = [one["answer"] for one in said["answers"]]
    assert len(answers) == 7
    assert answers[0].startswith("e1 2.5\u202fM/s; e21 1.25\u202fM/s;")
    assert answers[4] == "e1 89.9\u202f%."  # of each 400 ns all but the 40 that a number takes
    assert answers[5].startswith("s1: it is busy 100\u202f% of the time. The queue before: full 9")
    assert answers[5].endswith("The queues after: empty 100\u202f% of the time.")
    assert answers[6] == "w1, w2, at 4.00× the current throughput at most."
    # every statement that is named as evidence can be asked
    statements = "\n".join(dict.fromkeys(text for one in said["answers"] for text in one["evidence"]))
    (tmp_path / "evidence.query").write_text(statements)
    assert main(["query", str(tmp_path / "run"), str(tmp_path / "evidence.query")]) == 0
    assert main(["query", str(tmp_path / "run"), "--limits"]) == 0
    assert "What limits the throughput?\n    s1: it is busy" in capsys.readouterr().out
    assert main(["query", str(tmp_path / "run")]) == 2


THREADS = ("mt", "s1", "w1", "w2", "a1", "out")


def recorded_run(path: Path, events: Events, asleep: str = "") -> Path:
    """A run folder of the application: a host block for each of its threads, and what it recorded of its edges. One of
    them sleeps while no queue holds it up."""
    states = (State(0, "unclassified"), State(1, "work", Category.WORK), State(2, "waiting"))
    blocks = tuple(Block(f"host.{name}", Side.HOST, "host", "thread", f"host.{name}", states) for name in THREADS)
    busy = {one.name.rpartition(".")[2]: one.busy for one in limits(events).blocks}
    works = [0 if name == asleep else round(busy[name] * events.end_ps) for name in THREADS]
    rows = [
        (n, state, ps, 0, 1) for n, work in enumerate(works) for state, ps in ((1, work), (2, events.end_ps - work))
    ]
    writer = RunWriter(path)
    manifest = replace(writer.manifest, status=RunStatus.COMPLETE, time_ps=events.end_ps, blocks=blocks)
    own = {**tables(events), **limits_table(tables(events), events.topology)}
    writer.finish(manifest, {**own, "state_time": table_of("state_time", rows)})
    return path


def test_report_and_streams_give_one_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What limits the streams is a finding, with the gain that Streams and `query --limits` name."""
    slow = recorded_run(tmp_path / "slow", laplace(split_ns=400))
    said = document_of(capsys, ["query", str(slow), "--limits", "--json"])["limits"]
    (finding,) = document_of(capsys, ["report", str(slow), "--json"])["findings"]
    assert (finding["rule"], finding["block"], finding["title"]) == (
        "stream limit", "host.s1", "s1 limits the throughput",
    )  # fmt: skip
    assert finding["gain"] == pytest.approx(said["gain"])
    assert finding["advice"][0]["stays"] == "then w1, w2 limit the throughput"
    assert finding["metrics"]["stream.busy"] == pytest.approx(1, abs=0.01)
    assert main(["report", str(slow)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "1. s1 limits the throughput: at most 4.00×" in text
    assert "host.s1 works 100" in text
    assert "host.w1 works 25.0 % of the time, moves data 0 % and waits 75.0 %." in text


def test_a_block_that_sleeps_is_advised_to_sleep_less(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A source that waits for its next sample is busy and does not work: faster code gains nothing."""
    assert main(["report", str(recorded_run(tmp_path / "run", laplace(split_ns=400), asleep="s1")), "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    (advice,) = finding["advice"]
    assert finding["title"] == "s1 limits the throughput"
    assert advice["text"].startswith("s1 sleeps 100\u202f% of the time, and no queue holds it up")
    assert (advice["changes"], advice["no_change"]) == ([], "the block's source sets how long it sleeps")


def test_where_nothing_limits_neither_says_that_something_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All blocks alike: none would gain 1.05."""
    service = dict.fromkeys(THREADS, 100 * NS)
    even = flow(LAPLACE, service, [["e1", "e21", "e31", "e4"]], 2000)
    assert limits(even).gain < 1.05
    assert main(["report", str(recorded_run(tmp_path / "even", even))]) == 0
    assert "No findings above 1.05×" in capsys.readouterr().out


def test_a_run_without_its_streams_says_that_it_cannot_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An untraced run of a streaming application."""
    writer = RunWriter(tmp_path / "run")
    blocks = (Block("host.main", Side.HOST, "host", "main", "host.main", (State(0, "unclassified"),)),)
    sources = {"../cache/stream_main.cpp": "0" * 64}
    manifest = replace(writer.manifest, status=RunStatus.COMPLETE, time_ps=10, blocks=blocks, sources=sources)
    writer.finish(manifest, {"state_time": table_of("state_time", [(0, 0, 10, 0, 1)])})
    assert main(["report", str(tmp_path / "run")]) == 0
    said = capsys.readouterr()
    assert "No findings above 1.05×. A run with a trace (--trace) may show more." in " ".join(said.out.split())
    assert "the limit of the throughput is unknown: this run did not record its streams" in said.err


def test_a_rules_finding_gains_no_more_than_the_streams_let_it(tmp_path: Path) -> None:
    """Larger transfers leave the blocks as they are, of which one is busy nearly all the time."""
    knowledge, _ = open_knowledge(load_plugins())
    for split_ns in (400, 50):
        run, _ = open_run(recorded_run(tmp_path / str(split_ns), laplace(split_ns=split_ns)))
        analysis = analyse(run, None, knowledge)
        measured: Any = SimpleNamespace(run=run, blocks=analysis.blocks)
        limit = analysis.findings[0]
        moves = replace(limit, rule="inefficient transfer type or size", block="host.main")
        bound, why = stream_bound(measured, moves) or (0.0, "")
        busiest = max(one.busy for one in limits(laplace(split_ns=split_ns)).blocks)
        assert bound == pytest.approx(1 / busiest)
        assert "busy" in why
        own, why = stream_bound(measured, replace(moves, block=limit.block)) or (0.0, "")
        assert own == limit.speedup_cap
        assert stream_bound(measured, replace(moves, scope="application")) is None


def test_transfers_of_the_run_time_are_advised_by_the_project(tmp_path: Path) -> None:
    """Its code is generated: nobody can unite its calls. Without a trace nothing is known of what that gains."""
    run, _ = open_run(recorded_run(tmp_path / "run", laplace(split_ns=400)))
    limit = analyse(run, None, open_knowledge(load_plugins())[0]).findings[0]
    places = (Line("composed/stream_card.c", 22, "fpgaWrite"),)
    moves = replace(limit, rule="inefficient transfer type or size", places=places)
    measured: Any = SimpleNamespace(run=run)
    (advice,) = stream_advice(measured, moves) or ()
    assert "streaming.bulk_elements" in advice.text
    assert (advice.at_most, advice.stays, advice.changes) == (limit.speedup_cap, limit.advice[0].stays, ())
    measured.run = replace(run, tables={})
    (untraced,) = stream_advice(measured, moves) or ()
    assert (untraced.at_most, "--trace" in untraced.text) == (None, True)
    assert stream_advice(measured, replace(moves, places=(Line("main.c", 22),))) is None
    (faster,) = stream_advice(measured, replace(moves, rule="late sender")) or ()
    assert "streaming.mapping" in faster.text, "two buffers would be in generated code"


def test_where_the_bus_limits_only_transfers_gain_and_the_edge_is_the_place(tmp_path: Path) -> None:
    """A faster FPGA leaves the bus as busy as it is."""
    run, _ = open_run(recorded_run(tmp_path / "run", laplace(split_ns=400)))
    said = json.loads(bytes(np.asarray(run.tables[LIMITS]["utf8"])))
    said |= {"by": "bus", "at": "e1", "share": 0.8, "source": "mt", "edges": {"e1": ["walks.x", 7]}}
    tables = {**run.tables, LIMITS: {"utf8": np.frombuffer(json.dumps(said).encode(), "u1")}}
    run = replace(run, tables=tables)
    analysis = analyse(run, None, open_knowledge(load_plugins())[0])
    (limit,) = analysis.findings
    assert (limit.title, limit.block) == ("The bus limits the throughput, at e1", "host.mt")
    assert limit.places == (Line("walks.x", 7, "e1"),)
    measured: Any = SimpleNamespace(run=run, blocks=analysis.blocks, threshold=1.05)
    moves = replace(limit, rule="inefficient transfer type or size", places=(Line("composed/stream_card.c", 22),))
    assert limit.advice[0].text.startswith("Move larger pieces")
    (again,) = stream_advice(measured, moves) or ()
    assert again.text.endswith(
        "best rate of the bus. Larger pieces, as in the advice for the bus at e1, shorten this time too."
    )
    assert stream_bound(measured, moves) == (said["gain"], limit.advice[0].stays)
    for other in (replace(moves, rule="late sender"), replace(limit, rule="own rule")):
        bound, why = stream_bound(measured, other) or (0.0, "")
        assert bound == pytest.approx(1.25)
        assert why == "the bus stays busy 80.0\u202f% of the time, at e1"


def test_of_equal_gains_what_limits_the_streams_is_first() -> None:
    run, knowledge = synthetic_run(), open_knowledge(load_plugins())[0]
    (first, *_) = analyse(run, None, replace(knowledge, sources=())).findings
    own = replace(first, id="own", rule="own", time_s=first.time_s / 100)
    source = FindingSource("own", lambda measured: (own,))
    assert analyse(run, None, replace(knowledge, sources=(source,))).findings[0].id == "own"


def test_a_plugins_bound_is_the_findings(tmp_path: Path) -> None:
    run, knowledge = synthetic_run(), open_knowledge(load_plugins())[0]
    found = analyse(run, None, replace(knowledge, sources=())).findings
    assert max(one.gain for one in found) > 1.2
    bound = FindingSource("bound", lambda measured: (), lambda measured, finding: (1.2, "the lamp stays on"))
    bounded = analyse(run, None, replace(knowledge, sources=(bound,))).findings
    assert max(one.gain for one in bounded) == 1.2
    assert {advice.stays for one in bounded for advice in one.advice if advice.at_most == 1.2} == {"the lamp stays on"}
    broken = FindingSource("broken", lambda measured: (), lambda measured, finding: ()[0])
    analysis = analyse(run, None, replace(knowledge, sources=(broken,)))
    assert [one.id for one in analysis.findings] == [one.id for one in found]
    assert any("to bound findings ('broken')" in one.message for one in analysis.diagnostics)


def test_an_earlier_versions_run_and_a_source_that_fails(tmp_path: Path) -> None:
    """A run that kept events alone gets its finding; a plugin's fault is reported and costs no other finding."""
    run, _ = open_run(recorded_run(tmp_path / "run", laplace(split_ns=400)))
    without = replace(run, tables={name: table for name, table in run.tables.items() if name != LIMITS})
    knowledge, _ = open_knowledge(load_plugins())
    assert [f.rule for f in analyse(without, None, knowledge).findings] == ["stream limit"]
    broken = replace(knowledge, sources=(FindingSource("broken", lambda measured: [][0]), *knowledge.sources))
    analysis = analyse(run, None, broken)
    assert [f.rule for f in analysis.findings] == ["stream limit"]
    assert ["to find bottlenecks ('broken')" in d.message for d in analysis.diagnostics] == [True]
    damaged = replace(run, tables={**run.tables, LIMITS: {"utf8": np.frombuffer(b'{"by": "block"', "u1")}})
    analysis = analyse(damaged, None, knowledge)
    assert not analysis.findings
    assert ["record of its throughput's limit is damaged" in d.message for d in analysis.diagnostics] == [True]


def test_a_short_queue_is_a_finding_with_its_depths_and_the_predicted_speedup(tmp_path: Path) -> None:
    """What the replay found of its edges is taken from `deeper_edges`; one that gains more than the busiest block, busy
    all the time here, leaves is none."""
    made = laplace(split_ns=50)
    edges = {label: replace(one, declared=DEPTH) for label, one in made.edges.items()}
    run, _ = open_run(recorded_run(tmp_path / "run", replace(made, edges=edges, bulk=64)))
    total_ps, blocks = run.manifest.time_ps, analyse(run, None, open_knowledge(load_plugins())[0]).blocks
    busiest = max(one.busy for one in limits(made).blocks)

    def found(after: float) -> list[Finding]:
        deeper = {"Laplace.e1": Deeper(24, total_ps, round(after * total_ps))}
        return list(short_queues(cast(Any, SimpleNamespace(run=run, blocks=blocks, deeper_edges=lambda _: deeper))))

    (finding,) = found(after=(1 + busiest) / 2)
    (advice,) = finding.advice
    assert advice.text.startswith("Deepen e1 from 4 to 24 elements (depth=24). By replay, this is ")
    assert (finding.block, finding.metrics) == ("host.mt", {"stream.depth": 4, "stream.least_depth": 24})
    assert advice.at_most == pytest.approx(1 / busiest)
    assert advice.prediction is not None
    assert advice.prediction.changes == (Depth("Laplace.e1", 24),)
    assert advice.prediction.speedup == pytest.approx(2 / (1 + busiest))
    assert finding.gain == advice.prediction.speedup
    assert found(after=busiest / 2) == []


@pytest.mark.parametrize(
    ("bus_ns", "work_ns", "said"),
    [
        (500, 20, "The bus, at ab: the consumer waits for it 9"),
        (400, 300, " The consumer of ab waits for the bus 2"),
    ],
)
def test_a_bus_that_is_waited_for_is_named_and_not_who_waits(bus_ns: int, work_ns: int, said: str) -> None:
    """B stands for the bus between A and C: what is one edge for them is two here."""
    service = {"A": 10, "B": bus_ns, "C": work_ns, "D": 10, "E": 10}
    events = flow(TANDEM, {block: ns * NS for block, ns in service.items()}, [["ab", "bc", "cd", "de"]], 300)
    ab, bc = events.edges["Tandem.ab"], events.edges["Tandem.bc"]
    crossing = replace(
        ab,
        edge=replace(ab.edge, sink=bc.edge.sink),
        pop_ps=bc.pop_ps,
        waiting_ps=bc.waiting_ps,
        taken_ps=ab.pop_ps,
        delivered_ps=bc.push_ps,
    )
    edges = {"Tandem.ab": crossing, **{label: events.edges[label] for label in ("Tandem.cd", "Tandem.de")}}
    for tick_ps in (0, 10 * NS):  # who waits stands on the host, or in hardware
        edges["Tandem.ab"] = replace(crossing, tick_ps=tick_ps)
        found = limits(replace(events, edges=edges))
        assert said in found.answers[5].words
        assert ("C" in found.answers[6].words) == (bus_ns > 450), "a bus that limits is followed by the busiest block"
