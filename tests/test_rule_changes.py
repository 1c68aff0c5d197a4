"""Advice carries its edit: every suggestion's changes, worked out for what its rule selects."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from test_bounds import BEGIN, GET, POLL, PUT, Made, found, made_run

from workbench.analysis import Analysis, KnowledgeBase, analyse, load_knowledge
from workbench.analysis.picks import CALLS, STATES
from workbench.analysis.report import finding_json
from workbench.analysis.rule_changes import CALL_PICKS, STATE_PICKS
from workbench.model.changes import Change, change_of, read_change
from workbench.model.finding import Advice, Finding
from workbench.model.run import Run
from workbench.replay.resolve import resolve
from workbench.testing.runs import synthetic_platform

FILE = "main.c"


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    base, problems = load_knowledge([file.path for file in workbench_rules()], METRICS)
    assert problems == ()
    return base


def advice(finding: Finding, words: str) -> Advice:
    return next(one for one in finding.advice if one.text.startswith(words))


def changes(finding: Finding, words: str) -> list[Change]:
    return list(advice(finding, words).changes)


def rounds(count: int = 10) -> Run:
    """Each round: a setting, four writes at consecutive addresses, a start, five polls, two reads of one address."""
    once = [(1, 16, 0x400), *((0, 16, 4 * k) for k in range(4)), (1, 16, 0x400), *[(2, 32, 0x501)] * 5]
    calls = [Made(k, took, address=at) for _ in range(count) for k, took, at in (*once, *[(3, 32, 0x502)] * 2)]
    return made_run([PUT, BEGIN, POLL, GET], calls, 1200)


@pytest.fixture(scope="module")
def analysed(knowledge: KnowledgeBase) -> Analysis:
    return analyse(rounds(), synthetic_platform(), knowledge)


def test_every_suggestion_has_changes_or_says_why_not(knowledge: KnowledgeBase) -> None:
    for rule in knowledge.rules:
        for one in rule.suggestions:
            assert bool(one.changes) != bool(one.suggestion.no_change), one.text


def test_every_rule_that_fires_gives_changes_that_its_run_has(knowledge: KnowledgeBase) -> None:
    """Whatever is advised of the runs that each rule has a bottleneck in names what those runs have."""
    script = runpy.run_path(str(Path(__file__).parent / "benchmarks" / "rules_records.py"), run_name="rules")
    given = 0
    for run, _ in script["cases"]().values():
        for finding in analyse(run, synthetic_platform(), knowledge).findings:
            for one in finding.advice:
                assert bool(one.changes) != bool(one.no_change), one.text
                for change in one.changes:
                    resolve(change, run.manifest, synthetic_platform())
                    assert read_change(str(change)) == change
                    given += 1
    assert given > 100


def test_calls_that_follow_one_another_are_united(analysed: Analysis) -> None:
    """Four writes in a row at addresses 0, 4, 8 and 12; the two reads are of one address."""
    finding = found(analysed, "inefficient transfer type or size")
    unite = advice(finding, "Unite transfers")
    assert set(map(str, unite.changes)) >= {f"unite calls={FILE}:20 count=4", f"unite calls={FILE}:50 count=2"}
    assert unite.hardware
    assert unite.hazard == "all go to address 0x502: the hardware must take the words of one call in turn"
    assert {advice["text"] for advice in finding_json(finding)["advice"]} == {one.text for one in finding.advice}
    carried = next(one for one in finding_json(finding)["advice"] if one["text"] == unite.text)
    assert tuple(map(change_of, carried["changes"])) == unite.changes


def test_consecutive_addresses_need_no_other_hardware(knowledge: KnowledgeBase) -> None:
    calls = [Made(0, 16, address=4 * (k % 8)) if k % 8 < 7 else Made(1, 1) for k in range(80)]
    finding = found(
        analyse(made_run([PUT, POLL], calls, 1), synthetic_platform(), knowledge), "inefficient transfer type or size"
    )
    unite = advice(finding, "Unite transfers")
    assert str(unite.changes[0]) == f"unite calls={FILE}:20 count=7"
    assert (unite.hardware, unite.hazard) == (False, "")


def test_next_data_are_sent_early_into_a_second_buffer(analysed: Analysis) -> None:
    two = advice(found(analysed, "late sender"), "Use two buffers")
    assert list(map(str, two.changes)) == [f"early calls={FILE}:20"]
    assert two.hazard == "needs a second buffer: 'put' writes addresses that the FPGA still reads"
    assert two.hardware


def test_buffers_in_turn_are_no_hazard(knowledge: KnowledgeBase) -> None:
    calls = []
    for turn in range(10):
        calls += [Made(0, 16, address=0x100 * (turn % 2) + 4 * k) for k in range(4)]
        calls += [Made(1, 16, address=0x400), *[Made(2, 32, address=0x501)] * 5, Made(3, 32, address=0x502)]
    analysis = analyse(made_run([PUT, BEGIN, POLL, GET], calls, 1200), synthetic_platform(), knowledge)
    assert advice(found(analysis, "late sender"), "Use two buffers").hazard == ""


def test_what_starts_the_fpga_is_told_from_settings(analysed: Analysis) -> None:
    """The setting and the start are one function at one place here; both come in each round, one before the wait."""
    control = found(analysed, "control messages")
    assert list(map(str, changes(control, "Let each control"))) == [f"fewer_starts calls={FILE}:30 count=2"]
    assert "needs room for the data of 2 rounds ('put'" in advice(control, "Let each control").hazard
    assert list(map(str, changes(control, "Let the FPGA clear"))) == [f"control_in_fpga calls={FILE}:30"]


def test_starts_without_data_between_become_one(knowledge: KnowledgeBase) -> None:
    """Eight starts and waits for each batch of data: the FPGA can go from one to the next itself."""
    batch = [Made(0, 20), *(Made(k, took, address=a) for _ in range(8) for k, took, a in ((1, 16, 9), (2, 32, 5)))]
    run = made_run([PUT, BEGIN, POLL, GET], [*batch, Made(3, 32)] * 5, 100)
    control = found(analyse(run, synthetic_platform(), knowledge), "control messages")
    assert list(map(str, changes(control, "Let each control"))) == [f"fewer_starts calls={FILE}:30 count=8"]
    assert list(map(str, changes(control, "Move control"))) == [f"control_in_fpga calls={FILE}:30"]


def test_polls_become_an_interrupt_or_wait_until_the_answer_is_due(analysed: Analysis) -> None:
    """Five polls of 32 us in a row: between 128 us (in vain) and 160 us the FPGA is ready. A poll asks at its end, so
    144 - 32 us is the delay, and four cycles until a register shows it."""
    polling = found(analysed, "polling")
    assert list(map(str, changes(polling, "Poll when"))) == [f"poll_delay calls={FILE}:40 delay_s=0.00011204"]
    assert not advice(polling, "Poll when").hardware


def test_the_late_block_is_to_be_twice_as_fast(analysed: Analysis) -> None:
    faster = advice(found(analysed, "late sender"), "Make the FPGA faster")
    assert list(map(str, faster.changes)) == ["state block=top.p state=work factor=0.5"]
    assert faster.hardware


def test_a_profile_knows_rows_by_its_order(knowledge: KnowledgeBase) -> None:
    """Without the calls, their order as loops tells what follows what; addresses are not known."""
    from workbench.run.skeleton import fold

    run = rounds()
    calls = run.tables["calls"]
    ones = calls["site"] * 0 + 1
    order = fold(calls["site"], calls["state"], ones, 0 * ones)
    kept = {name: table for name, table in run.tables.items() if name != "calls"}
    run = replace(run, tables={**kept, "call_order": {"block": order["site"] * 0, **order}})
    finding = found(analyse(run, synthetic_platform(), knowledge), "inefficient transfer type or size")
    unite = advice(finding, "Unite transfers")
    assert f"unite calls={FILE}:20 count=4" in set(map(str, unite.changes))
    assert unite.hazard == "the run did not keep the addresses: check that they are consecutive"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("unit calls=selected count=2", "Did you mean 'unite'"),
        ("state block=a state=b factor=0", "a rule scales states by 'scale'"),
        ("unite calls=selcted count=2", "Did you mean 'selected'"),
        ("scale states=culprt factor=0", "Did you mean 'culprit'"),
        ("unite calls=selected", "needs count"),
        ("unite calls=selected count=2 number=3", "has no 'number'"),
        ("unite calls=selected count=cont", "Did you mean 'count'"),
        ("retype calls=selected table=tabel.type", "Did you mean 'table.type'"),
        ("scale work_of=time factor=0", "not a text metric"),
        ("scale states='selected factor=0", "No closing quotation"),
        ("unite calls=selected count", "not NAME=VALUE"),
    ],
)
def test_a_change_that_cannot_be_is_reported_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "schema_version: 1\nrules:\n  - name: x\n    category: communication\n    suggestions:\n      - text: y\n"
        f"        changes:\n          - {line}\n"
    )
    base, problems = load_knowledge([path], METRICS)
    assert not base.rules
    assert [(one.file, one.line) for one in problems] == [(str(path), 8)]
    assert said in f"{problems[0].message} {problems[0].hint}"


def test_every_pick_is_known_and_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "rules.md").read_text()
    assert (set(CALL_PICKS), set(STATE_PICKS)) == (set(CALLS), set(STATES))
    for name, pick in (CALL_PICKS | dict(STATE_PICKS)).items():
        assert f"| `{name}` | {pick.title} |" in text
