"""Pages and tables of a run's critical path by line, with each line's slack, for window, report and terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from workbench.analysis.finding_words import block_words
from workbench.api import views
from workbench.model.blocks import Block
from workbench.model.finding import Place
from workbench.model.prediction import CriticalPath, PathLine, PathPart, Slack
from workbench.model.text import count_text, counted, percent_text, time_text

_Key = tuple[str, str, str, int]  # block, state or call, file, line
_SECOND, _STRONG = ("second", 13, 400), ("text", 13, 600)
_PATH_TIP = "Time of the critical path that is spent here"
_SLACK_TIP = "How much later any one of them may end before the run does; each alone"


@dataclass(frozen=True)
class PathRow:
    """A call or state of a block (or of its replicas together): its time on the critical path, and its least slack,
    None if nothing waits for it, or if that is unknown (as for the host's code between calls)."""

    block: str
    name: str
    file: str
    line: int
    time_s: float
    share: float
    slack_s: float | None
    waited_for: bool


def path_rows(path: CriticalPath, names: Mapping[str, str]) -> tuple[PathRow, ...]:
    """The calls and states of the blocks in `names`: those on the path, the longest first, then the others, the least
    slack first. `names` maps a block to the name under which it is counted."""
    spent: dict[_Key, list[PathLine]] = {}
    slacks: dict[_Key, list[Slack]] = {}
    for line in path.lines:
        if name := names.get(line.block):
            spent.setdefault((name, line.name, line.file, line.line), []).append(line)
    for slack in path.slack:
        if name := names.get(slack.block):
            slacks.setdefault((name, slack.call or slack.state, slack.file, slack.line), []).append(slack)
    rows = [_row(key, spent.get(key, ()), slacks.get(key, ())) for key in dict.fromkeys((*spent, *slacks))]
    return tuple(sorted(rows, key=lambda row: (-row.time_s, row.slack_s is None, row.slack_s or 0.0)))


def names_of_groups(blocks: Iterable[Block]) -> dict[str, str]:
    """The name under which each block is counted: its group, so that replicas count together."""
    return {block.id: block.group or block.id for block in blocks}


def _row(key: _Key, lines: Sequence[PathLine], slack: Sequence[Slack]) -> PathRow:
    least = min((one.slack_s for one in slack if one.slack_s is not None), default=None)
    return PathRow(*key, sum(one.time_s for one in lines), sum(one.share for one in lines), least, bool(slack))


def slack_text(row: PathRow) -> str:
    if row.slack_s is None:
        return "any" if row.waited_for else ""
    return time_text(row.slack_s) if row.slack_s else "0"


def _time_or_slack(row: PathRow) -> str:
    return time_text(row.time_s) if row.time_s else f"slack {slack_text(row)}"


def path_table(rows: Sequence[PathRow], name: Callable[[PathRow], str] | None = None) -> views.Table:
    """With `name`, as in a narrow panel, that is how rows are called, and each has one figure: its time on the path
    (the tip says its slack), or its slack."""
    columns = (
        views.Column("Block", lambda r: block_words(r.block), share=0.8, ink=lambda r: _SECOND),
        views.Column("State or call", name or (lambda r: r.name), share=1.0, elide_middle=True, key=lambda r: r.name,
               ink=lambda r: _STRONG,
               tip_of=lambda r: f"{r.file}:{r.line}" if r.file else "The host's code between its calls"),
        views.Column("On path", lambda r: time_text(r.time_s) if r.time_s else "", width_px=84, right=True,
               key=lambda r: r.time_s, ink=lambda r: _STRONG, tip=_PATH_TIP),
        views.Column("Share", lambda r: percent_text(r.share) if r.time_s else "", width_px=68, right=True,
               key=lambda r: r.share, ink=lambda r: _SECOND),
        views.Column("Least slack", slack_text, width_px=94, right=True,
               key=lambda r: r.slack_s if r.slack_s is not None else float("inf"), ink=lambda r: _SECOND,
               tip=_SLACK_TIP),
    )  # fmt: skip
    figure = views.Column("On path", _time_or_slack, width_px=116, right=True, tip=f"{_PATH_TIP}. Slack: {_SLACK_TIP}",
               key=lambda r: r.time_s or -(r.slack_s if r.slack_s is not None else float("inf")),
               ink=lambda r: _STRONG if r.time_s else _SECOND,
               tip_of=lambda r: f"slack {slack_text(r)}" if r.waited_for else "")  # fmt: skip
    return views.Table(
        "Critical path", (columns[1], figure) if name else columns, rows,
        place=lambda r: Place(r.file, r.line, r.name) if r.file and r.line else None,
    )  # fmt: skip


@dataclass(frozen=True)
class WaitRow:
    """A call or state that waited for another block's, replicas together: number of waits and total time."""

    waiter: PathPart
    waited_for: PathPart
    count: int
    time_s: float


def wait_rows(path: CriticalPath, names: Mapping[str, str]) -> tuple[WaitRow, ...]:
    """Waits between blocks, the longest first; `names` maps a block to the name under which it is counted."""
    sums: dict[tuple[PathPart, PathPart], tuple[int, float]] = {}
    for wait in path.waits:
        pair = _under_group_name(wait.waiter, names), _under_group_name(wait.waited_for, names)
        count, time_s = sums.get(pair, (0, 0.0))
        sums[pair] = count + wait.count, time_s + wait.time_s
    return tuple(sorted((WaitRow(*pair, *spent) for pair, spent in sums.items()), key=lambda row: -row.time_s))


def _under_group_name(part: PathPart, names: Mapping[str, str]) -> PathPart:
    return replace(part, block=names.get(part.block, part.block))


def part_words(part: PathPart) -> str:
    return f"{block_words(part.block)} {part.name}"


def waits_table(rows: Sequence[WaitRow]) -> views.Table:
    """A table of waits: the waiting call or state, the awaited one, and their source places."""
    columns = (
        views.Column("Waits", lambda r: _name_first(r.waiter), share=1.0, ink=lambda r: _STRONG,
               key=lambda r: part_words(r.waiter), tip_of=lambda r: _where(r.waiter)),
        views.Column("For", lambda r: _name_first(r.waited_for), share=1.0,
               key=lambda r: part_words(r.waited_for), tip_of=lambda r: _where(r.waited_for)),
        views.Column("In all", lambda r: time_text(r.time_s), width_px=76, right=True, key=lambda r: r.time_s,
               ink=lambda r: _STRONG, tip="How long it waited in all; of replicas, their sum"),
        views.Column("Times", lambda r: count_text(r.count), width_px=72, right=True, key=lambda r: r.count,
               ink=lambda r: _SECOND),
    )  # fmt: skip
    return views.Table("Who waits for whom", columns, rows, place=lambda r: _place(r.waited_for))


def _name_first(part: PathRow | PathPart) -> str:
    return f"{part.name}, {block_words(part.block)}"


def _where(part: PathPart) -> str:
    return f"{part_words(part)}, {part.file}:{part.line}" if part.file else part_words(part)


def _place(part: PathPart) -> Place | None:
    return Place(part.file, part.line, part.name) if part.file and part.line else None


def wait_words(row: WaitRow) -> str:
    """A wait in one line: `host main poll waits for worker multiply: 4 times, 512 µs in all`."""
    spent = f"{counted(row.count, 'time')}, {time_text(row.time_s)} in all"
    return f"{part_words(row.waiter)} waits for {part_words(row.waited_for)}: {spent}"


def path_words(path: CriticalPath, blocks: Iterable[Block], most: int = 3) -> str:
    """The states in which most of the run's time is spent, in one line."""
    rows = [row for row in path_rows(path, names_of_groups(blocks)) if row.time_s][:most]
    names = [f"{block_words(row.block)} {row.name}" for row in rows]
    places = [
        f" ({PurePath(row.file).name}:{row.line})" if names.count(n) > 1 else ""
        for row, n in zip(rows, names, strict=True)
    ]
    return ", ".join(f"{n}{place} {percent_text(row.share)}" for row, n, place in zip(rows, names, places, strict=True))


def path_page(path: CriticalPath, blocks: Sequence[Block]) -> views.Page:
    """The page of the whole run's critical path."""
    rows = path_rows(path, names_of_groups(blocks))
    about = views.Text("What the run's end waited for, and how much later each line could end.", "second")
    table = path_table(rows, _name_first)
    waits = wait_rows(path, names_of_groups(blocks))
    within = (views.Section("Who waits for whom", (waits_table(waits),)),) if waits else ()
    return views.Page("$path", "Critical path", time_text(path.time_s), (views.Section("", (about, table)), *within))


def path_section(path: CriticalPath | None, members: Sequence[Block]) -> views.Section | None:
    """The critical path's section for one block, or for replicas together; None if the path is unknown or they are not
    on it."""
    mine = {block.id for block in members}
    rows = path_rows(path, dict.fromkeys(mine, members[0].id)) if path else ()
    if path is None or not rows:
        return None
    spent = sum(row.time_s for row in rows)
    note = f"{time_text(spent)} of it, {percent_text(spent / max(path.time_s, 1e-30))}" if spent else "not on it"
    waits = [
        row
        for row in wait_rows(path, names_of_groups(members))
        if {row.waiter.block, row.waited_for.block} & {block.group or block.id for block in members}
    ]
    tables = (path_table(rows, lambda row: row.name), *((waits_table(waits),) if waits else ()))
    return views.Section("Critical path", tables, note=note)
