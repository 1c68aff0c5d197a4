"""Where a pragma may stand: the calls and branches of one file, as the scan found them. Plain data, no Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.model.platform import CallKind, Platform
from workbench.model.pragma import CPU, MEM, Category, PlacedPragma, Pragma
from workbench.model.scan import Branch, HdlBlock, ProjectScan

SameFile = Callable[[str], bool]

_CATEGORY_OF_KIND = {
    CallKind.SEND: Category.SEND,
    CallKind.RECEIVE: Category.RECV,
    CallKind.WAIT: Category.WAIT_RECV,
    CallKind.INTERRUPT: Category.WAIT_RECV,
}


@dataclass(frozen=True)
class Point:
    """A call or branch. A pragma would be inserted before `pragma_line`, at column `indent`, both from 1.

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


def points_of(scan: ProjectScan, same_file: SameFile) -> tuple[Point, ...]:
    """Every call and branch of a file, by line."""
    found = [
        Point("call", c.line, c.line, c.pragma_line or c.line, c.indent, c.callee, c.pragmas, bool(c.pragmas), c.kind)
        for c in scan.host.calls
        if same_file(c.file)
    ]
    for block in scan.hdl.blocks:
        if same_file(block.file) and not block.why_not:
            found += _branches(block)
    return tuple(sorted(found, key=lambda p: (p.line, -p.end_line)))


def _branches(block: HdlBlock) -> list[Point]:
    return [
        Point(
            "branch", b.line, b.end_line or b.line, b.pragma_line or b.line + 1, b.indent, b.label, b.pragmas,
            _covered(b, block.branches), "", block.id,
        )
        for b in block.branches
    ]  # fmt: skip


def _inside(inner: Branch, outer: Branch) -> bool:
    same = (inner.line, inner.end_line) == (outer.line, outer.end_line)
    return not same and outer.line <= inner.line and (inner.end_line or inner.line) <= (outer.end_line or outer.line)


def _covered(branch: Branch, branches: Sequence[Branch]) -> bool:
    """By its own pragma, one around it, or because all its time is spent in branches within it."""
    if branch.pragmas or any(_inside(branch, other) and other.pragmas for other in branches):
        return True
    return any(_inside(other, branch) for other in branches)


def open_points(points: Iterable[Point]) -> tuple[Point, ...]:
    """Those that no pragma speaks of."""
    return tuple(p for p in points if not p.covered)


def point_at(points: Sequence[Point], line: int) -> Point | None:
    """What a click on a line means: what begins there, or has its pragma there, or the innermost branch around it."""
    for point in points:
        if point.line == line or any(p.line == line for p in point.pragmas):
            return point
    around = [p for p in points if p.line <= line <= p.end_line]
    return min(around, key=lambda p: p.end_line - p.line, default=None)


@dataclass(frozen=True)
class Choices:
    """What the popover offers, likeliest first. `meanings` says what a reason stands for, where that is known."""

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
    starred = [re.sub(r"\[\d+\]", "[*]", path) for path, _ in scan.hdl.instances]
    messages = list(dict.fromkeys(m for p in pragmas for m in p.messages))
    meanings = {reason: meaning for found in known.values() for reason, meaning in found.items()}
    return Choices(
        reasons,
        tuple(dict.fromkeys([*targets, CPU, MEM, *starred])),
        (*messages, new_name("m1", messages)),
        meanings,
    )


def all_pragmas(scan: ProjectScan) -> tuple[PlacedPragma, ...]:
    return (*(p for c in scan.host.calls for p in c.pragmas), *(p for b in scan.hdl.blocks for p in b.pragmas))


def suggested(point: Point, scan: ProjectScan, offered: Choices) -> Pragma:
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
