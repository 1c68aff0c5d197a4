"""Rules of one's own: held against a run subject by subject, written so that a diff reads well, named by a project."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import Calls, Spent, small_run

from workbench.analysis import analyse
from workbench.analysis.knowledge import KnowledgeBase, Rule, Select, Suggestion, read_knowledge
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rule_table import Outcome, RuleTable, rule_table, subject_table, with_rule
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.session.edit.rule_text import (
    STARTER,
    rule_data,
    with_rule_added,
    with_rule_changed,
    with_rule_removed,
)
from workbench.session.edit.rules_document import NEW_RULE, RulesDocument
from workbench.session.keep.results import open_knowledge, open_result
from workbench.session.open.rule_files import usual_rule_file
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform

KNOWN = {metric.name: metric for metric in METRICS}
SHIPPED = Path(__file__).parents[1] / "plugins" / "rc_workbench_plugins" / "recap_rules" / "rules.yaml"
POLLS = Calls(9, 36, "fpgaRead", "receive", runs=3)


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return open_knowledge(load_plugins())[0]


def host_that_waits() -> Run:
    states = [
        Spent("push", Category.SEND, 2e-3, calls=Calls(4, 4096)),
        Spent("poll", Category.WAIT_RECV, 5e-3, ("poll",), "top.core[0].p", "m", 9, POLLS),
        Spent("begin", Category.OVERHEAD, 1e-3, ("initialize",)),
    ]
    cores = {f"top.core[{n}].p": [Spent("compute", Category.WORK, 3e-3 + n * 1e-3)] for n in range(2)}
    return small_run(10e-3, states, cores)


def table_of(text: str, run: Run, knowledge: KnowledgeBase) -> RuleTable:
    (rule,), _, problems = read_knowledge(text, "own.rules.yaml", knowledge.metrics)
    assert problems == ()
    return rule_table(rule, MeasuredRun(run, None, knowledge.metrics, 1.05), with_rule(knowledge, rule))


# ---- the table of a rule


def test_the_table_says_what_the_engine_reports(knowledge: KnowledgeBase, six_cores: Run) -> None:
    """For every rule that ships, on a run with most kinds of subjects, and on one of a host that polls."""
    for run, platform in ((six_cores, synthetic_platform()), (host_that_waits(), None)):
        found = analyse(run, platform, knowledge).findings
        rules = {rule.name for rule in knowledge.rules}
        reported = Counter((f.rule, f.scope, f.where) for f in found if f.rule in rules)
        measured = MeasuredRun(run, platform, knowledge.metrics, 1.05)
        tables = [rule_table(rule, measured, knowledge) for rule in knowledge.rules]
        said = Counter((t.rule.name, row.scope, row.subject) for t in tables for row in t.rows if row.fires)
        assert said == reported
        assert len(reported) > 3
        advice = {(f.rule, f.scope, f.where): f.suggestions for f in found}
        for table in tables:
            for row in table.rows:
                assert (row.finding is not None) == row.fires
                if row.finding:
                    assert row.finding.suggestions == advice[table.rule.name, row.scope, row.subject]


RULE = """\
schema_version: 1
rules:
  - name: polls
    title: Polls take %s
    title_arguments: [share as share]
    category: synchronization
    side: host
    select: {categories: [wait_recv]}
    when: visits > 3 and share > LIMIT
    suggestions:
      - {text: "Ask %d times less.", arguments: [visits]}
