"""What is remembered between sessions: nonsense in a file counts as nothing remembered, and is never a traceback."""

import json
import shutil
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from settings_shown import shown_settings

from workbench.cli.main import main
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.look import theme
from workbench.session.make import durations
from workbench.session.open import recent
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import trust, trust_state
from workbench.session.program.plugins import load_plugins
from workbench.system import store

TINY = Path(__file__).parent / "data" / "tiny"
NONSENSE = [
    "5", "null", "true", '"x"', "[5]", "{}", "[[]]", '{"a": 5}', '{"a": {"b": []}}', '{"theme": "purple"}', "", "{",
    "NaN", "\x00", "[" * 100_000, '["\\ud800", "\\u0000"]', '{"": {"": -99999999999999999999}}',
    '{"source": {"side": "wide"}}', '{"analyse": {"side": 1000000000000000000000000000000}}',
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(TINY, tmp_path / "tiny") / "tiny.workbench.yaml"


def fill(folder: Path, text: str) -> None:
    for name in store.SHAPES:
        (folder / f"{name}.json").write_text(text)


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_nothing_remembered(own_preferences: Path, project: Path, text: str) -> None:
    workspace = open_workspace(project, load_plugins())
    fill(own_preferences, text)
    assert not trust_state(workspace).trusted
    assert recent.recent() == ()
    recent.remember(project)
    trust(workspace)
    assert recent.recent() == (project,)
    assert trust_state(workspace).trusted


@pytest.mark.parametrize("text", ["5", '{"theme": "purple"}', *NONSENSE[-3:]])
def test_the_window_opens_on_nonsense_and_remembers_anew(own_preferences: Path, qtbot: QtBot, text: str) -> None:
    fill(own_preferences, text)
    window = MainWindow(load_plugins())
    qtbot.addWidget(window)
    window.show()
    assert store.preference("theme", "light") == "light"
    window.set_theme("dark")
    assert json.loads((own_preferences / "window.json").read_text())["theme"] == "dark"
    window.close()


def test_every_theme_that_is_offered_is_remembered(
    own_preferences: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a theme does to the window, tests/gui/test_window.py has."""
    monkeypatch.setattr(theme, "dressing", lambda application, name: iter(()))
    window = MainWindow(load_plugins())
    qtbot.addWidget(window)
    row = shown_settings(window).rows["theme"]
    for number, name in reversed([*enumerate(row.setting.choices)]):  # the first is chosen already
        row.field.setCurrentIndex(number)
        assert store.preference("theme", "none") == name
    window.close()


def test_how_long_steps_took_is_remembered(own_preferences: Path, project: Path) -> None:
    fill(own_preferences, '{"a": {"b": -1}}')
    assert durations.remembered(project, "trace") == {}
    durations.remember(project, "trace", {"Run": 2.5})
    assert durations.remembered(project, "trace") == {"Run": 2.5}
    assert durations.remembered(project, "plain") == {}


def test_a_folder_in_place_of_a_file_is_nothing_remembered(own_preferences: Path, project: Path) -> None:
    for name in store.SHAPES:
        (own_preferences / f"{name}.json").unlink(missing_ok=True)
        (own_preferences / f"{name}.json").mkdir()
    assert recent.recent() == ()
    assert not trust_state(open_workspace(project, load_plugins())).trusted


def test_what_a_later_version_remembers_is_kept(own_preferences: Path) -> None:
    (own_preferences / "window.json").write_text('{"theme": "dark", "font_px": 15}')
    assert store.load("window", {}) == {"theme": "dark", "font_px": 15}


def test_a_command_runs_on_nonsense(own_preferences: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(own_preferences, "5")
    assert main(["scan", str(project)]) == 0
    assert "Traceback" not in capsys.readouterr().err
