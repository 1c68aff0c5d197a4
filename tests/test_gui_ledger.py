"""Compare mode with the ledger: what came beside what was predicted, why, and every prediction with its fate."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse
from workbench.analysis.knowledge import KnowledgeBase
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.compare.ledger import FATE
from workbench.gui.modes.compare.mode import CompareMode
from workbench.gui.views.canvas import text_width
from workbench.model.changes import read_change
from workbench.model.ledger import Expected, Fate
from workbench.model.prediction import Bottleneck, Prediction, Trust
from workbench.replay.predict import Replayed
from workbench.session.keep.ledger import keep, settle_open
from workbench.session.keep.results import OpenRun
from workbench.session.program.plugins import Plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

KNOWLEDGE = KnowledgeBase()
PATH = (Bottleneck("host.main", "send", 2e-4, 0.4), Bottleneck("core", "work", 3e-4, 0.6))


class Runs:
    """A project's runs on the disk: the original one, the optimised one and, of half as many rounds, another."""

    def __init__(self, folder: Path) -> None:
        (folder / "app.workbench.yaml").write_text("")
        self.ledger = folder / "runs" / "predictions.jsonl"
        self.folder, self._seen = folder, dict[str, OpenRun]()
        self.forms = {"run-1": ("original", 12), "run-2": ("optimised", 12), "run-3": ("original", 6)}

    def __getitem__(self, name: str) -> OpenRun:
        if name not in self._seen:
            self._seen[name] = self._opened(self.folder, name, *self.forms[name])
        return self._seen[name]

    def _opened(self, folder: Path, name: str, form: str, rounds: int) -> OpenRun:
        run = synthetic_run(cores=2, rounds=rounds, form=form)
        created = f"2026-01-01T12:00:0{name[-1]}+00:00"
        told = replace(
            run.manifest, project=str(folder / "app.workbench.yaml"), sources={"main.c": name}, created=created
        )
        run = RunWriter(folder / "runs" / name, told).finish(told, run.tables)
        platform = synthetic_platform()
        return OpenRun(run, analyse(run, platform, KNOWLEDGE), platform, KNOWLEDGE, ())

    def keep(self, speedup: float, change: str = "unite calls=writeSamples count=16") -> None:
        base = self["run-1"].run
        made = Prediction(
            (read_change(change),), Trust.TRUSTED, base.time_s / speedup, speedup, (speedup * 0.95, speedup * 1.05)
        )
        keep(base, made, [Expected("host.main", "send", 1e-4), Expected("core", "work", 3e-4)])


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication) -> CompareMode:
    theme.apply_theme(qapp, "light")
    made = CompareMode(Context(Plugins(())), MODES["compare"])
    for _ in made.build():
        pass
    qtbot.addWidget(made)
    made.resize(1536, 930)
    made.show()
    return made


def show(qtbot: QtBot, mode: CompareMode, a: OpenRun, b: OpenRun) -> None:
    mode.context.set_run(b)
    mode.other.show(a)
    qtbot.waitUntil(lambda: mode.beside is not None, timeout=10_000)


def test_without_predictions_the_ledger_says_so(qtbot: QtBot, mode: CompareMode, runs: Runs) -> None:
    show(qtbot, mode, runs["run-1"], runs["run-2"])
    assert not mode.head.predicted.isVisible()
    assert not mode.table_pills["why"].isVisible()
    assert mode.findings.isVisible()
    mode.to_ledger.click()
    assert mode.ledger.nothing.isVisible()
    assert (mode.ledger.nothing.title.text(), mode.ledger.nothing.why.text()) == (
        "No predictions yet", "Try a change in Analyse.",
    )  # fmt: skip
    mode.to_findings.click()
    assert mode.findings.isVisible()


