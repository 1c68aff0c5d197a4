"""The rules against the paper's numbers, and the knowledge base against mistakes in its files."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import Calls, Spent, small_run

from workbench.analysis import Analysis, KnowledgeBase, analyse, load_knowledge
from workbench.analysis.holding import ideal_speedup
from workbench.api.tables import table_of
from workbench.model.diagnostic import Severity
from workbench.model.finding import Finding
from workbench.model.memory import MemoryPort
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.pragma import Category
from workbench.model.run_tables import TABLES
from workbench.model.text import NARROW
from workbench.testing.runs import synthetic_platform, synthetic_run

OVERHEAD, SEND, RECV, WORK = Category.OVERHEAD, Category.SEND, Category.RECV, Category.WORK
WAIT_SEND, WAIT_RECV = Category.WAIT_SEND, Category.WAIT_RECV


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    base, problems = load_knowledge([file.path for file in workbench_rules()], METRICS)
    assert problems == ()
    return base


def one(analysis: Analysis, rule: str, scope: str = "block", block: str = "") -> Finding:
    found = [f for f in analysis.findings if (f.rule, f.scope) == (rule, scope) and (not block or f.block == block)]
    assert len(found) == 1, [f.id for f in analysis.findings]
    return found[0]


def rules_found(analysis: Analysis) -> set[str]:
    return {finding.rule for finding in analysis.findings}


# ---- ports into memory


def memory_finding(knowledge: KnowledgeBase, **counts: int) -> Finding:
    """What is found of a port of 32 bits at 100 MHz into a memory of 400 MB/s, in a run of 1 ms (100,000 cycles)."""
    run = small_run(1e-3, fpga={"top.p": [Spent("compute", WORK, 1e-3)]})
    row = dict.fromkeys(TABLES["memory_ports"], 0) | counts
    port = MemoryPort("mover", "axi_master", "ddr", "clk", 32, 400e6)
    row["idle"] = 100_000 - row["moving"] - row["waiting"] - row["held"]
    table = table_of("memory_ports", [tuple(row.values())])
    manifest = replace(run.manifest, memory_ports=(port,))
    return one(
        analyse(replace(run, manifest=manifest, tables={**run.tables, "memory_ports": table}), None, knowledge),
        "memory bound",
        "memory_port",
    )


def test_a_port_that_waits_for_memory_is_bound_by_what_it_waited(knowledge: KnowledgeBase) -> None:
    found = memory_finding(
        knowledge, reads=500, read_bytes=32_000, moving=8_000, waiting=42_000, latency_cycles=50_000, row_hits=500
    )
    assert (found.title, found.where) == ("mover waits for the memory ddr", "mover")
    assert found.time_s == pytest.approx(420e-6)
    assert found.speedup_ideal == pytest.approx(1 / 0.58)
    (ask_more,) = found.advice  # 32,000 bytes in 500 us, of 200,000 that there could have been
    assert ask_more.text.replace(NARROW, " ") == (
        "Send requests earlier, and more at a time: longer bursts, or more bursts in flight. A burst of 64 B takes "
        "1.00 µs, and 1 are in flight on average."
    )
    assert ask_more.at_most == pytest.approx(1 / 0.58)
    assert found.metrics["memory.used_share"] == pytest.approx(0.16)
    assert found.metrics["memory.bytes_per_s"] == pytest.approx(64e6)


def test_a_memory_that_moves_all_that_it_can_is_told_from_one_whose_rows_are_closed(knowledge: KnowledgeBase) -> None:
    full = memory_finding(
        knowledge, reads=1000, read_bytes=190_000, moving=30_000, waiting=20_000, latency_cycles=200_000, row_hits=1000
    )
    assert [advice.text.split(". ")[0].replace(NARROW, " ") for advice in full.advice] == [
        "The memory moves 95.0 % of its peak rate, 400 MB/s"
    ]
    closed = memory_finding(
        knowledge, reads=1000, read_bytes=64_000, moving=16_000, waiting=20_000, latency_cycles=200_000,
        row_hits=500, row_opened=10, row_conflicts=490,
    )  # fmt: skip
    assert [advice.text.split(":")[0] for advice in closed.advice] == [
        "Send requests earlier, and more at a time",
        "Access data of one row together, or place them in other banks",
    ]


# ---- the paper's numbers (sections 4 and 6)

PRINTED = {  # ideal speedup -> share of the run that must be gone for it
    1.05: 0.04761904761904767,
    1.15: 0.13043478260869557,
    1.34: 0.25373134328358216,
    1.63: 0.38650306748466257,
    2.52: 0.6031746031746033,
    3.6: 0.7222222222222222,
    9.83: 0.8982706002034588,
    11.63: 0.9140154772141015,
    16.21: 0.9383096853793954,
    16.81: 0.9405116002379535,
}


@pytest.mark.parametrize(("speedup", "share"), PRINTED.items())
def test_ideal_speedup_is_as_printed(knowledge: KnowledgeBase, speedup: float, share: float) -> None:
    assert ideal_speedup(1.0, share) == pytest.approx(speedup)
    run = small_run(
        64.506,
        [Spent("late", WAIT_RECV, 64.506 * share, ("late_sender",), "top.p", "m")],
        {"top.p": [Spent("w", WORK, 1.0)]},
    )
    finding = one(analyse(run, None, knowledge, threshold=1.0), "late sender", block="host.main")
    assert finding.speedup_ideal == pytest.approx(speedup, rel=1e-9)
    assert finding.time_s == pytest.approx(64.506 * share)


@given(st.floats(0.001, 0.999))
def test_ideal_speedup_is_one_over_what_remains(share: float) -> None:
    assert ideal_speedup(2.0, 2.0 * share) == pytest.approx(1 / (1 - share))
    assert ideal_speedup(2.0, 2.0) == math.inf


@pytest.mark.parametrize(("share", "reported"), [(0.0476, False), (0.0477, True)])
def test_the_threshold_is_1_05(knowledge: KnowledgeBase, share: float, reported: bool) -> None:
    run = small_run(1.0, [Spent("clear", OVERHEAD, share, ("initialize",))])
    assert ("initialization" in rules_found(analyse(run, None, knowledge))) is reported


def bound(finding: Finding, words: str) -> float:
    """What the advice that begins like this gains at most."""
    found = [advice.at_most for advice in finding.advice if advice.text.startswith(words)]
    assert len(found) == 1, finding.suggestions
    assert found[0] is not None
    return found[0]


def test_the_papers_11_63_against_its_cap_of_1_85(knowledge: KnowledgeBase) -> None:
    """Section 6.1: transfers gain 11.63x ideally, but the FPGA works 54.1 % of the time."""
    table = TransferTable(points=(TransferPoint(bytes=1000, time_s=1.0), TransferPoint(bytes=10**9, time_s=1e-6)))
    platform = Platform(schema_version=1, name="fast", transfer_tables={"write": table})
    share = PRINTED[11.63]
    run = small_run(
        10.0,
        [Spent("write", SEND, 10 * share, ("data",), "top.fir", "x", calls=Calls(100, 10**9, transfer="write"))],
        {"top.fir": [Spent("convolve", WORK, 5.41)]},
    )
    finding = one(analyse(run, platform, knowledge), "inefficient transfer type or size")
    assert finding.speedup_ideal == pytest.approx(11.63, rel=1e-4)  # the best of the table leaves 1 us of them
    assert finding.speedup_cap == pytest.approx(1 / 0.541)
    assert round(finding.speedup_cap or 0, 2) == 1.85
    assert finding.gain == finding.speedup_cap
    assert finding.severity == "medium"
    assert finding.speedup_predicted is None


def test_each_side_is_bounded_by_what_stays_of_the_other(knowledge: KnowledgeBase) -> None:
    """Section 6.2: the FPGA waits for a late CPU (16.21x), but the CPU itself waits for the FPGA 1 - 1/1.32 only. A
    faster FPGA gains no more than that wait, two buffers no more either, a faster host all but the FPGA's work."""
    waits = 10 * (1 - 1 / 1.32)
    run = small_run(
        10.0,
        [Spent("poll", WAIT_RECV, waits, ("late_sender",), "top.core", "d")],
        {
            "top.core.p": [
                Spent("wait", WAIT_RECV, 10 * PRINTED[16.21], ("late_sender",), "$CPU", "x"),
                Spent("work", WORK, 0.595),
            ]
        },
    )
    analysis = analyse(run, None, knowledge)
    late = one(analysis, "late sender", block="top.core.p")
    assert late.speedup_ideal == pytest.approx(16.21)
    assert bound(late, "Fix the host's findings") == late.gain == pytest.approx(1 / 0.0595)
    assert (late.culprit, late.title) == ("host.main", "Late sender: the host")
    mine = one(analysis, "late sender", block="host.main")
    assert bound(mine, "Make the FPGA faster") == mine.gain == pytest.approx(1.32)
    assert (mine.culprit, mine.title) == ("top.core.p", "Late sender: the FPGA")


