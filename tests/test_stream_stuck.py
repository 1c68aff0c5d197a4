"""Streaming applications that stand still: who waits for whom is told, and what happened until then is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.events import events_of

from workbench.api.job import Job, JobEvent
from workbench.model.diagnostic import Cancelled
from workbench.model.run import Run, RunStatus
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.results import open_recorded
from workbench.session.workspace import Workspace, open_workspace

DATA = Path(__file__).parent / "data" / "streaming"


def stuck(folder: Path, *lines: str) -> Workspace:
    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    path = folder / "stuck.workbench.yaml"
    path.write_text(path.read_text() + "".join(f"{line}\n" for line in lines))
    return open_workspace(path, load_plugins())


def check(run: Run, folder: Path) -> None:
    """The block `both` fills `a` before it gives anything to `c`, of which `join` takes first."""
    (told,) = [one for one in run.manifest.diagnostics if "deadlock" in one.message]
    assert told.message.startswith("blocks wait for each other, it is a deadlock: ")
    chain = [part.partition(" (since")[0] for part in told.message.split(": ", 1)[1].split("), ")]
    assert chain == [
        "scale waits for join to take from b, which is full",
        "join waits for both to give to c, which is empty",
        "both waits for scale to take from a, which is full",
    ]
    assert told.hint.startswith("Deepen b (depth=16) or a (depth=16)")
    assert (told.file, told.line) == (str(folder / "stuck.x"), 9)
    found = events_of(run.tables)
    assert found
    a, b, c = (found.edges[f"App.{label}"] for label in "abc")
    for edge, after in ((a, b), (b, None)):
        assert edge.values is not None
        assert edge.values.tolist() == list(range(len(edge.push_ps)))
        held = len(edge.push_ps) - len(edge.pop_ps)
        assert 0 < held <= edge.edge.depth
        assert after is None or len(after.push_ps) == len(edge.pop_ps)
        assert edge.blocked_ps[-1, 1] == found.end_ps, "who waits still does so to the end"
    assert len(c.push_ps) == 0
    assert np.diff(c.waiting_ps)[0, 0] > 0.9 * found.end_ps
    assert len(c.waiting_ps) == 1


def test_a_deadlock_through_the_fpga_is_named_with_the_edges_to_deepen(tmp_path: Path) -> None:
    workspace = stuck(tmp_path, "simulation: {cycle_limit: 300000}")
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", trace=True, deterministic=True), Job())
    assert run.manifest.status is RunStatus.FAILED
    check(run, tmp_path)


def test_a_run_that_is_cancelled_keeps_what_happened_until_then(tmp_path: Path) -> None:
    def watch(event: JobEvent) -> None:
        cycles = event.text.partition(" cycles, ")[0].replace(",", "") if event.kind == "progress" else ""
        if cycles.isdigit() and int(cycles) > 300_000:
            job.cancel()

    job = Job(watch)
    with pytest.raises(Cancelled):
        run_workspace(stuck(tmp_path), RunOptions(out=tmp_path / "run", trace=True, deterministic=True), job)
    run, _, problems = open_recorded(tmp_path / "run", load_plugins())
    assert run.manifest.status is RunStatus.CANCELLED
    assert not [one for one in problems if "damaged" in one.message]
    check(run, tmp_path)
