"""What lines of source say of the findings about them: each once, with what its best change is predicted to gain."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import PurePath

from workbench.analysis.finding_words import gain_words, is_small, short_gain_text
from workbench.analysis.trial_page import set_title
from workbench.api.results import Analysis
from workbench.model.finding import Finding, tops


@dataclass(frozen=True)
class LineAdvice:
    """`finding` is its id. `gain` is what its best change `title` is predicted to gain, or its bound, and `short` the
    figure alone."""

    finding: str
    level: str
    title: str
    gain: str
    short: str
    words: str
    can_try: bool


def line_advice(analysis: Analysis, aside: Collection[str], same_file: Callable[[str], bool]) -> dict[int, LineAdvice]:
    """By line of a file: each finding that has advice of its own at a line that its best change is about."""
    by_line: dict[int, LineAdvice] = {}
    for finding in tops(analysis.findings):
        if finding.points_elsewhere or is_small(finding) or finding.id in aside:
            continue
        places = _places(finding)
        here = [line for file, line in places if same_file(file) and line not in by_line]
        if here and same_file(places[0][0]):  # once, in the file that is changed first
            by_line[here[0]] = _advice(finding, f" of {PurePath(places[0][0]).name}:{here[0]}")
    return by_line


def _places(finding: Finding) -> list[tuple[str, int]]:
    """The finding's places, those of the calls that its best change is about first."""
    changed = [call for one in finding.advice[:1] for change in one.changes for call in getattr(change, "calls", ())]
    places = [(place.file, place.line) for place in finding.places]
    order = {call: number for number, call in enumerate(reversed(changed))}
    return sorted(places, key=lambda place: -order.get(f"{place[0]}:{place[1]}", -1))


def _advice(finding: Finding, of_line: str) -> LineAdvice:
    """The advice of a finding; its title needs not say of which line it is."""
    best = finding.advice[0].changes if finding.advice else ()
    title = set_title(best[:1]).replace(of_line, "") if best else finding.title
    more = f" and {len(best) - 1} more" if len(best) > 1 else ""
    short = short_gain_text(finding)
    gain = f"predicted {short}" if finding.speedup_predicted is not None else short
    whole = ": ".join(dict.fromkeys((finding.title, set_title(best) if best else finding.title)))
    return LineAdvice(
        finding.id, finding.sign, f"{title}{more}", gain, short, f"{whole}: {gain_words(finding)}", bool(best)
    )
