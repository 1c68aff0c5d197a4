"""Writes a self-contained report: one printable HTML file with style and drawings, without scripts."""

import re
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

import workbench
from workbench.analysis.block_page import calls_table, mean_states, states_table
from workbench.analysis.compare import Comparison, Pair, faster_words, share_words, work_words
from workbench.analysis.cores import cores_words, placement_words
from workbench.analysis.custom import custom_table
from workbench.analysis.finding_page import finding_page, finding_table, ranks_of
from workbench.analysis.finding_words import (
    FOLLOWING,
    becomes_words,
    nothing_words,
    ranked_words,
    shortfall_words,
)
from workbench.analysis.html_views import (
    PHONE_WIDTH,
    PICTURE_WIDTH,
    Shorten,
    bar_keys,
    curve,
    functions,
    share_bar,
    shortener,
    swatch,
)
from workbench.analysis.memory import memory_table
from workbench.analysis.path_page import names_of_groups, path_rows, path_table, wait_rows, waits_table
from workbench.analysis.rate_curves import direction_plot
from workbench.analysis.recording import recording_words
from workbench.analysis.streams import stream_table
from workbench.analysis.verification import assertion_table, branch_table, coverage_words
from workbench.api.results import Analysis, GroupMetrics, StateMetrics
from workbench.model.blocks import Side
from workbench.model.diagnostic import Diagnostic
from workbench.model.finding import Finding, count_words, tops
from workbench.model.platform import Platform
from workbench.model.pragma import WAITS, Category
from workbench.model.run import PS_PER_S, Alignment, Manifest, Run, RunClock
from workbench.model.text import bound_text, counted, frequency_text, percent_text, significant, thousands, time_text
from workbench.pictures.graph import graph_svg
from workbench.pictures.page_style import page_style
from workbench.pictures.palette import PAGE
from workbench.pictures.path_diagram import path_diagram
from workbench.pictures.scaling import Scaling, least_shrinking_words, scaling_forms, scaling_plot, scaling_words
from workbench.pictures.signs import draw_swatch
from workbench.pictures.state_diagram import StateDiagram, next_words, state_diagram, states_svg
from workbench.pictures.states import ORDER, category_name, mean_shares
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.time_drawing import KINDS, times_svg
from workbench.pictures.time_tree import time_tree
from workbench.traces.clocks import exact_words

PAGE_PX, SHEET_PX = 1184.0, 640.0  # the width of what a page shows on a large screen, and on paper


def html_report(
    run: Run,
    analysis: Analysis,
    platform: Platform | None,
    comparison: Comparison | None = None,
    scaling: Scaling | None = None,
) -> str:
    """The report of a run as an HTML page. `comparison`, if given, compares this run with another (as A and B);
    `scaling` is the scaling curve that contains it."""
    folder = files("workbench.resources").joinpath("report")
    texts = {name: folder.joinpath(name).read_text("utf-8") for name in ("report.html.j2", "views.html.j2")}
    environment = Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    short = shortener(run.manifest.project)
    environment.globals |= functions(short) | {"diagnostic": _diagnostic_html}
    template = environment.get_template("report.html.j2")
    directions = (("send", "Host to FPGA"), ("receive", "FPGA to host"))
    plots = [(title, direction_plot(platform, analysis.calls, way)) for way, title in directions] if platform else []
    findings = tops(analysis.findings)
    return template.render(
        page=_page(run, analysis, platform),
        css=page_style(),
        legend=[{"swatch": swatch(c), "name": category_name(c)} for c in ORDER],
        graph=Markup(graph_svg(analysis, platform, palette=PAGE, room_px=PAGE_PX)),
        graph_of_paper=Markup(graph_svg(analysis, platform, palette=PAGE)),
        graph_of_phone=Markup(graph_svg(analysis, platform, palette=PAGE, narrow=True)),
        times=_times(analysis),
        findings=finding_table(analysis.findings, ranks_of(analysis.findings)),
        signs={f.id: f.sign for f in analysis.findings},
        pages=[finding_page(finding, analysis, platform) for finding in findings],
        path=_path(analysis),
        calls=calls_table(analysis.calls),
        curves=[{"title": title, "svg": curve(plot, title, 560, 300)} for title, plot in plots if plot],
        scaling=_scaling(scaling) if scaling else None,
        metrics=custom_table(analysis.custom),
        assertions=assertion_table(analysis.assertions),
        branches=branch_table(analysis.decisions),
        coverage=coverage_words(analysis.decisions),
        streams=stream_table(analysis.streams, analysis.fifos),
        memory=memory_table(analysis.memory_ports),
        blocks=[_block(group, short) for group in analysis.groups()],
        comparison=_comparison(comparison) if comparison else None,
        facts=_facts(run, platform),
        diagnostics=[*run.manifest.diagnostics, *analysis.diagnostics],
        version=workbench.__version__,
    )