"""


def test_values_and_reasons_stand_beside_each_subject(knowledge: KnowledgeBase) -> None:
    table = table_of(RULE.replace("LIMIT", "0.1"), host_that_waits(), knowledge)
    assert table.names == ("share", "visits")
    (host,) = table.rows
    assert (host.subject, host.outcome, host.values) == ("host.main", Outcome.FIRES, {"share": 0.5, "visits": 9})
    assert host.speedup == pytest.approx(2.0)
    assert table.preview is not None
    assert table.preview.suggestions == ("Ask 9 times less.",)

    silent = table_of(RULE.replace("LIMIT", "0.6"), host_that_waits(), knowledge)
    assert silent.rows[0].words == "condition is false"
    assert silent.preview is not None  # as it would read
    assert silent.preview.suggestions == ("Ask 9 times less.",)
    assert silent.preview.title.startswith("Polls take 50.0")

    every = table_of(RULE.replace("side: host", "side: any").replace("LIMIT", "0"), host_that_waits(), knowledge)
    assert [row.words for row in every.rows] == ["fires", "nothing selected", "nothing selected"]


def test_only_one_of_replicas_is_reported_and_the_others_name_it(knowledge: KnowledgeBase) -> None:
    text = RULE.replace("side: host", "side: fpga").replace("wait_recv", "work").replace("LIMIT", "0.1")
    table = table_of(text.replace("visits > 3", "visits > 0"), host_that_waits(), knowledge)
    words = {row.subject: row.words for row in table.rows}
    assert words["top.core[1].p"] == "reported on a replica: core[0].p"


def test_metrics_counted_in_hardware_are_among_the_values(knowledge: KnowledgeBase) -> None:
    text = RULE.replace("share > LIMIT", "custom.stalls == 0")
    table = table_of(text, host_that_waits(), knowledge)
    assert table.rows[0].values == {"custom.stalls": 0.0, "visits": 9}
    shown = subject_table(table)
    assert [column.head for column in shown.columns][1:3] == ["custom.stalls", "visits"]
    assert shown.columns[1].text(table.rows[0]) == "0"


def test_what_saves_too_little_says_how_much(knowledge: KnowledgeBase) -> None:
    text = RULE.replace("LIMIT", "0.1").replace("    suggestions", "    time_saved: time / 100\n    suggestions")
    (row,) = table_of(text, host_that_waits(), knowledge).rows
    assert row.words == "saves too little: 1.01× of 1.05×"


# ---- the text of a rule file

words = st.text(st.sampled_from("abc %:#'\"-é{}[]&*!|>,?x "), min_size=1, max_size=40)
SAID = ("wait", "for", "the: FPGA", "#5", "it's", "50 %%")
long_texts = st.lists(st.sampled_from(SAID), min_size=1, max_size=60).map(" ".join)
texts = st.one_of(words, long_texts)
lists_ = st.lists(texts, min_size=1, max_size=3)
suggestions = st.fixed_dictionaries(
    {"text": texts}, optional={"arguments": lists_, "when": texts, "stays": texts, "hardware": st.just(True)}
)
rules = st.fixed_dictionaries(
    {"name": texts},
    optional={
        "title": texts, "aliases": lists_, "scope": lists_, "when": texts, "names_culprit": st.booleans(),
        "select": st.fixed_dictionaries({"categories": lists_}, optional={"calls": texts}),
        "suggestions": st.lists(suggestions, min_size=1, max_size=3), "explanation": texts, "show": lists_,
    },
)  # fmt: skip
OTHER = "  # about it\n  - {name: flow, when: time > 1}   # as it was\n"


def rules_in(text: str) -> list[Any]:
    listed: list[Any] = yaml.safe_load(text)["rules"]
    return listed


@settings(max_examples=25, deadline=None)
@given(rules, rules, st.booleans())
def test_a_rule_comes_back_as_it_was_written_and_others_keep_their_bytes(
    first: dict[str, Any], second: dict[str, Any], windows: bool
) -> None:
    ends = "\r\n" if windows else "\n"
    text = f"# mine\nschema_version: 1\nrules:\n{OTHER}".replace("\n", ends)
    added = with_rule_added(text, first)
    assert added.startswith(text)
    assert ("\r\n" in added) == windows
    assert rules_in(added)[1] == first
    both = with_rule_added(added, second)
    changed = with_rule_changed(both, 1, second | {"name": "other"})
    assert rules_in(changed)[1:] == [second | {"name": "other"}, second]
    assert changed.startswith(text)
    assert changed.endswith(both[len(added) :])  # the rule after it
    assert with_rule_changed(both, 1, first) == both
    assert with_rule_removed(both, 2) == added
    assert with_rule_removed(added, 1) == text
    assert rules_in(with_rule_removed(both, 0)) == [first, second]


def test_shipped_rules_can_be_copied_changed_and_removed() -> None:
    text = SHIPPED.read_text()
    checked, _, _ = read_knowledge(text, "", KNOWN)
    lines = set(text.splitlines())
    listed = rules_in(text)
    for number in (0, 4, 15, 22, len(checked) - 1):
        rule, data = checked[number], listed[number]
        assert with_rule_changed(text, number, data) == text
        changed = with_rule_changed(text, number, {**data, "when": "time > 7"})
        assert len(set(changed.splitlines()) - lines) == 1
        (copied,), _, problems = read_knowledge(with_rule_added(STARTER, rule_data(rule)), "", KNOWN)
        assert problems == ()
        assert copied.rule == rule.rule
        assert len(rules_in(with_rule_removed(text, number))) == len(checked) - 1


BEFORE = """\
schema_version: 1
rules:
  # polls of the host
  - name: polls
    side: host   # only there
    # tried with 3 and 5
    when: visits > 3 # as measured
    suggestions:
      - text: Ask less often.
  - name: last
    when: time > 1