def test_what_came_stands_beside_what_was_predicted(
    qtbot: QtBot, mode: CompareMode, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Replayed, "next_bottlenecks", lambda self, changes=(): PATH)
    a, b = runs["run-1"], runs["run-2"]
    true = a.run.time_s / b.run.time_s
    runs.keep(true * 1.03)
    runs.keep(true * 2, "interrupt calls=readDone")
    list(settle_open(b.run))
    runs.keep(1.5, "state block=core state=work factor=0.5")
    show(qtbot, mode, a, b)
    assert mode.head.predicted.text() == f"{true * 2:.2f}×"  # the newest
    assert mode.head.fate.text().startswith("outside ")
    assert mode.head.error.text().endswith(" less")
    assert mode.head.bars.predicted_s == pytest.approx(a.run.time_s / (true * 2))
    assert mode.ledger.isVisible()
    assert mode.why.isVisible()
    assert mode.table_head.title.text() == f"{true:.2f}×, not {true * 2:.2f}×"
    assert [(row.state, pytest.approx(row.difference_s)) for row in mode.why.rows.tops] == [("send", 1e-4), ("work", 0)]
    assert mode.sum.text() == "Sum +100\u202fµs"
    assert [pill.text() for pill in mode.ledger.pills.values()] == ["All 3", "Came 2", "Open 1", "Outside 1"]
    assert mode.ledger.score.text().startswith("1 of 2 inside the interval, median error ")
    assert [entry.fate for entry in mode.ledger.table.rows.tops] == [Fate.OPEN, Fate.OUTSIDE, Fate.INSIDE]
    assert mode.ledger.table.current.fate is Fate.OUTSIDE
    table = mode.ledger.table
    for ledger_px in (760, 640, 560, 470):
        mode.ledger.resize(ledger_px, 300)
        table.setGeometry(0, 0, ledger_px, 200)
        assert not table.isColumnHidden(FATE), "whether it came true is always shown"
        for number, column in enumerate(table.rows.columns):  # no figure is cut
            if column.right and column.paint is None and not table.isColumnHidden(number):
                wide = max(text_width(column.text(row), *column.ink(row)[1:]) for row in table.rows.tops)
                room = table.inside(QRectF(0, 0, table.columnWidth(number), 20), number).width()
                assert room >= wide, (ledger_px, column.head)
    qtbot.mouseClick(mode.ledger.pills["outside"], Qt.MouseButton.LeftButton)
    assert [entry.fate for entry in mode.ledger.table.rows.tops] == [Fate.OUTSIDE]
    mode.head.swapped.emit()  # B against A: nothing of the ledger is about that
    qtbot.waitUntil(lambda: mode.beside is not None, timeout=10_000)
    assert not mode.head.predicted.isVisible()
    assert mode.table.isVisible()


def test_unequal_work_is_amber_and_not_judged(qtbot: QtBot, mode: CompareMode, runs: Runs) -> None:
    runs.keep(2.0)
    list(settle_open(runs["run-3"].run))
    show(qtbot, mode, runs["run-1"], runs["run-3"])
    assert mode.head.fate.text() == "not judged: different work"
    assert mode.head.fate.property("role") == "smallmedium"
    assert mode.head.error.text().endswith(" per unit of work")
    assert mode.ledger.score.text() == "No prediction was judged yet."
    assert mode.by == "state"
    mode.table_pills["why"].click()
    assert mode.foot.text().startswith("The difference is not explained: ")


def test_an_entry_opens_its_run(qtbot: QtBot, mode: CompareMode, runs: Runs) -> None:
    runs.keep(2.0)
    list(settle_open(runs["run-2"].run))
    mode.context._extra_runs = tuple(one.run.path for one in (runs[name] for name in runs.forms) if one.run.path)
    show(qtbot, mode, runs["run-1"], runs["run-3"])
    mode.ledger.table.opened.emit(mode.ledger.entries[0])
    qtbot.waitUntil(lambda: mode.other.opened is not None and mode.other.opened.run.path == runs["run-2"].run.path)


def test_a_damaged_line_is_a_notice(qtbot: QtBot, mode: CompareMode, runs: Runs) -> None:
    runs.ledger.parent.mkdir()
    runs.ledger.write_text("{\n")
    show(qtbot, mode, runs["run-1"], runs["run-2"])
    assert any("a line of the ledger" in d.message for d in mode.context.notices)