def _times(analysis: Analysis) -> list[dict[str, Markup]]:
    """The flame graph and the treemap, each for wide screens, for narrow ones and paper, and for phones."""
    tree = time_tree(analysis)
    widths = {"desk screen": PAGE_PX, "paper": SHEET_PX, "phone": PHONE_WIDTH}
    return [
        {name: Markup(times_svg(kind, tree, PAGE, width)) for name, width in widths.items()}
        for kind in KINDS
        if tree.parts
    ]


def _when(manifest: Manifest) -> str:
    """Date and time of a run, to the minute."""
    return manifest.created[:16].replace("T", " ")


def _page(run: Run, analysis: Analysis, platform: Platform | None) -> dict[str, Any]:
    manifest = run.manifest
    names = [
        PurePath(manifest.project).name,
        platform.title or platform.name if platform else manifest.platform,
        _when(manifest),
    ]
    settings = ", ".join(f"{name} {value}" for name, value in manifest.settings.items())
    return {
        "name": manifest.name or manifest.project or "Run",
        "subtitle": ", ".join(part for part in [*names, settings] if part),
        "platform": (platform.title or platform.name) if platform else manifest.platform,
        "urgent": [_incomplete(run)] if not run.complete else [],
        "figures": _figures(run, analysis),
        "answer": _answer(run, analysis),
        "bars": _bars(analysis),
        "simulated": _simulated(run, platform),
        "bar_keys": bar_keys(),
        "findings_said": f"{count_words(analysis.findings)}, {ranked_words(analysis)}",
        "following_said": FOLLOWING,
        "no_findings": nothing_words(run.manifest, analysis),
        "states_said": (
            "Each clock cycle of a block belongs to one state, or to unclassified if no pragma covers it. The sums are"
            " exact. For replicas, times are means; transitions are those of the first replica."
        ),
    }


def _figures(run: Run, analysis: Analysis) -> list[dict[str, str]]:
    several = len(run.manifest.clocks) > 1
    note = ", ".join(
        f"{counted(clock.cycles, 'cycle')}{f' of {clock.name}' if several else ''}"
        f" at {frequency_text(clock.frequency_hz)}"
        for clock in run.manifest.clocks
    )
    figures = [
        {
            "value": time_text(analysis.time_s, 4),
            "title": "run time, virtual" if run.manifest.simulated else "run time",
            "note": note,
        }
    ]
    if analysis.findings:
        best = analysis.findings[0]
        title = (
            "upper bound of the first finding" if best.speedup_predicted is None else "predicted for the first finding"
        )
        figures.append({"value": bound_text(best.gain), "title": title, "note": best.title})
    hosts = analysis.side(Side.HOST)
    if hosts:
        waits = hosts[0].share_of(*WAITS)
        figures.append(
            {
                "value": percent_text(waits),
                "title": "of the time, the host waits for the FPGA",
                "note": hosts[0].block.id,
            }
        )
    groups = [g for g in analysis.groups() if g.members[0].block.side is Side.FPGA]
    if groups:
        busiest = max(groups, key=lambda g: g.mean_work_share)
        count = f"{len(busiest.members)} replicas" if len(busiest.members) > 1 else "1 block"
        note = f"{busiest.group}, {count}"
        figures.append(
            {
                "value": percent_text(busiest.mean_work_share),
                "title": "of the time, the busiest FPGA block works",
                "note": note,
            }
        )
    return figures


