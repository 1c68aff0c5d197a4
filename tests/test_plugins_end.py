"""However a plugin's code ends, in whichever hook, it stays the plugin's fault and is named; the window lives on."""

import itertools
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from workbench.api import hookimpl, hookspecs
from workbench.api.faults import PluginFault
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.gui.app import make_application
from workbench.gui.frame.kept_open import kept_open
from workbench.gui.frame.main_window import MainWindow
from workbench.model.diagnostic import Diagnostic
from workbench.session.program import journal
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run

DATA = Path(__file__).parent / "data"
HOW = {"exit": "SystemExit: 5", "interrupt": "KeyboardInterrupt", "odd": "Odd: odd"}
RULES = """schema_version: 1
rules:
  - {name: ending, category: internal overhead, side: host, when: ending > 0}
"""
#: What a project says that uses the plugin, by the hook.
PROJECTS = {
    "hdl_languages": ("  sources: [hdl/*.v]\n", "  sources: [hdl/*.v]\n  language: ending\n"),
    "host_languages": ("host:\n", "host:\n  language: ending\n"),
    "composers": ("settings:\n", "streaming: {}\nsettings:\n"),
    "targets": ("settings:\n", "target: {name: ending}\nsettings:\n"),
    "port_kinds": ("platform: nallatech_h101\n", "platform: ending.yaml\n"),
}


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = folder / "ending-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ending\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rc_workbench.plugins]\nending = ending_plugin\n")
    shutil.copyfile(DATA / "ending_plugin.py", folder / "ending_plugin.py")
    shutil.copyfile(Path("platform_templates/nallatech_h101.yaml").absolute(), folder / "ending.yaml")
    (folder / "ending_rules.yaml").write_text(RULES)
    monkeypatch.syspath_prepend(folder)