@pytest.mark.parametrize("target", ["top.port", "top.nowhere"], ids=["a port before it", "nobody that is there"])
def test_a_block_that_may_be_waited_for_is_not_advised_to_be_slower(knowledge: KnowledgeBase, target: str) -> None:
    """The host's wait names a port, which deals with the core, or what the design does not have."""
    poll = Spent("poll", WAIT_RECV, 6.0, ("late_sender",), target, "d")
    wait = Spent("wait", WAIT_RECV, 4.0, ("late_sender",), "$CPU", "x")
    fpga = {
        "top.core.p": [wait, Spent("work", WORK, 6.0)],
        "top.port": [Spent("give", SEND, 1.0, (), "top.core.p", "x")],
    }
    late = one(analyse(small_run(10.0, [poll], fpga), None, knowledge), "late sender", block="top.core.p")
    assert [a.text for a in late.advice if a.elsewhere]
    assert not [a.text for a in late.advice if "slower and smaller" in a.text]


def test_another_block_that_works_caps_a_finding_too(knowledge: KnowledgeBase) -> None:
    """Section 6.2, XD1000: a stage said 5.5x where the cores beside it could gain 1.31x at most, while they stay as
    they are. Made faster themselves, they leave what the host does besides waiting."""
    run = small_run(
        1.0,
        [Spent("poll", WAIT_RECV, 0.9, ("late_sender",), "top.core", "d")],
        {
            "top.dist": [Spent("w", WORK, 0.01), Spent("late", WAIT_SEND, 1 - 1 / 5.5, (), "top.core", "x")],
            "top.core": [Spent("work", WORK, 1 / 1.31)],
        },
    )
    finding = one(analyse(run, None, knowledge), "late receiver", block="top.dist")
    assert finding.speedup_ideal == pytest.approx(5.5)
    assert bound(finding, "Put a buffer between") == pytest.approx(1.31)
    assert bound(finding, "Fix the imbalance: make the receiver faster") == pytest.approx(10)


