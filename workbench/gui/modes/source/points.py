"""Where a pragma may be: the calls and branches of one file, as the scan found them. Plain data, no Qt."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.model.blocks import as_target
from workbench.model.platform import CallKind, Platform
from workbench.model.pragma import CPU, MEM, Category, PlacedPragma, Pragma
from workbench.model.scan import ProjectScan

SameFile = Callable[[str], bool]

_CATEGORY_OF_KIND = {
    CallKind.SEND: Category.SEND,
    CallKind.RECEIVE: Category.RECV,
    CallKind.WAIT: Category.WAIT_RECV,
    CallKind.INTERRUPT: Category.WAIT_RECV,
    CallKind.SEND_MESSAGE: Category.SEND,
    CallKind.AWAIT_MESSAGE: Category.WAIT_RECV,
}


@dataclass(frozen=True)
class MarkPoint:
    """A call or branch. A pragma would be inserted before `pragma_line`, at column `indent`, both from 1, or where
    there is a `column` before what is from there on.

    `covered` is whether a pragma speaks of it: its own, or one of a branch around it.
    """

    kind: str  # "call" or "branch"
    line: int
    end_line: int
    pragma_line: int
    indent: int
    label: str
    pragmas: tuple[PlacedPragma, ...] = ()
    covered: bool = False
    call_kind: str = ""
    block: str = ""
    column: int = 0


def points_of(scan: ProjectScan, same_file: SameFile) -> tuple[MarkPoint, ...]:
    """Every call and branch of a file, by line."""
    points = [
        MarkPoint("call", c.line, c.line, c.pragma_line or c.line, c.indent, c.callee, c.pragmas, call_kind=c.kind)
        for c in scan.host.calls
        if same_file(c.file)
    ]
    for block in scan.hdl.blocks:
        if same_file(block.file) and not block.why_not:
            points += [
                MarkPoint(
                    "branch", b.line, b.end_line or b.line, b.pragma_line, b.indent, b.label, b.pragmas,
                    block=block.id, column=b.pragma_column,
                )
                for b in block.branches
                if b.pragma_line
            ]  # fmt: skip
    return _covered(sorted(points, key=lambda p: (p.line, -p.end_line)))


def points_now(points: Sequence[MarkPoint], lines: LinesMoved, placed: Sequence[PlacedPragma]) -> tuple[MarkPoint, ...]:
    """The scan's points in a text that was edited since: on the lines where they are now, with the pragmas there now.

    `placed` are the text's pragmas. A new one belongs to the point right before whose place it is.
    """
    if lines.same:  # as it was scanned
        return tuple(points)
    by_line, place = {p.line: p for p in placed}, lines.place
    moved = []
    for point in points:
        line = place(point.line)
        if not line or (point.column and not place(point.pragma_line)):
            continue
        before = place(point.pragma_line) or (place(point.pragma_line - 1) or line - 1) + 1
        own = [by_line[place(p.line)] for p in point.pragmas if place(p.line) in by_line]
        above = before - 1
        while above in by_line and not lines.original(above):
            own.insert(0, by_line[above])
            above -= 1
        end = place(point.end_line) or line + point.end_line - point.line
        now, was = (line, end, before), (point.line, point.end_line, point.pragma_line)
        if now != was or own or point.pragmas:
            point = replace(point, line=now[0], end_line=end, pragma_line=before, pragmas=tuple(own))
        moved.append(point)
    return _covered(moved)


def _covered(points: Iterable[MarkPoint]) -> tuple[MarkPoint, ...]:
    """By its own pragma; a branch by one around it too, or because all its time is spent in branches within it."""
    points = tuple(points)
    blocks: dict[str, list[MarkPoint]] = {}
    for point in points:
        if point.kind == "branch":
            blocks.setdefault(point.block, []).append(point)
    spoken_of = {(block, *extent) for block, branches in blocks.items() for extent in _spoken_of(branches)}

    def now(point: MarkPoint) -> MarkPoint:
        covered = bool(point.pragmas) or (point.block, point.line, point.end_line) in spoken_of
        return point if covered == point.covered else replace(point, covered=covered)

    return tuple(now(point) for point in points)


def _spoken_of(branches: Sequence[MarkPoint]) -> Iterator[tuple[int, int]]:
    """The extents of a block's branches that have another within, or are in one that has a pragma."""
    marked = {(p.line, p.end_line) for p in branches if p.pragmas}
    outermost_first = sorted({(p.line, p.end_line) for p in branches}, key=lambda extent: (extent[0], -extent[1]))
    furthest = 0  # where branches with a pragma end that began before
    for line, end in outermost_first:
        if end <= furthest:
            yield line, end
        if (line, end) in marked:
            furthest = max(furthest, end)
    nearest: float = inf  # where branches end that begin after
    for line, end in reversed(outermost_first):
        if nearest <= end:
            yield line, end
        nearest = min(nearest, end)


