"""What is drawn of answers: several of one kind in one plot, what was counted over what was replayed."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, groupby

import numpy as np

from workbench.api.queries import Curves, Reply
from workbench.model.text import capitalised, count_text, percent_text, significant, time_text, value_text
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.frames import HeatMap, Spreads, grouped, spread, within
from workbench.pictures.plot import Axis, Line, Plot, Values

MOST_ROWS = 24  # of a histogram
MOST_EMPTY = 2  # bins on end, each with its row
MOST_BINS = 64  # of a heat map
MOST_LINES = 8  # of one plot
INKS = ("accent", "text", "state:wait_send", "state:work", "muted", "state:overhead", "link", "low")
_BESIDE = re.compile(r"^\w+:\s*|\([^)]*\)")  # a statement's label and its parameters
_OPTIONS = re.compile(r"\s*\([^()]*\)(?= )")  # of a statement, such as its frame
_APART = 0.01  # of the largest value, from which on what was counted and what was replayed differ


def what_of(reply: Reply) -> str:
    """What a statement measures, without where: "measure mean occupancy"."""
    return _parts(reply)[0]


def where_of(reply: Reply) -> str:
    """Where a statement measures, and its label if it has one."""
    where = _parts(reply)[1]
    return f"{where} ({reply.label})" if reply.label else where


def asked(reply: Reply) -> str:
    """A statement in brief: its label, and what it asks for, without options."""
    statement = _OPTIONS.sub("", reply.text.replace("measure ", "", 1))
    return statement if reply.label else capitalised(statement)


def _parts(reply: Reply) -> tuple[str, str]:
    text = _BESIDE.sub("", reply.text.partition(" when ")[0])
    for word in (" at ", " of "):
        what, _, where = text.partition(word)
        if where:
            return what, where
    return text, text


def alike(reply: Reply, replies: Sequence[Reply]) -> list[Reply]:
    """The replies drawn in one plot with a reply, itself first: the same measure at other places."""
    others = [one for one in replies if one is not reply and one.unit == reply.unit and what_of(one) == what_of(reply)]
    same = bool(reply.bin_words)
    return [reply, *(one for one in others if bool(one.bin_words) == same and (one.values or one.curves))][:MOST_LINES]


def apart(reply: Reply) -> bool:
    """Whether what agents counted differs from what the trace says by more than 1 % of the most."""
    return any(_differ(reply, counted) for counted in reply.counted)


def _differ(one: Reply, other: Reply) -> bool:
    if one.times_s != other.times_s:
        return False  # of other frames
    a, b = (np.array([np.nan if value is None else value for value in each.values], float) for each in (one, other))
    if len(a) != len(b) or not len(a):
        return False
    most = np.nanmax(np.abs(np.append(a, b)))
    return bool((np.abs(a - b) > _APART * most).any())


def known_values(reply: Reply) -> list[float]:
    return [value for value in reply.values if value is not None]


def teller(unit: str) -> Callable[[float], str]:
    """A function that formats numbers of a unit."""
    if unit == "1":
        return percent_text
    if unit == "s":
        return time_text
    if unit == "transfers/s":
        unit = "/s"
    return (lambda value: value_text(value, unit)) if unit else significant


def histogram_bars(reply: Reply) -> Bars:
    """All frames together, each by its events, or where those are not known as long as it is; of many bins some share
    a row."""
    durations = np.diff(reply.times_s) if len(reply.times_s) > 1 else np.ones(len(reply.shares))
    weights = np.array(reply.events) if reply.events else durations
    whole = np.average(np.array(reply.shares, float), axis=0, weights=weights if weights.sum() else None)
    rows = []
    for name, share in _without_gaps(*grouped(reply.bin_words, whole, MOST_ROWS)):
        rows.append(Bar(name, name, float(share), (percent_text(share),), (name, float(share)), strong=False))
    most = max((row.value for row in rows), default=0.0) or 1.0
    foot = f"frames' times known to ± {time_text(reply.unsure_s)}" if reply.unsure_s else ""
    return Bars(Axis("share", percent_text), ("bin", "share"), tuple(rows), (0.0, most * 1.04), foot=foot)


def _without_gaps(names: Sequence[str], shares: Values) -> Iterator[tuple[str, float]]:
    """Bins with their shares; several empty ones on end are one."""
    for is_empty, bins in groupby(zip(names, shares.tolist(), strict=True), key=lambda one: not one[1]):
        rows = list(bins)
        if is_empty and len(rows) > MOST_EMPTY:
            yield f"{rows[0][0].partition(' to ')[0]} to {rows[-1][0].rpartition(' to ')[2]}", 0.0
        else:
            yield from rows


def heat_map(reply: Reply) -> HeatMap:
    """A histogram over time, of many bins some in one row."""
    names, shares = grouped(reply.bin_words, np.array(reply.shares, float).T, MOST_BINS)
    title = "share of each frame's time or events by bin"
    return HeatMap(title, reply.times_s, tuple(names), shares, reply.unsure_s)


def spreads_of(replies: Sequence[Reply]) -> Spreads:
    """The numbers of frames of each reply, as a box in a row."""
    rows = [
        spread(asked(one), known, max(one.uncertain, default=0.0)) for one in replies if (known := known_values(one))
    ]
    return Spreads(Axis("of each frame", teller(replies[0].unit)), tuple(rows))


def distribution(curves: Curves) -> Plot:
    """The lines of a distribution: shares over values."""
    lines = tuple(
        Line(one.name, np.array(one.x), np.array(one.y), ink=ink, dashed=one.dashed)
        for one, ink in zip(curves.lines, INKS, strict=False)
    )
    return _of_shares(curves, lines)


def cumulative(replies: Sequence[Reply]) -> Plot:
    """How much is at or below each value, of one reply as its lines say, of several a line each."""
    firsts = [(reply, reply.curves[0]) for reply in replies if reply.curves]
    if len(firsts) == 1:
        return distribution(firsts[0][1])
    lines = []
    for (reply, curves), ink in zip(firsts, cycle(INKS), strict=False):
        for one in curves.lines:
            name = where_of(reply) + (f", {one.name}" if one.dashed else "")
            lines.append(Line(name, np.array(one.x), np.array(one.y), ink=ink, dashed=one.dashed))
    return _of_shares(firsts[0][1], tuple(lines))


def _of_shares(curves: Curves, lines: tuple[Line, ...]) -> Plot:
    say = teller(curves.unit)

    def tell(line: int, point: int) -> str:
        one = lines[line]
        return f"{one.name}, {say(float(one.x[point]))}: {percent_text(float(one.y[point]))}"

    title = {"s": "time", "1": ""}.get(curves.unit, curves.unit)
    named = Axis(title, say if curves.unit in ("s", "1") else _short, curves.log, curves.unit)
    return Plot(named, Axis("share", percent_text), lines, legend=len(lines) > 1, say=tell)


def course(reply: Reply, others: Sequence[Reply] = ()) -> Plot:
    """The numbers of a reply over time, with those of others of its kind. What agents counted is a line, and what the
    trace says of the same is rings on it."""
    shown = [reply, *others]
    lines: list[Line] = []
    offs: list[Values] = []
    for one, ink in zip(shown, cycle(INKS), strict=False):
        name = where_of(one) if len(shown) > 1 or one.counted else ""
        for number, each in enumerate((*one.counted, one)):
            line, off = _line(each, name if not number else "", ink)
            if one.counted:
                line = replace(line, points=number == len(one.counted), joined=number < len(one.counted), band=None)
            lines.append(line)
            offs.append(off)
    say = teller(reply.unit)

    def tell(number: int, point: int) -> str:
        line, off = lines[number], offs[number]
        at = time_text(float(line.x[point])) + (f" ± {time_text(reply.unsure_s)}" if reply.unsure_s else "")
        named = f"{line.name}, {at}" if line.name else at
        return f"{named}: {say(float(line.y[point]))}" + (f" ± {say(float(off[point]))}" if off[point] else "")

    short = say if reply.unit in ("1", "s") else _short  # the axis names the unit
    unit = "" if reply.unit in ("1", "s") else reply.unit
    time = within(Axis("time", time_text, unit="s"), reply.unsure_s)
    return Plot(time, Axis(unit, short, unit=reply.unit), tuple(lines), say=tell)


def _line(reply: Reply, name: str, ink: str) -> tuple[Line, Values]:
    """A number a frame: at its middle, or at the moment that it was so, or from it to the next; in a band of what it
    may have been there, where times or numbers are not exact. And how far each may be off."""
    times = np.array(reply.moments_s) if reply.moments_s else _middles(reply.times_s)
    values = np.array([np.nan if value is None else value for value in reply.values], float)
    if reply.stays:
        times = np.repeat(np.append(times, reply.times_s[-1]), 2)[1:-1]
        values = np.repeat(values, 2)
    kept = ~np.isnan(values)
    few = not reply.moments_s and int(kept.sum()) <= 200
    off = np.array(reply.uncertain)[kept] if reply.uncertain else np.zeros(int(kept.sum()))
    x, y = times[kept], values[kept]
    band = (*reached(x, y, reply.unsure_s, off),) if len(x) and (reply.unsure_s or off.any()) else None
    return Line(name, x, y, ink=ink, band=band, points=few, joined=True), off


def reached(x: Values, y: Values, unsure: float, off: Values) -> tuple[Values, Values]:
    """The least and most that a line through points may have been at each of their `x`, which rise and may be off by
    `unsure`; the `y` may be off by `off`."""
    low, high = y - off, y + off
    first, last = np.searchsorted(x, x - unsure, "left"), np.searchsorted(x, x + unsure, "right")
    around = np.stack((first, last), axis=1).ravel()
    least = np.minimum.reduceat(np.append(low, np.inf), around)[::2]
    most = np.maximum.reduceat(np.append(high, -np.inf), around)[::2]
    sides = x - unsure, x + unsure
    return (
        np.minimum.reduce([least, *(np.interp(side, x, low) for side in sides)]),
        np.maximum.reduce([most, *(np.interp(side, x, high) for side in sides)]),
    )


def _short(value: float) -> str:
    return count_text(value) if abs(value) >= 1000 else significant(value)


def _middles(times: Sequence[float]) -> np.ndarray:
    ends = np.array(times)
    return (ends[1:] + ends[:-1]) / 2
