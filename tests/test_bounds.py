"""What advice gains at most: bounds by hand on runs of a few calls, and changes really made on the simulated card."""

import runpy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import Calls, Spent, small_run

from workbench.analysis import Analysis, KnowledgeBase, analyse, load_knowledge
from workbench.analysis.finding_words import FOLLOWING, part_words, where_words
from workbench.analysis.html_report import html_report
from workbench.analysis.text_report import text_report
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.blocks import State
from workbench.model.finding import Finding, tops
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.model.run_tables import TABLES
from workbench.testing.runs import synthetic_platform, synthetic_run

SEND, RECV, WORK, WAIT_RECV = Category.SEND, Category.RECV, Category.WORK, Category.WAIT_RECV
US = 1_000_000  # picoseconds
CYCLE_S = 1e-8


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    base, problems = load_knowledge([file.path for file in workbench_rules()], METRICS)
    assert problems == ()
    return base


@dataclass(frozen=True)
class Made:
    """A call: in which of the host's states (from 0, as listed), how long, and how long the host's code before it."""

    state: int
    took_us: float
    gap_us: float = 0.0
    address: int = 0


def made_run(states: Sequence[Spent], calls: Sequence[Made], work_us: float) -> Run:
    """A run of these calls one after the other; words pass the port as each call ends. The FPGA's block is top.p."""
    time, rows = 0, []
    spent, count, runs = [0.0] * len(states), [0] * len(states), [0] * len(states)
    for before, call in zip((None, *calls), calls, strict=False):
        runs[call.state] += before is None or before.state != call.state
        time += round(call.gap_us * US)
        start, time = time, time + round(call.took_us * US)
        site = sum(s.calls is not None for s in states[: call.state])
        rows.append((site, 0, call.state + 2, -1, start, time, 4, call.address, 0, -1, time, time, -1, -1))
        spent[call.state] += call.took_us
        count[call.state] += 1
    known = [
        replace(s, time_s=t * 1e-6, visits=n, calls=replace(s.calls, count=n, bytes=4 * n, runs=r) if s.calls else None)
        for s, t, n, r in zip(states, spent, count, runs, strict=True)
    ]
    run = small_run(time / US * 1e-6, known, {"top.p": [Spent("work", WORK, work_us * 1e-6)]})
    columns = zip(TABLES["calls"].items(), zip(*rows, strict=True), strict=False)  # what follows has defaults
    table = {name: np.array(column, dtype=kind) for (name, kind), column in columns}
    entry_of = {row[0]: row[3] for row in zip(*(run.tables["call_stats"][n].tolist() for n in
                                                 ("site", "block", "state", "entry")), strict=True)}  # fmt: skip
    table["entry"] = np.array([entry_of[site] for site in table["site"].tolist()], dtype="i4")
    return Run(None, run.manifest, {**run.tables, "calls": table})


REGISTER = Calls(0, 0, "fpgaReadReg", "receive", "read")
PUT = Spent("put", SEND, 0, ("data",), "top.p", "x", calls=Calls(0, 0, "fpgaWrite", "send", "write"))
BEGIN = Spent("begin", SEND, 0, ("ctrl",), "top.p", "go", calls=Calls(0, 0, "fpgaWriteReg", "send", "write"))
POLL = Spent("poll", WAIT_RECV, 0, ("late_sender",), "top.p", "d", calls=REGISTER)
GET = Spent("get", RECV, 0, ("data",), "top.p", "y", calls=replace(REGISTER, callee="fpgaRead"))


def found(analysis: Analysis, rule: str, block: str = "host.main") -> Finding:
    return next(f for f in analysis.findings if (f.rule, f.scope, f.block) == (rule, "block", block))


def bound(finding: Finding, words: str) -> float:
    at_most = next(a.at_most for a in finding.advice if a.text.startswith(words))
    assert at_most is not None
    return at_most


def test_polling_can_save_only_what_lies_after_the_fpga_was_ready(knowledge: KnowledgeBase) -> None:
    """50 rounds of a start (16 us) and four polls of 32 us; the FPGA works 123.45 us of each 128: 50 x 4.55 us."""
    calls = [Made(k, took) for _ in range(50) for k, took in ((0, 16), (1, 32), (1, 32), (1, 32), (1, 32), (2, 32))]
    run = made_run([BEGIN, POLL, GET], calls, 50 * 123.45)
    polling = found(analyse(run, synthetic_platform(), knowledge, threshold=1.0), "polling")
    assert polling.time_s == pytest.approx(50 * (4.55e-6 + CYCLE_S))
    total = 50 * 176e-6
    assert bound(polling, "Poll when the answer is due") == pytest.approx(total / (total - polling.time_s))
    assert polling.gain < 1.03
    late = found(analyse(run, synthetic_platform(), knowledge), "late sender")
    assert late.time_s == pytest.approx(50 * 96e-6), "one poll a round has to be made even if the FPGA is ready"
    assert bound(late, "Make the FPGA faster") == pytest.approx(176 / 80)


