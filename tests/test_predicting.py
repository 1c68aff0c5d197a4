"""Predictions of what findings advise: ranks, refusals, folds, and what every place says of them."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, cast

import pytest
from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS

from workbench.analysis import Analysis, analyse, load_knowledge
from workbench.analysis.after_changes import after_json, after_section, findings_after, gain_text
from workbench.analysis.change_words import change_facts, change_title
from workbench.analysis.finding_page import FOLD, _predicted_text, finding_page, finding_table, ranks_of
from workbench.analysis.finding_words import is_small, not_predicted_words, ranked_words
from workbench.analysis.html_report import html_report
from workbench.analysis.predicting import predictions_of, suggestions, try_changes, with_predictions
from workbench.analysis.report import finding_json, report_json
from workbench.analysis.text_report import text_report
from workbench.analysis.trial_page import sets_section
from workbench.api import views
from workbench.model.changes import CHANGES, Change, OtherClock, Retype, ScaleCalls, ScaleState, Unite, read_change
from workbench.model.finding import Advice, tops
from workbench.model.prediction import Bottleneck, Prediction, Trust
from workbench.model.run import Run
from workbench.model.text import bytes_text
from workbench.replay.predict import Replayed
from workbench.session.change.change_completion import completions
from workbench.testing.predictions import MadeUpReplay, with_changes
from workbench.testing.runs import synthetic_platform, synthetic_run

GAINS = {"unite": 2.5, "interrupt": 1.3, "calls": 1.01}


@pytest.fixture(scope="module")
def run() -> Run:
    return synthetic_run(cores=4, rounds=2)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    knowledge = load_knowledge([file.path for file in workbench_rules()], METRICS)[0]
    return with_changes(analyse(run, synthetic_platform(), knowledge))


def replayed(analysis: Analysis, why: str = "", **gains: float) -> Replayed:
    return cast(Replayed, MadeUpReplay(analysis.time_s, GAINS | gains, why))


def test_findings_are_ranked_by_what_their_advice_is_predicted_to_gain(analysis: Analysis) -> None:
    found = with_predictions(analysis, replayed(analysis))
    gains = [f.speedup_predicted for f in found.findings]
    known = [gain for gain in gains if gain is not None]
    assert known == sorted(known, reverse=True)
    assert gains[: len(known)] == known, "what has no prediction comes after"
    bounds = [f.gain for f in found.findings[len(known) :] if not f.points_elsewhere]
    assert bounds == sorted(bounds, reverse=True)
    first = found.findings[0]
    assert (first.speedup_predicted, first.severity) == (2.5, "high")
    of_advice = [a.prediction.speedup or 0.0 for a in first.advice if a.prediction]
    assert of_advice == sorted(of_advice, reverse=True)
    without = [f for f in found.findings if not any(a.changes for a in f.advice)]
    assert without
    assert all(f.speedup_predicted is None for f in without)


def test_a_refusal_leaves_the_bound_and_says_why(analysis: Analysis, run: Run) -> None:
    before = with_predictions(analysis, replayed(analysis))
    found = with_predictions(before, replayed(analysis, "the host has two threads"))
    first = found.findings[0]
    assert first.speedup_predicted is None
    assert first.gain == first.speedup_cap
    assert not_predicted_words(first) == "the host has two threads"
    columns = {c.head: c.text(first) for c in finding_table(found.findings, ranks_of(found.findings)).columns}
    assert columns["Predicted"] == "not predicted"
    assert "Not predicted: the host has two threads." in text_report(run, found, None, 200)


def test_every_place_says_prediction_interval_and_bound(analysis: Analysis, run: Run) -> None:
    found = with_predictions(analysis, replayed(analysis))
    first = found.findings[0]
    text = text_report(run, found, synthetic_platform(), 200).replace("\u202f", " ")
    page = html_report(run, found, synthetic_platform())
    assert f"1. {first.title}: predicted 2.50×, at most" in text
    assert "by predicted speedup" in text
    for said in ("Predicted speedup", "2.50×", "2.38 to 2.60", "Changes hardware", "No data hazard"):
        assert said in page, said
    why = next(s for s in finding_page(first, found, None).sections if s.title.startswith("Why 2.50×"))
    assert "core[*].ctrl: busy" in cast(Any, why.items[0]).text
    document = finding_json(first)
    assert document["speedup_predicted"] == 2.5
    assert document["advice"][0]["changes"][0]["kind"] == "unite"
    assert list(document["advice"][0]["prediction"]["interval"]) == [2.5 * 0.95, 2.5 * 1.04]


def test_findings_that_gain_little_hang_under_one_row(analysis: Analysis) -> None:
    found = with_predictions(analysis, replayed(analysis))
    first = found.findings[0].advice[0]
    assert first.prediction
    little = replace(first, prediction=replace(first.prediction, speedup=1.03))
    small = replace(found.findings[0], id="small", advice=(little,), part_of="")
    findings = (*found.findings, small)
    assert is_small(small)
    table = finding_table(findings, ranks_of(findings))
    fold = table.rows[-1]
    assert (fold.id, table.parts(fold)) == (FOLD, [small])
    texts = {c.head: c.text(fold) for c in table.columns}
    assert texts["Finding"] == "1 below 1.05×"
    assert {texts[head] for head in ("#", "Time", "Predicted", "Upper bound")} == {""}


def test_each_set_of_changes_is_suggested_once_the_most_rewarding_first(analysis: Analysis) -> None:
    found = with_predictions(analysis, replayed(analysis))
    advice = list(suggestions(found))
    sets = [a.changes for a in advice]
    assert len(set(sets)) == len(sets)
    assert set(sets) <= {a.changes for f in tops(found.findings) for a in f.advice}
    gains = [a.prediction.speedup or 0.0 for a in advice if a.prediction]
    assert gains == sorted(gains, reverse=True)
    trial = try_changes(replayed(analysis), [*sets[0], *sets[-1]])
    assert trial.prediction.changes == (*sets[0], *sets[-1])
    assert trial.now
    assert trial.after
    assert not try_changes(replayed(analysis, "no"), sets[0]).after


# ---- words and completion


def test_a_change_says_the_calls_before_and_after_it(analysis: Analysis) -> None:
    call = next(c for c in analysis.calls if c.bytes_per_call == 256)
    (fact,) = change_facts([Unite((call.place,), 4)], analysis)
    assert fact.title.replace("\u202f", " ") == f"{call.site.label} {call.count} × 256 B"
    assert fact.value.replace("\u202f", " ") == f"{call.count // 4} × 1 KiB"
    (both,) = change_facts([Unite((call.place,), 4), Retype((call.place,), "read")], analysis)
    assert both.value.endswith(", by read")
    other = next(c for c in analysis.calls if c.site != call.site and c.bytes_per_call)
    (united,) = change_facts([Unite((call.place, other.place), call.count + other.count)], analysis)  # into one
    assert united.title.count(" + ") == 1
    assert united.value == f"1 × {bytes_text(round(call.bytes + other.bytes))}"
    assert change_facts([ScaleCalls((call.site.label,), 0)], analysis)[0].value == "removed"
    assert change_facts([OtherClock("clk", 150e6)], analysis)[0].title.replace("\u202f", " ") == "Clock clk at 150 MHz"


@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_of_change_has_a_title_of_its_own(kind: str) -> None:
    values = {"calls": "main.c:3", "factor": 2, "count": 2, "words": 8, "bytes": 64, "buffers": 2, "delay_s": 1e-6,
              "frequency_hz": 1e8}  # fmt: skip
    names = [each.name for each in fields(CHANGES[kind])]
    change: Change = read_change(" ".join([kind, *(f"{name}={values.get(name, 'x')}" for name in names)]))
    assert change_title(change) != str(change)
    assert not change_title(change)[:1].islower() or change_title(change).startswith(("main.c", "x"))


@pytest.mark.parametrize(
    ("text", "start", "words"),
    [
        ("cl", 0, ("clock",)),
        ("clock ", 6, ("clock=", "frequency_hz=")),
        ("clock clock=clk f", 16, ("frequency_hz=",)),
        ("clock clock=", 12, ("clk",)),
        ("unite calls=readBins,write", 21, ("writeSamples",)),
        ("state block=core", 12, ("core[*]", "core[0]")),
        ("nothing calls=", 8, ()),
        ("clock frequency_hz=1", 19, ()),
    ],
)
def test_completion_knows_the_catalogue_and_the_run(run: Run, text: str, start: int, words: tuple[str, ...]) -> None:
    at, found = completions(text, run.manifest, synthetic_platform())
    assert at == start
    if "core" in text:
        assert all("core" in word for word in found[:2])
    else:
        assert found[: len(words)] == words or set(words) <= set(found)
        assert bool(found) == bool(words)


def test_the_best_sets_and_what_holds_the_run_next_are_told(analysis: Analysis, run: Run) -> None:
    found = with_predictions(analysis, replayed(analysis))
    what_if = found.what_if
    assert what_if
    assert [len(best.changes) for best in what_if.best] == [1, 2, 3]
    assert what_if.after[0].state == "busy"
    document = report_json(run.manifest, found)["what_if"]
    assert document["best"][0]["speedup"] == 2.5
    assert document["now"][0] == {
        "block": "host.main",
        "state": "readBins",
        "time_s": 0.55 * found.time_s,
        "share": 0.55,
    }
    text = " ".join(text_report(run, found, None, 200).split())
    gains = [best.speedup or 0.0 for best in what_if.best]
    assert gains == sorted(gains)
    assert f"Best two, predicted {gains[1]:.2f}×: Unite" in text
    assert f"Best three, predicted {gains[2]:.2f}×: Unite" in text
    busy = "core[*].ctrl in busy has the largest share of the critical path: 70.0 %."
    assert f"After the best one, predicted 2.50×, {busy}" in text


def test_no_more_is_predicted_than_there_is_time_for(analysis: Analysis) -> None:
    found = with_predictions(analysis, replayed(analysis), budget_s=0.0)
    wanted = {a.changes for f in analysis.findings for a in f.advice if a.changes}
    assert found.what_if
    assert found.what_if.left_out == len(wanted) > 1
    assert all(f.speedup_predicted is None for f in found.findings)
    assert ranked_words(found).endswith(f" {len(wanted)} changes not predicted: the time limit was reached.")
    assert all(_predicted_text(f) == "not predicted" for f in found.findings if any(a.changes for a in f.advice))
    every = with_predictions(analysis, replayed(analysis))
    assert "not predicted" not in ranked_words(every)
    again = with_predictions(analysis, replayed(analysis, unite=9.0), None, 0.0, predictions_of(every))
    assert [f.speedup_predicted for f in again.findings] == [f.speedup_predicted for f in every.findings]


def test_the_best_of_each_finding_is_predicted_before_the_second_of_any(
    analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little time there is, the first finding is then as likely as possible the one that gains most."""

    def advice(name: str, at_most: float, size: int = 1) -> Advice:
        return Advice(name, at_most, changes=tuple(Unite((f"{name}.c:{line}",), 2) for line in range(1, size + 1)))

    first, second, part, late = (
        replace(analysis.findings[0], id=name, part_of=part_of, failures=0, advice=advised)
        for name, part_of, advised in (
            ("a", "", (advice("a", 9.0), advice("a", 9.0, 2), advice("x", 8.0))),
            ("b", "", (advice("b", 2.0, 3), advice("b", 2.0))),
            ("c", "a", (advice("c", 9.0),)),
            ("d", "", (advice("d", 3.0), replace(advice("e", 9.0), elsewhere=True))),
        )
    )
    asked = order_of_predictions(replace(analysis, findings=(first, second, part, late)), monkeypatch)
    assert [f"{one[0].calls[0][0]}{len(one)}" for one in asked[:8]] == [  # type: ignore[attr-defined]
        "a2", "b3", "a1", "b1", "x1", "c1", "e1", "d1",
    ]  # fmt: skip