"""


def test_a_diff_of_a_changed_rule_is_short_and_keeps_comments() -> None:
    data = rules_in(BEFORE)[0]
    new = {**data, "when": "visits > 5", "category": "synchronization", "show": ["visits", "share"]}
    new["explanation"] = "What is asked again and again while nothing has changed. " * 3 + "It costs a round trip."
    assert (
        with_rule_changed(BEFORE, 0, new)
        == """\
schema_version: 1
rules:
  # polls of the host
  - name: polls
    category: synchronization
    side: host   # only there
    # tried with 3 and 5
    when: visits > 5 # as measured
    suggestions:
      - text: Ask less often.
    show:
      - visits
      - share
    explanation: >-
      What is asked again and again while nothing has changed. What is asked again and again while nothing has
      changed. What is asked again and again while nothing has changed. It costs a round trip.
  - name: last
    when: time > 1
"""
    )


def test_keys_are_written_in_the_order_of_the_schema() -> None:
    given = {"text": "x", "time_left": "time", "stays": "y", "when": "time > 1", "arguments": ["time as time"]}
    rule = {"suggestions": [given], "select": {"calls": "bytes > 1", "categories": ["send"]}, "when": "time > 0",
            "category": "imbalance", "name": "n"}  # fmt: skip
    written = rules_in(with_rule_added(STARTER, rule))[0]
    for data, schema in ((written, Rule), (written["select"], Select), (written["suggestions"][0], Suggestion)):
        assert list(data) == [name for name in schema.model_fields if name in data]


@pytest.mark.parametrize("text", ["rules: {}\n", "- a\n", "rules: [{name: a}, {name: b}]\n"])
def test_what_cannot_be_edited_is_left_alone(text: str) -> None:
    with pytest.raises(WorkbenchError):
        with_rule_added(text, {"name": "x"})


# ---- the file, and the project that names it

PROJECT = "schema_version: 1\nname: p # its name\nhardware: {}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "p.workbench.yaml"
    path.write_text(PROJECT)
    return path


def begun(project: Path) -> RulesDocument:
    document = RulesDocument(KNOWN, lambda *problems: pytest.fail(str(problems)))
    document.begin(usual_rule_file(project), project)
    return document


def test_the_first_save_names_the_file_in_the_project_and_undo_takes_the_entry_back(project: Path) -> None:
    document = begun(project)
    assert document.add(NEW_RULE, "New rule") == 0
    assert document.errors == ()
    document.save()
    own = project.with_name("p.rules.yaml")
    assert project.read_text() == f"{PROJECT}rules: [p.rules.yaml]\n"
    assert usual_rule_file(project) == own
    saved = own.read_text()
    document.set(("rules", 0, "when"), "share > 0.2")
    document.save()
    assert own.read_text() == saved.replace("share > 0.1", "share > 0.2")
    document.history.undo()
    document.history.undo()
    assert document.history.redo_label == "Name p.rules.yaml in the project"
    assert project.read_text() == PROJECT
    document.history.redo()
    assert usual_rule_file(project) == own


def test_neither_file_is_written_where_one_cannot_be(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = begun(project)
    document.add(NEW_RULE, "New rule")
    project.write_text("schema_version: [")
    with pytest.raises(WorkbenchError):
        document.save()
    assert not project.with_name("p.rules.yaml").exists()
    assert document.dirty


def test_a_form_sets_and_takes_out_single_values(project: Path) -> None:
    document = begun(project)
    document.add(NEW_RULE, "New rule")
    before = document.text
    assert document.set(("rules", 0, "select", "reasons"), ["poll"])
    assert "      reasons:\n        - poll\n" in document.text
    assert document.set(("rules", 0, "suggestions", 0, "when"), "time > 1")
    assert document.set(("rules", 0, "select", "categories"), [])
    assert document.set(("rules", 0, "select", "reasons"), [])
    assert document.value(("rules", 0, "select")) is None
    while document.history.can_undo and document.text != before:
        document.history.undo()
    assert document.text == before


# ---- commands


@pytest.fixture
def folders(project: Path, six_cores: Run) -> tuple[Path, Path]:
    """A project's rule file that is not there yet, and a run of the project."""
    run = project.parent / "runs" / "run-1"
    RunWriter(run, six_cores.manifest).finish(six_cores.manifest, six_cores.tables)
    path = run / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "project": str(project)}))
    return project.with_name("p.rules.yaml"), run


