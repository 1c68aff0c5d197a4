"""`workbench compare --fail-if`: conditions, what they may name, and the files for continuous integration."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from answers import refusal

from workbench.analysis.compare import Comparison, compare
from workbench.analysis.conditions import condition_names, judge
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.run import Run, RunStatus
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

RULE = "control messages"


def written(run: Run, path: Path) -> Path:
    RunWriter(path, run.manifest).finish(run.manifest, run.tables)
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The original form, and the optimised one, which is faster."""
    folder = tmp_path_factory.mktemp("runs")
    runs = (synthetic_run(cores=2, rounds=6, form=form) for form in ("original", "optimised"))
    a, b = (str(written(run, folder / name)) for name, run in zip(("before", "after"), runs, strict=True))
    return a, b


@pytest.fixture(scope="module")
def comparison(folders: tuple[str, str]) -> Comparison:
    a, b = (open_result(Path(folder), load_plugins()) for folder in folders)
    return compare(a.analysis, b.analysis, (a.run, b.run))


def holds(text: str, comparison: Comparison) -> bool:
    (verdict,) = judge([text], comparison, [RULE, "another rule"])
    return verdict.holds


def test_values_are_what_the_comparison_counts(comparison: Comparison) -> None:
    values = condition_names(comparison, [RULE]).values
    assert values["time"] == comparison.time_s[1] / comparison.time_s[0]
    calls = {pair.name: pair for pair in comparison.calls}
    samples = calls["writeSamples"]
    assert samples.a is not None
    assert samples.b is not None
    assert values["call('writeSamples').count_a"] == samples.a.count
    assert values["call('writeSamples').time"] == samples.b.time_s / samples.a.time_s
    assert values["call('writeSamples').bytes"] == 1
    assert values["call('clearBins').time"] == 0  # it went
    group = next(pair for pair in comparison.blocks if pair.name == "pdf2d_top.core[*].ctrl")
    assert group.a is not None
    mean_s = sum(member.states[1].time_s for member in group.a.members) / len(group.a.members)
    name = group.a.members[0].states[1].state.name
    assert values[f"state('pdf2d_top.core[*].ctrl', '{name}').time_a"] == pytest.approx(mean_s)
    assert values[f"finding('{RULE}').time"] == 0
    assert (values[f"finding('{RULE}').gain_a"] > 1, values[f"finding('{RULE}').gain_b"]) == (True, 1)
    assert values["findings.gone"] >= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time > 1.02", False),
        ("time < 1", True),
        ("call('writeSamples').count < 1 and not call('clearBins').count_b > 0", True),
        ("block('host.main').work > 1.5 or time_b > 10", False),
        (f"finding('{RULE}').gain_b > 1.2", False),
        (f"finding('{RULE} (host.main)').time_b > 0", False),
        ("finding('another rule').time != 1", False),
    ],
)
def test_conditions(text: str, expected: bool, comparison: Comparison) -> None:
    assert holds(text, comparison) is expected


def test_a_run_against_itself_is_exactly_as_long(folders: tuple[str, str]) -> None:
    a = open_result(Path(folders[0]), load_plugins())
    same = compare(a.analysis, a.analysis, (a.run, a.run))
    values = condition_names(same, [RULE]).values
    ratios = {name: value for name, value in values.items() if f"{name}_a" in values}
    assert len(ratios) > 50
    assert set(ratios.values()) == {1.0}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("tme > 1", "there is no value 'tme'", "Did you mean time?"),
        ("call('writeSample').time > 1", "writeSample", "Did you mean call('writeSamples').time?"),
        ("block('zzz.very.other[7]').nothing > 1", "zzz.very", "Known: block("),
        ("call('writeSamples') > 1", "is not a value by itself", "Write call('writeSamples').time."),
        ("call(writeSamples).time > 1", "names in quotation marks", "call('NAME').time"),
        ("time", "not a condition", "time > 1.02"),
        ("time > ", "this is not an expression", ""),
        ("__import__('os').system > 1", "only names may have dots", ""),
    ],
)
def test_what_is_no_condition(text: str, message: str, hint: str, comparison: Comparison) -> None:
    problem = refusal(holds, text, comparison)
    assert message in problem.message
    assert hint in problem.hint


def test_the_command_fails_where_a_condition_holds(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = folders
    assert main(["compare", before, after, "--fail-if", "time > 1.02"]) == 0
    assert "passed: time > 1.02 does not hold: time = 0." in capsys.readouterr().out
    assert main(["compare", after, before, "--fail-if", "time > 1.02", "--fail-if", "time > 1000", "--json"]) == 1
    conditions = json.loads(capsys.readouterr().out)["fail_if"]
    assert [(one["expression"], one["holds"]) for one in conditions] == [("time > 1.02", True), ("time > 1000", False)]
    assert conditions[0]["values"]["time"] > 2
    assert main(["compare", before, after, "--fail-if", "tiem > 1"]) == 2
    assert "Did you mean time?" in capsys.readouterr().err


def test_a_run_without_an_end_cannot_pass(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = synthetic_run(cores=2, rounds=2)
    RunWriter(tmp_path / "failed", run.manifest).mark(RunStatus.FAILED, "the card crashed")
    assert main(["compare", folders[0], str(tmp_path / "failed"), "--fail-if", "time > 1.02"]) == 2
    assert "did not finish" in capsys.readouterr().err


def test_files_for_continuous_integration(folders: tuple[str, str], tmp_path: Path) -> None:
    before, after = folders
    paths = {kind: tmp_path / f"compared.{kind}" for kind in ("junit", "markdown", "sarif")}
    options = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    condition = "call('writeSamples').count > 1.5 and time > 1"
    for _ in range(2):  # earlier results are replaced
        assert main(["compare", after, before, "--fail-if", condition, "--fail-if", "time > 1000", *options]) == 1
    suite = ElementTree.parse(paths["junit"]).getroot()
    cases = list(suite.iter("testcase"))
    assert [case.get("name") for case in cases] == [f"not ({condition})", "not (time > 1000)"]
    assert [len(case.findall("failure")) for case in cases] == [1, 0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "pdf2d.c:" in (cases[0].findtext("failure") or "")

    markdown = paths["markdown"].read_text()
    assert markdown.startswith("## workbench compare\n")
    assert f"| **failed** | `{condition}` |" in markdown
    assert f"| new | {RULE} (host.main) |" in markdown

    log = json.loads(paths["sarif"].read_text())
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    control = next(result for result in run["results"] if result["ruleId"] == RULE)
    assert control["baselineState"] == "new"
    place = control["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"] > 0) == ("pdf2d.c", True)
    (failed,) = (result for result in run["results"] if result["ruleId"] == "fail-if")
    assert (failed["level"], len(failed["locations"])) == ("error", 1)
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_files_are_named_from_the_checkouts_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: tuple[str, str]
) -> None:
    run = synthetic_run(cores=2, rounds=2)
    project = tmp_path / "my app" / "app.workbench.yaml"
    run = replace(run, manifest=replace(run.manifest, project=str(project)))
    monkeypatch.chdir(tmp_path)
    folder = str(written(run, tmp_path / "run"))
    main(["compare", folders[0], folder, "--sarif", str(tmp_path / "out.sarif")])
    results = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    uris = {place["physicalLocation"]["artifactLocation"]["uri"] for one in results for place in one["locations"]}
    assert "my%20app/pdf2d.c" in uris