def test_all_overhead_means_that_the_fpga_does_nothing_but_work(knowledge: KnowledgeBase) -> None:
    """Section 6.2: 16.81x "if the FPGA were fully utilized", so the cores work 5.949 % of the time."""
    run = small_run(
        1.0,
        [Spent("write", SEND, 0.2, ("data",))],
        {
            f"top.core[{n}].p": [Spent("work", WORK, 0.0594883997620464 - n * 0.001), Spent("wait", WAIT_RECV, 0.9)]
            for n in range(3)
        },
    )
    finding = one(analyse(run, None, knowledge), "internal overhead", "application")
    assert finding.where == "application"
    assert finding.speedup_ideal == pytest.approx(16.81)
    rule = next(r for r in knowledge.rules if r.rule.aliases == ("all overhead",))
    assert rule.name == "internal overhead"


def test_without_another_side_the_rest_of_the_run_stays(knowledge: KnowledgeBase) -> None:
    run = small_run(1.0, [Spent("clear", OVERHEAD, 0.5, ("initialize",))])
    finding = one(analyse(run, None, knowledge), "initialization")
    assert finding.speedup_cap == finding.gain == finding.speedup_ideal == pytest.approx(2.0)


# ---- transfers against the table

NALLATECH = Platform(
    schema_version=1,
    name="card",
    transfer_tables={
        "write": TransferTable(
            points=tuple(
                TransferPoint(bytes=b, time_s=t)
                for b, t in ((4, 16e-6), (131072, 131072 / 360e6), (4194304, 4194304 / 291e6))
            )
        ),
        "dma": TransferTable(points=(TransferPoint(bytes=4, time_s=40e-6), TransferPoint(bytes=4194304, time_s=9e-3))),
    },
)


