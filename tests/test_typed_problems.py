"""What is typed is checked as a whole scan would, and of the sources only what it may concern is read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.api.job import Job
from workbench.api.source.lines import reading_typed
from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic
from workbench.model.scan import HdlScan, HostScan
from workbench.session.plugins import load_plugins
from workbench.session.workspace import Workspace, open_workspace
from workbench.system.files import real

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
    found = workspace.problems_typed(before, texts, Job())
    assert read == expected
    with reading_typed(texts):
        whole = workspace.scan().diagnostics
    assert by_place(found) == by_place(whole)
    assert by_place(found) != by_place(before.diagnostics)


def by_place(found: tuple[Diagnostic, ...]) -> list[str]:
    return sorted(d.text() for d in found)
