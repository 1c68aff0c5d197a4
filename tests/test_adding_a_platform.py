"""The guide's page on adding a platform, followed to the letter: its files, its commands, and what it says of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from guide_page import BLOCKS, PAGE, block, write_files

from workbench.cli.main import main
from workbench.formats import yaml_edit
from workbench.formats.platform_file import load_platform
from workbench.gui.modes.platform.points import pasted_points


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Does a command of the page, in a folder with its files; gives what it prints."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)

    def done(begins: str) -> str:
        (line,) = [line for one in BLOCKS for line in one.splitlines() if line.startswith(begins)]
        assert main(line.split()[1:]) == 0
        return capsys.readouterr().out

    return done


def test_the_page_leads_from_a_header_to_findings(follow: Callable[[str], str], tmp_path: Path) -> None:
    told = follow("workbench template new mx.yaml --header mx.h")
    assert [line.rstrip() for line in told.splitlines()] == block("mx_board *mx_open(int slot) ").splitlines()
    tried = follow("workbench template try")
    assert [line.split()[:3] for line in tried.splitlines() if "main.c" in line] == [
        [str(tmp_path / "host" / place), callee, kind]
        for place, callee, kind in (line.split() for line in block("main.c:7").splitlines())
    ]

    template = tmp_path / "mx.yaml"
    text = template.read_text()  # the page's port and measured times take the place of what it has
    text = text[: text.index("hardware:")] + text[text.index("host:\n") :] + block("transfer_tables:") + "\n"
    platform, _ = load_platform(template)
    assert platform is not None
    for number, entry in enumerate(platform.host.entries):
        if entry.kind.value in ("send", "receive"):
            table = {"send": "write", "receive": "read"}[entry.kind.value]
            text = yaml_edit.set_value(text, ("host", "entries", number, "transfer"), table)
    template.write_text(text)
    platform, _ = load_platform(template)
    assert platform is not None
    for name, pasted in (("write", block("bytes,time")), ("read", block("4,10 us"))):
        path = ("transfer_tables", name, "points")
        assert yaml_edit.set_value(text, path, pasted_points(pasted)) == text
    checked = follow("workbench template check")
    assert [line for line in block("mx.yaml: no problems").splitlines() if line not in checked] == []

    follow("workbench new . ")
    follow("workbench run mx")
    assert (tmp_path / "run" / "stdout.txt").read_text() == "132096\n"
    report = follow("workbench report run")
    assert report.startswith("mx: 132.1 µs virtual")
    assert "Findings: 2" in report
    assert "`132096`" in PAGE
    assert "took 132 µs" in PAGE
    assert platform.host.transfers.send_c in PAGE

    # without a header to name, the wrappers have the entries' prototypes
    text = template.read_text().replace("  include_lines: ['#include \"mx.h\"']\n  api_dir: .\n", "")
    assert "mx.h" not in text
    template.write_text(text)
    assert "mx.yaml: no problems" in follow("workbench template check")
    assert main(["instrument", "mx.workbench.yaml", "--out", "copies"]) == 0
