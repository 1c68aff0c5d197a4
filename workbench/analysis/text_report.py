"""Writes the report for a terminal: what to fix first, why, how, and the largest possible gain."""

import textwrap
from collections.abc import Iterator, Sequence

from workbench.analysis.change_words import change_title
from workbench.analysis.cores import cores_words
from workbench.analysis.custom import custom_words
from workbench.analysis.finding_page import finding_page, ranks_of
from workbench.analysis.finding_words import FOLLOWING, nothing_words, ranked_words, shortfall_words
from workbench.analysis.memory import memory_words
from workbench.analysis.path_page import path_words
from workbench.analysis.recording import recording_words
from workbench.analysis.verification import assertions_words, coverage_words
from workbench.api import views
from workbench.api.results import Analysis, BlockMetrics, GroupMetrics
from workbench.api.virtual_time import TABLE
from workbench.model.blocks import QUEUED, Side
from workbench.model.finding import count_words, tops
from workbench.model.platform import Platform
from workbench.model.pragma import COMMUNICATION, Category
from workbench.model.run import Run
from workbench.model.text import NARROW, counted, listed, percent_text, ratio_text, time_text
from workbench.traces.clocks import exact_words

_LABEL = 8
_MOST_THREADS = 4
_LEAST_SHARE = 0.005  # the least share of a run that is printed
#: The basis of bounds on unmarked FPGA work: the host's longest wait, the memory's traffic.
_UNMARKED = ": the upper bounds are correct but may be much too high (`workbench propose` suggests pragmas)"
_NUMBERS = {2: "two", 3: "three"}


def text_report(run: Run, analysis: Analysis, platform: Platform | None, width: int, everything: bool = False) -> str:
    """The report's lines, at most `width` wide; `everything` unfolds all advice, parts and numbers."""
    lines = [*_head(run, analysis, platform), ""]
    findings = tops(analysis.findings)
    if not findings:
        lines.append(nothing_words(run.manifest, analysis))
    else:
        lines.append(f"Findings: {count_words(analysis.findings)}, {ranked_words(analysis, ' (--predict SECONDS)')}")
        lines += _what_if(analysis)
    ranks = ranks_of(analysis.findings)
    for finding in sorted(findings, key=lambda f: f.points_elsewhere):
        if finding.points_elsewhere and FOLLOWING not in lines:
            lines += ["", FOLLOWING]
        mark = f"{ranks[finding.id]}." if finding.id in ranks else "–"
        lines += ["", *_finding(mark, finding_page(finding, analysis, platform), everything)]
    if not everything and any(len(f.advice) > 1 for f in findings):
        lines += ["", "All advice and every number behind it: --all. HTML page with pictures: --html FILE."]
    return "\n".join(_wrapped(line.replace(NARROW, " "), width) for line in lines)


def _what_if(analysis: Analysis) -> Iterator[str]:
    """Lines with the predicted gains of the best advice and of the best sets; without predictions, the reason."""
    what_if = analysis.what_if
    if what_if is None:
        return
    if what_if.why:
        yield f"No speedups are predicted: {what_if.why}."
    for number, best in enumerate(what_if.best[1:], 2):
        titles = " + ".join(dict.fromkeys(map(change_title, best.changes)))
        yield f"Best {_NUMBERS[number]}, predicted {ratio_text(best.speedup or 0.0)}: {titles}."
    if what_if.after and what_if.best:
        first = what_if.after[0]
        yield (
            f"After the best one, predicted {ratio_text(what_if.best[0].speedup or 0.0)}, {first.block} in "
            f"{first.state} has the largest share of the critical path: {percent_text(first.share)}."
        )
    if what_if.path and (path_text := path_words(what_if.path, (m.block for m in analysis.blocks))):
        yield f"Critical path: {path_text}{'; ' if what_if.path.why else ''}{what_if.path.why}."