def _answer(run: Run, analysis: Analysis) -> Markup:
    if not run.complete:
        return Markup("Fix the failure first, then run again.")
    if not analysis.findings:
        return Markup("")
    best: Finding = analysis.findings[0]
    where = "" if best.scope == "application" else f" on {best.group or best.block}"
    return Markup('Fix first: <a href="#finding-{}">{}</a>{}. {}{}.').format(
        best.id, best.title, where, becomes_words(analysis.time_s, best.gain),
        "" if best.speedup_predicted is not None else " at best",
    )  # fmt: skip


def _bars(analysis: Analysis) -> list[dict[str, Any]]:
    rows = []
    for group in analysis.groups():
        shares = mean_shares(group.members)
        works = dict(shares).get(Category.WORK, 0.0)
        name = group.group + (f" × {len(group.members)}" if len(group.members) > 1 else "")
        rows.append({"name": name, "bar": share_bar(shares), "said": f"{percent_text(works)} working"})
    return rows


def _simulated(run: Run, platform: Platform | None) -> str:
    if not run.manifest.simulated:
        return ""
    name = (platform.title or platform.name) if platform else run.manifest.platform
    host = (
        "counted basic blocks of the user's sources, each at a fixed time (library code is not counted)"
        if run.manifest.deterministic
        else "the measured CPU time of the host's thread"
    )
    return (
        f"This run used no real {name}. The simulated card ran the FPGA design as RTL, cycle by cycle. Transfers take"
        f" the times of the platform's tables and share its bus. The host's own time is {host}. All times are virtual:"
        " they do not depend on the simulator's speed."
    )


def _scaling(scaling: Scaling) -> dict[str, Any]:
    return {
        "setting": scaling.setting, "said": scaling_words(scaling),
        "plots": [
            {"title": title, "svg": curve(scaling_plot(scaling, form), f"{title} by {scaling.setting}", 560, 300)}
            for form, title in scaling_forms(scaling).items()
        ],
        "least": least_shrinking_words(scaling),
    }  # fmt: skip


def _path(analysis: Analysis) -> dict[str, Any]:
    """The critical path by line, drawn by state and call, and a table of waits; without rows if it is unknown."""
    path = analysis.what_if.path if analysis.what_if else None
    names = names_of_groups(m.block for m in analysis.blocks)
    diagram = path_diagram(path, names) if path else None
    return {
        "lines": path_table(path_rows(path, names) if path else ()),
        "waits": waits_table(wait_rows(path, names) if path else ()),
        **_states(diagram),
    }


def _block(group: GroupMetrics, short: Shorten) -> dict[str, Any]:
    """The states of a block with `unclassified` last, under the block's title."""
    first = group.members[0]
    block, count = first.block, len(group.members)
    kind_parts = [block.kind]
    if block.file and block.line:
        kind_parts.append(short(f"{block.file}:{block.line}"))
    if first.clock:
        kind_parts.append(f"{first.clock.name} at {frequency_text(first.clock.frequency_hz)}")
    if count > 1:
        best, worst = group.best.share_of(Category.WORK), group.worst.share_of(Category.WORK)
        mean = percent_text(group.mean_work_share)
        kind_parts.append(f"work {mean} on average, best {percent_text(best)}, worst {percent_text(worst)}")
    states, diagram = mean_states(group.members), state_diagram(group.group, group.members)
    return {
        "name": group.group + (f" × {count}" if count > 1 else ""),
        "slug": re.sub(r"[^a-z0-9]+", "-", group.group.lower()),
        "said": ", ".join(kind_parts),
        "states": states_table(block, [*states[1:], *(s for s in states[:1] if s.visits or s.time_s)]),
        **_states(diagram),
    }


def _states(diagram: StateDiagram | None) -> dict[str, Any]:
    """The drawing of a diagram, and for each state which others follow it; neither if there is no diagram."""
    if diagram is None:
        return {"diagram": "", "followed": ()}
    followed = [
        {
            "name": f"{state.of} {state.name}".strip(),
            "category": state.category,
            "by": ", ".join(next_words(diagram, at)),
        }
        for at, state in enumerate(diagram.states)
    ]
    return {"diagram": Markup(states_svg(diagram, PAGE)), "followed": followed}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    a, b = comparison.time_s
    largest = max((s.time_s for p in comparison.states for s in (p.a, p.b) if s), default=0.0)
    findings = {"gone": comparison.only_in_a, "kept": [a for a, _ in comparison.in_both], "new": comparison.only_in_b}
    names = {
        kind: ", ".join(dict.fromkeys(f.title for f in listed if not f.part_of)) for kind, listed in findings.items()
    }
    return {
        "other": "the other run",
        "answer": f"This run takes {time_text(a, 4)}, the other {time_text(b, 4)}:"
        f" {faster_words(comparison, 'the other run')}.",
        "work": f"{work_words(comparison)} (this run is A, the other B). {share_words(comparison)}",
        "states": [_state_pair(pair, largest) for pair in comparison.states],
        **names,
    }


