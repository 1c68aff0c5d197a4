"""What an instrumented run on the simulated card tells of a host that forks, and that is ended within a call."""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench.api.job import Job
from workbench.model.run import RunStatus
from workbench.session.opening import open_workspace
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins

TINY = Path(__file__).parent / "data" / "tiny"
MAIN = """#include <sys/wait.h>
#include <unistd.h>
#include "fpga.h"
int main(void)
{
    uint32_t word = 1;
    fpga_t *fpga = fpgaOpen(0);
    if (!fork()) {
        fpgaWrite(fpga, &word, 0, 1);
        _exit(0);
    }
    wait(0);
    fpgaWrite(fpga, &word, 0, 1);
    fpgaWrite(fpga, (uint32_t *)8, 0, 16);
    return 0;
}
"""


def test_the_call_in_which_a_host_is_killed_and_the_child_without_a_card_are_told(tmp_path: Path) -> None:
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "host" / "main.c").write_text(MAIN)
    workspace = open_workspace(tmp_path / "tiny.workbench.yaml", load_plugins())
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run"), Job())
    assert run.manifest.status is RunStatus.FAILED
    assert run.manifest.reason.startswith("error: the host program crashed: Segmentation fault, SIGSEGV")
    told = {(d.message, Path(d.file or "").name, d.line) for d in run.manifest.diagnostics}
    assert ("a call of fpgaWrite was under way when the program ended", "main.c", 14) in told
    child = "a call of the card's ends it, and no call of it is recorded"
    assert [(d.file, d.line) for d in run.manifest.diagnostics if child in d.message] == [("host/main.c", 8)]
    sites, counted = run.manifest.sites, run.tables["call_stats"]
    counts = {sites[site].line: count for site, count in zip(counted["site"], counted["count"], strict=True)}
    assert counts == {7: 1, 13: 1}