@pytest.fixture
def ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The plugin, installed and loaded, whose functions do nothing yet."""
    (tmp_path / "site").mkdir()
    install(tmp_path / "site", monkeypatch)
    assert not [plugin.error for plugin in load_plugins().loaded if plugin.error]
    yield sys.modules["ending_plugin"]
    del sys.modules["ending_plugin"]


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    """A project for each hook that projects name, a run, a file to import and a model, by what uses them."""
    tiny = Path(shutil.copytree(DATA / "tiny", tmp_path / "tiny"))
    text = (tiny / "tiny.workbench.yaml").read_text()
    for hook, (before, after) in PROJECTS.items():
        assert before in text
        (tiny / f"{hook}.workbench.yaml").write_text(text.replace(before, after, 1))
    template = (tmp_path / "site" / "ending.yaml").read_text()
    (tiny / "ending.yaml").write_text(template.replace("kind: memory", "kind: ending"))
    run = synthetic_run(cores=2, rounds=1)
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, run.tables)
    (tmp_path / "file.ending").write_text("")
    (tmp_path / "model.ending.yaml").write_text("schema_version: 1\nname: model\n")
    return {hook: str(tiny / f"{hook}.workbench.yaml") for hook in PROJECTS} | {
        "run": str(tmp_path / "run"),
        "file": str(tmp_path / "file.ending"),
        "model": str(tmp_path / "model.ending.yaml"),
        "out": str(tmp_path / "out"),
        "template": str(tiny / "ending.yaml"),
    }


#: A command that comes to each hook's functions; platforms and rules are files alone, and modes are the window's.
COMMANDS = {
    "hdl_languages": "scan {hdl_languages}",
    "host_languages": "scan {host_languages}",
    "port_kinds": "template check {template}",
    "composers": "scan {composers}",
    "targets": "run {targets}",
    "metrics": "report {run}",
    "findings": "report {run}",
    "exporters": "export {run} --format ending --out {out}",
    "importers": "import {file} --out {out}",
    "commands": "ending",
    "model_kinds": "predict ending {model}",
    "queries": "streams {run}",
}


@pytest.mark.parametrize("hook", sorted(COMMANDS))
def test_a_command_names_the_plugin(
    ending: ModuleType, given: dict[str, str], capsys: pytest.CaptureFixture[str], hook: str
) -> None:
    for ending.how, what in HOW.items():
        code, said = answer(COMMANDS[hook].format(**given).split(), capsys)
        assert re.search(rf"the plugin 'ending' failed .*: {what}", said, re.DOTALL)
        assert code == 0 if hook in ("metrics", "findings") else code in (1, 2)


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """A command's exit code and what it says, also of a fault that only the program's outermost handler tells."""
    capsys.readouterr()
    try:
        code = main(words)
    except PluginFault as fault:
        return 1, journal.crash(fault).message
    return code, capsys.readouterr().err


def test_every_hook_is_among_them(ending: ModuleType) -> None:
    hooks = {name.removeprefix("workbench_") for name in vars(hookspecs) if name.startswith("workbench_")}
    assert hooks == {*COMMANDS, "platforms", "rules", "modes"}
    (mine,) = (plugin for plugin in load_plugins().loaded if plugin.name == "ending")
    assert {hook.removeprefix("workbench_") for hook in mine.hooks} == hooks


def test_a_hook_that_ends_so_is_named(ending: ModuleType) -> None:
    for hook in [name for name in vars(ending) if name.startswith("workbench_")]:
        with pytest.MonkeyPatch.context() as patch:
            ending.how = "exit"
            patch.setattr(ending, hook, hookimpl(ended(hook, ending.end)))
            (mine,) = (plugin for plugin in load_plugins().loaded if plugin.name == "ending")
        assert mine.error == "SystemExit: 5"


def ended(hook: str, end: Callable[[], object]) -> Callable[[], object]:
    def answer() -> object:
        return end()

    answer.__name__ = hook
    return answer


#: What a person does in the window that comes to each hook's functions.
STEPS: dict[str, Callable[[MainWindow, dict[str, str]], object]] = {
    "hdl_languages": lambda window, given: window.open(Path(given["hdl_languages"])),
    "composers": lambda window, given: window.open(Path(given["composers"])),
    "port_kinds": lambda window, given: window.open(Path(given["template"])),
    "model_kinds": lambda window, given: window.open(Path(given["model"])),
    "metrics": lambda window, given: window.open(Path(given["run"])),
    "queries": lambda window, given: window.go_to("streams"),
}


def test_the_window_lives_on_and_names_the_plugin(
    ending: ModuleType, given: dict[str, str], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_seen", {})
    make_application()
    with kept_open(), capture_exceptions() as escaped:
        window = MainWindow(load_plugins())
        qtbot.addWidget(window)
        window.show()

        def named(step: Callable[[], object], what: str) -> None:
            """Do it as a person's event does. What escapes there is what Python's hook tells the window of."""
            window.context.notices.clear()
            escaped.clear()
            QTimer.singleShot(0, step)
            qtbot.wait(1)
            qtbot.waitUntil(lambda: not window.busy)
            journaled = [journal.crash(error).message for _, error, _ in escaped]
            said = [*journaled, *(notice.message for notice in window.context.notices)]
            said += [problem.message for problem in form_problems(window)]
            said += [label.text() for label in window.findChildren(QLabel)]
            assert any("the plugin 'ending' failed" in text and what in text for text in said)
            assert window.isVisible()

        for step, how in zip(STEPS.values(), itertools.cycle(HOW), strict=False):
            ending.how = how
            named(partial(step, window, given), HOW[how])
        ending.begins = True
        named(lambda: window.go_to("ending"), HOW[how])
        ending.begins = False
        for ending.how, what in HOW.items():
            named(lambda: window.go_to("ending"), what)  # its picture
            named(lambda: window.modes.views["ending"].button.click(), what)  # type: ignore[attr-defined]
            window.go_to("analyse")


def form_problems(window: MainWindow) -> Sequence[Diagnostic]:
    """What the form of the platform says of its document."""
    made = window.modes.views.get("platform")
    return made.document.problems if made else ()  # type: ignore[attr-defined]
