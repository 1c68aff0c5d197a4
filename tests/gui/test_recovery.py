"""What was not saved survives kill -9, in every editor, and the files are never half written."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.platform.mode import PlatformMode
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.modes.source.mode import SourceMode
from workbench.gui.open.question import DISCARD, Question
from workbench.gui.open.recovered import LATER, RESTORE
from workbench.session.edit import recovery
from workbench.session.edit.documents import SourceFile
from workbench.session.edit.recovery import Keeper, left_behind

Settle = Callable[[MainWindow], None]

#: A window in a process of its own: edits a source, the platform and a model, keeps them, and is killed.
EDITS = """
import os, signal, sys
from pathlib import Path
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtCore import QTimer
from workbench.gui.app import make_application
from workbench.gui.frame.main_window import MainWindow
from workbench.session.program.plugins import load_plugins

plugins = load_plugins()
application = make_application()
window = MainWindow(plugins)
project = Path(sys.argv[1])
window.open(project)
window.show()

def edit():
    if window.context.scan is None or window.busy:
        return
    timer.stop()
    window.context.navigation.open_line(str(project.parent / "host" / "main.c"), 1)
    window.mode.editor.insertPlainText("// unsaved, \\N{SNOWMAN}\\n")
    for mode in ("platform", "predict"):
        window.context.navigation.set_mode(mode)
        window.mode.document.set(("title",), "Unsaved")
    assert len(window.context.documents.unsaved) == 3
    check.start()

def kill():
    if len(list(Path(os.environ["RCW_PREFERENCES"]).glob("state/unsaved/*.json"))) == 3:
        os.kill(os.getpid(), signal.SIGKILL)

timer, check = QTimer(interval=20), QTimer(interval=20)
timer.timeout.connect(edit)
check.timeout.connect(kill)
timer.start()
application.exec()
"""


@pytest.fixture
def documents(project: Path) -> tuple[Path, Path, Path]:
    """A source, a platform and a model of the project's own."""
    root = project.parent
    model = root / "mine.ratss.yaml"
    model.write_text(
        "schema_version: 1\nname: mine\ntitle: Mine\nplatform: nallatech_h101\nstages:\n  - name: s\n"
        "    nodes:\n      - {name: n, elements: 10, ops_per_element: 1, clock_hz: 100 MHz, ops_per_cycle: 1}\n"
    )
    card = root / "card.yaml"
    card.write_bytes(files("workbench.platform_templates").joinpath("nallatech_h101.yaml").read_bytes())
    project.write_text(project.read_text().replace("platform: nallatech_h101", "platform: card.yaml"))
    return root / "host" / "main.c", card, model


