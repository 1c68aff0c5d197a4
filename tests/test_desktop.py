"""The entry in the desktop's menu starts this installation, with an icon, and the window is recognised as its own."""

import configparser
import shlex
import subprocess
from pathlib import Path

import pytest
from answers import document_of
from PySide6.QtWidgets import QApplication

from workbench.cli.main import main
from workbench.gui.app import make_application
from workbench.gui.look.icons import PROGRAM_ICON_PX
from workbench.session.program import desktop


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def entry(path: Path) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text("utf-8"))
    return parser["Desktop Entry"]


def test_the_command_installs_an_entry_that_starts_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    path, icon = (Path(name) for name in document_of(capsys, ["desktop", "--json"])["installed"])
    held = entry(path)
    program, command, file = shlex.split(held["Exec"])
    assert (command, file) == ("open", "%f")
    assert held["TryExec"] == program
    assert "RC Workbench" in subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    assert icon.name == f"{held['Icon']}.svg"
    assert icon.read_text().startswith("<svg")


def test_removing_takes_both_files_away(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["desktop"])
    assert main(["desktop", "--remove"]) == 0
    assert not [path for path in data_folder.rglob("*") if path.is_file()]
    assert main(["desktop", "--remove"]) == 0


def test_a_program_in_a_folder_with_blanks_is_quoted() -> None:
    assert desktop._quoted(Path("/opt/rc workbench/100%/workbench")) == '"/opt/rc workbench/100%%/workbench"'


def test_the_window_says_to_which_entry_it_belongs_and_has_its_icon(qapp: QApplication) -> None:
    application = make_application()
    desktop.install()
    assert application.desktopFileName() == desktop.entry_path().stem
    assert entry(desktop.entry_path())["StartupWMClass"] == desktop.DESKTOP_ID
    assert [size.width() for size in application.windowIcon().availableSizes()] == list(PROGRAM_ICON_PX)
    drawn = application.windowIcon().pixmap(64, 64).toImage()
    colours = {drawn.pixelColor(x, y).name() for x in range(64) for y in range(64)}
    assert {"#8e9bff", "#22b585", "#f0b530"} <= colours