def test_of_several_polls_the_quickest_of_the_run_remains(knowledge: KnowledgeBase) -> None:
    """The host's code within a call varies, and a faster FPGA leaves one poll with the least of it. A poll that is
    answered at once stays as it is."""
    rounds = [(33, 34, 35), (32.2, 36), (38,)]
    calls = [Made(k, took) for polls in rounds for k, took in ((0, 16), *((1, one) for one in polls), (2, 32))]
    late = found(analyse(made_run([BEGIN, POLL, GET], calls, 30), synthetic_platform(), knowledge), "late sender")
    total = sum(call.took_us for call in calls)
    left = total - (33 + 34 + 35 - 32.2) - (32.2 + 36 - 32.2)
    assert bound(late, "Make the FPGA faster") == pytest.approx(total / left)


def test_a_part_of_another_kind_has_its_own_title(knowledge: KnowledgeBase) -> None:
    """Polling is part of waiting for the FPGA; parts of the same kind are named by their place."""
    calls = [Made(k, took) for _ in range(50) for k, took in ((0, 16), (1, 32), (1, 32), (1, 32), (1, 32), (2, 32))]
    analysis = analyse(made_run([BEGIN, POLL, GET], calls, 50 * 110), synthetic_platform(), knowledge, threshold=1.0)
    late, polling = found(analysis, "late sender"), found(analysis, "polling")
    assert polling.part_of == late.id
    assert part_words(polling, late) == (polling.title, where_words(polling))
    assert part_words(replace(polling, title=late.title), late) == (where_words(polling), "")


def test_without_the_fpgas_states_the_port_tells_when_a_poll_was_in_vain(knowledge: KnowledgeBase) -> None:
    """Other messages come before some of the waits, so the FPGA may work before: one poll a round, and no more."""
    first = [Made(0, 16), Made(0, 16)]
    rounds = [Made(k, took) for _ in range(10) for k, took in ((0, 16), (1, 32), (1, 32), (1, 32), (2, 32))]
    analysis = analyse(made_run([BEGIN, POLL, GET], [*first, *rounds], 0.0), synthetic_platform(), knowledge)
    assert found(analysis, "polling").time_s == pytest.approx(10 * (32e-6 + CYCLE_S))


def test_a_poll_that_is_answered_at_once_waits_for_nobody(knowledge: KnowledgeBase) -> None:
    calls = [Made(k, took) for _ in range(10) for k, took in ((0, 16), (1, 32), (2, 32))]
    analysis = analyse(made_run([BEGIN, POLL, GET], calls, 20.0), synthetic_platform(), knowledge)
    assert "late sender" not in {f.rule for f in analysis.findings if f.block == "host.main"}


def test_go_and_poll_messages_go_with_the_transfers_they_serve(knowledge: KnowledgeBase) -> None:
    """Four registers in, a start, two polls, one register back, ten times. United: one write, one read of 40 bytes, and
    the FPGA's 100 us of work stay. The loop's code (0.1 us) goes with the calls; 50 us of work between stay."""
    platform = synthetic_platform()
    one = [*(Made(0, 9, 0.1) for _ in range(4)), Made(1, 9, 0.1), Made(2, 9, 0.1), Made(2, 9, 0.1), Made(3, 9, 0.1)]
    calls = [replace(c, gap_us=50.0) if not n else c for _ in range(10) for n, c in enumerate(one)]
    run = made_run([PUT, BEGIN, POLL, GET], calls, 100.0)
    finding = found(analyse(run, platform, knowledge), "inefficient transfer type or size")
    united = bound(finding, "Unite transfers")
    send = 160 / 200 * (8.05e-6 + (200 - 4) / 252 * (8.4e-6 - 8.05e-6))  # the start goes along: 200 bytes
    receive = 8.6e-6 + (40 - 4) / 252 * (9.4e-6 - 8.6e-6)
    total = 10 * (50 + 8 * 9 + 7 * 0.1) * 1e-6
    assert run.time_s == pytest.approx(total)
    code = 0.1e-6  # what a call takes at least
    assert united == pytest.approx(total / (10 * 50e-6 + send + receive - code))
    assert united > finding.speedup_ideal, "more goes than the transfers' own time"


