"""The rows of a timeline (host blocks and their calls, the clock, FPGA blocks with replicas as one stack), with their
heights."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from workbench.model.blocks import Block, Side, fpga_of, rank_of, short_labels, within_rank
from workbench.model.custom import MetricKind
from workbench.model.text import percent_text
from workbench.traces.buses import Bus
from workbench.traces.index import TimelineIndex
from workbench.traces.trace import CATEGORIES


class Kind(StrEnum):
    HEAD = "head"  # the host, or the FPGA's top level
    CALLS = "calls"
    STATES = "states"
    BUS = "bus"  # the transfer on the bus
    CLOCK = "clock"
    STACK = "stack"  # replicas: the number at work
    SHARES = "shares"  # of one block or all its replicas: the share of each state at each time


SUNKEN = (Kind.HEAD, Kind.STACK, Kind.CLOCK)
#: Height of a row and of the bar in it, in pixels.
HEIGHTS = {
    Kind.HEAD: (26, 0), Kind.CALLS: (26, 16), Kind.STATES: (22, 16), Kind.BUS: (22, 16), Kind.CLOCK: (32, 16),
    Kind.STACK: (24, 14), Kind.SHARES: (40, 34),
}  # fmt: skip
#: Kinds whose rows grow if there is room, with their largest height.
GROWING = {Kind.STATES: 104, Kind.BUS: 104, Kind.STACK: 64, Kind.SHARES: 320}
BAR_PART, GAP_PX = 0.74, 6  # the bar's share of a row, and the gap of a row with shares
LEAST_ROW_PX, NAMED_FROM_PX = 6, 13


@dataclass(frozen=True)
class Row:
    """One row. `block` is the manifest's number (-1: none), `members` those of a stack, or the number of a bus; `key`
    is the name that folds it. Its height, and its bar's, are in pixels."""

    kind: Kind
    label: str
    note: str = ""
    block: int = -1
    members: tuple[int, ...] = ()
    key: str = ""
    folded: bool = False
    indent: int = 0
    tip: str = ""
    name: str = ""  # identifies a pinned row; "" if it cannot be pinned
    height: int = 0
    bar: int = 0

    def __post_init__(self) -> None:
        if not self.height:
            for field, pixels in zip(("height", "bar"), HEIGHTS[self.kind], strict=True):
                object.__setattr__(self, field, pixels)

    def as_high(self, height: int) -> "Row":
        """The row with this height in pixels."""
        low = height < HEIGHTS[Kind.STATES][0]
        free = GAP_PX if self.kind is Kind.SHARES and not low else 0
        bar = height - free if free else max(height - 1, 4) if low else round(height * BAR_PART)
        return replace(self, height=height, bar=bar)


def fitted(rows: Sequence[Row], room_px: int, row_px: int = 0) -> tuple[Row, ...]:
    """The rows with heights for `room_px`, if all fit; with `row_px` that height whatever the room."""
    growing = [row for row in rows if row.kind in GROWING]
    more = _more_px(growing, room_px - sum(row.height for row in rows))
    if more <= 0 and not row_px:
        return tuple(rows)
    heights = {kind: min(row_px or HEIGHTS[kind][0] + more, most) for kind, most in GROWING.items()}
    heights[Kind.STACK] = max(heights[Kind.STACK], HEIGHTS[Kind.STACK][0])  # its counts need that
    return tuple(row.as_high(heights[row.kind]) if row.kind in GROWING else row for row in rows)


def _more_px(growing: Sequence[Row], free_px: int) -> int:
    """How much higher each of these rows can be; those that are then at their largest leave the rest to the others."""
    more = sorted(GROWING[row.kind] - row.height for row in growing)
    while more and more[0] * len(more) <= free_px:
        free_px -= more.pop(0)
    return free_px // len(more) if more else max(GROWING.values())