def test_commands_begin_copy_evaluate_name_and_remove_rules(
    folders: tuple[Path, Path], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, run = folders

    def said(*words: str) -> Any:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    said("rules", "new", str(own), "my waits")
    assert said("rules", "copy", "control messages", str(own), "--side", "host", "--as", "mine")["added"] == ["mine"]
    assert said("rules", "check", str(own))["diagnostics"] == []  # it is under a rule that ships
    (waits, mine) = said("rules", "eval", str(own), str(run))["rules"]
    shipped = said("report", str(run), "--predict", "0")["findings"]
    theirs = [one["where"] for one in shipped if one["rule"] == "control messages"]
    assert sorted(row["subject"] for row in mine["rows"] if row["fires"]) == sorted(theirs)
    assert waits["rows"][0]["values"].keys() == {"share"}
    assert said("rules", "eval", str(own), str(run), "--rule", "mine")["rules"] == [mine]

    assert not [one for one in shipped if one["rule"] == "mine"]
    said("rules", "add", str(project), str(own))
    now = said("report", str(run), "--predict", "0")["findings"]
    assert sorted(one["where"] for one in now if one["rule"] == "mine") == sorted(theirs)

    assert main(["rules", "eval", str(own), str(run)]) == 0
    out = capsys.readouterr().out
    assert "mine: fires for" in out
    assert "Finding: Control messages from the host" in out
    said("rules", "remove", str(own), "mine")
    assert [rule["name"] for rule in rules_in(own.read_text())] == ["my waits"]
    assert main(["rules", "remove", str(own), "mine"]) == 2
    assert "there is no rule 'mine'" in capsys.readouterr().err


def test_a_wrong_rule_is_reported_at_its_place(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    own, run = folders
    main(["rules", "new", str(own), "waits"])
    own.write_text(own.read_text().replace("share > 0.1", "shares > 0.1"))
    capsys.readouterr()
    assert main(["rules", "eval", str(own), str(run), "--json"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (problem["line"], problem["column"], problem["file"]) == (13, 11, str(own))


def test_a_run_opens_with_the_rules_of_its_project(folders: tuple[Path, Path], project: Path) -> None:
    own, run = folders
    document = begun(project)
    document.add(NEW_RULE | {"name": "mine"}, "New rule")
    document.save()
    opened = open_result(run, load_plugins())
    assert opened.knowledge.rules[-1].file == str(own)
    project.write_text(PROJECT + "rules: [../elsewhere.yaml, gone.rules.yaml]\n")
    (project.parent.parent / "elsewhere.yaml").write_text(own.read_text())
    assert all(rule.name != "mine" for rule in open_result(run, load_plugins()).knowledge.rules)
