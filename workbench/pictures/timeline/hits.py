"""The interval, call or transfer at a position of a timeline, its description, and the lines of messages."""

from dataclasses import dataclass

from workbench.model.blocks import Side
from workbench.model.messages import message_of, targets_of
from workbench.model.text import bytes_text, count_text, counted, percent_text
from workbench.pictures.timeline.rows import Kind, Row
from workbench.pictures.timeline.scale import duration, exact_time
from workbench.traces.clocks import exact_words
from workbench.traces.scene import RareEvent, Scene
from workbench.traces.shares import category_shares
from workbench.traces.trace import CATEGORIES

SHARE_PX = 6  # of time, for which the shares of states are shown as one
OPENS_LINE = "Enter opens the line"


@dataclass(frozen=True)
class Hit:
    """The interval, call or transfer under the pointer. `call` is its number among the block's calls, or -1; for a
    transfer `block` is the number of its bus."""

    kind: Kind
    block: int
    state: int
    code: int
    from_ps: int
    to_ps: int
    call: int
    lines: tuple[str, ...]
    file: str = ""
    line: int = 0


def hit_at(scene: Scene, row: Row, time_ps: float, pixel_ps: float = 1.0) -> Hit | None:
    """The contents of a row at a time, in a pixel; None if there is nothing to describe."""
    if row.kind is Kind.BUS:
        return _on_bus(scene, row, time_ps)
    if row.kind is Kind.SHARES:
        return _shares(scene, row, time_ps, pixel_ps)
    if row.kind not in (Kind.STATES, Kind.CALLS) or row.block < 0:
        return None
    calls = scene.calls.get(row.block)
    call = calls.at(time_ps) if calls else None
    if row.kind is Kind.CALLS and call is None:
        return None
    interval = scene.index.trace.at(row.block, time_ps)
    if interval is None:
        return None
    state, start, end = interval
    block = scene.blocks[row.block]
    code = int(scene.index.trace.codes[row.block][state])
    if calls is not None and call is not None:
        first, last = calls.group_of(call)
        site = scene.run.manifest.sites[calls.site[call]]
        place = f"{ordinal(call - first + 1)} of {last - first}" if last - first > 1 else ""
        size = int(calls.bytes[call])
        title = f"{site.callee} {bytes_text(size)}" if size > 0 else site.callee
        lines = (
            f"{site.label}, {place}" if place else site.label,
            f"{duration(int(calls.t1_ps[call] - calls.t0_ps[call]), 3)}, {title}, {site.file}:{site.line}",
            OPENS_LINE,
        )
        t0, t1 = int(calls.t0_ps[call]), int(calls.t1_ps[call])
        return Hit(row.kind, row.block, state, code, t0, t1, call, lines, site.file, site.line)
    state_of_block = next((s for s in block.states if s.index == state), block.states[0])
    length = duration(end - start, 3)
    if period := scene.period_ps(block):
        length += f", {counted(max(1, round((end - start) / period)), 'cycle')}"
    place = f", {state_of_block.file}:{state_of_block.line}" if state_of_block.file and state_of_block.line else ""
    kind = (
        f" ({state_of_block.category.value})"
        if state_of_block.category and state_of_block.category.value != state_of_block.name
        else ""
    )
    lines = (
        f"{row.label}: {state_of_block.name}{kind}",
        f"{length}{place}",
        *((f"FPGA times: {exact_words(scene.run)}",) if block.side is Side.FPGA else ()),
        *((OPENS_LINE,) if place else ()),
    )
    return Hit(
        row.kind, row.block, state, code, start, end, -1, lines, state_of_block.file or "", state_of_block.line or 0
    )


def _shares(scene: Scene, row: Row, time_ps: float, pixel_ps: float) -> Hit | None:
    if not 0 <= time_ps < scene.index.end_ps:
        return None
    bin_ps = SHARE_PX * pixel_ps
    from_ps = time_ps // bin_ps * bin_ps
    shares = category_shares(scene.index, row.members, from_ps, bin_ps, 1)[:, 0]
    order = sorted((code for code in range(len(shares)) if shares[code] > 0), key=lambda code: -shares[code])
    if not order:
        return None
    at = exact_time(from_ps, max(pixel_ps, 1.0))
    lines = (
        f"{row.label}, {duration(bin_ps, 3)} from {at} on",
        *(f"{CATEGORIES[code]} {percent_text(float(shares[code]))}" for code in order),
    )
    to_ps = from_ps + bin_ps
    return Hit(row.kind, row.members[0], -1, order[0], round(from_ps), round(to_ps), -1, lines)


def _on_bus(scene: Scene, row: Row, time_ps: float) -> Hit | None:
    number = row.members[0]
    bus = scene.buses[number]
    place = bus.at(time_ps)
    if place is None:
        return None
    site = scene.run.manifest.sites[bus.site[place]]
    begin, end = int(bus.begin_ps[place]), int(bus.end_ps[place])
    name = scene.names[bus.block[place]]
    lines = (f"{row.label}: {site.label}, {name}", f"{duration(end - begin, 3)}, {site.file}:{site.line}", OPENS_LINE)
    return Hit(row.kind, number, -1, int(bus.code[place]), begin, end, -1, lines, site.file, site.line)


def event_text(scene: Scene, event: RareEvent) -> str:
    """The text of a pin on the overview: the block's stall, its time and its length."""
    block = scene.blocks[event.block]
    name = scene.names[event.block]
    period = scene.period_ps(block)
    cycles = round(event.span_ps / period) if period else 0
    length = f"{count_text(cycles)} cycle{'s' if cycles != 1 else ''}" if cycles else duration(event.span_ps, 3)
    return f"{exact_time(event.time_ps, max(scene.index.end_ps / 1000, 1))}: {name} stalled {length}"


def ordinal(number: int) -> str:
    tail = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def next_edge(scene: Scene, row: int, state: int, time_ps: float, backwards: bool = False) -> int | None:
    """The time at which a block next enters a state, or last entered it."""
    return scene.index.trace.next_entry(row, state, round(time_ps), backwards=backwards)


def messages_of(scene: Scene, hit: Hit, least_ps: float = 0.0) -> list[tuple[int, int, int, int]]:
    """(from block, time, to block, time) for the calls of the run of calls that was hit, at least `least_ps` apart."""
    calls = scene.calls.get(hit.block)
    if calls is None or hit.call < 0:
        return []
    first, last = calls.group_of(hit.call)
    step = 1
    if last - first > 1 and least_ps > 0:
        apart = (int(calls.t0_ps[last - 1]) - int(calls.t0_ps[first])) / (last - first - 1)
        step = max(1, round(least_ps / max(apart, 1)))
    targets = targets_of(scene.blocks, hit.block, int(hit.state))
    every = (
        message_of(
            scene.run, hit.block, int(calls.entry[call]), int(calls.t0_ps[call]), int(calls.t1_ps[call]),
            int(calls.port_first_ps[call]), call - first, targets,
        )
        for call in range(first + (hit.call - first) % step, last, step)
    )  # fmt: skip
    return [(one.source, one.sent_ps, one.target, one.arrived_ps) for one in every if one is not None]
