"""Each example statement of the dissertation, on its topology, in a real run: what was counted while it went on is what
the trace of the same run says."""

from __future__ import annotations

import shutil

import pytest
from rc_workbench_plugins.streaming.agents.told import answers_told
from rc_workbench_plugins.streaming.events import events_of
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import Frame
from rc_workbench_plugins.streaming.query.resolve import read_query
from stream_topologies import CHAPTERS, EXAMPLES

from workbench.api.job import Job
from workbench.model.run import Run
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

FRAME_US = 100


@pytest.fixture(scope="module")
def on_cores(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All topologies side by side on processor cores, asked all statements."""
    folder = tmp_path_factory.mktemp("chapters")
    shutil.copytree(CHAPTERS, folder, dirs_exist_ok=True)
    project = folder / "chapters.workbench.yaml"
    project.write_text(f"{project.read_text()}  query: q.tt\n  frame: {FRAME_US} us\nsimulation: {{cores: 50}}\n")
    (folder / "q.tt").write_text("\n".join(text for _, text in EXAMPLES.values()))
    options = RunOptions(out=folder / "run", trace=True, deterministic=True)
    return run_workspace(open_workspace(project, load_plugins()), options, Job())


@pytest.mark.parametrize("section", EXAMPLES)
def test_examples_are_answered_while_the_application_runs_as_by_its_trace(section: str, on_cores: Run) -> None:
    told, events = answers_told(on_cores.tables, ""), events_of(on_cores.tables)
    assert told
    assert events
    assert told["diagnostics"] == []
    end_s = told["measures"][0]["frames"][-1]["end_s"]  # the agent ends with the blocks, before the run does
    query = read_query(EXAMPLES[section][1], events.topology, frame=Frame(time_ps=FRAME_US * 10**6))
    answers = iter(told["measures"])
    measures, asserts = evaluate(query, events)
    for true in measures:
        wanted = true.as_json()
        answer = next(one for one in answers if one["text"] == wanted["text"] and one["label"] == wanted["label"])
        frames, true_frames = answer.pop("frames"), wanted.pop("frames")
        assert answer == wanted
        assert 5 < len(frames) <= len(true_frames)
        for one, other in zip(frames[:-1], true_frames, strict=False):
            assert one.pop("histogram", None) == other.pop("histogram", None), answer["text"]
            near = {key: value and pytest.approx(value, rel=1e-12) for key, value in other.items()}
            assert one == near, answer["text"]
        assert sum(one["count"] for one in frames) == sum(one["count"] for one in true_frames)
    said = {one["label"]: one for one in told["asserts"]}
    for asserted in asserts:
        mine, wanted = said[asserted.asserted.label], asserted.as_json()
        broken = [[spell["start_s"] for spell in one["broken"] if spell["start_s"] < end_s] for one in (mine, wanted)]
        assert broken[0] == broken[1], wanted["text"]