def test_4_mb_writes_should_be_split(knowledge: KnowledgeBase) -> None:
    """Section 5.1: thirty-two 128 KB packets are more efficient than one of 4 MB, 360 against 291 MB/s."""
    only_write = NALLATECH.model_copy(update={"transfer_tables": {"write": NALLATECH.transfer_tables["write"]}})
    time_s = 4194304 / 291e6
    run = small_run(0.02, [Spent("write", SEND, time_s, ("data",), calls=Calls(1, 4194304, transfer="write"))])
    finding = one(analyse(run, only_write, knowledge), "inefficient transfer type or size")
    assert time_s - finding.time_s == pytest.approx(32 * 131072 / 360e6)
    assert time_s / (time_s - finding.time_s) == pytest.approx(1.2371134020618557)
    assert any(text.startswith("Split transfers: write moves 4") for text in finding.suggestions)


def test_small_writes_should_grow_or_change_their_type(knowledge: KnowledgeBase) -> None:
    count, size = 100, 131072
    time_s = count * size / 360e6
    run = small_run(2 * time_s, [Spent("w", SEND, time_s, (), calls=Calls(count, count * size, transfer="write"))])
    finding = one(analyse(run, NALLATECH, knowledge), "inefficient transfer type or size")
    dma_at_size = 40e-6 + (size - 4) / (4194304 - 4) * (9e-3 - 40e-6)
    total = 2 * time_s
    expected = total / (total - time_s + count * dma_at_size)
    assert bound(finding, "At this size, type dma is faster than write.") == pytest.approx(expected)
    assert finding.speedup_ideal == pytest.approx(total / (total - time_s + count * size / (4194304 / 9e-3)))


def test_without_a_table_calls_are_held_against_their_own_best(knowledge: KnowledgeBase) -> None:
    run = small_run(
        1.0, [Spent("slow", SEND, 0.5, (), calls=Calls(5, 5000)), Spent("fast", SEND, 0.1, (), calls=Calls(5, 5000))]
    )
    finding = one(analyse(run, None, knowledge), "inefficient transfer type or size")
    assert [place.label for place in finding.places] == ["slow"]
    assert finding.time_s == pytest.approx(0.4)
    assert any("no transfer table" in text for text in finding.suggestions)


def test_polls_and_control_are_no_matter_of_size(knowledge: KnowledgeBase) -> None:
    run = small_run(
        1.0,
        [
            Spent("start", SEND, 0.3, ("ctrl",), calls=Calls(100, 400, transfer="write")),
            Spent("poll", WAIT_RECV, 0.3, ("poll",), calls=Calls(100, 400, transfer="write")),
            Spent("ask", RECV, 0.2, ("poll",), calls=Calls(100, 400, transfer="write")),
        ],
    )
    found = rules_found(analyse(run, NALLATECH, knowledge))
    assert "inefficient transfer type or size" not in found
    assert {"control messages", "late sender", "polling"} - found == {"polling"}


@pytest.mark.parametrize(("runs", "fires"), [(33, True), (34, False)])
def test_polling_is_three_in_a_row_on_average(knowledge: KnowledgeBase, runs: int, fires: bool) -> None:
    calls = Calls(99, 396, "fpgaReadReg", "receive", runs=runs)
    run = small_run(
        1.0,
        [Spent("poll", WAIT_RECV, 0.5, ("late_sender",), "top.p", "d", calls=calls)],
        {"top.p": [Spent("w", WORK, 0.1)]},
    )
    analysis = analyse(run, None, knowledge)
    assert ("polling" in rules_found(analysis)) is fires
    if fires:
        assert one(analysis, "polling").part_of == one(analysis, "late sender").id
        assert any("3.0 times in a row" in text for text in one(analysis, "polling").suggestions)


# ---- blocks, calls, groups, generic rules


def test_calls_nest_under_their_block(knowledge: KnowledgeBase) -> None:
    analysis = analyse(synthetic_run(), synthetic_platform(), knowledge)
    of_block = one(analysis, "control messages", block="host.main")
    of_calls = [f for f in analysis.findings if (f.rule, f.scope) == ("control messages", "call")]
    assert {f.part_of for f in of_calls} == {of_block.id}
    assert len(of_calls) == 3
    assert sum(f.time_s for f in of_calls) == pytest.approx(of_block.time_s)
    assert "host.main: fpgaWrite at pdf2d.c:89" in {f.where for f in of_calls}
    leading = [f.points_elsewhere for f in analysis.findings]
    assert leading == sorted(leading), "what leads to others comes after them"
    for last in (False, True):
        gains = [f.gain for f in analysis.findings if f.points_elsewhere is last]
        assert gains == sorted(gains, reverse=True)
    assert len({f.id for f in analysis.findings}) == len(analysis.findings)


