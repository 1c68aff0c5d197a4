"""The report on a terminal: what to mend first, why, how, and what it gains at most."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import PurePath

from workbench.analysis.cores import cores_words
from workbench.analysis.finding_words import (
    FOLLOWING,
    RANKED,
    becomes_words,
    bound_text,
    bound_words,
    folded_words,
    nothing_words,
    shortfall_words,
)
from workbench.analysis.memory import memory_words
from workbench.analysis.recording import recording_words
from workbench.analysis.report_rows import place_words, shortener
from workbench.api.metrics import Value
from workbench.api.results import Analysis, BlockMetrics, GroupMetrics
from workbench.api.virtual_time import TABLE
from workbench.model.blocks import Side
from workbench.model.finding import Finding, count_words, tops
from workbench.model.platform import Platform
from workbench.model.pragma import COMMUNICATION, Category
from workbench.model.run import Run
from workbench.model.text import NARROW, counted, percent_text, time_text
from workbench.traces.clocks import exact_words

_LABEL = 8
_MOST_NUMBERS = 4
_TELLING = ("count", "longest.bytes_per_call", "rate.avg", "bytes_per_call", "time_each", "runs.avg", "visits")
_MOST_PLACES = 3
_MOST_THREADS = 4


def text_report(run: Run, analysis: Analysis, platform: Platform | None, width: int, everything: bool = False) -> str:
    """Lines of at most `width`; `everything` unfolds all advice, parts and numbers."""
    lines = [*_head(run, analysis, platform), ""]
    findings = tops(analysis.findings)
    if not findings:
        lines.append(nothing_words(run.manifest, analysis))
    else:
        lines.append(f"Findings: {count_words(analysis.findings)}, {RANKED}")
    ranked = [finding for finding in findings if not finding.points_elsewhere]
    for number, finding in enumerate(ranked, 1):
        lines += ["", *_finding(f"{number}.", finding, run, analysis, everything)]
    if len(ranked) < len(findings):
        lines += ["", FOLLOWING]
    for finding in findings[len(ranked) :]:
        lines += ["", *_finding("–", finding, run, analysis, everything)]
    if not everything and any(len(f.advice) > 1 for f in findings):
        lines += ["", "All advice and every number behind it: --all. As a page with pictures: --html FILE."]
    return "\n".join(_wrapped(line.replace(NARROW, " "), width) for line in lines)


def _head(run: Run, analysis: Analysis, platform: Platform | None) -> Iterator[str]:
    manifest = run.manifest
    if said := shortfall_words(manifest):
        yield said
        yield ""
    name = (platform.title or platform.name) if platform else manifest.platform
    if manifest.simulated:
        kind = "virtual, on the simulated card" + (f" of {name}" if name else "")
    else:
        kind = "measured" + (f" on {name}" if name else "")
    yield f"{manifest.name or 'Run'}: {time_text(analysis.time_s, 4)} {kind}"
    hosts = [m for m in analysis.side(Side.HOST) if m.time_s]
    named = sorted(hosts, key=_activity, reverse=True)[:_MOST_THREADS]
    for host in (m for m in hosts if m in named):
        yield (
            f"{host.block.id} works {percent_text(host.share_of(Category.WORK))} of the time, moves data"
            f" {percent_text(host.share_of(*COMMUNICATION))} and waits {percent_text(host.waiting_share)}."
        )
    if more := len(hosts) - len(named):
        least = max(_activity(m) for m in hosts if m not in named)
        yield f"{counted(more, 'more thread')} of the host work or move data at most {percent_text(least)} of the time."
    groups = [g for g in analysis.groups() if g.members[0].block.side is Side.FPGA]
    busiest = max(groups, key=lambda g: g.mean_work_share, default=None)
    if busiest is not None and busiest.best.time_s:
        yield f"The busiest of the FPGA, {_named(busiest)}, works {percent_text(busiest.mean_work_share)}."
    for port in (one for one in analysis.memory_ports if one.bytes):
        yield f"{memory_words(port)} of the time."
    if said := cores_words(manifest):
        yield f"{said}."
    if TABLE in run.tables:
        yield f"FPGA times: {exact_words(run)}."
    if said := recording_words(manifest):
        yield f"{said[0].upper()}{said[1:]}."


def _activity(host: BlockMetrics) -> float:
    return host.share_of(Category.WORK, *COMMUNICATION)


def _named(group: GroupMetrics) -> str:
    return group.group + (f" × {len(group.members)}" if len(group.members) > 1 else "")


def _finding(mark: str, finding: Finding, run: Run, analysis: Analysis, everything: bool) -> Iterator[str]:
    short = shortener(run.manifest.project)
    gain = finding.gain
    limit = "no limit known" if gain == float("inf") else f"at most {bound_text(gain)}"
    yield f"{mark} {finding.title}: {limit}, {becomes_words(analysis.time_s, gain)}"
    files = list(dict.fromkeys(f"{PurePath(short(p.file)).name}:{p.line}" for p in finding.places))
    more = f" and {len(files) - _MOST_PLACES} more" if len(files) > _MOST_PLACES else ""
    places = f" ({', '.join(files[:_MOST_PLACES])}{more})" if files else ""
    yield _labelled("where", place_words(finding, analysis) + places)
    share = percent_text(finding.time_s / analysis.time_s)
    yield _labelled("why", f"{time_text(finding.time_s)} of the run, {share}. {_numbers(finding, analysis)}")
    shown = finding.advice if everything else finding.advice[:1]
    for position, advice in enumerate(shown):
        yield _labelled("how" if not position else "or", advice.text)
        yield _labelled("", bound_words(advice))
    if len(finding.advice) > len(shown):
        yield _labelled("or", folded_words(finding.advice[len(shown) :]))
    parts = [f for f in analysis.findings if f.part_of == finding.id]
    if parts and not everything:
        yield _labelled("parts", f"{len(parts)}, the first: {place_words(parts[0], analysis)}, {_gain(parts[0])}")
    for part in parts if everything else ():
        yield _labelled("part", f"{part.title}, {place_words(part, analysis)}: {_gain(part)}")
    if everything:
        yield _labelled("rule", f"{finding.rule}: {finding.condition}")
        yield _labelled("ideal", f"{bound_text(finding.speedup_ideal)}, if this time went and nothing else changed")
        for name, value in finding.metrics.items():
            yield _labelled("", _metric(name, value, analysis))


def _gain(finding: Finding) -> str:
    return f"{time_text(finding.time_s)}, at most {bound_text(finding.gain)}"


def _metric(name: str, value: Value, analysis: Analysis) -> str:
    metric = analysis.metrics[name]
    return f"{metric.title}: {metric.text(value)}"


def _numbers(finding: Finding, analysis: Analysis) -> str:
    """The first few numbers that the rule shows and that are worth a line."""
    told = [name for name in _TELLING if finding.metrics.get(name)][:_MOST_NUMBERS]
    said = [_metric(name, finding.metrics[name], analysis) for name in told]
    return "; ".join(said) + "." if said else ""


def _labelled(name: str, text: str) -> str:
    return f"   {name:<{_LABEL}}{text.strip()}"


def _wrapped(line: str, width: int) -> str:
    indent = " " * (3 + _LABEL) if line.startswith("   ") else ""
    return textwrap.fill(line, max(width, 40), subsequent_indent=indent, break_long_words=False) if line else ""
