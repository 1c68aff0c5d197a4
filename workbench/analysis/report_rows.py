"""The rows of the HTML report, as texts and small drawings that its template only has to place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import log
from pathlib import PurePath
from typing import Any

from markupsafe import Markup

from workbench.analysis.finding_words import becomes_words, bound_text, bound_words, cap_words, folded_words
from workbench.analysis.rate_curves import finding_plot
from workbench.analysis.selection import PARTS
from workbench.analysis.streams import fifo_words, held_words, rate_words, stream_names
from workbench.api.results import Analysis, BlockMetrics, GroupMetrics
from workbench.model.blocks import Side
from workbench.model.finding import Finding, tops
from workbench.model.platform import Platform
from workbench.model.pragma import Category
from workbench.model.text import (
    bytes_text,
    count_text,
    frequency_text,
    percent_text,
    rate_text,
    significant,
    thousands,
    time_text,
)
from workbench.pictures.palette import LIGHT
from workbench.pictures.plot_drawing import plot_svg
from workbench.pictures.signs import (
    draw_beyond,
    draw_cap,
    draw_severity,
    draw_shares,
    draw_speedup_axis,
    draw_speedup_bar,
    draw_swatch,
)
from workbench.pictures.states import Shares, category_name, shares_words
from workbench.pictures.svg import SvgCanvas

BAR_WIDTH = 232.0
SHARES_WIDTH, SHARES_HEIGHT = 790.0, 14.0
MOST_STATES = 16  # of a transition matrix


def swatch(category: Category | None) -> Markup:
    canvas = SvgCanvas()
    draw_swatch(canvas, 0, 0, 16, 11, category)
    return Markup(canvas.document(16, 11, category_name(category), "swatch"))


def share_bar(shares: Shares) -> Markup:
    canvas = SvgCanvas()
    draw_shares(canvas, SHARES_WIDTH, SHARES_HEIGHT, shares)
    return Markup(canvas.document(SHARES_WIDTH, SHARES_HEIGHT, shares_words(shares)))


def axis_svg() -> Markup:
    canvas = SvgCanvas()
    draw_speedup_axis(canvas, 0, 0, BAR_WIDTH)
    return Markup(canvas.document(BAR_WIDTH, 14, "speedup, logarithmic"))


def speedup_bar(finding: Finding) -> Markup:
    canvas = SvgCanvas()
    draw_speedup_bar(canvas, 0, 3, BAR_WIDTH, 10, finding.gain, finding.speedup_cap, finding.speedup_ideal)
    said = f"gain {bound_text(finding.gain)}, ideal {bound_text(finding.speedup_ideal)}"
    return Markup(canvas.document(BAR_WIDTH, 16, said))


def bar_keys() -> list[dict[str, Any]]:
    """What the parts of a speedup bar mean."""
    gain, cap, beyond = SvgCanvas(), SvgCanvas(), SvgCanvas()
    gain.rect(0, 0, 22, 11, "accent")
    draw_cap(cap, 2, 3, 7)
    draw_beyond(beyond, 0, 0, 22, 11)
    said = ((gain, 22, "gain at most"), (cap, 4, "cap: the best advice's bound"), (beyond, 22, "ideal, out of reach"))
    return [{"svg": Markup(c.document(width, 13, words)), "name": words} for c, width, words in said]


def _sign(severity: str) -> Markup:
    canvas = SvgCanvas()
    draw_severity(canvas, 0, 0, 16, severity)
    return Markup(canvas.document(16, 16, severity, "sign"))


Shorten = Callable[[str], str]


def shortener(project: str) -> Shorten:
    """Paths as a reader of that project knows them: below the project's folder without it."""
    folder = str(PurePath(project).parent) + "/" if PurePath(project).is_absolute() else ""

    def short(path: str) -> str:
        return path.replace(folder, "") if folder else path

    return short


def finding_rows(analysis: Analysis, platform: Platform | None, short: Shorten) -> list[dict[str, Any]]:
    """Top findings in order, each with the `parts` that repeat some of it."""
    rows = []
    for finding in tops(analysis.findings):
        row = _finding_row(finding, analysis, short)
        row["parts"] = [_finding_row(f, analysis, short) for f in analysis.findings if f.part_of == finding.id]
        row["curve"] = Markup(_curve_of(finding, analysis, platform))
        rows.append(row)
    return rows