def _head(run: Run, analysis: Analysis, platform: Platform | None) -> Iterator[str]:
    manifest = run.manifest
    if sentence := shortfall_words(manifest):
        yield sentence
        yield ""
    name = (platform.title or platform.name) if platform else manifest.platform
    if manifest.simulated:
        kind = "virtual, on the simulated card" + (f" of {name}" if name else "")
    else:
        kind = "measured" + (f" on {name}" if name else "")
    yield f"{manifest.name or 'Run'}: {time_text(analysis.time_s, 4)} {kind}"
    hosts = [m for m in analysis.side(Side.HOST) if m.time_s]
    named_hosts = sorted(hosts, key=_activity, reverse=True)[:_MOST_THREADS]
    yield from (_shares(host) for host in hosts if host in named_hosts)
    if more := len(hosts) - len(named_hosts):
        rest_activity = percent_text(max(_activity(m) for m in hosts if m not in named_hosts))
        rest_activity = (
            f"less than {rest_activity[2:]}" if rest_activity.startswith("<") else f"at most {rest_activity}"
        )
        verb = "works or moves" if more == 1 else "work or move"
        yield f"{counted(more, 'more host thread')} {verb} data {rest_activity} of the time."
    groups = [g for g in analysis.groups() if g.members[0].block.side is Side.FPGA and g.best.time_s]
    busiest = max(groups, key=lambda g: g.mean_work_share, default=None)
    if busiest is not None and busiest.mean_work_share:
        share = percent_text(busiest.mean_work_share)
        yield f"The busiest FPGA block, {_group_name(busiest)}, works {share} of the time."
    elif busiest is not None:
        yield f"No pragma says when the FPGA works{_UNMARKED if analysis.findings else ''}."
    for port in (one for one in analysis.memory_ports if one.bytes):
        yield f"{memory_words(port)} of the time."
    for metric in analysis.custom:
        yield f"{custom_words(metric)}."
    if sentence := assertions_words(analysis.assertions):
        yield f"{sentence}."
    if sentence := coverage_words(analysis.decisions):
        yield f"{sentence}."
    if sentence := cores_words(manifest):
        yield f"{sentence}."
    if TABLE in run.tables:
        yield f"FPGA times: {exact_words(run)}."
    if sentence := recording_words(manifest):
        yield f"{sentence[0].upper()}{sentence[1:]}."


def _shares(host: BlockMetrics) -> str:
    """The shares of the run's time by a host thread's activity, all of it."""
    queued = sum(s.share for s in host.states if s.state.category is None and s.state.name == QUEUED)
    other_shares = {
        "overhead": host.share_of(Category.OVERHEAD),
        "ready for a core": queued,
        "before it began or after it ended": host.states[0].share,
    }
    more = listed(
        [f"{percent_text(share)} {activity}" for activity, share in other_shares.items() if share >= _LEAST_SHARE]
    )
    return (
        f"{host.block.id} works {percent_text(host.share_of(Category.WORK))} of the time, moves data"
        f" {percent_text(host.share_of(*COMMUNICATION))} and waits {percent_text(host.waiting_share)}."
        f"{f' The rest: {more}.' if more else ''}"
    )


def _activity(host: BlockMetrics) -> float:
    return host.share_of(Category.WORK, *COMMUNICATION)


def _group_name(group: GroupMetrics) -> str:
    return group.group + (f" × {len(group.members)}" if len(group.members) > 1 else "")


def _finding(mark: str, page: views.Page, everything: bool) -> Iterator[str]:
    yield f"{mark} {page.title}: {page.summary}"
    yield _labelled("where", page.where)
    brief = [f for s in page.sections for i in s.items if isinstance(i, views.Facts) for f in i.facts if f.brief]
    for section in page.sections:
        if not (everything or section.brief):
            if links := [link for item in section.items if isinstance(item, views.Links) for link in item.links]:
                first = ", ".join((links[0].title, *links[0].values))
                yield _labelled(section.word, f"{len(links)}, the first: {first}")
            continue
        word = section.word
        for item in section.items:
            if isinstance(item, views.Steps):
                yield from _steps(item, everything)
            for line in _lines(item, brief):
                yield _labelled(word, line)
                word = ""


def _lines(item: views.Item, brief: Sequence[views.Fact]) -> Iterator[str]:
    """The lines of an item of a page."""
    match item:
        case views.Figures(figures):
            last_figure = "; ".join(f"{f.title} {f.value}, {f.note}" for f in figures[-1:])
            more = "; ".join(map(_fact, brief))
            yield f"{last_figure}. {more}{'.' if more else ''}"
        case views.Text(text):
            yield text
        case views.Facts(facts):
            yield from map(_fact, facts)
        case views.Links(links):
            yield from (", ".join((link.title, *link.values)) for link in links)


def _steps(steps: views.Steps, everything: bool) -> Iterator[str]:
    shown = steps.steps if everything else steps.steps[: steps.shown]
    for number, step in enumerate(shown):
        yield _labelled("or" if number else "how", step.text)
        for fact in step.detail:
            yield _labelled("", f"{fact.title}{' → ' if fact.value else ''}{fact.value}")
        for note in (*step.notes, *(tag for tag, _ in step.tags)):
            yield _labelled("", note)
    if len(steps.steps) > len(shown):
        yield _labelled("or", steps.folded)


def _fact(fact: views.Fact) -> str:
    return f"{fact.title}: {fact.value}"


def _labelled(name: str, text: str) -> str:
    return f"   {name:<{_LABEL}}{text.strip()}"


def _wrapped(line: str, width: int) -> str:
    indent = " " * (3 + _LABEL) if line.startswith("   ") else ""
    return textwrap.fill(line, max(width, 40), subsequent_indent=indent, break_long_words=False) if line else ""