def test_no_call_is_to_be_larger_than_all_that_the_run_moves(knowledge: KnowledgeBase) -> None:
    """A register of which the whole run reads 200 bytes."""
    calls = [Made(k, 9) for _ in range(50) for k in (0, 1)]
    analysis = analyse(made_run([BEGIN, GET], calls, 10.0), synthetic_platform(), knowledge)
    finding = found(analysis, "inefficient transfer type or size")
    said = " ".join(finding.suggestions).replace("\u202f", " ")
    assert "KiB" not in said
    assert "The run moves 200 B in this direction; in calls of 200 B, that would take" in said


def with_advice(platform: Platform, **limits: int) -> Platform:
    entries = tuple(
        e.model_copy(update={"suggestion": "Mind the bus.", **limits}) if e.prototype.startswith("int fpgaWrite") else e
        for e in platform.host.entries
    )
    return platform.model_copy(update={"host": platform.host.model_copy(update={"entries": entries})})


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        ({}, True),
        ({"suggestion_from_bytes": 4}, True),
        ({"suggestion_from_bytes": 5}, False),
        ({"suggestion_to_bytes": 3}, False),
        ({"suggestion_from_calls": 41}, False),
    ],
)
def test_a_templates_advice_is_for_calls_within_its_limits(
    knowledge: KnowledgeBase, limits: dict[str, int], shown: bool
) -> None:
    put = replace(PUT, calls=replace(PUT.calls, suggestion="Mind the bus.")) if PUT.calls else PUT
    run = made_run([put], [Made(0, 9) for _ in range(40)], 10.0)
    finding = found(analyse(run, with_advice(synthetic_platform(), **limits), knowledge),
                    "inefficient transfer type or size")  # fmt: skip
    assert any("Mind the bus." in text for text in finding.suggestions) is shown
    assert finding.gain == max(a.at_most for a in finding.advice if a.at_most is not None)


def test_advice_that_gains_nothing_is_left_out(knowledge: KnowledgeBase) -> None:
    """The FPGA works all the time: two buffers would gain nothing, a faster FPGA would."""
    run = small_run(
        1.0,
        [Spent("wait", WAIT_RECV, 0.9, ("late_sender",), "top.p", "d", visits=9)],
        {"top.p": [Spent("work", WORK, 1.0)]},
    )
    finding = found(analyse(run, synthetic_platform(), knowledge), "late sender")
    assert [text.partition(" (")[0] for text in finding.suggestions] == ["Make the FPGA faster"]
    assert finding.gain == pytest.approx(10)


def test_changes_really_made_stay_below_what_was_promised(tmp_path: Path) -> None:
    """Two of the benchmark, one beside a timer that is at work all the time and that nobody waits for: each bound is
    held, and nearly reached."""
    benchmark: dict[str, Any] = runpy.run_path(str(Path(__file__).parent / "benchmarks" / "bounds.py"))
    for row in benchmark["measure"](benchmark["changes"]()[:3:2], tmp_path):
        assert row["held"], row
        assert row["change"].startswith("Wait for an interrupt")
        assert row["promised_at_most"] == pytest.approx(row["measured"], rel=1e-3)


def test_a_register_asked_again_and_again_is_waiting_even_if_no_pragma_says_so(knowledge: KnowledgeBase) -> None:
    """As an unmarked `while (!fpgaReadReg(...))` is seen. Of four polls a round one stays."""
    unmarked = Spent("ask", RECV, 0, ("ctrl",), "top.p", "d", calls=REGISTER)
    calls = [Made(k, took) for _ in range(10) for k, took in ((0, 16), (1, 32), (1, 32), (1, 32), (1, 32), (2, 32))]
    run = made_run([BEGIN, unmarked, GET], calls, 10 * 20.0)
    states = (*run.manifest.blocks[1].states, State(2, "clear", Category.OVERHEAD, ("initialize",)))
    fpga = replace(run.manifest.blocks[1], states=states)
    clear = {name: np.array([value], dtype=kind) for (name, kind), value in
             zip(TABLES["state_time"].items(), (1, 2, 1000 * US, 100_000, 10), strict=True)}  # fmt: skip
    times = {name: np.concatenate((column, clear[name])) for name, column in run.tables["state_time"].items()}
    run = Run(None, replace(run.manifest, blocks=(run.manifest.blocks[0], fpga)), {**run.tables, "state_time": times})
    finding = found(analyse(run, synthetic_platform(), knowledge), "initialization", "top.p")
    assert finding.gain == pytest.approx(176 / 80)


