"""Streaming applications that stand still: who waits for whom is told, and what happened until then is kept."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.generate import RESOURCES
from rc_workbench_plugins.streaming.recorded import HOST, PUSH

from workbench.api.job import Job, JobEvent
from workbench.api.stream_events import events_of
from workbench.model.diagnostic import Cancelled
from workbench.model.run import Run, RunStatus
from workbench.session.keep.results import open_recorded
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parent / "data" / "streaming"


def stuck(folder: Path, *lines: str) -> Workspace:
    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    path = folder / "stuck.workbench.yaml"
    path.write_text(path.read_text() + "".join(f"{line}\n" for line in lines))
    return open_workspace(path, load_plugins())


def check(run: Run, folder: Path) -> None:
    """The block `both` fills `a` before it gives anything to `c`, of which `join` takes first."""
    (told,) = [one for one in run.manifest.diagnostics if "deadlock" in one.message]
    assert told.message.startswith("deadlock, since these blocks wait for each other: ")
    chain = [part.partition(" (since")[0] for part in told.message.split(": ", 1)[1].split("), ")]
    assert chain == [
        "scale waits for join to take from b, which is full",
        "join waits for both to give to c, which is empty",
        "both waits for scale to take from a, which is full",
    ]
    assert told.hint.startswith("Deepen b from 16 to 32 (depth=32) or a from 16 to 32 (depth=32)")
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
    workspace = stuck(tmp_path, "simulation: {idle_cycle_limit: 200000}")
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", trace=True, deterministic=True), Job())
    assert run.manifest.status is RunStatus.FAILED
    assert run.manifest.clocks[0].cycles < 300_000
    assert any("nothing has come of the design for 20" in one.message for one in run.manifest.diagnostics)
    check(run, tmp_path)


def test_a_run_that_is_cancelled_keeps_what_happened_until_then(tmp_path: Path) -> None:
    def watch(event: JobEvent) -> None:
        cycles = event.text.partition(" cycles, ")[0].replace("\u202f", "") if event.kind == "progress" else ""
        if cycles.isdigit() and int(cycles) > 300_000:
            job.cancel()

    job = Job(watch)
    slowly = stuck(tmp_path, "simulation: {skip_rest: false}")  # else it is at its end before anybody looks
    with pytest.raises(Cancelled):
        run_workspace(slowly, RunOptions(out=tmp_path / "run", trace=True, deterministic=True), job)
    run, _, problems = open_recorded(tmp_path / "run", load_plugins())
    assert run.manifest.status is RunStatus.CANCELLED
    assert not [one for one in problems if "damaged" in one.message]
    check(run, tmp_path)


QUEUE = """
#include <cstdio>
#include "streaming.hpp"

extern "C" int64_t rcw_now_ps(void) { return 1; }
extern "C" void rcw_note(const char* text) { std::printf("%s\\n", text); }

int main()
{
    streaming::show_waits(1);
    streaming::Queue<uint32_t> queue(0, 20000);
    unsigned long sum = 0;
    uint32_t value;
    for (uint32_t i = 0; i < 10000; i++) queue.push(i);
    queue.close();
    while (queue.pop(value)) sum += value;
    std::printf("%lu\\n", sum);
}
"""


def test_an_application_goes_on_where_no_record_can_be_written_and_it_is_told(tmp_path: Path) -> None:
    source, made = tmp_path / "queue.cpp", tmp_path / "queue"
    source.write_text(QUEUE)
    subprocess.run(["g++", "-std=c++17", f"-I{RESOURCES}", source, "-o", made, "-pthread"], check=True)
    raw = tmp_path / "raw"
    environment = {"RCW_TRACE": "1", "RCW_RAW": str(raw)}
    lines = subprocess.check_output([made], env=environment, text=True).splitlines()
    assert lines[-1] == str(sum(range(10000)))
    assert len(lines) == 4, "once for the threads that wait, once for who pushes, once for who pops"
    why = "what streams did from then on is not kept: cannot write stream_host.bin: No such file or directory"
    assert lines[1:3] == [why, why]
    raw.mkdir()
    assert subprocess.check_output([made], env=environment, text=True) == f"{sum(range(10000))}\n"
    host = np.fromfile(raw / "stream_host.bin", HOST)
    assert (host["at_ps"] != 0).sum() == 20001
    assert host["bits"][(host["event"] == PUSH) & (host["at_ps"] != 0)].tolist() == list(range(10000))