def test_replicas_share_a_finding_that_none_of_them_bounds(knowledge: KnowledgeBase) -> None:
    cores = {
        f"top.core[{n}].p": [Spent("wait", WAIT_RECV, 0.5 + n / 10, (), "$CPU", "x"), Spent("w", WORK, 0.1)]
        for n in range(4)
    }
    finding = one(analyse(small_run(1.0, [Spent("s", SEND, 0.1)], cores), None, knowledge), "late sender")
    assert (finding.block, finding.group) == ("top.core[0].p", "top.core[*].p")
    assert finding.speedup_ideal == pytest.approx(2.0)


def test_one_slow_replica_is_told_alone(knowledge: KnowledgeBase) -> None:
    cores = {
        f"top.core[{n}].p": [
            Spent("lock", WAIT_SEND, 0.5 if n == 2 else 0.01, ("contention",), "top.mem", "x"),
            Spent("w", WORK, 0.1),
        ]
        for n in range(4)
    }
    host = [Spent("s", SEND, 0.1), Spent("poll", WAIT_RECV, 0.9, ("late_sender",), "top.core", "y")]
    finding = one(analyse(small_run(1.0, host, cores), None, knowledge), "contention")
    assert finding.block == "top.core[2].p"


def test_generic_suggestions_come_with_the_specific_finding(knowledge: KnowledgeBase) -> None:
    """Section 5.1: basic suggestions are displayed also where more specific bottlenecks are detected."""
    run = small_run(1.0, [Spent("start", SEND, 0.4, ("ctrl",))])
    analysis = analyse(run, None, knowledge)
    assert "general communication" not in rules_found(analysis), "the specific rule explains it"
    assert any("Overlap communication" in text for text in one(analysis, "control messages").suggestions)
    mixed = small_run(1.0, [Spent("start", SEND, 0.1, ("ctrl",)), Spent("write", SEND, 0.5, ("data",))])
    assert {"general communication", "control messages"} <= rules_found(analyse(mixed, None, knowledge))


def test_hardware_without_work_is_there_to_communicate(knowledge: KnowledgeBase) -> None:
    moving = Spent("move", SEND, 0.8, ("data",), "top.core", "x")
    run = small_run(1.0, [Spent("s", SEND, 0.01)], {"top.dist": [moving], "top.core": [Spent("w", WORK, 0.1), moving]})
    found = [f.block for f in analyse(run, None, knowledge).findings if f.rule == "general communication"]
    assert found == ["top.core"]


def test_a_late_sender_is_looked_for_behind_those_that_pass_on(knowledge: KnowledgeBase) -> None:
    def waits(target: str) -> Spent:
        return Spent("wait", WAIT_RECV, 0.6, ("late_sender",), target, "x")

    run = small_run(
        1.0,
        [Spent("s", SEND, 0.1)],
        {
            "top.core": [waits("top.dist"), Spent("w", WORK, 0.1)],
            "top.dist": [waits("top.port")],
            "top.port": [waits("$CPU")],
        },
    )
    assert one(analyse(run, None, knowledge), "late sender").culprit == "host.main"


def test_two_reasons_count_for_both(knowledge: KnowledgeBase) -> None:
    """Section 4: "because of an empty buffer, because of contention, or both"."""
    run = small_run(1.0, [Spent("wait", WAIT_RECV, 0.4, ("buffer_empty", "contention"), "top.p", "x")])
    assert {"empty buffer", "contention"} <= rules_found(analyse(run, None, knowledge))


def test_initialization_and_finalization_of_the_card(knowledge: KnowledgeBase) -> None:
    twice = small_run(
        1.0,
        [
            Spent("load", OVERHEAD, 0.3, ("initialize",), calls=Calls(2, 0, "fpgaConfigure", "configure")),
            Spent("close", OVERHEAD, 0.2, ("finalize",), calls=Calls(3, 0, "fpgaClose", "release")),
        ],
    )
    assert rules_found(analyse(twice, None, knowledge)) >= {"multiple initialization", "multiple finalization"}
    assert not rules_found(analyse(twice, None, knowledge)) & {"initialization", "finalization"}  # said already
    assert one(analyse(twice, None, knowledge), "multiple initialization").time_s == pytest.approx(0.15)  # one stays
    once = small_run(
        1.0, [Spent("load", OVERHEAD, 0.3, ("initialize",), calls=Calls(1, 0, "fpgaConfigure", "configure"))]
    )
    assert "multiple initialization" not in rules_found(analyse(once, None, knowledge))
    assert "initialization" in rules_found(analyse(once, None, knowledge))