def test_calls_without_a_site_and_odd_times_are_taken_as_they_are(knowledge: KnowledgeBase) -> None:
    """What a damaged or foreign run folder may hold: nothing of it ends the analysis."""
    calls = [Made(k, took) for _ in range(5) for k, took in ((0, 16), (1, 32), (1, 32), (2, 32))]
    run = made_run([BEGIN, POLL, GET], calls, 50.0)
    table = {name: column.copy() for name, column in run.tables["calls"].items()}
    table["site"][3], table["entry"][4] = -1, -1
    table["t1_ps"][6] = table["t0_ps"][6] - 5
    table["port_last_ps"][:] = -1
    odd = analyse(Run(None, run.manifest, {**run.tables, "calls": table}), synthetic_platform(), knowledge)
    assert all(f.gain >= 1 for f in odd.findings)
    empty = {name: column[:0] for name, column in table.items()}
    assert analyse(Run(None, run.manifest, {**run.tables, "calls": empty}), synthetic_platform(), knowledge).findings


def test_a_host_that_does_something_between_polls_still_waits(knowledge: KnowledgeBase) -> None:
    """Four polls a round, 50 us of the host's code between: a faster FPGA needs none of it, nor three of the polls."""
    one = [Made(0, 16), Made(1, 32), *(Made(1, 32, 50) for _ in range(3)), Made(2, 32)]
    analysis = analyse(made_run([BEGIN, POLL, GET], one * 10, 0.0), synthetic_platform(), knowledge)
    assert bound(found(analysis, "late sender"), "Make the FPGA faster") == pytest.approx((176 + 150) / 80)
    polling = found(analysis, "polling")
    assert polling.time_s == pytest.approx(10 * (82e-6 + CYCLE_S)), "the last poll, and what the host did before it"


TIMER = {"top.timer": [Spent("count", WORK, 0.998), Spent("renew", Category.OVERHEAD, 0.002)]}