def test_a_killed_window_loses_nothing(
    project: Path, documents: tuple[Path, Path, Path], window: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    before = {path: path.read_bytes() for path in documents}
    done = subprocess.run([sys.executable, "-c", EDITS, str(project)], timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert {path: path.read_bytes() for path in documents} == before
    assert {k.path for k in left_behind()} == {str(path) for path in documents}

    asked: list[Question] = []
    answers = iter((LATER, RESTORE))

    def answer(question: Question) -> str:
        asked.append(question)
        return next(answers, DISCARD)

    window.context.documents.ask = answer
    window.open(project)
    qtbot.waitUntil(lambda: len(asked) == 1)
    assert set(asked[0].lines) == {str(path) for path in documents}
    assert not window.context.documents.unsaved
    window.context.leave()
    window.recovered.offer_at_start(project=False)
    qtbot.waitUntil(lambda: len(window.context.documents.unsaved) == 3)
    assert len(asked) == 2
    settle(window)
    source, platform, predict = (window.modes.views[m] for m in ("source", "platform", "predict"))
    assert isinstance(source, SourceMode)
    assert isinstance(platform, PlatformMode)
    assert isinstance(predict, PredictMode)
    assert source.editor is not None
    assert source.editor.toPlainText().startswith("// unsaved, \N{SNOWMAN}\n")
    assert platform.document.value(("title",)) == predict.document.value(("title",)) == "Unsaved"
    assert left_behind() == ()
    for mode in (source, platform, predict):
        mode.history.undo()
    assert not window.context.documents.unsaved
    assert {path: path.read_bytes() for path in documents} == before


def test_what_two_killed_windows_held_of_one_file_is_restored_one_after_the_other(
    project: Path, window: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    main = project.parent / "host" / "main.c"
    for number, text in enumerate(("// older\n", "// newer\n")):
        record = recovery._folder() / f"{number}.json"
        recovery.store.write_json(
            record, {"path": str(main), "kind": "source", "project": str(project), "text": text, "base": "",
                     "process": os.getpid(), "began": 1.0},
        )  # fmt: skip
        os.utime(record, (number, number))
    window.context.documents.ask = lambda question: RESTORE
    for text in ("// newer\n", "// older\n"):
        window.open(project)
        qtbot.waitUntil(lambda: bool(window.context.documents.unsaved))
        settle(window)
        (document,) = window.context.documents.unsaved
        assert document.text == text
        document.save(over=True)
        window.context.leave()
    assert left_behind() == ()


def test_what_is_saved_or_given_up_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c"
    path.write_text("old\n")
    document, keeper = SourceFile(), Keeper()
    document.open(path)
    document.type("new\n")
    keeper.keep([document], None)
    assert left_behind() == ()  # its window still runs
    monkeypatch.setattr(recovery, "_began", lambda process: 0.0)
    (kept,) = left_behind()
    assert (kept.path, kept.text, kept.file_changed) == (str(path), "new\n", False)
    path.write_text("theirs\n")
    assert kept.file_changed
    path.write_text("old\n")
    document.save()
    keeper.keep([document], None)
    assert left_behind() == ()
    document.type("newer\n")
    keeper.keep([document], None)
    document.revert()
    keeper.keep([document], None)
    assert left_behind() == ()


def test_a_damaged_record_is_dropped(tmp_path: Path) -> None:
    folder = recovery._folder()
    folder.mkdir(parents=True)
    for name, text in (("a", ""), ("b", "[]"), ("c", '{"path": 5}'), ("d", "\x00")):
        (folder / f"{name}.json").write_text(text)
    assert left_behind() == ()
    assert list(folder.iterdir()) == []


#: Saves without end, in one of the editors' documents, so that a kill comes at any moment of it.
SAVES = """
import sys
from pathlib import Path
from workbench.session.edit.documents import SourceFile
from workbench.session.edit.model_document import ModelDocument
from workbench.session.edit.platform_document import PlatformDocument
from workbench.session.program.plugins import load_plugins

plugins = load_plugins()
source, card, model = SourceFile(), PlatformDocument(plugins, print), ModelDocument(plugins, print)
for document, path in zip((source, card, model), map(Path, sys.argv[1:])):
    document.open(path)
first = source.text, card.text, model.text
print("ready", flush=True)
number = 0
while True:
    number += 1
    for document, text in zip((source, card, model), first):
        document.type(text + f"{'//' if document is source else '#'} {number} {'x' * 20000} end\\n")
        document.save()
"""


def test_a_save_that_is_killed_leaves_the_old_file_or_the_new(
    project: Path, documents: tuple[Path, Path, Path]
) -> None:
    from workbench.session.open.opening import open_workspace
    from workbench.session.program.plugins import load_plugins

    before = {path: path.read_text("utf-8") for path in documents}
    names = {path: sorted(os.listdir(path.parent)) for path in documents}
    for turn in range(6):
        for path, text in before.items():
            path.write_text(text, "utf-8")
        child = subprocess.Popen([sys.executable, "-c", SAVES, *map(str, documents)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        seen = documents[turn % 3].read_text("utf-8")
        while documents[turn % 3].read_text("utf-8") == seen:  # until a save went through, then at any moment
            assert child.poll() is None
        child.kill()
        child.wait()
        child.stdout.close()
        for path, text in before.items():
            now = path.read_text("utf-8")
            assert now == text or (now.startswith(text) and now.endswith(" end\n") and now.count(" end\n") == 1)
            left = set(os.listdir(path.parent)) - set(names[path])
            assert all(name.startswith(".") for name in left)  # a beginning of the file that was to replace it
    assert open_workspace(project, load_plugins()).platform.name == "nallatech_h101"
