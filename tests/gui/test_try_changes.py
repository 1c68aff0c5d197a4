"""Analyse with predictions, and the changes that are tried beside it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

import workbench.replay.prepare
from workbench.analysis import analyse
from workbench.analysis.finding_page import FOLD
from workbench.api import views
from workbench.gui.frame.context import Context
from workbench.gui.frame.naming import run_title
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes import MODES
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.analyse.try_panel import TryPanel
from workbench.gui.views.page_view import PageBody
from workbench.gui.widgets import Button
from workbench.gui.widgets.table_view import TableView
from workbench.model.finding import Place, tops
from workbench.model.run import Run
from workbench.session.keep.results import OpenRun, open_knowledge
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.system import store
from workbench.testing.predictions import MadeUpReplay, with_changes
from workbench.testing.runs import synthetic_platform, synthetic_run

GAINS = {"unite": 2.5, "interrupt": 1.3, "calls": 1.01}


@pytest.fixture
def mode(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnalyseMode]:
    def prepare(run: Run, *_: object) -> MadeUpReplay:
        return MadeUpReplay(run.time_s, GAINS)

    monkeypatch.setattr(workbench.replay.prepare, "prepare", prepare)
    store.change_preference("predict_s", None)  # as it comes
    run, platform = synthetic_run(cores=4, rounds=2, traced=False), synthetic_platform()
    knowledge, _ = open_knowledge(load_plugins())
    opened = OpenRun(run, with_changes(analyse(run, platform, knowledge)), platform, knowledge, ())
    context = Context(Plugins(()))
    context.navigation.set_mode("analyse")
    made = AnalyseMode(context, MODES["analyse"])
    for _ in made.build():
        pass
    for widget in (made, made.details):
        qtbot.addWidget(widget)
        widget.resize(1000, 900)
        widget.show()
    with qtbot.waitSignal(context.predictions_changed):
        context.set_run(opened)
    context.slices.finish()
    yield made
    context.shut_down()


def words(panel: TryPanel | PageBody) -> str:
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel))


def begun(qtbot: QtBot, mode: AnalyseMode) -> TryPanel:
    mode.context.navigation.select(SelectedFinding(mode.findings.table.rows.tops[0].id))
    assert mode.try_change()
    panel = mode.details.trying
    assert panel is not None
    qtbot.waitUntil(lambda: panel.trial is not None)
    return panel


def test_the_first_finding_is_shown_when_predictions_rank_anew_unless_one_was_chosen(
    qtbot: QtBot, mode: AnalyseMode
) -> None:
    context = mode.context
    chosen, analysis = context.navigation.selection, context.analysis
    assert context.opened
    assert analysis
    first, second, third, *_ = tops(analysis.findings)
    anew = (second, *(finding for finding in analysis.findings if finding is not second))
    assert chosen == SelectedFinding(first.id)
    context.opened = replace(context.opened, analysis=replace(analysis, findings=anew))
    context.predictions_changed.emit()
    context.slices.finish()
    assert context.navigation.selection == SelectedFinding(second.id)
    context.navigation.select(SelectedFinding(third.id))
    context.opened = replace(context.opened, analysis=analysis)
    context.predictions_changed.emit()
    context.slices.finish()
    assert context.navigation.selection == SelectedFinding(third.id), "the one that a person chose stays"


def test_predictions_lead_the_table_and_the_details(mode: AnalyseMode) -> None:
    heads = [column.head for column in mode.findings.table.rows.columns]
    assert heads[-3:] == ["Predicted", "Interval", "Upper bound"]
    first = mode.findings.table.rows.tops[0]
    assert first.speedup_predicted == 2.5
    assert "by predicted speedup" in mode.findings.head.subtitle.text()
    assert "replay exact" in mode.status
    mode.context.navigation.select(SelectedFinding(first.id))
    assert mode.details.view.body is not None
    said = words(mode.details.view.body)
    for text in ("Predicted speedup", "2.50×", "2.38 to 2.60 in 9 of 10 cases", "Changes hardware"):
        assert text in said


def test_a_set_is_predicted_as_a_whole_and_nothing_is_edited(qtbot: QtBot, mode: AnalyseMode) -> None:
    button = next(b for b in mode.details.findChildren(Button) if b.text() == "Try this change")
    button.click()
    panel = begun(qtbot, mode)
    assert panel.trial is not None
    assert mode.context.run is not None
    assert f"Replay of {run_title(mode.context.run)}." in words(panel), "as the header names the run"
    assert panel.trial.prediction.speedup == 2.5
    boxes = panel.findChildren(QCheckBox)
    assert [box.isChecked() for box in boxes].count(True) == 1
    panel.trial = None
    interrupt = next(n for n, offer in enumerate(panel.offers) if offer.changes[0].kind == "interrupt")
    boxes[interrupt].click()
    qtbot.waitUntil(lambda: panel.trial is not None)
    assert len(panel.changes) == 2
    assert panel.trial.prediction.speedup == pytest.approx(2.5 * 1.03), "not the product of 2.5 and 1.3"
    qtbot.waitUntil(lambda: "2.58×" in words(panel))
    assert "Next bottleneck after these changes" in words(panel)
    qtbot.waitUntil(lambda: "Findings after these changes" in words(panel))
    tables = {view.table.title: view for view in panel.findChildren(TableView)}
    rows = tables["Findings after these changes"].rows.tops
    assert any(row.stays for row in rows)
    answered: list[object] = []
    panel.answered.connect(answered.append)
    for box in panel.findChildren(QCheckBox):
        box.setChecked(False)
    assert answered[-1] == (), "no round of changes that are not tried any more"


def test_what_the_time_limit_left_out_is_predicted_when_asked_for(qtbot: QtBot, mode: AnalyseMode) -> None:
    assert mode.findings.rest.isHidden(), "nothing was left out"
    opened = mode.context.opened
    assert opened is not None
    with qtbot.waitSignal(mode.context.predictions_changed):
        mode.context.opened = replace(opened, analysis=with_changes(analyse(opened.run, None, opened.knowledge)))
        mode.context.predict(1e-9)
    mode.findings.write()
    assert mode.findings.rest.text().startswith("Predict ")
    assert "not predicted" not in mode.findings.head.subtitle.text(), "it says the order alone"
    with qtbot.waitSignal(mode.context.predictions_changed):
        mode.findings.rest.click()
        assert mode.findings.rest.text().startswith("Predicting ")
        assert not mode.findings.rest.isEnabled()
    assert mode.findings.rest.isHidden()
    assert mode.findings.table.rows.tops[0].speedup_predicted == 2.5


def test_what_is_found_later_moves_no_button(qtbot: QtBot, mode: AnalyseMode) -> None:
    panel = begun(qtbot, mode)
    qtbot.waitUntil(lambda: "Findings after these changes" in words(panel))

    def y_px(widget: QWidget) -> int:
        return widget.mapTo(panel, widget.rect().topLeft()).y()

    heads = {one.text(): one for one in panel.findChildren(QLabel) if one.isVisible()}
    for below in ("What changes", "Next bottleneck after these changes", "Findings after these changes"):
        qtbot.waitUntil(partial(lambda head: y_px(panel.keep) < y_px(head), heads[below]))


def test_a_change_is_typed_with_completion(qtbot: QtBot, mode: AnalyseMode) -> None:
    panel = begun(qtbot, mode)
    edit = panel.edit
    qtbot.keyClicks(edit, "cloc")
    assert edit.offered == ("clock",)
    edit._completer.activated.emit("clock")  # what Enter in the list does
    qtbot.keyClick(edit, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert edit.offered == ("clock=", "frequency_hz=")
    edit._completer.activated.emit("clock=")
    assert edit.offered == tuple(clock.name for clock in synthetic_run(cores=4, rounds=2).manifest.clocks)
    edit.clear()
    qtbot.keyClicks(edit, "clock clock=clk frequency_hz=-1")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert "'-1' is not a valid frequency_hz" in panel.wrong.text()
    assert edit.text(), "what is wrong stays to be corrected"
    edit.setText("clock clock=clk frequency_hz=1.5e8")
    panel.trial = None
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.trial is not None)
    assert panel.changes[-1].kind == "clock"
    assert not panel.wrong.isVisible()


def test_escape_leads_back_and_a_set_can_be_taken(qtbot: QtBot, mode: AnalyseMode) -> None:
    panel = begun(qtbot, mode)
    qtbot.waitUntil(lambda: "Best sets" in words(panel))
    panel._take(panel.offers[-1].changes)
    assert panel.changes == panel.offers[-1].changes
    qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert mode.details.view.isVisibleTo(mode.details)


def test_a_run_that_cannot_be_replayed_says_why(
    qtbot: QtBot, mode: AnalyseMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        workbench.replay.prepare, "prepare", lambda run, *_: MadeUpReplay(run.time_s, {}, "no trace was kept")
    )
    opened = mode.context.opened
    assert opened is not None
    with qtbot.waitSignal(mode.context.predictions_changed):
        mode.context.set_run(replace(opened))
    assert "not predicted: no trace was kept" in mode.status
    panel = begun(qtbot, mode)
    qtbot.waitUntil(lambda: "Not predicted: no trace was kept." in words(panel))
    assert panel.keep.isHidden()


def test_a_source_that_is_not_there_says_so_and_leads_nowhere(qtbot: QtBot) -> None:
    place = views.Section("Source", (views.Source((Place("host/away.c", 7),)),), beside=True)
    body = PageBody(Context(Plugins(())), views.Page("", "", "", (place,)))
    qtbot.addWidget(body)
    assert "away.c can be seen once its project is open." in words(body)
    assert not [button for button in body.findChildren(Button) if button.text() == "Open line"]


def test_the_next_finding_is_one_and_after_the_last_comes_the_first(mode: AnalyseMode) -> None:
    """The row of what is folded is no finding."""
    table, analysis = mode.findings.table, mode.context.analysis
    assert analysis is not None
    first, second, *_ = [f for f in tops(analysis.findings) if f.speedup_predicted is not None]
    advice = tuple(
        replace(a, prediction=replace(a.prediction, speedup=1.03)) if a.prediction else a for a in second.advice
    )
    table.show_findings([first, replace(second, advice=advice)], (), {})
    table.expandAll()
    assert table.rows.index_where(lambda row: row.id == FOLD).isValid()
    table.select_finding(first.id)
    told: list[str] = []
    table.finding_chosen.connect(told.append)
    for step in (1, 1, -1, -1):
        mode.step_finding(step)
    assert told == [second.id, first.id, second.id, first.id]
    table.choose(lambda row: row.id == FOLD)
    mode.step_finding(1)
    assert told[4:] == [second.id]


def test_no_page_of_details_needs_more_than_their_least_width(qtbot: QtBot) -> None:
    """Long values, links, tags and buttons take further lines. What is left of the least width beside a scroll bar."""
    step = views.Step(
        "Overlap communication with other tasks.", tags=(("Changes hardware", "medium"), ("No data hazard", "good")),
        detail=(views.Fact("clearBins 320 \u00d7 256 B", "asynchronous, with a second buffer"),),
    )  # fmt: skip
    link = views.Link("x", "host main: writePoints, original.c:24", "high", ("1.13\u00d7",))
    actions = tuple(views.Action(text, text) for text in ("Try this change", "Go to source", "Show in the timeline"))
    sections = (
        views.Section("Why 1.13\u00d7 and not 2.44\u00d7", (views.Facts(step.detail),), note="6 of 8 calls, Nallatech"),
        views.Section("Parts", (views.Links((link,)),)),
        views.Section("", (views.Shares((), "Predicted", "34.32 ms", 0.5, "34.2 to 34.5 ms"), views.Actions(actions))),
        views.Section("What to do", (views.Steps((step,)),)),
    )  # fmt: skip
    context = Context(Plugins(()))
    body = PageBody(
        context, views.Page("p", "Inefficient transfer type or size", "host main", sections), (16, 0, 14, 0)
    )
    qtbot.addWidget(body)
    details = MODES["analyse"].details
    assert details is not None
    assert body.minimumSizeHint().width() <= details.least_px - 12
    context.shut_down()