def test_work_that_nobody_waits_for_bounds_nothing_and_is_reported(
    knowledge: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host waits half of the time for a block that works as long, beside a timer that always counts."""
    host = [
        Spent("wait", WAIT_RECV, 0.5, ("late_sender",), "top.p", "d"),
        Spent("put", SEND, 0.3, ("data",), "top.p", "x"),
    ]
    worker = {"top.p": [Spent("multiply", WORK, 0.5), Spent("idle", WAIT_RECV, 0.5, ("late_sender",), "$CPU", "x")]}
    alone = analyse(small_run(1.0, host, worker), synthetic_platform(), knowledge)
    run = small_run(1.0, host, {**worker, **TIMER})
    beside = analyse(run, synthetic_platform(), knowledge)
    bounds = [{f.title: [a.at_most for a in f.advice] for f in one.findings if f.block != "top.timer"}
              for one in (alone, beside)]  # fmt: skip
    assert bounds[0] == bounds[1]
    assert bounds[0]["Late sender: the FPGA"]
    assert [d.message.partition(":")[0] for d in beside.diagnostics] == [
        "'top.timer' is marked as working all the time, and nothing waits for it"
    ]
    assert not alone.diagnostics
    RunWriter(tmp_path / "run").finish(run.manifest, run.tables)
    assert main(["report", str(tmp_path / "run")]) == 0
    assert "'top.timer' is marked as working all the time" in capsys.readouterr().err


def test_a_wait_that_names_the_whole_design_is_for_the_block_that_works_least(knowledge: KnowledgeBase) -> None:
    host = [Spent("wait", WAIT_RECV, 0.5, ("late_sender",), "top", "d", visits=9), Spent("own", WORK, 0.5)]
    worker = {"top.p": [Spent("multiply", WORK, 0.4), Spent("idle", WAIT_RECV, 0.6, ("late_sender",), "$CPU", "x")]}
    analysis = analyse(small_run(1.0, host, {**worker, **TIMER}), synthetic_platform(), knowledge)
    assert bound(found(analysis, "late sender"), "Use two buffers") == pytest.approx(1 / 0.5)


def test_of_a_design_without_marks_the_longest_wait_is_known(knowledge: KnowledgeBase) -> None:
    """A kernel that the host starts once and waits 249 us for: nothing but a faster FPGA takes that away."""
    start = Spent("start", SEND, 0, ("ctrl",), calls=Calls(0, 0, "fpgaWriteReg", "send", "write"))
    wait = Spent("wait", WAIT_RECV, 0, ("late_sender",), calls=Calls(0, 0, "fpgaWaitIrq", "interrupt", ""))
    calls = [*(Made(0, 16) for _ in range(16)), Made(1, 1), Made(2, 249), Made(3, 2)]
    run = made_run([PUT, start, wait, GET], calls, 0.0)
    analysis = analyse(run, synthetic_platform(), knowledge)
    united = bound(found(analysis, "inefficient transfer type or size"), "Unite transfers")
    assert united == pytest.approx(run.time_s / 249e-6, rel=1e-3)


def test_words_on_their_way_are_not_waited_for_as_the_fpga(knowledge: KnowledgeBase) -> None:
    """Starting a kernel puts nine registers on the bus, whose last passes 18 us into the wait of 20 us."""
    start = Spent("start", SEND, 0, ("ctrl",), calls=Calls(0, 0, "fpgaWriteReg", "send", "write"))
    wait = Spent("wait", WAIT_RECV, 0, ("late_sender",), calls=Calls(0, 0, "fpgaWaitIrq", "interrupt", ""))
    run = made_run([start, wait], [Made(0, 1), Made(1, 20)], 0.0)
    calls = {name: column.copy() for name, column in run.tables["calls"].items()}
    calls["port_last_ps"][0] = calls["t1_ps"][0] + 18 * US
    under_way = Run(None, run.manifest, {**run.tables, "calls": calls})
    late = [found(analyse(one, synthetic_platform(), knowledge), "late sender").time_s for one in (run, under_way)]
    assert late == pytest.approx([20e-6, 2e-6])


def test_packing_bits_leaves_as_many_calls(knowledge: KnowledgeBase) -> None:
    """Ten calls of 32 KiB that could move next to nothing: each still takes what the smallest transfer takes."""
    table = TransferTable(points=(TransferPoint(bytes=4, time_s=16e-6), TransferPoint(bytes=32768, time_s=96e-6)))
    platform = Platform(schema_version=1, name="card", transfer_tables={"write": table})
    put = Spent("put", SEND, 960e-6, ("data",), "top.p", "x",
                calls=Calls(10, 10 * 32768, "fpgaWrite", "send", "write", runs=10))  # fmt: skip
    run = small_run(1.2e-3, [put, Spent("own", WORK, 0.24e-3)], {"top.p": [Spent("multiply", WORK, 1e-6)]})
    packed = bound(found(analyse(run, platform, knowledge), "general communication"), "Pack bits")
    assert packed == pytest.approx(1.2e-3 / (0.24e-3 + 10 * 16e-6))


def test_findings_that_follow_from_others_have_no_rank(knowledge: KnowledgeBase) -> None:
    run = synthetic_run(cores=4, rounds=4)
    analysis = analyse(run, synthetic_platform(), knowledge)
    ranked = [f for f in analysis.findings if not f.points_elsewhere]
    assert [f.gain for f in ranked] == sorted((f.gain for f in ranked), reverse=True)
    following = [f for f in analysis.findings if f.points_elsewhere]
    assert following
    assert analysis.findings == (*ranked, *following)
    said = text_report(run, analysis, synthetic_platform(), 100)
    assert said.count("\n– ") == len(tops(following))
    assert said.index(FOLLOWING[:40]) < said.index("\n– ")
    assert FOLLOWING in html_report(run, analysis, synthetic_platform())
    assert min(f.gain for f in analysis.findings) > 1.005, "what gains nothing is no finding"


def test_parts_of_a_finding_name_their_lines(knowledge: KnowledgeBase) -> None:
    """Two calls of one name at two lines are told apart wherever parts are listed."""
    other = replace(PUT, name="put again")
    run = made_run([PUT, other], [Made(k, 9) for _ in range(40) for k in (0, 1)], 10.0)
    analysis = analyse(run, synthetic_platform(), knowledge)
    parts = [f for f in analysis.findings if f.scope == "call"]
    assert len(parts) == 2
    shown = {where_words(f) for f in parts}
    assert len(shown) == 2
    lines = {f"main.c:{f.places[0].line}" for f in parts}
    assert all(any(line in text for text in shown) for line in lines)


def test_advice_is_not_written_for_one_example() -> None:
    rules = "".join(file.path.read_text(encoding="utf-8") for file in workbench_rules()).lower()
    assert not [word for word in ("histogram", "running average", "pdf", "beamform") if word in rules]