def _state_pair(pair: Pair[StateMetrics], largest: float) -> dict[str, Any]:
    a, b = (state.time_s if state else 0.0 for state in (pair.a, pair.b))
    existing = pair.a or pair.b
    category = existing.state.category if existing else None
    canvas = SvgCanvas(PAGE)
    for y, value in ((1.0, a), (10.0, b)):
        draw_swatch(canvas, 0, y, max(PICTURE_WIDTH * value / largest if largest else 0.0, 1.0), 8, category)
    change = b - a
    sign = "−" if change < 0 else "+" if change > 0 else ""
    return {
        "name": pair.name,
        "swatch": swatch(category),
        "a": time_text(a) if pair.a else "none",
        "b": time_text(b) if pair.b else "none",
        "bar": Markup(canvas.document(PICTURE_WIDTH, 19, f"{pair.name} in both runs")),
        "change": f"{sign}{time_text(abs(change))}",
        "less": change < 0,
    }


def _facts(run: Run, platform: Platform | None) -> list[dict[str, str]]:
    manifest = run.manifest
    facts = {
        "Run": f"{manifest.name}, {_when(manifest)}",
        "Status": manifest.status.value + (f": {manifest.reason}" if manifest.reason else ""),
        "Project": manifest.project,
        "Platform": f"{platform.title}, {platform.name}" if platform else manifest.platform,
        "Settings": ", ".join(f"{name} = {value}" for name, value in manifest.settings.items()),
        "Time": f"{manifest.time_ps / PS_PER_S:.12f} s ({thousands(manifest.time_ps)} ps)",
        "How it was measured": ", ".join(
            [
                "simulated card" if manifest.simulated else "real card",
                "instrumented" if manifest.instrumented else "plain",
                "profile and trace" if manifest.traced else "profile",
                "deterministic" if manifest.deterministic else "host time measured",
                "without network access; writes to the run folder only" if manifest.confined else "not confined",
            ]
        ),
        "Clocks": "; ".join(map(_clock_fact, manifest.clocks)),
        "FPGA times": exact_words(run) if manifest.clocks else "",
        "Cores": cores_words(manifest),
        "Threads": placement_words(manifest),
        "Recording": recording_words(manifest),
        "Exit code": "" if manifest.exit is None else str(manifest.exit),
        "Output (SHA-256)": manifest.stdout_sha256,
        "Tools": ", ".join(f"{name} {version}" for name, version in manifest.tools.items()),
    }
    return [{"name": name, "value": value} for name, value in facts.items() if value]


def _clock_fact(clock: RunClock) -> str:
    derived = f", made from {clock.derived_from}" if clock.derived_from else ""
    how = {
        Alignment.START: "cycle 0 is the run's start",
        Alignment.READ_OUT: "aligned with the host's clock when its counters were frozen",
    }[clock.alignment]
    drift = f", {significant(clock.drift_ppm_per_s)} ppm faster each second" if clock.drift_ppm_per_s else ""
    unsure = f", to {time_text(clock.uncertainty_ps / PS_PER_S)}" if clock.uncertainty_ps else ""
    runs = f"{frequency_text(clock.frequency_hz)}{drift}{derived}"
    return f"{clock.name}: {runs}, {counted(clock.cycles, 'cycle')}, {how}{unsure}"


def _incomplete(run: Run) -> Diagnostic:
    return Diagnostic(shortfall_words(run.manifest))


def _diagnostic_html(problem: Diagnostic) -> Markup:
    place = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
    place_html = Markup('<span class="mono">{}</span> ').format(place) if place else Markup("")
    return Markup('<div class="diagnostic {}">{}{} <span class="second">{}</span></div>').format(
        problem.severity.value, place_html, problem.message, escape(problem.hint)
    )
