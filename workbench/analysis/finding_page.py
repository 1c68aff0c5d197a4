"""The table of all findings and the page of one, for window, report and terminal."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.analysis.change_words import change_facts
from workbench.analysis.finding_words import (
    LEAST_GAIN,
    becomes_words,
    best_prediction,
    bound_words,
    folded_words,
    gain_words,
    interval_text,
    is_small,
    not_predicted_words,
    part_words,
    prediction_words,
    scope_words,
    short_gain_text,
    was_left_out,
    what_if_applied,
    where_words,
)
from workbench.analysis.rate_curves import finding_plot
from workbench.api import views
from workbench.api.results import Analysis
from workbench.model.blocks import Side
from workbench.model.finding import Advice, Finding, tops
from workbench.model.platform import Platform
from workbench.model.text import (
    at_most_text,
    bound_text,
    capitalised,
    counted,
    is_limit,
    percent_text,
    ratio_text,
    time_text,
)
from workbench.pictures.signs import TICKS, axis_x, draw_speedup_axis, draw_speedup_bar
from workbench.pictures.states import mean_shares

#: The id of the row that contains the findings with too small a gain.
FOLD = "$small"
TRY = "try"
OPEN = "open"
#: Metrics shown in a short text too, if the rule has them.
_TELLING = ("count", "longest.bytes_per_call", "rate.avg", "bytes_per_call", "time_each", "runs.avg", "visits")
_MOST_TELLING = 4
_AXIS_AIR_PX = 20.0


def finding_table(
    findings: Sequence[Finding], ranks: Mapping[str, int], aside: Collection[str] = (), of: Sequence[Finding] = ()
) -> views.Table:
    """A table of findings in the given order; a finding with a `part_of` among them is nested under it. Parts and
    followers have no rank.

    If none of `of` (by default the findings themselves) has a prediction, the upper bound is the first number.
    """
    ids = {f.id for f in findings}
    parts: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.part_of in ids:
            parts.setdefault(finding.part_of, []).append(finding)
    by_id = {f.id: f for f in findings}
    hanging = {f.id: by_id[whole] for whole, under in parts.items() for f in under}

    def rank(finding: Finding) -> str:
        return "–" if finding.points_elsewhere and finding.id not in hanging else str(ranks.get(finding.id, ""))

    def sign(finding: Finding) -> str:
        quiet = finding.id in aside or (finding.points_elsewhere and finding.id not in hanging)
        return "aside" if quiet else finding.severity

    def name(finding: Finding) -> str:
        return part_words(finding, hanging[finding.id])[0] if finding.id in hanging else finding.title

    def where(finding: Finding) -> str:
        return part_words(finding, hanging[finding.id])[1] if finding.id in hanging else where_words(finding)

    leads = what_if_applied(of or findings)
    gain_columns = (
        views.Column("Predicted", _predicted_text, width_px=96, right=True, key=lambda f: f.speedup_predicted or 0.0,
               ink=lambda f: ("text", 13, 600) if f.speedup_predicted is not None else ("muted", 12, 400),
               tip="Predicted speedup of the whole run", tip_of=_no_prediction_words),
        views.Column("Interval", lambda f: interval_text(best_prediction(f)), width_px=92,
               ink=lambda f: ("second", 12, 400), tip="Contains the speedup in 9 of 10 cases"),
        views.Column("Upper bound", _at_most, width_px=114, right=True, key=lambda f: f.speedup_cap or 0.0,
               ink=lambda f: ("muted", 11, 400), tip="Largest upper bound of its advice"),
    ) if leads else (
        views.Column("Upper bound", _bound_words, width_px=100, right=True,
               key=lambda f: f.speedup_cap or 0.0, ink=lambda f: ("text", 13, 600),
               tip="Largest upper bound of its advice"),
    )  # fmt: skip
    columns = (
        views.Column("#", rank, width_px=44, ink=lambda f: ("muted", 13, 400),
               tip="Rank; – for a finding that others cause"),
        views.Column("", sign, width_px=30, tip="Speedup: over 2×, 1.2× to 2×, below 1.2×"),
        views.Column("Finding", name, share=0.45, key=lambda f: f.title,
               ink=lambda f: ("text", 13, 400 if f.id in hanging else 600),
               tip_of=lambda f: f"{f.title}. {f.explanation}".strip()),
        views.Column("Where", where, share=0.25, key=where, ink=lambda f: ("second", 13, 400),
               elide_middle=True, tip_of=lambda f: f.where),
        views.Column("Time", _time_words, width_px=84, right=True, key=lambda f: f.time_s,
               tip="Time that this bottleneck takes"),
        views.Column("", share=0.30, picture=_draw_bar, picture_head=_draw_axis,
               tip="Speedup of the whole run, logarithmic: solid as predicted, tint to the upper bound",
               tip_of=gain_words),
        *gain_columns,
    )  # fmt: skip
    rows = [f for f in findings if f.part_of not in ids]
    small = [f for f in rows if is_small(f)]
    if small and len(rows) > len(small):
        title = f"{len(small)} below {LEAST_GAIN:g}×"  # short: its column is narrow in a small window
        largest = ", ".join(f"{f.title} {ratio_text(f.speedup_predicted or 0.0)}" for f in small[:3])
        fold = Finding(FOLD, "", title, "", largest, "", 0.0, 1.0, None, "", ())
        rows, parts[FOLD] = [*(f for f in rows if f not in small), fold], small
        columns = tuple(_empty_for_small_findings(column) for column in columns)
    return views.Table(
        "Findings", columns, rows, parts=lambda f: parts.get(f.id, ()), place=lambda f: next(iter(f.places), None)
    )


def _empty_for_small_findings(column: views.Column) -> views.Column:
    """The column, empty in the row of small findings unless it shows their title or names."""
    text_of_fold = {"Finding": lambda f: f.title, "Where": lambda f: f.where}.get(column.head, views.no_text)

    def picture(canvas: Any, x: float, y: float, width: float, height: float, finding: Finding) -> None:
        if column.picture and finding.id != FOLD:
            column.picture(canvas, x, y, width, height, finding)

    return replace(
        column,
        text=lambda f: text_of_fold(f) if f.id == FOLD else column.text(f),
        tip_of=lambda f: f.where if f.id == FOLD else column.tip_of(f),
        picture=picture if column.picture else None,
    )


def _time_words(finding: Finding) -> str:
    return "" if finding.failures else time_text(finding.time_s)


def _bound_words(finding: Finding) -> str:
    return "" if finding.failures else bound_text(finding.speedup_cap)


def _predicted_text(finding: Finding) -> str:
    if finding.failures:
        return ""
    if finding.speedup_predicted is not None:
        return ratio_text(finding.speedup_predicted)
    return "not predicted" if not_predicted_words(finding) or was_left_out(finding) else "no change"


def _no_prediction_words(finding: Finding) -> str:
    """The reason for a missing predicted speedup; "" if there is one."""
    if finding.speedup_predicted is not None:
        return ""
    if was_left_out(finding):
        return "The time limit for predictions was reached before its advice was predicted"
    why = next((advice.no_change for advice in finding.advice if advice.no_change), "")
    return not_predicted_words(finding) or why or "No change of the catalogue matches its advice"


def _at_most(finding: Finding) -> str:
    return "" if finding.speedup_cap is None else at_most_text(finding.speedup_cap)


def bar_span(left: float, width: float) -> tuple[float, float]:
    """The left edge and the width of a bar on the logarithmic axis of a cell."""
    return left + _AXIS_AIR_PX, max(width - 2 * _AXIS_AIR_PX, 10.0)


def _draw_axis(canvas: Any, x: float, y: float, width: float, height: float) -> None:
    left, wide = bar_span(x, width)
    draw_speedup_axis(canvas, left, y, wide, height)


def _draw_bar(canvas: Any, x: float, y: float, width: float, height: float, finding: Finding) -> None:
    left, wide = bar_span(x, width)
    for tick in TICKS[1:]:
        at = round(axis_x(tick, left, wide)) - 0.5
        canvas.path([(at, y), (at, y + height)], "rule")
    best = best_prediction(finding)
    draw_speedup_bar(
        canvas, left, round(y + height / 2) - 5, wide, 10, finding.speedup_predicted, finding.speedup_cap,
        best.interval if best else None,
    )  # fmt: skip


# ---- one finding


def finding_page(finding: Finding, analysis: Analysis, platform: Platform | None) -> views.Page:
    """The page of a finding: prediction, advice, limit, transfer curve, rule, source, parts."""
    facts = (
        _lead(finding, analysis),
        _to_do(finding, analysis),
        _why(finding, analysis),
        _curve(finding, analysis, platform),
        _rule(finding, analysis),
        views.Section("Source", (views.Source(finding.places),), beside=True) if finding.places else None,
        _parts(finding, analysis),
    )
    gain = gain_words(finding)
    if is_limit(finding.gain) and not finding.failures:
        gain += f", {becomes_words(analysis.time_s, finding.gain)}"
    sections = tuple(section for section in facts if section)
    return views.Page(finding.id, finding.title, scope_words(finding), sections, finding.sign, gain)


def _lead(finding: Finding, analysis: Analysis) -> views.Section:
    if finding.failures:
        only_open = finding.first_s is None and finding.open_s is not None
        cycles = "the run's last cycle" if only_open else counted(finding.failures, "cycle")
        failed = views.Figure("Failed in", cycles, gain_words(finding))
        explanation = capitalised(finding.explanation)
        return views.Section("", (views.Figures((failed,)), views.Text(explanation)), word="why", brief=True)
    total_s = analysis.time_s
    best = best_prediction(finding)
    figures = []
    becomes = becomes_words(total_s, finding.gain)
    stays = finding.advice[0].stays if finding.advice else ""
    if finding.speedup_predicted is not None:
        sure = interval_text(best)
        note = "exact" if sure == "exact" else f"{sure} in 9 of 10 cases" if sure else becomes
        figures.append(views.Figure("Predicted speedup", ratio_text(finding.speedup_predicted), note))
        figures.append(views.Figure("Upper bound", bound_text(finding.speedup_cap), "by its best advice", stays))
    else:
        has_bound = finding.speedup_cap is not None
        figures.append(
            views.Figure("Upper bound", bound_text(finding.speedup_cap), becomes if has_bound else "none known", stays)
        )
    share = finding.time_s / total_s if total_s else 0.0
    figures.append(views.Figure("Time", time_text(finding.time_s), f"{percent_text(share)} of {time_text(total_s)}"))
    items: list[views.Item] = [views.Figures(tuple(figures))]
    if why := not_predicted_words(finding):
        items.append(views.Text(f"Not predicted: {why}.", "second"))
    if best and best.time_s is not None and total_s:
        ends = [time_text(total_s / end) for end in reversed(best.interval or ())]
        sure = " to ".join(ends) if interval_text(best) != "exact" else ""
        items += [
            views.Shares(mean_shares(analysis.side(Side.HOST)[:1]), "Measured", time_text(total_s, 4)),
            views.Shares((), "Predicted", time_text(best.time_s), min(best.time_s / total_s, 1.0), sure),
        ]
    return views.Section("", tuple(items), word="why", brief=True)


def _to_do(finding: Finding, analysis: Analysis) -> views.Section | None:
    """The section with the advice. Advice with too small a predicted gain is folded; without predictions, all but the
    first."""
    if not finding.advice:
        return None
    any_predicted = any(a.prediction for a in finding.advice)
    large = [a for a in finding.advice[1:] if any_predicted and not _is_small(a)]
    order = (finding.advice[0], *large, *(a for a in finding.advice[1:] if a not in large))
    shown = 1 + len(large)
    steps = views.Steps(
        tuple(_step(n, a, analysis, _bound_of(order, n, finding)) for n, a in enumerate(order)),
        folded_words(order[shown:]),
        shown,
    )
    buttons = [views.Action(f"{TRY} 0", "Try this change", "Ctrl+T", primary=True)] if order[0].changes else []
    buttons += [views.Action(OPEN, "Go to source", "Enter")] if finding.places else []
    return views.Section("What to do", (steps, views.Actions(tuple(buttons))), word="how", brief=True)


def _is_small(advice: Advice) -> bool:
    prediction = advice.prediction
    return prediction is None or prediction.speedup is None or prediction.speedup < LEAST_GAIN


def _bound_of(order: Sequence[Advice], number: int, finding: Finding) -> tuple[str, ...]:
    """The upper bound of a step; its reason is left out if an earlier step has the same. An assertion has no bound."""
    bound = (order[number].at_most, order[number].stays)
    with_reason = bound not in [(advice.at_most, advice.stays) for advice in order[:number]]
    return () if finding.failures else (bound_words(order[number], with_reason),)


def _step(number: int, advice: Advice, analysis: Analysis, bound: tuple[str, ...]) -> views.Step:
    prediction = advice.prediction
    notes = ((prediction_words(prediction),) if prediction and number else ()) + bound
    tags = [("Changes hardware", "medium")] if advice.hardware else []
    if advice.changes:
        tags.append((f"Data hazard: {advice.hazard}", "medium") if advice.hazard else ("No data hazard", "good"))
    gain = ratio_text(prediction.speedup) if prediction and prediction.speedup is not None else ""
    detail = change_facts(advice.changes, analysis)
    return views.Step(advice.text, gain, notes, tuple(tags), detail, f"{TRY} {number}" if advice.changes else "")


def _why(finding: Finding, analysis: Analysis) -> views.Section | None:
    best = best_prediction(finding)
    if best is None or best.time_s is None or finding.speedup_predicted is None:
        return None
    sentences = [f"{time_text(best.time_s)} of {time_text(analysis.time_s)} remain."]
    if best.bound_by:
        sentences.append(f"After that, {best.bound_by} takes most of the critical path.")
    if best.why:
        sentences.append(f"{capitalised(best.why)}.")
    if best.interval_holds:
        sentences.append(f"The interval assumes: {best.interval_holds}")
    limit = f" and not {bound_text(finding.speedup_cap)}" if finding.speedup_cap else ""
    return views.Section(
        f"Why {ratio_text(finding.speedup_predicted)}{limit}", (views.Text(" ".join(sentences), "second"),), word="left"
    )


def _curve(finding: Finding, analysis: Analysis, platform: Platform | None) -> views.Section | None:
    """The section with the transfer curve, for a finding about transfers."""
    plot = finding_plot(finding, analysis, platform)
    if plot is None or platform is None:
        return None
    calls_shown, total = len(plot.spots), len(analysis.calls)
    calls = f"{calls_shown} of {total} calls" if calls_shown < total else counted(calls_shown, "call")
    name = "Transfer rate by size"
    return views.Section(name, (views.Curves(plot, name),), f"{calls}, {platform.title or platform.name}", beside=True)


def _rule(finding: Finding, analysis: Analysis) -> views.Section | None:
    if finding.failures:
        return None
    telling = [name for name in _TELLING if finding.metrics.get(name)][:_MOST_TELLING]
    facts = [
        views.Fact(analysis.metrics[name].title, analysis.metrics[name].text(value), name, name in telling)
        for name, value in finding.metrics.items()
    ]
    ideal = views.Fact("Speedup if only this time is saved", bound_text(finding.speedup_ideal), "speedup")
    kind = "" if finding.rule.lower() in finding.title.lower() else f"{finding.rule} ({finding.scope})"
    items = (
        *((views.Text(finding.explanation, "second"),) if finding.explanation else ()),
        *((views.Text(finding.condition, "code"),) if finding.condition else ()),
        views.Facts((ideal, *facts)),
    )
    return views.Section("Numbers behind the rule", items, kind, word="rule", beside=True, folded=True)


def _parts(finding: Finding, analysis: Analysis) -> views.Section | None:
    links = finding_links([f for f in analysis.findings if f.part_of == finding.id], finding)
    return views.Section("Parts of this", (links,), word="parts") if links.links else None


def finding_links(findings: Sequence[Finding], whole: Finding | None = None) -> views.Links:
    """Links to findings, by title; parts of a `whole` finding with its title by their place."""

    def link(f: Finding) -> views.Link:
        values = (short_gain_text(f),) if f.failures else (time_text(f.time_s), bound_text(f.gain))
        return views.Link(f.id, where_words(f) if whole and f.title == whole.title else f.title, f.sign, values)

    return views.Links(tuple(map(link, findings)))


def ranks_of(findings: Sequence[Finding]) -> dict[str, int]:
    """Each finding's rank by its id; parts and followers have none."""
    return {f.id: n for n, f in enumerate((f for f in tops(findings) if not f.points_elsewhere), 1)}
