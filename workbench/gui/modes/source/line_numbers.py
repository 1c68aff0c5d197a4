"""What a run says about the lines of one file: share of time, visits, critical path. Plain data, no Qt."""

from collections.abc import Callable
from dataclasses import dataclass

from workbench.analysis import Analysis, BlockMetrics
from workbench.analysis.finding_words import block_words
from workbench.analysis.path_page import PathRow, names_of_groups, path_rows, slack_text
from workbench.analysis.verification import assertion_words
from workbench.model.blocks import Side
from workbench.model.custom import IMPLIED, OF_DESIGN
from workbench.model.pragma import Category
from workbench.model.text import count_text, counted, percent_text, time_text
from workbench.pictures.states import Shares, mean_shares

SameFile = Callable[[str], bool]


@dataclass(frozen=True)
class LineNumbers:
    """One line: its share of the run's time (the mean over replicas), by category, and how often it was entered."""

    shares: Shares
    visits: float
    what: str

    @property
    def share(self) -> float:
        return sum(share for _, share in self.shares)


def line_numbers(analysis: Analysis, same_file: SameFile) -> dict[int, LineNumbers]:
    """By line, for the states and call sites that are in a file."""
    by_line: dict[int, list[tuple[Category | None, float, float, str]]] = {}
    for group in analysis.groups():
        first = group.members[0]
        if first.block.side is Side.HOST or first.block.kind in OF_DESIGN:
            continue
        count = len(group.members)
        for index, metrics in enumerate(first.states):
            state = metrics.state
            if state.line is None or state.file is None or not same_file(state.file):
                continue
            share = sum(m.states[index].share for m in group.members) / count
            visits = sum(m.states[index].visits for m in group.members) / count
            by_line.setdefault(state.line, []).append((state.category, share, visits, state.name))
    for call in analysis.calls:
        if same_file(call.site.file):
            numbers = (call.state.category, call.share, float(call.count), call.state.name)
            by_line.setdefault(call.site.line, []).append(numbers)
    return {line: _together(parts) for line, parts in by_line.items()}


@dataclass(frozen=True)
class LinePath:
    """One line on the critical path, or beside it: the time spent here, its share of the path, and in words which
    block and call or state that is, and how much later it may end."""

    time_s: float
    share: float
    words: str


def line_paths(analysis: Analysis, same_file: SameFile) -> dict[int, LinePath]:
    """By line of a file; empty where the critical path is not known."""
    path = analysis.what_if.path if analysis.what_if else None
    by_line: dict[int, list[PathRow]] = {}
    if path is not None:
        for row in path_rows(path, names_of_groups(m.block for m in analysis.blocks)):
            if row.line and same_file(row.file):
                by_line.setdefault(row.line, []).append(row)
    return {
        line: LinePath(sum(r.time_s for r in rows), sum(r.share for r in rows), "\n".join(map(_path_words, rows)))
        for line, rows in by_line.items()
    }


@dataclass(frozen=True)
class LineCheck:
    """What became of a line's branches and assertions: in a word or a number, whether that is `bad` (one was never
    taken, or failed), and of each by itself."""

    text: str
    bad: bool
    words: str


def line_checks(analysis: Analysis, same_file: SameFile) -> dict[int, LineCheck]:
    """By line, of the branches and assertions of a file; empty where none was counted."""
    by_line: dict[int, list[tuple[str, bool, str]]] = {}
    for decision in analysis.decisions:
        for arm in decision.arms if same_file(decision.file) else ():
            said = f"{arm.name}: {counted(arm.count, 'cycle')}" if arm.count else f"{arm.name}: never taken"
            often = count_text(arm.count) if arm.count else "never"
            found = (f"else {often}" if arm.name == IMPLIED else often, not arm.count, said)
            by_line.setdefault(arm.line, []).append(found)
    for one in analysis.assertions:
        if same_file(one.file):
            text = f"failed {count_text(one.failed)}" if one.failed else "held" if one.held else "not asked"
            by_line.setdefault(one.line, []).append((text, bool(one.failed), assertion_words(one)))
    return {
        line: LineCheck(max(parts, key=lambda part: part[1])[0], any(bad for _, bad, _ in parts),
                        "\n".join(words for _, _, words in parts))
        for line, parts in by_line.items()
    }  # fmt: skip


def _path_words(row: PathRow) -> str:
    """`host main put: 8.1 ms of the critical path (62 %), least slack 0`."""
    spent = f"{time_text(row.time_s)} of the critical path ({percent_text(row.share)})" if row.time_s else ""
    slack = slack_text(row)
    spare = "" if not slack else "nothing waits for it" if slack == "any" else f"least slack {slack}"
    said = [spent or "not on the critical path", *([spare] if spare else [])]
    return f"{block_words(row.block)} {row.name}: {', '.join(said)}"


def _together(parts: list[tuple[Category | None, float, float, str]]) -> LineNumbers:
    shares: dict[Category | None, float] = {}
    for category, share, _, _ in parts:
        shares[category] = shares.get(category, 0.0) + share
    names = ", ".join(dict.fromkeys(name for _, _, _, name in parts))
    return LineNumbers(tuple(shares.items()), sum(visits for _, _, visits, _ in parts), names)


def file_shares(analysis: Analysis, same_file: SameFile) -> Shares:
    """The mean shares of the blocks that are in a file; empty when there is none."""
    return mean_shares(_here(analysis, same_file))


def blocks_of(analysis: Analysis, same_file: SameFile, line: int | None = None) -> list[BlockMetrics]:
    """The blocks that are in a file; with a line, the replicas of the last one that begins at or before it."""
    here = _here(analysis, same_file)
    if line is None or not here:
        return here
    before = [m for m in here if (m.block.line or 0) <= line]
    chosen = max(before, key=lambda m: m.block.line or 0) if before else here[0]
    return [m for m in here if m.block.group == chosen.block.group]


def _here(analysis: Analysis, same_file: SameFile) -> list[BlockMetrics]:
    """The blocks of a file, what is counted of its assertions and branches apart."""
    of_file = [m for m in analysis.blocks if m.block.file is not None and same_file(m.block.file)]
    return [m for m in of_file if m.block.kind not in OF_DESIGN]