def place_words(finding: Finding, analysis: Analysis) -> str:
    """Where a finding is: its block or replicas, and the call sites by name where they are few."""
    labels = list(dict.fromkeys(place.label for place in finding.places if place.label))
    replicas = len(next((g.members for g in analysis.groups() if g.group == finding.group), ()))
    where = finding.group + f" × {replicas}" if replicas > 1 else finding.block
    if finding.scope == "application":
        where = "whole application"
    elif finding.scope in PARTS:
        where = finding.where
    elif finding.scope == "call" and labels:
        where = f"{finding.block}: {labels[0]} ({_line_words(finding)})"
    elif labels and len(labels) <= 3 and finding.block.startswith("host"):
        where += ": " + ", ".join(labels)
    elif len(labels) > 3 and finding.block.startswith("host"):
        where += f", {len(labels)} call sites"
    if finding.culprit and finding.culprit not in finding.title:
        where += f", late: {finding.culprit}"
    return where


def _line_words(finding: Finding) -> str:
    place = finding.places[0]
    return f"{PurePath(place.file).name}:{place.line}"


def _finding_row(finding: Finding, analysis: Analysis, short: Shorten) -> dict[str, Any]:
    labels = list(dict.fromkeys(place.label for place in finding.places if place.label))
    kind = finding.scope if finding.rule.lower() in finding.title.lower() else f"{finding.rule} ({finding.scope})"
    place = finding.places[0] if finding.places else None
    return {
        "id": finding.id,
        "title": finding.title,
        "name": labels[0] if finding.scope == "call" and labels else finding.title,
        "kind": kind,
        "follows": finding.points_elsewhere,
        "where": place_words(finding, analysis),
        "place": short(f"{place.file}:{place.line}") if place else "",
        "sign": _sign(finding.severity),
        "time": time_text(finding.time_s),
        "bar": speedup_bar(finding),
        "gain": bound_text(finding.gain),
        "cap": bound_text(finding.speedup_cap),
        "ideal": bound_text(finding.speedup_ideal),
        "cap_said": cap_words(finding),
        "becomes": becomes_words(analysis.time_s, finding.gain),
        "advice": [{"text": a.text, "bound": bound_words(a)} for a in finding.advice],
        "folded": folded_words(finding.advice[1:]),
        "condition": finding.condition,
        "explanation": finding.explanation,
        "numbers": [
            {"name": name, "title": analysis.metrics[name].title, "value": analysis.metrics[name].text(value)}
            for name, value in finding.metrics.items()
        ],
        "places": [{"file": short(p.file), "line": p.line, "label": p.label} for p in finding.places],
    }


def _curve_of(finding: Finding, analysis: Analysis, platform: Platform | None) -> str:
    """The transfer curve where a rule rests on the tables."""
    if not any(name.startswith("table.") for name in finding.metrics):
        return ""
    plot = finding_plot(finding, analysis, platform)
    return plot_svg(plot, "Transfer rate by size", 480, 250) if plot else ""


def call_rows(analysis: Analysis, short: Shorten) -> list[dict[str, Any]]:
    rows = []
    for call in sorted(analysis.calls, key=lambda c: -c.time_s):
        runs = call.runs
        rows.append(
            {
                "label": call.site.label,
                "entry": "" if call.entry is None else " ".join(filter(None, (call.entry.name, call.entry.subtype))),
                "swatch": swatch(call.state.category),
                "place": short(call.place),
                "count": count_text(call.count),
                "each": bytes_text(round(call.bytes_per_call)) if call.bytes else "",
                "time": time_text(call.time_s),
                "share": percent_text(call.share),
                "least": rate_text(call.rate.min) if call.rate else "",
                "average": rate_text(call.rate.avg) if call.rate else "",
                "most": rate_text(call.rate.max) if call.rate else "",
                "runs": f"{runs.min} to {runs.max}" if runs.min != runs.max else thousands(runs.min),
            }
        )
    return rows


def stream_rows(analysis: Analysis, short: Shorten) -> list[dict[str, Any]]:
    """The streams, those that stall most first."""
    names = stream_names(analysis.streams)
    behind = {fifo.input.stream.id: fifo for fifo in analysis.fifos}
    ranked = sorted(analysis.streams, key=lambda one: -(one.sink_stalls + one.source_stalls))
    return [
        {
            "name": names[one.stream.id],
            "place": short(f"{one.stream.file}:{one.stream.line}") if one.stream.file else "",
            "transfers": count_text(one.transfers),
            "rate": rate_words(one),
            "source": percent_text(one.source_stalls / max(one.cycles, 1)),
            "sink": percent_text(one.sink_stalls / max(one.cycles, 1)),
            "held": held_words(one, names),
            "fifo": fifo_words(behind[one.stream.id]) if one.stream.id in behind else "",
        }
        for one in ranked
    ]


