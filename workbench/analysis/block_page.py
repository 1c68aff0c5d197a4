"""Pages of blocks and calls, and the tables of states and calls, for window, report and terminal."""

from collections.abc import Sequence

from workbench.analysis.finding_page import finding_links
from workbench.analysis.finding_words import block_words
from workbench.analysis.path_page import path_section
from workbench.api import views
from workbench.api.results import Analysis, BlockMetrics, CallMetrics, StateMetrics
from workbench.model.blocks import Block, Side, State
from workbench.model.finding import Finding, Place
from workbench.model.text import (
    bytes_text,
    count_text,
    percent_text,
    rate_text,
    significant,
    thousands,
    time_text,
)

_MUTED, _STRONG, _SECOND = ("muted", 12, 400), ("text", 13, 600), ("second", 13, 400)


def block_page(members: Sequence[BlockMetrics], analysis: Analysis) -> views.Page:
    """The page of one block, or of replicas with their mean."""
    block, many = members[0].block, len(members)
    name = block_words(block.id) if many == 1 else f"{block_words(block.group)} × {many}"
    clock = f", {block.clock}" if block.clock else ""
    kind = "thread" if block.side is Side.HOST else f"{block.kind}{clock}"
    mean = f", mean of {many}" if many > 1 else ""
    states = sorted((s for s in mean_states(members) if s.time_s > 0), key=lambda s: -s.time_s)
    total = max(sum(s.time_s for s in states), 1e-30)
    shares = tuple((block.drawn_as(s.state), s.time_s / total) for s in states)
    ids = {m.block.id for m in members} | {block.group}
    here = [f for f in analysis.findings if f.block in ids or f.culprit in ids]
    sections = [views.Section("", (views.Shares(shares), states_table(block, states))), _findings_here(here)]
    if path_part := path_section(analysis.what_if.path if analysis.what_if else None, [m.block for m in members]):
        sections.insert(1, path_part)
    if block.file and block.line:
        sections.append(views.Section("Source", (views.Source((Place(block.file, block.line, block.kind),)),)))
    return views.Page(block.id, name, f"{kind}{mean}, {time_text(analysis.time_s)}", tuple(sections))


def _findings_here(findings: Sequence[Finding]) -> views.Section:
    links = finding_links(findings)
    return views.Section("Findings here", (links if findings else views.Text("No findings here.", "second"),))


def mean_states(members: Sequence[BlockMetrics]) -> list[StateMetrics]:
    """The states of one block, or the means over replicas, `unclassified` first. Mean counts may be fractions."""
    means = []
    for states in zip(*(m.states for m in members), strict=True):
        mean = [sum(getattr(s, name) for s in states) / len(states) for name in ("time_s", "share", "cycles", "visits")]
        means.append(StateMetrics(states[0].state, *mean))
    return means


def states_table(block: Block, states: Sequence[StateMetrics]) -> views.Table:
    columns = [
        views.Column("State", lambda s: s.state.name, share=1.0, key=lambda s: s.state.name, ink=lambda s: _STRONG,
               category=lambda s: block.drawn_as(s.state), tip_of=_state_words),
        views.Column("Reasons", lambda s: ", ".join(s.state.reasons), ink=lambda s: _SECOND, page=True),
        views.Column("Target, message", _towards, ink=lambda s: _SECOND, page=True),
        views.Column("Share", lambda s: percent_text(s.share), width_px=68, right=True, key=lambda s: s.share,
               ink=lambda s: _STRONG),
        views.Column("Time", lambda s: time_text(s.time_s), width_px=76, right=True, key=lambda s: s.time_s,
               ink=lambda s: _SECOND),
        views.Column("Cycles", lambda s: _mean_text(s.cycles), right=True, page=True),
        views.Column("Visits", lambda s: _mean_text(s.visits), width_px=72, right=True, key=lambda s: s.visits,
               ink=lambda s: _MUTED),
    ]  # fmt: skip
    if block.side is Side.HOST:
        columns = [column for column in columns if column.head != "Cycles"]
    return views.Table("States", tuple(columns), states, place=lambda s: _place(s.state))


def _state_words(metrics: StateMetrics) -> str:
    category = metrics.state.category.value if metrics.state.category else ""
    return "; ".join(filter(None, (category, ", ".join(metrics.state.reasons), _towards(metrics))))


def _towards(metrics: StateMetrics) -> str:
    state = metrics.state
    return ", ".join(state.targets) + (f": {', '.join(state.messages)}" if state.messages else "")


def _place(state: State) -> Place | None:
    return Place(state.file, state.line, state.name) if state.file and state.line else None


def _mean_text(value: float) -> str:
    return thousands(round(value)) if value == int(value) or value >= 1000 else significant(value)


# ---- calls


def calls_table(calls: Sequence[CallMetrics]) -> views.Table:
    """A table of the calls, the longest total time first."""
    columns = (
        views.Column("Call", lambda c: c.site.label, category=lambda c: c.state.category),
        views.Column("Entry", _entry, ink=lambda c: _MUTED),
        views.Column("Calls", lambda c: count_text(c.count), right=True),
        views.Column("Bytes per call", lambda c: bytes_text(round(c.bytes_per_call)) if c.bytes else "", right=True),
        views.Column("Time", lambda c: time_text(c.time_s), right=True, ink=lambda c: _STRONG),
        views.Column("Share", lambda c: percent_text(c.share), right=True),
        views.Column("Lowest rate", lambda c: rate_text(c.rate.min) if c.rate else "", right=True),
        views.Column("Average", lambda c: rate_text(c.rate.avg) if c.rate else "", right=True),
        views.Column("Highest", lambda c: rate_text(c.rate.max) if c.rate else "", right=True),
        views.Column("Back-to-back", _row_words, right=True, tip="Number of consecutive calls of one place"),
    )
    ranked = sorted(calls, key=lambda c: -c.time_s)
    return views.Table("Calls", columns, ranked, place=lambda c: Place(c.site.file, c.site.line))


def _entry(call: CallMetrics) -> str:
    return "" if call.entry is None else " ".join(filter(None, (call.entry.name, call.entry.subtype)))


def _row_words(call: CallMetrics) -> str:
    runs = call.runs
    return f"{runs.min} to {runs.max}" if runs.min != runs.max else thousands(runs.min)


def call_page(calls: Sequence[CallMetrics], analysis: Analysis) -> views.Page:
    """The page of all calls of one site."""
    first = calls[0]
    count, size, spent = sum(c.count for c in calls), sum(c.bytes for c in calls), sum(c.time_s for c in calls)
    facts = [
        views.Fact("Calls", count_text(count)),
        views.Fact("Time", f"{time_text(spent)}, {percent_text(spent / analysis.time_s)}"),
    ]
    if size:
        facts += [views.Fact("Bytes per call", bytes_text(size / count)), views.Fact("Rate", rate_text(size / spent))]
    if first.rate:
        facts.append(
            views.Fact("Lowest and highest rate", f"{rate_text(first.rate.min)} to {rate_text(first.rate.max)}")
        )
    facts.append(views.Fact("Back-to-back calls", f"{_row_words(first)}, {first.runs.avg:.3g} on average"))
    place = (first.site.file, first.site.line)
    findings = [f for f in analysis.findings if any((p.file, p.line) == place for p in f.places)]
    sections = (
        views.Section("", (views.Facts(tuple(facts)),)),
        *((_findings_here(findings),) if findings else ()),
        views.Section("Source", (views.Source((Place(*place, first.site.label),)),)),
    )
    where = f"{first.site.callee}, {first.place}, {block_words(first.block)}"
    return views.Page(first.place, first.site.label, where, sections)
