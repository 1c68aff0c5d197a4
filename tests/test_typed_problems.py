"""What is typed is checked as a whole scan would, and of the sources only what it may concern is read."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.api.job import Job
from workbench.api.source.lines import reading_typed
from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.scan import HdlScan, HostScan, ProjectScan
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.system.files import real

LAPLACE = Path(__file__).parents[1] / "resources" / "examples" / "laplace"
TINY = Path(__file__).parent / "data" / "tiny"
OTHER = '#include "helper.h"\n#pragma recap nowhere work()\nint helper(int by)\n{\n    return 2 * by;\n}\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """The tiny project with a second source, whose pragma stands before no call, and its header."""
    root = tmp_path / "tiny"
    shutil.copytree(TINY, root)
    (root / "host" / "helper.h").write_text("int helper(int by);\n")
    (root / "host" / "helper.c").write_text(OTHER)
    project = root / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("host/main.c", "host/main.c, host/helper.c"))
    return open_workspace(project, load_plugins())


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that are read, host's by name."""
    names: list[str] = []
    host, hardware = Workspace._scan_host, Workspace._scan_hardware

    def scan_host(self: Workspace, part: HostSources, settings: Mapping[str, Any], job: Job) -> HostScan:
        names.extend(Path(name).name for name in part.sources)
        return host(self, part, settings, job)

    def scan_hardware(self: Workspace, settings: Mapping[str, Any], job: Job) -> HdlScan:
        names.append("hardware")
        return hardware(self, settings, job)

    monkeypatch.setattr(Workspace, "_scan_host", scan_host)
    monkeypatch.setattr(Workspace, "_scan_hardware", scan_hardware)
    return names


@pytest.mark.parametrize(
    ("typed", "old", "new", "expected"),
    [
        (["host/main.c"], "recap", "recap put sendd()\n#pragma recap", ["main.c"]),
        (["host/helper.c"], "#pragma recap nowhere work()\n", "", ["helper.c"]),
        (["host/main.c", "hdl/tiny_top.v"], "\n", "\n//pragma recap put sendd()\n", ["hardware", "main.c"]),
        (["hdl/tiny_top.v"], "DELAY;", "DELAYS;", ["hardware"]),
        (["host/helper.h"], "int", "#error none\nint", ["main.c", "helper.c"]),
    ],
)
def test_only_what_was_typed_is_read_and_told_as_by_a_whole_scan(
    workspace: Workspace, read: list[str], typed: list[str], old: str, new: str, expected: list[str]
) -> None:
    before = workspace.scan()
    assert any("nowhere" in d.message or "before no" in d.message for d in before.host.diagnostics)
    texts = {}
    for name in typed:
        path = real(workspace.root / name)
        assert old in path.read_text()
        texts[path] = path.read_text().replace(old, new, 1).encode()
    read.clear()
    found = workspace.scan_typed(before, texts, Job())[1]
    assert read == expected
    with reading_typed(texts):
        whole = workspace.scan().diagnostics
    assert by_place(found) == by_place(whole)
    assert by_place(found) != by_place(before.diagnostics)


def test_what_an_application_is_composed_of_is_checked_as_it_is_typed(tmp_path: Path) -> None:
    shutil.copytree(LAPLACE, tmp_path / "laplace")
    project, x = tmp_path / "laplace" / "two.workbench.yaml", real(tmp_path / "laplace" / "laplace.x")
    right = x.read_text()
    wrong = right.replace("RNG mt;", "RNG mt, mt;", 1)
    line = 1 + wrong[: wrong.index("mt, mt")].count("\n")
    workspace = open_workspace(project, load_plugins())
    names = ["laplace.x", "rng.hpp", "rng.v", "split.hpp", "walk.hpp"]
    assert sorted(path.name for path in workspace.parts) == names
    scan, before = ProjectScan(HostScan(()), HdlScan(())), workspace.stamps()
    (told,) = workspace.scan_typed(scan, {x: wrong.encode()}, Job())[1]
    assert (told.file, told.line) == (str(x), line)
    assert workspace.scan_typed(scan, {x: right.encode()}, Job())[1] == ()
    mapped = project.read_text() + "#\n"
    (told,) = workspace.scan_typed(scan, {project: mapped.replace("top: Two", "top: Tow").encode()}, Job())[1]
    assert (Path(told.file or "").name, told.line) == (project.name, 1 + mapped[: mapped.index("top:")].count("\n"))
    # saved so, it opens to be fixed, and nothing can be built of it
    x.write_text(wrong)
    assert workspace.stamps() != before
    with pytest.raises(WorkbenchError, match="mt"):
        open_workspace(project, load_plugins())
    faulty = open_workspace(project, load_plugins(), faulty=True)
    assert faulty.scan().diagnostics == faulty.faults
    assert [path.name for path in faulty.parts] == ["laplace.x"]
    with pytest.raises(WorkbenchError, match="mt"):
        run_workspace(faulty, RunOptions(out=tmp_path / "run"), Job())
    assert not (tmp_path / "run").exists()
    assert faulty.scan_typed(faulty.scan(), {x: right.encode()}, Job())[1] == ()


def by_place(found: tuple[Diagnostic, ...]) -> list[str]:
    return sorted(d.text() for d in found)
