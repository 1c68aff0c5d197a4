"""What `workbench run --best` and the window say of a run that has ended."""

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.analysis.ended import before_json, beside_words, best_finding, best_of
from workbench.cli.ended import ended_of
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.run import Manifest, RunStatus
from workbench.session.keep.results import open_result
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parent / "data" / "tiny" / "tiny.workbench.yaml"


def ended(time_ps: int, **other: object) -> Manifest:
    made = synthetic_run(cores=2, rounds=2).manifest
    return replace(made, time_ps=time_ps, stdout_sha256="a", **other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (ended(10), "2.00× faster than run-1, same output"),
        (ended(40), "2.00× slower than run-1, same output"),
        (ended(20), "the same time as run-1, same output"),
        (ended(10, settings={"CORES": 3}), "2.00× faster than run-1, with different settings"),
        (replace(ended(10), stdout_sha256="b"), "2.00× faster than run-1, but their outputs differ"),
        (replace(ended(10), stdout_sha256=""), "2.00× faster than run-1"),
        (ended(10, status=RunStatus.FAILED), ""),
        (ended(0), ""),
    ],
)
def test_a_run_beside_the_one_before(manifest: Manifest, words: str) -> None:
    assert beside_words(manifest, ended(20), "run-1") == words
    assert beside_words(manifest, None, "run-1") == ""
    document = before_json(manifest, ended(20), "runs/run-1")
    assert document is not None
    assert (document["speedup"] is None) is (words == "")
    assert document["same_settings"] is (manifest.settings == ended(20).settings)


def test_the_best_finding_as_text_and_as_json(tmp_path: Path) -> None:
    plugins, workspace = load_plugins(), open_workspace(TINY, load_plugins())
    made = synthetic_run(cores=3, rounds=3)
    run = RunWriter(tmp_path / "run-1", made.manifest).finish(made.manifest, made.tables)
    said = ended_of(open_run(tmp_path / "run-1")[0], workspace, plugins)
    analysis = open_result(tmp_path / "run-1", plugins).analysis
    assert said.document["findings"] == int(said.lines[0].split()[0])
    assert said.document["best"]["title"] in said.lines[0]
    assert said.document["before"] is None
    # what is set aside is not the best; without any the reason is said
    first = best_finding(analysis)
    assert first is not None
    everything = {finding.id for finding in analysis.findings}
    other = best_finding(analysis, {first.id})
    assert other is None or other.id != first.id
    assert best_of(run.manifest, analysis, everything).text.endswith(
        "None gains enough, or all are set aside or follow from others."
    )