def build_rows(
    blocks: Sequence[Block], index: TimelineIndex, with_calls: bool, folded: Collection[str] = (), wanted: str = "",
    buses: Sequence[Bus] = (),
) -> tuple[Row, ...]:  # fmt: skip
    """The rows in order. `folded` are keys of folded heads and stacks; with `wanted`, only ids that contain it."""
    all_numbers = (n for n, b in enumerate(blocks) if b.kind != MetricKind.BRANCH)  # a decision has no course over time
    numbers = [n for n in all_numbers if wanted.lower() in blocks[n].id.lower()]
    host = [n for n in numbers if blocks[n].side is Side.HOST]
    fpga = [n for n in numbers if blocks[n].side is Side.FPGA]
    rows: list[Row] = []
    for rank in dict.fromkeys(rank_of(blocks[n].id) for n in host):  # each process has a head of its own
        key = f"host {rank}".strip()
        note = "" if rank else "reference clock"
        rows.append(Row(Kind.HEAD, f"host, {rank}" if rank else "host", note, key=key, folded=key in folded))
        if key not in folded:
            for n in (n for n in host if rank_of(blocks[n].id) == rank):
                label, tip = within_rank(blocks[n].id.removeprefix("host.")), f"calls of {blocks[n].id}"
                if with_calls:
                    name = f"calls {blocks[n].id}"
                    rows.append(Row(Kind.CALLS, f"{label}, calls", block=n, indent=1, tip=tip, name=name))
                rows.append(_states(label, blocks[n].id, n, index))
            for number, bus in enumerate(buses if not wanted else ()):
                if rank_of(bus.name) != rank:
                    continue
                share = percent_text(bus.busy_ps() / max(index.end_ps, 1))
                tip, label = f"{bus.name}: {share} busy, whole run", within_rank(bus.name)
                row = Row(Kind.BUS, label, share, members=(number,), indent=1, tip=tip, name=f"bus {bus.name}")
                rows.append(row)
    if host and fpga:
        rows.append(Row(Kind.CLOCK, "Clock, host to FPGA"))
    of_fpga: dict[str, list[int]] = {}  # those with designs of their own have a head each
    for n in fpga:
        place = fpga_of(blocks[n].id)
        of_fpga.setdefault(place if place.endswith(":") or rank_of(place) else "", []).append(n)
    for place, of_card in of_fpga.items():
        top = place.rstrip(".:") if rank_of(place) else blocks[of_card[0]].id.split(".")[0]
        rows.append(Row(Kind.HEAD, top, "on host clock", key=top, folded=top in folded))
        if top not in folded:
            rows.extend(_fpga_rows(blocks, of_card, index, folded))
    return tuple(rows)


def _fpga_rows(
    blocks: Sequence[Block], numbers: Sequence[int], index: TimelineIndex, folded: Collection[str]
) -> list[Row]:
    labels = {id_: within_rank(label) for id_, label in short_labels([blocks[n] for n in numbers]).items()}
    groups: dict[str, list[int]] = {}
    for n in numbers:
        groups.setdefault(blocks[n].group, []).append(n)
    rows: list[Row] = []
    for group, members in groups.items():
        metric = blocks[members[0]].is_metric
        if len(members) == 1:
            first = blocks[members[0]].id
            rows.append(_states(labels[first], first, members[0], index, metric))
            continue
        name = _of_replicas(labels[blocks[members[0]].id])
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
                name=f"stack {group}",
            )
        )
        if group not in folded:
            rows.extend(_states(labels[blocks[n].id], blocks[n].id, n, index, metric) for n in members)
    return rows


def _of_replicas(label: str) -> str:
    """The common name of replicas, after the label of one."""
    return label[: label.index("[")] + label[label.rindex("]") + 1 :] if "[" in label else label


def share_rows(
    blocks: Sequence[Block], index: TimelineIndex, folded: Collection[str] = (), wanted: str = ""
) -> tuple[Row, ...]:
    """A row for every thread, block and stack of replicas, with the share of each state over time."""
    numbers = [n for n, b in enumerate(blocks) if b.kind != MetricKind.BRANCH and wanted.lower() in b.id.lower()]
    labels = short_labels([blocks[n] for n in numbers if blocks[n].side is Side.FPGA])
    places: dict[str, dict[str, list[int]]] = {}
    for n in numbers:
        host = blocks[n].side is Side.HOST
        place = "host" if host else blocks[n].id.split(".")[0]
        places.setdefault(place, {}).setdefault(blocks[n].id if host else blocks[n].group, []).append(n)
    rows: list[Row] = []
    for place, groups in places.items():
        rows.append(Row(Kind.HEAD, place, "shares", key=place, folded=place in folded))
        for group, members in groups.items() if place not in folded else ():
            label = labels.get(blocks[members[0]].id, blocks[members[0]].id.removeprefix("host."))
            many = len(members) > 1
            metric = blocks[members[0]].is_metric
            share = float(np.mean([_busy(index, n, metric)[0] for n in members]))
            rows.append(
                Row(
                    Kind.SHARES, f"{_of_replicas(label)} × {len(members)}" if many else label, percent_text(share),
                    members=tuple(members), indent=1, tip=f"{group}: share of each state, mean of {len(members)}",
                    name=f"shares {group}",
                )
            )  # fmt: skip
    return tuple(rows)


def _states(label: str, name: str, block: int, index: TimelineIndex, metric: bool = False) -> Row:
    share, meaning = _busy(index, block, metric)
    return Row(
        Kind.STATES,
        label,
        percent_text(share),
        block=block,
        indent=1,
        name=f"states {name}",
        tip=f"{name}: {percent_text(share)} {meaning}, whole run",
    )


def _busy(index: TimelineIndex, row: int, metric: bool = False) -> tuple[float, str]:
    """The share of work; for a block that never works, of moving data; for a metric, of the cycles that it counts."""
    totals = index.totals_ps[row]
    time = max(int(totals.sum()), 1)
    work = int(totals[CATEGORIES.index("work")])
    if work:
        return work / time, "work"
    if metric:
        return int(totals[CATEGORIES.index("overhead")]) / time, "counted"
    moving = int(totals[CATEGORIES.index("send")] + totals[CATEGORIES.index("recv")])
    return moving / time, "moving data"