def test_what_is_released_part_after_part_at_the_end_is_released_once(knowledge: KnowledgeBase) -> None:
    """A mapping and its file, or several cards in a loop; what has other calls between is released repeatedly."""

    def found(*calls: Calls) -> bool:
        spent = [Spent(f"s{n}", OVERHEAD, 0.3, ("finalize",), calls=one) for n, one in enumerate(calls)]
        return "multiple finalization" in rules_found(analyse(small_run(1.0, spent), None, knowledge))

    assert not found(Calls(1, 0, "munmap", "release"), Calls(1, 0, "close", "release"))
    assert not found(Calls(4, 0, "fpgaClose", "release", runs=1))
    assert found(Calls(1, 0, "close", "release"), Calls(2, 0, "munmap", "release", runs=2))


def test_numbers_behind_a_finding_are_there(knowledge: KnowledgeBase) -> None:
    finding = one(analyse(synthetic_run(), synthetic_platform(), knowledge), "inefficient transfer type or size")
    assert {"rate.avg", "table.best_rate", "time", "table.time_at_best", "count"} <= set(finding.metrics)
    assert finding.condition == "rate.avg < 0.95 * table.best_rate and bytes > 0 and speedup >= 1.05"


def test_a_platforms_own_advice_is_shown(knowledge: KnowledgeBase) -> None:
    finding = one(analyse(synthetic_run(), synthetic_platform(), knowledge), "polling")
    assert any("fpgaReadReg on Synthetic PCI-X card" in text for text in finding.suggestions)


def test_an_empty_run_has_no_findings(knowledge: KnowledgeBase) -> None:
    assert analyse(small_run(0.0), None, knowledge).findings == ()


# ---- the knowledge base's files

HEAD = "schema_version: 1\nreasons:\n  send: {mine: my own}\nrules:\n"
GOOD = "  - {name: good, category: communication, select: {reasons: [mine]}}\n"


def _load(tmp_path: Path, text: str) -> tuple[KnowledgeBase, list[tuple[int | None, str]]]:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    base, problems = load_knowledge([path], METRICS)
    assert all(problem.file == str(path) for problem in problems)
    return base, [(problem.line, f"{problem.message} {problem.hint}") for problem in problems]


@pytest.mark.parametrize(
    ("bad", "line", "said"),
    [
        ("  - {name: x, category: comunication}\n", 6, "Did you mean 'communication'"),
        ("  - {name: x, category: communication, whem: time > 0}\n", 6, "Did you mean 'when'"),
        ("  - {name: x, category: communication, when: tim > 0}\n", 6, "Did you mean 'time'"),
        ("  - {name: x, category: communication, when: time >}\n", 6, "not an expression"),
        ("  - {name: x, category: communication, when: \"__import__('os')\"}\n", 6, "no function"),
        ("  - name: x\n    category: communication\n    show: [tome]\n", 8, "Did you mean 'time'"),
        ("  - {name: x, category: communication, time_saved: time, new_time: total}\n", 6, "either"),
        ("  - {name: x, category: communication, suggestions: [{text: '%d calls'}]}\n", 6, "1 conversions but 0"),
        ("  - {name: x, category: communication, suggestions: [{text: '50 % of it'}]}\n", 6, "%%"),
        ("  - {name: x, category: communication, suggestions: [{text: '%999999d', arguments: [time]}]}\n", 6, "%%"),
        (
            "  - {name: x, category: communication, suggestions: [{text: '%s', arguments: [time]}]}\n",
            6,
            "does not suit",
        ),
        (
            "  - {name: x, category: communication, suggestions: [{text: '%s', arguments: [time as tim]}]}\n",
            6,
            "'time'",
        ),
        ("  - {name: x, category: communication, side: fpga, scope: [call]}\n", 6, "hardware makes no calls"),
        ("  - {category: communication}\n", 6, "'name' is missing"),
        ("  - {name: good, category: communication}\n", 6, "given twice"),
        ("  - just text\n", 6, "keys"),
    ],
)
def test_a_bad_rule_is_told_with_its_line_and_the_others_work(tmp_path: Path, bad: str, line: int, said: str) -> None:
    base, problems = _load(tmp_path, HEAD + GOOD + bad)
    assert [rule.name for rule in base.rules] == ["good"]
    assert [place for place, _ in problems] == [line]
    assert said in problems[0][1]


