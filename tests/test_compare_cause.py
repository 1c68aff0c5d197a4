"""The source line that causes the difference of two runs: found on equal work, the same in every form."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of

from workbench.analysis.cause import Spent, cause_details, cause_words, first_words, place_text
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.run import Run, RunStatus
from workbench.session.keep.cause import cause_of
from workbench.testing.runs import HOST_FILE, synthetic_run


@pytest.fixture(scope="module")
def original() -> Run:
    return synthetic_run(cores=2, rounds=12)


@pytest.fixture(scope="module")
def optimised() -> Run:
    return synthetic_run(cores=2, rounds=12, form="optimised")


def test_the_call_whose_time_differs_most_is_the_cause(original: Run, optimised: Run) -> None:
    cause = cause_of(original, optimised)
    assert cause is not None
    assert (cause.line.name, cause.line.call, cause.line.b, cause.part) == ("clearBins", True, None, False)
    sites = [n for n, site in enumerate(original.manifest.sites) if site.label == "clearBins"]
    calls = original.tables["calls"]
    took = (calls["t1_ps"] - calls["t0_ps"])[np.isin(calls["site"], sites)].sum() / 1e12
    assert cause.line.difference_s == pytest.approx(-took)
    assert cause.difference_s == pytest.approx(optimised.time_s - original.time_s)
    assert [place_text(place) for place in cause.places] == [f"{HOST_FILE}:{original.manifest.sites[sites[0]].line}"]
    assert cause_details(cause).startswith("A only: ")
    back = cause_of(optimised, original)
    assert back is not None
    assert (back.line.name, back.line.difference_s) == ("clearBins", -cause.line.difference_s)
    assert " more in B; the run takes " in cause_words(back)
    assert first_words(back) == cause_words(back).partition(";")[0]
    assert first_words(replace(back, difference_s=-back.difference_s)) == ""  # it does not explain the whole


def test_on_unequal_work_a_part_of_both_is_compared(original: Run) -> None:
    cause = cause_of(original, synthetic_run(cores=4, rounds=12))
    assert cause is not None
    assert cause.part
    assert "; a part of equal work takes " in cause_words(cause)
    assert abs(cause.difference_s) < original.time_s / 6  # of one round of 12
    way = np.sign(cause.difference_s)
    words = first_words(replace(cause, line=replace(cause.line, a=Spent(1.0, 1), b=Spent(1.0 + way, 1))))
    assert words.endswith(" in B for equal work")  # the table beside it is of the whole run


def slower(run: Run, wait_ps: int, compute_ps: int) -> Run:
    """The host waits so much longer, and every core computes so much longer."""
    tables = {name: {key: column.copy() for key, column in table.items()} for name, table in run.tables.items()}
    for number, block in enumerate(run.manifest.blocks):
        for state in block.states:
            at = (tables["state_time"]["block"] == number) & (tables["state_time"]["state"] == state.index)
            tables["state_time"]["time_ps"][at] += {"readDone": wait_ps, "compute": compute_ps}.get(state.name, 0)
    site = [site.label for site in run.manifest.sites].index("readDone")
    tables["call_stats"]["time_ps"][tables["call_stats"]["site"] == site] += wait_ps
    return replace(run, manifest=replace(run.manifest, time_ps=run.manifest.time_ps + wait_ps), tables=tables)


@pytest.mark.parametrize(("compute_ps", "behind"), [(190_000_000, "compute"), (90_000_000, None)])
def test_a_wait_of_the_host_leads_to_the_state_that_explains_it(compute_ps: int, behind: str | None) -> None:
    profile = synthetic_run(cores=2, rounds=4, traced=False)
    cause = cause_of(profile, slower(profile, 200_000_000, compute_ps))
    assert cause is not None
    assert (cause.line.name, cause.line.difference_s) == ("readDone", pytest.approx(2e-4))
    assert (cause.behind.name if cause.behind else None) == behind
    assert (" It waits: compute of " in cause_details(cause)) == (behind is not None)
    assert len(cause.places) == (2 if behind else 1)


def test_nothing_causes_no_difference_and_a_failed_run_has_no_cause(original: Run, optimised: Run) -> None:
    assert cause_of(original, original) is None
    failed = replace(optimised, manifest=replace(optimised.manifest, status=RunStatus.FAILED))
    assert cause_of(original, failed) is None


def test_text_json_and_markdown_name_the_same_line(
    original: Run, optimised: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(tmp_path / name) for name in "ab"]
    for folder, run in zip(folders, (original, optimised), strict=True):
        RunWriter(Path(folder), run.manifest).finish(run.manifest, run.tables)
    report = tmp_path / "report.md"
    assert main(["compare", *folders, "--markdown", str(report)]) == 0
    said = capsys.readouterr().out
    found = document_of(capsys, ["compare", "--json", *folders])["cause"]
    line = found["line"]
    assert (line["name"], line["kind"], line["b"]) == ("clearBins", "call", None)
    place = f"{line['a']['file']}:{line['a']['line']}"
    assert found["words"] in said
    assert f"  {place}: clearBins\n" in said
    assert f"`{place}`" in report.read_text()
    assert found["words"].split(".")[0] in report.read_text()
