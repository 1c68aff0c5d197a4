"""Describes a tried set of changes, for window, report and terminal."""

from collections.abc import Mapping, Sequence

from workbench.analysis.change_words import change_facts, change_title
from workbench.analysis.finding_words import block_words, interval_text
from workbench.analysis.predicting import Trial
from workbench.api import views
from workbench.api.results import Analysis
from workbench.model.blocks import Side
from workbench.model.changes import Change
from workbench.model.finding import Advice
from workbench.model.pragma import Category
from workbench.model.prediction import Bottleneck, Prediction, Trust
from workbench.model.text import capitalised, counted, percent_text, ratio_text, time_text
from workbench.pictures.states import mean_shares

MOST_PLACES = 6
Place = tuple[str, str]  # a block and a state


def set_title(changes: Sequence[Change]) -> str:
    return ", ".join(map(change_title, changes)) or "No change"


def trial_page(trial: Trial, analysis: Analysis, advice: Sequence[Advice] = ()) -> views.Page:
    """The page of a trial: first the prediction of the whole set; then the changed calls, hazards to settle first, the
    next bottleneck, and what the interval assumes. `advice` is the advice that the changes come from."""
    prediction = trial.prediction
    sections = [_prediction(prediction, analysis)]
    changed = change_facts(prediction.changes, analysis)
    sections.append(views.Section("What changes", (views.Facts(changed),)))
    before = _before(prediction, advice)
    if before:
        sections.append(
            views.Section("Before you make the changes", tuple(views.Text(text, "second") for text in before))
        )
    if trial.after:
        sections.append(_path(trial, analysis))
    if prediction.interval_holds and prediction.speedup is not None:
        holds = capitalised(prediction.interval_holds)
        sections.append(views.Section("What the interval assumes", (views.Text(holds, "second"),)))
    return views.Page(" ".join(map(str, prediction.changes)), "", "", tuple(sections))


def _prediction(prediction: Prediction, analysis: Analysis) -> views.Section:
    if prediction.speedup is None or prediction.time_s is None:
        nothing = views.Figures((views.Figure("Predicted speedup", "–", "not predicted"),))
        return views.Section("", (nothing, views.Text(f"Not predicted: {prediction.why}.", "second")))
    total_s, sure = analysis.time_s, interval_text(prediction)
    doubt = "doubtful" if prediction.trust is Trust.DOUBTFUL else ""
    note = "exact" if sure == "exact" else f"{sure} in 9 of 10 cases" if sure else ""
    figures = (
        views.Figure("Predicted speedup", ratio_text(prediction.speedup), ", ".join(filter(None, (note, doubt)))),
        views.Figure("Run time", time_text(prediction.time_s), f"now {time_text(total_s)}"),
    )
    longest = max(prediction.time_s, total_s, 1e-30)
    bars = (
        views.Shares(mean_shares(analysis.side(Side.HOST)[:1]), "Measured", time_text(total_s), total_s / longest),
        views.Shares((), "Predicted", time_text(prediction.time_s), prediction.time_s / longest),
    )
    return views.Section("", (views.Figures(figures), *bars))


def _before(prediction: Prediction, advice: Sequence[Advice]) -> list[str]:
    sentences = [f"Hardware changes with: {set_title(a.changes)}." for a in advice if a.hardware]
    sentences += [f"Data hazard: {a.hazard} ({set_title(a.changes)})." for a in advice if a.hazard]
    if prediction.why and prediction.speedup is not None:
        sentences.append(f"{capitalised(prediction.why)}.")
    return sentences


def _path(trial: Trial, analysis: Analysis) -> views.Section:
    """The critical path by block and state, now and after the changes, on one scale."""
    now, after = (_times(path) for path in (trial.now, trial.after))
    order = sorted({*now, *after}, key=lambda place: (-after.get(place, 0.0), -now.get(place, 0.0)))[:MOST_PLACES]
    drawn = _categories(analysis)
    first = max(trial.after, key=lambda part: part.time_s)
    columns = (
        views.Column("Critical path", lambda p: f"{p[1]}, {block_words(p[0])}", share=1.0,
                     category=lambda p: drawn.get(p), tip_of=lambda p: f"{p[1]} of {p[0]}",
                     ink=lambda p: ("text", 13, 500)),
        views.Column("Now", lambda p: _time(now, p), width_px=80, right=True, ink=lambda p: ("second", 13, 400)),
        views.Column("After", lambda p: _time(after, p), width_px=80, right=True, ink=lambda p: ("text", 13, 600)),
    )  # fmt: skip
    next_bottleneck = (
        f"{first.state} of {block_words(first.block)} then takes {time_text(first.time_s)},"
        f" {percent_text(first.share)} of the critical path."
    )
    return views.Section(
        "Next bottleneck after these changes",
        (views.Text(next_bottleneck), views.Table("Critical path", columns, order)),
    )


def _times(path: Sequence[Bottleneck]) -> dict[Place, float]:
    times: dict[Place, float] = {}
    for part in path:
        times[part.block, part.state] = times.get((part.block, part.state), 0.0) + part.time_s
    return times


def _categories(analysis: Analysis) -> Mapping[Place, Category | None]:
    return {
        (name, state.name): m.block.drawn_as(state)
        for m in analysis.blocks
        for state in m.block.states
        for name in (m.block.id, m.block.group)
    }


def _time(times: Mapping[Place, float], place: Place) -> str:
    return time_text(times[place]) if place in times else "none"


def sets_section(sets: Sequence[Prediction], unknown: int = 0) -> views.Section | None:
    """The section with the best sets of two and three changes; the number of a set tries it. `unknown` changes are in
    none, as nothing predicted them yet."""
    steps = tuple(
        views.Step(set_title(one.changes), ratio_text(one.speedup), action=str(number))
        for number, one in enumerate(sets)
        if one.speedup is not None
    )
    if not steps:
        return None
    rest = (views.Text(f"Without {counted(unknown, 'change')} not predicted yet.", "second"),) if unknown else ()
    return views.Section("Best sets", (views.Steps(steps, shown=len(steps), leads=False), *rest))
