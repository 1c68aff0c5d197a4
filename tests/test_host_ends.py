"""What an instrumented run on the simulated card tells of a host that forks, that is ended within a call, and that
reports a failure."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from answers import document_of

from workbench.analysis import analyse
from workbench.analysis.html_report import html_report
from workbench.analysis.text_report import text_report
from workbench.api.job import Job
from workbench.cli.main import main
from workbench.model.run import RunStatus
from workbench.session.keep.results import open_knowledge
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import trust
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

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
    assert run.manifest.reason.startswith("the host program crashed: Segmentation fault, SIGSEGV")
    told = {(d.message, Path(d.file or "").name, d.line) for d in run.manifest.diagnostics}
    assert ("a call of fpgaWrite was under way when the program ended", "main.c", 14) in told
    child = "a call of the card's ends it, and no call of it is recorded"
    assert [(d.file, d.line) for d in run.manifest.diagnostics if child in d.message] == [("host/main.c", 8)]
    sites, counted = run.manifest.sites, run.tables["call_stats"]
    counts = {sites[site].line: count for site, count in zip(counted["site"], counted["count"], strict=True)}
    assert counts == {7: 1, 13: 1}


FAILS = """#include <stdio.h>
#include "fpga.h"
int main(void)
{
    uint32_t word = 1;
    fpga_t *fpga = fpgaOpen(0);
    fpgaWrite(fpga, &word, 0, 1);
    fprintf(stderr, "no card of that name\\n");
    return 3;
}
"""


def test_a_host_that_reports_a_failure_comes_first_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3: nothing that is computed of such a run may look like an answer."""
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "host" / "main.c").write_text(FAILS)
    trust(open_workspace(tmp_path / "tiny.workbench.yaml", load_plugins()))
    folder, page = tmp_path / "run", tmp_path / "report.html"
    failure = "This run failed: the host program ended with exit code 3. It said: no card of that name."
    assert main(["run", str(tmp_path), "--out", str(folder)]) == 1
    assert capsys.readouterr().out.startswith(failure)
    assert main(["report", str(folder), "--html", str(page)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(failure)
    assert "No findings" not in said
    shown = re.sub(r"<[^>]*>", " ", page.read_text().partition('<section id="summary">')[2])
    assert shown.strip().startswith(failure)
    assert "No findings" not in shown
    document = document_of(capsys, ["report", str(folder), "--json"])
    assert list(document)[:3] == ["status", "exit", "shortfall"]
    assert (document["status"], document["exit"]) == ("failed", 3)


def test_a_run_that_was_not_built_has_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "host" / "main.c").write_text(FAILS.replace("return 3", "return wrong"))
    folder, page = tmp_path / "run", tmp_path / "report.html"
    assert main(["run", str(tmp_path), "--out", str(folder)]) == 2
    capsys.readouterr()
    assert main(["report", str(folder), "--html", str(page)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("This run failed: ")
    assert "main.c:9:12: error: ‘wrong’ undeclared" in said
    assert "It recorded nothing." in said
    assert "It recorded nothing." in page.read_text()
    assert main(["report", str(folder), "--json"]) == 1


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.RUNNING])
def test_a_run_that_did_not_complete_never_says_that_nothing_is_wrong(status: RunStatus) -> None:
    knowledge, _ = open_knowledge(load_plugins())
    run = synthetic_run(cores=1, rounds=1)
    ended = replace(run, manifest=replace(run.manifest, status=status))
    analysis = replace(analyse(ended, None, knowledge), findings=())
    said = text_report(ended, analysis, None, 100)
    assert said.startswith("This run ")
    assert "No findings" not in said
    assert "No findings" not in html_report(ended, analysis, None)
