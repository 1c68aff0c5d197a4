"""Changes are confirmed by running the application again as if they were made; the answer is the same or another."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from answers import document_of

from workbench.api.job import Job, JobEvent
from workbench.cli.main import main
from workbench.formats.run_folder import open_run
from workbench.model.changes import read_change
from workbench.model.diagnostic import Cancelled, WorkbenchError
from workbench.model.run import Run
from workbench.session.change.confirm import AnswerStatus, Confirmation, confirm, open_project_of
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins, load_plugins

APPS = Path(__file__).parent / "benchmarks" / "bounds_apps"
HOST = """
#include "common.h"

int main(void)
{
    uint32_t words[WORDS], total = 0, polls = 0;
    fpga_t *fpga = fpgaOpen(0);
    fpgaWriteReg(fpga, PACE, pace(CLEAR, CYCLES));
    for (int round = 0; round < 2; round++) {
        prepare(words, round);
        for (int k = 0; k < 8; k += 2) {
            #pragma recap put send(data, unit_top.worker, x)
            fpgaWrite(fpga, words + k, (uint32_t)k, 2);
        }
        #pragma recap begin send(ctrl, unit_top.worker, go)
        fpgaWriteReg(fpga, COMMAND, command(0, 8));
        #pragma recap poll wait_recv(late_sender, unit_top.worker, d)
        while (!fpgaReadReg(fpga, DONE))
            polls++;
        for (int k = 0; k < 8; k++) {
            #pragma recap get recv(data, unit_top.worker, y)
            total = total * 31 + fpgaReadReg(fpga, (uint32_t)k);
        }
    }
    printf("total %u\\n", total);
#if TELLS
    printf("after %u polls\\n", polls);
#else
    FILE *file = fopen("polls.txt", "w");
    fprintf(file, "%u\\n", polls >= 0 ? 1u : polls);
    fclose(file);
#endif
    fpgaClose(fpga);
    return 0;
}
"""
UNITED = HOST.replace(
    "for (int k = 0; k < 8; k += 2) {\n            #pragma recap put send(data, unit_top.worker, x)\n"
    "            fpgaWrite(fpga, words + k, (uint32_t)k, 2);\n        }",
    "fpgaWrite(fpga, words, 0, 8);",
)


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


def made(folder: Path, host: str = HOST) -> Path:
    """A project below a folder."""
    folder.mkdir()
    for name in ("common.h", "unit.v"):
        shutil.copy(APPS / name, folder)
    (folder / "main.c").write_text(host)
    project = {
        "schema_version": 1, "name": "asks", "platform": "nallatech_h101",
        "host": {"sources": ["main.c"]},
        "hardware": {"sources": ["unit.v"], "top": "unit_top", "read_out": {"first": 0x800000, "last": 0x80000F}},
        "settings": {"ROUNDS": 2, "EFFORT": 20, "CLEAR": 0, "CYCLES": 1500, "TELLS": 0},
    }  # fmt: skip
    path = folder / "app.workbench.yaml"
    path.write_text(yaml.safe_dump(project))
    for file in folder.iterdir():  # as if it had been there for a while
        os.utime(file, (time.time() - 60,) * 2)
    return path


def run_of(path: Path, plugins: Plugins, **settings: int) -> tuple[Workspace, Run]:
    workspace = open_workspace(path, plugins)
    run = run_workspace(workspace, RunOptions(deterministic=True, settings=settings), Job())
    assert run.complete, run.manifest.reason
    return workspace, run


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> tuple[Workspace, Run]:
    return run_of(made(tmp_path_factory.mktemp("confirm") / "asks"), plugins)


@pytest.fixture
def tried(base: tuple[Workspace, Run], plugins: Plugins) -> Callable[..., Confirmation]:
    return lambda *changes: confirm(*base, [read_change(text) for text in changes], Job(), plugins)


def test_united_calls_come_to_what_the_changed_program_takes(
    base: tuple[Workspace, Run], tried: Callable[..., Confirmation], plugins: Plugins, tmp_path: Path
) -> None:
    workspace, run = base
    sources = {path: path.read_bytes() for path in workspace.root.iterdir() if path.is_file()}
    found = tried("unite calls=put count=4")
    assert (found.answer, found.why, found.notes) == (AnswerStatus.SAME, "", ())
    _, changed = run_of(made(tmp_path / "united", UNITED), plugins)
    assert changed.manifest.stdout_sha256 == run.manifest.stdout_sha256
    assert found.time_s == pytest.approx(changed.time_s, rel=5e-4)
    assert found.speedup == pytest.approx(run.time_s / changed.time_s, rel=5e-4)
    assert found.speedup > 1.05
    assert {path: path.read_bytes() for path in workspace.root.iterdir() if path.is_file()} == sources
    assert workspace.run_folders() == (run.path,)  # what it leaves is none of the project's runs
    assert found.run is not None
    tries = open_run(found.run)[0]
    assert tries.manifest.changes == ("unite calls=put count=4",)


def test_the_command_line_confirms(base: tuple[Workspace, Run], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["whatif", str(base[1].path), "--change", "poll_delay calls=poll delay_s=2e-6"]
    told = document_of(capsys, [*command, "--confirm", "--json"])
    assert told["confirmed_s"] > 0
    assert (told["confirmed"]["answer"], told["confirmed"]["why"]) == ("same", "")
    assert told["confirmed"]["speedup"] == pytest.approx(base[1].time_s / told["confirmed_s"])
    command[-1] = "early calls=put"
    assert main([*command, "--confirm"]) == 1
    assert (
        "Not confirmed, since the simulated card cannot try it. The program makes its calls" in capsys.readouterr().out
    )


def test_several_changes_together(tried: Callable[..., Confirmation]) -> None:
    all_of_them = (
        "unite calls=get count=8", "retype calls=get table=read", "interrupt calls=poll",
        "host block=host.main state=work factor=0.5",
    )  # fmt: skip
    two, all_four = tried(*all_of_them[:2]), tried(*all_of_them)
    assert (two.answer, all_four.answer) == (AnswerStatus.SAME, AnswerStatus.SAME)
    assert all_four.speedup > two.speedup > 1.5


def test_another_answer_is_told_by_what_differs_first(plugins: Plugins, tmp_path: Path) -> None:
    workspace, run = run_of(made(tmp_path / "tells"), plugins, TELLS=1)
    found = confirm(workspace, run, [read_change("poll_delay calls=poll delay_s=0.001")], Job(), plugins)
    assert found.answer is AnswerStatus.DIFFERS
    before = (run.path / "stdout.txt").read_text().splitlines()
    assert found.why == f"its output differs: line 2 is 'after 0 polls'; before '{before[1]}'"
    assert found.time_s is not None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("state block=unit_top.worker state=multiply factor=0.5", "cycle by cycle"),
        ("early calls=put", "in their order"),
        ("fewer_starts calls=begin count=2", "once for each start"),
        ("asynchronous calls=get buffers=2", "fpgaReadReg at main.c:22 does not send"),
        ("retype calls=put table=read", "the other direction"),
        ("host block=host.main state=put factor=0.5", "the host is in a call"),
        ("interrupt calls=put", "it is not a poll"),
        ("unite calls=put,get count=2", "one call cannot do both"),
        ("unite calls=begin count=2", "other calls come between these calls"),
        ("platform platform=no_such", "there is no platform template 'no_such'"),
        ("replicas group=unit_top.worker count=2", "no setting that is a parameter"),
        ("depth fifo=nothing words=2", ""),
    ],
)
def test_what_a_run_cannot_try_says_why(tried: Callable[..., Confirmation], change: str, why: str) -> None:
    if not why:
        with pytest.raises(WorkbenchError, match="the run has no FIFO 'nothing'"):
            tried(change)
        return
    found = tried(change)
    assert found.answer is AnswerStatus.NOT_POSSIBLE
    assert why in found.why
    assert found.time_s is None


def test_two_changes_of_the_same_calls(tried: Callable[..., Confirmation]) -> None:
    assert "in two ways" in tried("unite calls=put count=2", "unite calls=fpgaWrite count=4").why
    assert "in two ways" in tried("interrupt calls=poll", "poll_delay calls=poll delay_s=1e-6").why


def test_a_run_of_other_sources_is_refused(plugins: Plugins, tmp_path: Path) -> None:
    workspace, run = run_of(made(tmp_path / "asks"), plugins)
    change = [read_change("interrupt calls=poll")]
    header = workspace.root / "common.h"
    text = header.read_text()
    header.write_text(text)  # written since, and the same
    later = time.time() + 5
    os.utime(header, (later, later))
    assert confirm(workspace, run, change, Job(), plugins).answer is AnswerStatus.SAME
    header.write_text(text.replace("step < EFFORT", "step < 2 * EFFORT"))
    os.utime(header, (later, later))
    with pytest.raises(WorkbenchError, match=r"since common\.h changed: it now takes"):
        confirm(workspace, run, change, Job(), plugins)
    main = workspace.root / "main.c"
    main.write_text(main.read_text() + "\n")
    with pytest.raises(WorkbenchError, match=r"sources changed since this run: main\.c"):
        confirm(workspace, run, change, Job(), plugins)
    shutil.rmtree(workspace.root / "runs" / "run-1.confirmed")
    workspace.path.unlink()
    with pytest.raises(WorkbenchError, match="the project of this run no longer exists here"):
        open_project_of(run, plugins)


def test_a_cancelled_confirmation_ends_its_programs(base: tuple[Workspace, Run], plugins: Plugins) -> None:
    def watch(event: JobEvent) -> None:
        steps.append(event.text)
        if event.kind == "step" and event.text == "Run":
            job.cancel()

    steps: list[str] = []
    job = Job(watch)
    with pytest.raises(Cancelled):
        confirm(*base, [read_change("unite calls=put count=2")], job, plugins)
    assert any("Build" in text or "Run" in text for text in steps)