def memory_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """The ports into memory, those that wait most first."""
    return [
        {
            "name": one.port.id,
            "memory": one.port.memory,
            "read": bytes_text(one.read_bytes),
            "written": bytes_text(one.written_bytes),
            "rate": rate_text(one.bytes_per_s),
            "peak": rate_text(one.port.memory_bytes_per_s),
            "waiting": percent_text(one.waiting / max(one.cycles, 1)),
            "held": percent_text(one.held / max(one.cycles, 1)),
            "latency": time_text(one.latency_s),
            "outstanding": significant(one.outstanding, 3),
            "hits": percent_text(one.hit_share) if one.accesses else "",
            "conflicts": percent_text(one.conflict_share) if one.accesses else "",
        }
        for one in sorted(analysis.memory_ports, key=lambda port: -port.waiting)
    ]


def block_rows(analysis: Analysis, short: Shorten) -> list[dict[str, Any]]:
    return [_group_row(group, short) for group in analysis.groups()]


def _group_row(group: GroupMetrics, short: Shorten) -> dict[str, Any]:
    first = group.members[0]
    block, count = first.block, len(group.members)
    said = [block.kind]
    if block.file and block.line:
        said.append(short(f"{block.file}:{block.line}"))
    if first.clock:
        said.append(f"{first.clock.name} at {frequency_text(first.clock.frequency_hz)}")
    if count > 1:
        best, worst = group.best.share_of(Category.WORK), group.worst.share_of(Category.WORK)
        mean = percent_text(group.mean_work_share)
        said.append(f"work {mean} on average, best {percent_text(best)}, worst {percent_text(worst)}")
    return {
        "name": group.group + (f" × {count}" if count > 1 else ""),
        "slug": re.sub(r"[^a-z0-9]+", "-", group.group.lower()),
        "said": ", ".join(said),
        "cycles": block.side is Side.FPGA,
        "states": [row for index in _in_order(first) if (row := _state_row(group, index))],
        "matrix": _matrix(first),
    }


def _in_order(metrics: BlockMetrics) -> Sequence[int]:
    """States as written, `unclassified` last."""
    return [*range(1, len(metrics.states)), 0]


def _state_row(group: GroupMetrics, index: int) -> dict[str, Any] | None:
    found = [member.states[index] for member in group.members if index < len(member.states)]
    state = found[0].state
    count = len(found)
    visits, cycles = sum(s.visits for s in found) / count, sum(s.cycles for s in found) / count
    if not index and not visits and not sum(s.time_s for s in found):
        return None
    towards = ", ".join(state.targets) + (f": {', '.join(state.messages)}" if state.messages else "")
    return {
        "name": state.name,
        "swatch": swatch(group.members[0].block.drawn_as(state)),
        "reasons": ", ".join(state.reasons),
        "towards": towards,
        "time": time_text(sum(s.time_s for s in found) / count),
        "share": percent_text(sum(s.share for s in found) / count),
        "cycles": _mean_text(cycles),
        "visits": _mean_text(visits),
    }


def _mean_text(value: float) -> str:
    return thousands(round(value)) if value == int(value) or value >= 1000 else significant(value)


def _matrix(metrics: BlockMetrics) -> dict[str, Any] | None:
    """Transition counts, rows from and columns to, for blocks of few enough states that were visited."""
    used = [
        index for index in _in_order(metrics) if any(index in (t.from_state, t.to_state) for t in metrics.transitions)
    ]
    if not used or len(used) > MOST_STATES:
        return None
    counts = {(t.from_state, t.to_state): t.count for t in metrics.transitions}
    most = max(counts.values())
    rows = []
    for a in used:
        cells = []
        for b in used:
            count = counts.get((a, b), 0)
            part = log(1 + count) / log(1 + most)
            cells.append({"count": count_text(count) if count else "", "ground": _shade(part), "ink": _ink(part)})
        rows.append({"name": metrics.states[a].state.name, "cells": cells})
    return {"names": [metrics.states[index].state.name for index in used], "rows": rows}


def _shade(part: float) -> str:
    """From the selection's tint to the accent."""
    low, high = (tuple(int(colour[n : n + 2], 16) for n in (1, 3, 5)) for colour in (LIGHT.selection, LIGHT.accent))
    strength = part * part
    return "#" + "".join(f"{round(a + (b - a) * strength):02X}" for a, b in zip(low, high, strict=True))


def _ink(part: float) -> str:
    return "#FFFFFF" if part * part > 0.5 else LIGHT.text