def open_points(points: Iterable[MarkPoint]) -> tuple[MarkPoint, ...]:
    """The points without a pragma."""
    return tuple(p for p in points if not p.covered)


def point_at(points: Sequence[MarkPoint], line: int) -> MarkPoint | None:
    """What a click on a line means: what begins there, or has its pragma there, or the innermost branch around it."""
    for point in points:
        if point.line == line or any(p.line == line for p in point.pragmas):
            return point
    around = [p for p in points if p.line <= line <= p.end_line]
    return min(around, key=lambda p: p.end_line - p.line, default=None)


@dataclass(frozen=True)
class Choices:
    """What the popover offers, likeliest first. `meanings` says what a reason means, where that is known."""

    reasons: Mapping[Category, tuple[str, ...]]
    targets: tuple[str, ...]
    messages: tuple[str, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)


def choices(scan: ProjectScan, platform: Platform | None, known: Mapping[Category, Mapping[str, str]]) -> Choices:
    """Reasons from the project's pragmas, the knowledge base and the platform; targets from pragmas and the design."""
    pragmas = [p.pragma for p in all_pragmas(scan)]
    default = [e.reason for e in platform.host.entries if e.reason] if platform else []
    reasons = {
        category: tuple(
            dict.fromkeys(
                [*(r for p in pragmas if p.category is category for r in p.reasons), *known.get(category, {}), *default]
            )
        )
        for category in Category
    }
    targets = [t for p in pragmas for t in p.targets]
    starred = [as_target(re.sub(r"\[\d+\]", "[*]", path)) for path, _ in scan.hdl.instances]
    messages = list(dict.fromkeys(m for p in pragmas for m in p.messages))
    meanings = {reason: meaning for of_category in known.values() for reason, meaning in of_category.items()}
    return Choices(
        reasons,
        tuple(dict.fromkeys([*targets, CPU, MEM, *starred])),
        (*messages, new_name("m1", messages)),
        meanings,
    )


def all_pragmas(scan: ProjectScan) -> tuple[PlacedPragma, ...]:
    return (*(p for c in scan.host.calls for p in c.pragmas), *(p for b in scan.hdl.blocks for p in b.pragmas))


def suggested(point: MarkPoint, scan: ProjectScan, offered: Choices) -> Pragma:
    """The pragma the popover starts with: the one that is there, or a likely one."""
    if point.pragmas:
        return point.pragmas[0].pragma
    category = _CATEGORY_OF_KIND.get(CallKind(point.call_kind), Category.OVERHEAD) if point.call_kind else Category.WORK
    names = [p.pragma.name for p in all_pragmas(scan)]
    stem = re.sub(r"\W+", "_", point.label.split("::")[-1]).strip("_") or point.kind
    stem = stem if stem[0].isalpha() or stem[0] == "_" else f"state_{stem}"
    target = CPU if point.kind == "branch" else next((t for t in offered.targets if t not in (CPU, MEM)), "top")
    reason = offered.reasons[category][:1]
    return Pragma(new_name(stem, names), category, reason, (target,), (offered.messages[-1],))


def new_name(stem: str, taken: Iterable[str]) -> str:
    """`stem`, or `stem` with the next number that is free."""
    names = set(taken)
    if stem not in names:
        return stem
    match = re.fullmatch(r"(.*?)(\d*)", stem)
    head = match[1] if match else stem
    number = int(match[2] or 1) if match else 1
    while f"{head}{number}" in names:
        number += 1
    return f"{head}{number}"