def order_of_predictions(analysis: Analysis, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Change, ...]]:
    """The sets of changes that are predicted, in order."""
    asked: list[tuple[Change, ...]] = []
    predict = MadeUpReplay.predict

    def asking(self: MadeUpReplay, changes: Sequence[Change]) -> Prediction:
        asked.append(tuple(changes))
        return predict(self, changes)

    monkeypatch.setattr(MadeUpReplay, "predict", asking)
    with_predictions(analysis, replayed(analysis))
    return asked


def test_what_changes_most_of_the_critical_path_is_predicted_first(
    analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is the host's by 85 %, so that a faster state of the FPGA gains 1.18x at most, whatever its bound."""
    state, calls = (ScaleState("core[*].ctrl", "busy", 0.5),), (Unite(("host.c:1",), 2),)
    findings = tuple(
        replace(analysis.findings[0], id=one.kind, part_of="", failures=0, advice=(Advice("", bound, changes=(one,)),))
        for (one,), bound in ((state, 9.0), (calls, 2.0))
    )
    assert order_of_predictions(replace(analysis, findings=findings), monkeypatch)[:2] == [calls, state]


def test_a_prediction_above_its_bound_is_refused(analysis: Analysis) -> None:
    """One of the two is wrong then, so neither is taken for a gain."""
    found = with_predictions(analysis, replayed(analysis, unite=1000.0))
    refused = [a.prediction for f in found.findings for a in f.advice if a.changes and a.changes[0].kind == "unite"]
    assert refused
    for one in refused:
        assert one
        assert (one.trust, one.speedup) == (Trust.REFUSED, None)
        assert one.why.endswith("above the upper bound, so it changes more than this advice does")


def test_a_refused_run_says_so_once(analysis: Analysis, run: Run) -> None:
    found = with_predictions(analysis, replayed(analysis, "the host has two threads"))
    assert found.what_if
    assert (found.what_if.why, found.what_if.best) == ("the host has two threads", ())
    assert "No speedups are predicted: the host has two threads." in text_report(run, found, None, 200)


def test_findings_after_changes_are_weighed_on_top_of_them(run: Run, analysis: Analysis) -> None:
    """The cores' compute then takes 70 % of the run, readBins 20 %; a second set that unites gains 1.15x more."""
    replay = replayed(analysis)
    changes = next(a.changes for a in suggestions(analysis) if a.changes[0].kind == "unite")
    before = try_changes(replay, changes)
    shares = (("pdf2d_top.core[0].ctrl", "compute", 0.7), ("host.main", "readBins", 0.2))
    time_s = before.prediction.time_s or 0.0
    path = tuple(Bottleneck(block, state, share * time_s, share) for block, state, share in shares)
    rows = findings_after(analysis, replay, replace(before, after=path))
    assert [row.stays for row in rows] == sorted((row.stays for row in rows), reverse=True)
    computing = [row for row in rows if row.after_s == pytest.approx(0.7 * time_s)]
    assert computing
    assert all(row.at_most == pytest.approx(1 / 0.3) for row in computing)
    gains = [row.gain for row in rows if row.gain is not None]
    assert max(gains) == pytest.approx(1.15), "on top of the changes, not alone"
    summary = after_section(rows, 2.0).items[0]
    assert isinstance(summary, views.Text)
    assert summary.text.endswith("With the best of them, the whole gains 2.30×.")
    (_, unknown) = cast(views.Section, sets_section([before.prediction], 16)).items
    assert unknown == views.Text("Without 16 changes not predicted yet.", "second")
    assert all(change_title(changes[0]) not in row.advice for row in rows), "what is made is not advised again"
    assert {gain_text(row) for row in rows if not row.after_s and row.gain is None} <= {"gone"}
    assert all(after_json(row)["stays"] == row.stays for row in rows)
    assert findings_after(analysis, replay, replace(before, after=())) == ()


def test_advice_above_its_bound_alone_is_not_predicted_after_other_changes(analysis: Analysis) -> None:
    replay = replayed(analysis, interrupt=1e6)
    trial = try_changes(replay, next(a.changes for a in suggestions(analysis) if a.changes[0].kind == "unite"))
    rows = findings_after(analysis, replay, trial)
    assert all("nterrupt" not in row.advice for row in rows)


def test_advice_for_which_no_time_is_left_keeps_its_bound(analysis: Analysis) -> None:
    replay = replayed(analysis)
    trial = try_changes(replay, next(a.changes for a in suggestions(analysis)))
    rows = findings_after(analysis, replay, trial, budget_s=0.0)
    assert all(row.gain is None for row in rows)


def test_a_finding_that_gains_less_than_a_part_of_it_has_the_parts_advice(analysis: Analysis) -> None:
    """Its own advice may be refused for all calls together; the run's first change is then that of one call."""
    whole = next(f for f in analysis.findings if any(a.changes for a in f.advice) and not f.points_elsewhere)
    advice = next(a for a in whole.advice if a.changes)
    other = replace(advice, changes=(Unite(("host/main.c:7",), 2),))
    refused = replace(advice, changes=(Retype(("host/main.c:7",), "write"),))
    part = replace(whole, id="part", part_of=whole.id, advice=(other,))
    pair = replace(analysis, findings=(replace(whole, advice=(refused,)), part))
    found = with_predictions(pair, replayed(analysis, retype=1.01))
    first, second = found.findings
    assert (first.id, first.severity, first.speedup_predicted) == (whole.id, "high", 2.5)
    assert [a.changes for a in first.advice] == [other.changes, refused.changes]
    assert first.advice[0] == second.advice[0]
    assert [len(f.advice) for f in with_predictions(found, replayed(analysis, retype=1.01)).findings] == [2, 1]