def test_files_are_merged_and_later_ones_win(tmp_path: Path, knowledge: KnowledgeBase) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "schema_version: 1\nreasons: {wait_recv: {thinking: it thinks}}\nrules:\n"
        "  - {name: thinking, category: synchronization, select: {reasons: [thinking]}, title: It thinks}\n"
        "  - {name: acknowledge, category: synchronization, when: time > 1000}\n"
    )
    both, problems = load_knowledge([*(file.path for file in workbench_rules()), mine], METRICS)
    assert problems == ()
    assert len(both.rules) == len(knowledge.rules) + 1
    assert both.reasons[Category.WAIT_RECV]["thinking"] == "it thinks"
    run = small_run(1.0, [Spent("t", WAIT_RECV, 0.3, ("thinking",)), Spent("a", WAIT_RECV, 0.3, ("ack",))])
    found = rules_found(analyse(run, None, both))
    assert "thinking" in found
    assert "acknowledge" not in found


def test_names_that_lead_nowhere_are_warnings(tmp_path: Path) -> None:
    base, problems = _load(
        tmp_path,
        HEAD + GOOD + "  - {name: x, category: communication, parent: goood, select: {reasons: [mien]}}\n",
    )
    assert len(base.rules) == 2
    assert "Did you mean 'good'" in problems[0][1]
    assert "Did you mean 'mine'" in problems[1][1]


@pytest.mark.parametrize(
    "text", ["", "- a", "rules: [", "schema_version: 9\nrules: []\n", "schema_version: 1\nrules: 3\n"]
)
def test_what_is_no_rule_file_is_told(tmp_path: Path, text: str) -> None:
    base, problems = _load(tmp_path, text)
    assert base.rules == ()
    assert problems


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    _, problems = load_knowledge([tmp_path / "none.yaml"], METRICS)
    assert problems[0].severity is Severity.ERROR


def test_a_rule_that_cannot_be_computed_is_told_and_left_out(tmp_path: Path) -> None:
    text = HEAD + GOOD + "  - {name: x, category: communication, when: culprit > 3}\n"
    base, problems = _load(tmp_path, text)
    assert problems == []
    analysis = analyse(small_run(1.0, [Spent("s", SEND, 0.5, ("mine",))]), None, base)
    assert rules_found(analysis) == {"good"}
    assert any("'x' was left out" in problem.message for problem in analysis.diagnostics)


def test_every_reason_of_the_taxonomy_is_there(knowledge: KnowledgeBase) -> None:
    confirmed = {
        SEND: {"data", "ctrl"},
        RECV: {"data", "ctrl"},
        WAIT_RECV: {"buffer_empty", "ack"},
        OVERHEAD: {"update"},
    }
    for category, names in confirmed.items():
        assert names <= set(knowledge.reasons[category])
    assert knowledge.reasons[WORK] == {}


def test_the_documentation_holds_every_metric_and_its_example_works(tmp_path: Path) -> None:
    text = (Path(__file__).parent.parent / "docs" / "rules.md").read_text()
    for metric in METRICS:
        assert f"| `{metric.name}` | {metric.title} | {metric.unit} |" in text
    example = text.split("```yaml\n")[1].split("```")[0]
    mine = tmp_path / "mine.yaml"
    mine.write_text(example)
    base, problems = load_knowledge([*(file.path for file in workbench_rules()), mine], METRICS)
    assert problems == ()
    wait = Spent("wait", WAIT_RECV, 0.4, ("calibration",), "$MEM", "x", visits=4)
    finding = one(analyse(small_run(1.0, fpga={"top.p": [wait]}), None, base), "calibration")
    assert finding.title.replace("\u202f", " ") == "Calibration takes 40.0 % of the run"
    assert finding.time_s == pytest.approx(0.4 - 4e-6)
    assert finding.suggestions[0].replace("\u202f", " ") == "Calibrate less often than every 100 ms."
