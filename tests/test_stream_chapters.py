"""Each example statement of the dissertation, on its topology, in a real run: what was counted while it went on is what
the trace of the same run says."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import FrameLength, Query
from rc_workbench_plugins.streaming.query.resolve import read_query
from stream_topologies import CHAPTERS, EXAMPLES

from workbench.api.job import Job
from workbench.api.stream_events import events_of
from workbench.model.run import Run
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

FRAME_US = 100
ON_FPGA = (
    "Tandem.B",
    "Tandem.C",
    "Laplace.w1",
    "Laplace.w2",
    "Blastn.FPGA1",
    "Blastn.FPGA2",
    "Stages.Stage1",
    "Stages.Stage2",
)


def run(folder: Path, top: str, sections: list[str], on_fpga: tuple[str, ...] = ()) -> Run:
    """Topologies side by side, asked all statements of sections."""
    shutil.copytree(CHAPTERS, folder, dirs_exist_ok=True)
    mapping = "".join(f"    {block}: card\n" for block in on_fpga)
    project = folder / "chapters.workbench.yaml"
    project.write_text(
        project.read_text().replace("top: All", f"top: {top}")
        + f"  query: q.tt\n  frame: {FRAME_US} us\n"
        + (f"  mapping:\n{mapping}" if mapping else "")
        + "simulation: {cores: 50}\nhost: {flags: [-O0]}\n"  # compiled in half the time
    )
    (folder / "q.tt").write_text("\n".join(EXAMPLES[section][1] for section in sections))
    options = RunOptions(out=folder / "run", trace=True, deterministic=True)
    return run_workspace(open_workspace(project, load_plugins()), options, Job())


def check(made: Run, sections: list[str]) -> dict[str, int]:
    """Every answer against the trace; how many statements which agent answered ("": none of them)."""
    kept, events = kept_answers(made.tables, ""), events_of(made.tables)
    assert kept
    assert events
    told = kept.as_json()
    text = "\n".join(EXAMPLES[section][1] for section in sections)
    query = read_query(text, events.topology, frame=FrameLength(time_ps=FRAME_US * 10**6))
    by = {"": len({problem["line"] for problem in told["diagnostics"]})}
    measures, asserts = list(query.measures), list(query.asserts)
    for ours in told["measures"]:
        asked = next(one for one in measures if (one.label, one.text) == (ours["label"], ours["text"]))
        measures.remove(asked)
        frames, agent = ours.pop("frames"), ours.pop("agent")
        until = replace(events, end_ps=round(frames[-1]["end_s"] * 1e12))  # agents end with the blocks, before the run
        ((true,), _) = evaluate(Query((asked,)), until)
        wanted = true.as_json()
        true_frames = wanted.pop("frames")
        assert ours == wanted
        whole = [one for one in frames if one["end_s"] - one["start_s"] == pytest.approx(FRAME_US * 1e-6)]
        assert 3 < len(frames) - 2 <= len(whole), ours["text"]  # the end may fall near that of a frame
        for mine, one in zip(whole, true_frames, strict=False):
            near = {key: pytest.approx(v, rel=1e-12) if isinstance(v, float) else v for key, v in one.items()}
            assert mine == near, (agent, ours["text"])
        assert sum(one["count"] for one in frames) == sum(one["count"] for one in true_frames)
        by[agent] = by.get(agent, 0) + 1
    for ours in told["asserts"]:
        asked_assert = next(one for one in asserts if one.label == ours["label"])
        asserts.remove(asked_assert)
        _, (true_assert,) = evaluate(Query((), (asked_assert,)), until)
        assert ours.pop("agent")
        assert ours == true_assert.as_json()
    assert len({one.line for one in (*measures, *asserts)}) == by[""]
    return by


def test_on_processor_cores_every_example_is_answered_while_the_application_runs(tmp_path: Path) -> None:
    assert check(run(tmp_path, "All", list(EXAMPLES)), list(EXAMPLES))[""] == 0


def test_with_blocks_in_the_fpga_both_agents_answer_what_stands_on_their_side(tmp_path: Path) -> None:
    sections = ["section 4.5", "section 6.1", "Fig. 6.17", "section 7.1"]
    assert check(run(tmp_path, "Mapped", sections, ON_FPGA), sections) == {"": 13, "FPGA": 11, "processor": 8}
