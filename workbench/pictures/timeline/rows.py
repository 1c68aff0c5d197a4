"""Which rows a timeline has: host blocks and their calls, the clock, FPGA blocks with replicas as one stack."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from workbench.model.blocks import Block, Side, fpga_of, short_labels
from workbench.model.custom import MetricKind
from workbench.model.text import percent_text
from workbench.traces.buses import Bus
from workbench.traces.index import TimelineIndex
from workbench.traces.trace import CATEGORIES


class Kind(StrEnum):
    HEAD = "head"  # the host, or the FPGA's top level
    CALLS = "calls"
    STATES = "states"
    BUS = "bus"  # which transfer has it
    CLOCK = "clock"
    STACK = "stack"  # replicas: how many are at work


SUNKEN = (Kind.HEAD, Kind.STACK, Kind.CLOCK)
#: Height of a row and of the bar in it, in pixels.
HEIGHTS = {
    Kind.HEAD: (26, 0), Kind.CALLS: (26, 16), Kind.STATES: (22, 16), Kind.BUS: (22, 16), Kind.CLOCK: (32, 16),
    Kind.STACK: (24, 14),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One row. `block` is the manifest's number (-1: none), `members` those of a stack, or the number of a bus; `key`
    names what folds it."""

    kind: Kind
    label: str
    note: str = ""
    block: int = -1
    members: tuple[int, ...] = ()
    key: str = ""
    folded: bool = False
    indent: int = 0
    tip: str = ""

    @property
    def height(self) -> int:
        return HEIGHTS[self.kind][0]

    @property
    def bar(self) -> int:
        return HEIGHTS[self.kind][1]


def build_rows(
    blocks: Sequence[Block], index: TimelineIndex, with_calls: bool, folded: Collection[str] = (), wanted: str = "",
    buses: Sequence[Bus] = (),
) -> tuple[Row, ...]:  # fmt: skip
    """The rows in order. `folded`: keys of folded heads and stacks; `wanted`: only ids that contain it."""
    shown = (n for n, b in enumerate(blocks) if b.kind != MetricKind.BRANCH)  # a decision is no course of events
    numbers = [n for n in shown if wanted.lower() in blocks[n].id.lower()]
    host = [n for n in numbers if blocks[n].side is Side.HOST]
    fpga = [n for n in numbers if blocks[n].side is Side.FPGA]
    rows: list[Row] = []
    if host:
        rows.append(Row(Kind.HEAD, "host", "reference clock", key="host", folded="host" in folded))
        if "host" not in folded:
            for n in host:
                label = blocks[n].id.removeprefix("host.")
                if with_calls:
                    rows.append(Row(Kind.CALLS, f"{label}, calls", block=n, indent=1))
                rows.append(_states(label, n, index, 1))
            for number, bus in enumerate(buses if not wanted else ()):
                share = percent_text(bus.busy_ps() / max(index.end_ps, 1))
                tip = f"{bus.name}: {share} busy, whole run"
                rows.append(Row(Kind.BUS, bus.name, share, members=(number,), indent=1, tip=tip))
    if host and fpga:
        rows.append(Row(Kind.CLOCK, "Clock, host to FPGA"))
    of_fpga: dict[str, list[int]] = {}  # those with designs of their own have a head each
    for n in fpga:
        place = fpga_of(blocks[n].id)
        of_fpga.setdefault(place if place.endswith(":") else "", []).append(n)
    for own in of_fpga.values():
        top = blocks[own[0]].id.split(".")[0]
        rows.append(Row(Kind.HEAD, top, "on host clock", key=top, folded=top in folded))
        if top not in folded:
            rows.extend(_fpga_rows(blocks, own, index, folded))
    return tuple(rows)


def _fpga_rows(
    blocks: Sequence[Block], numbers: Sequence[int], index: TimelineIndex, folded: Collection[str]
) -> list[Row]:
    labels = short_labels([blocks[n] for n in numbers])
    groups: dict[str, list[int]] = {}
    for n in numbers:
        groups.setdefault(blocks[n].group, []).append(n)
    rows: list[Row] = []
    for group, members in groups.items():
        metric = blocks[members[0]].is_metric
        if len(members) == 1:
            rows.append(_states(labels[blocks[members[0]].id], members[0], index, 1, metric))
            continue
        name = labels[blocks[members[0]].id]
        name = name[: name.index("[")] + name[name.rindex("]") + 1 :] if "[" in name else name
        share = float(np.mean([_busy(index, n, metric)[0] for n in members]))
        rows.append(
            Row(
                Kind.STACK,
                f"{name} × {len(members)}",
                percent_text(share),
                members=tuple(members),
                key=group,
                folded=group in folded,
                tip=f"{group}: mean share {'counted' if metric else 'of work'}",
            )
        )
        if group not in folded:
            rows.extend(_states(labels[blocks[n].id], n, index, 1, metric) for n in members)
    return rows


def _states(label: str, block: int, index: TimelineIndex, indent: int, metric: bool = False) -> Row:
    share, what = _busy(index, block, metric)
    return Row(
        Kind.STATES,
        label,
        percent_text(share),
        block=block,
        indent=indent,
        tip=f"{percent_text(share)} {what}, whole run",
    )


def _busy(index: TimelineIndex, row: int, metric: bool = False) -> tuple[float, str]:
    """The share of work; where a block never works, the share of moving data; of a metric that in which it counts."""
    totals = index.totals_ps[row]
    time = max(int(totals.sum()), 1)
    work = int(totals[CATEGORIES.index("work")])
    if work:
        return work / time, "work"
    if metric:
        return int(totals[CATEGORIES.index("overhead")]) / time, "counted"
    moving = int(totals[CATEGORIES.index("send")] + totals[CATEGORIES.index("recv")])
    return moving / time, "moving data"
