"""Derives from a run's words what each block needs before it offers or takes a word of a stream.

A block is known by its streams alone. Of several models of its behaviour (`_WAYS`) the first one that explains every
run exactly with the same numbers is used; traffic in another order, as with other depths, distinguishes them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from workbench.replay.traffic import Cycles, Traffic, cycles_before

NONE = -1  # of a cause: none


@dataclass(frozen=True, order=True)
class Side:
    """A block's end of a stream: it offers the words or takes them."""

    stream: int
    takes: bool

    def inside(self, traffic: Traffic) -> bool:
        """Whether the end is in the design, and not outside of it."""
        stream = traffic.streams[self.stream]
        return bool(stream.target if self.takes else stream.source)


@dataclass(frozen=True)
class After:
    """Transfer n of a stream may come `lag` cycles after transfer `cause[n]` of the stream `of`."""

    of: int
    cause: Cycles
    lag: Cycles


@dataclass(frozen=True)
class Way:
    """The model of a block: each side's transfers follow others of the block. `earliest` is the first cycle of
    transfers that follow none. `why` gives a reason for doubt. `also` are transfers of the opposite direction at the
    same moments as those that a side follows; the run does not distinguish the two, so the side follows both."""

    after: Mapping[Side, tuple[After, ...]]
    earliest: Mapping[Side, Cycles]
    why: str = ""
    latency: int = 0  # cycles, if it is a pipeline that stops while its last word is not taken; else 0
    also: Mapping[Side, tuple[After, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class FlowBlock:
    """An instance that is not a FIFO; without a name, the outside of the design at one stream. `coupled` are pairs of
    streams of which one can hold the other through logic alone, `held` the sides with the streams that hold them."""

    name: str
    sides: tuple[Side, ...]
    coupled: frozenset[tuple[int, int]]
    held: frozenset[tuple[Side, int]] = frozenset()

    @property
    def streams(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(side.stream for side in self.sides))


class GroupedTraffic:
    """A run's traffic, with the transfers that are one event (`merged`)."""

    def __init__(self, traffic: Traffic, merged: Sequence[tuple[int, int]]) -> None:
        self.traffic = traffic
        self.merged = merged

    def begin(self, side: Side) -> Cycles:
        """The first cycle in which a block did its part of each transfer."""
        return (self.traffic.taken if side.takes else self.traffic.offered)[side.stream]

    def own(self, side: Side) -> Cycles:
        """The first possible cycle of each transfer, considering only the transfer before."""
        cycles = self.traffic.cycles[side.stream]
        return np.concatenate(([0], cycles[:-1] + 1)) if len(cycles) else cycles

    def on_clock_of(self, stream: int, other: int) -> Cycles:
        """The cycles of a stream's transfers on another stream's clock: on a different clock, the cycle before the
        transfer took effect."""
        one, two = (self.traffic.clocks[number] for number in (stream, other))
        if one == two:
            return self.traffic.cycles[stream]
        period = self.traffic.periods_ps[two]
        return np.array([cycles_before(int(ps), period) for ps in self.traffic.at_ps(stream)], np.int64)

    def unexplained(self, side: Side) -> NDArray[np.bool_] | None:
        """A mask of the side's transfers whose time is not explained by the sides of its group that hold it through
        logic; None if no side holds it."""
        cycles = self.traffic.cycles[side.stream]
        explained_from, any_holds = self.own(side), False
        for wait in self.traffic.streams[side.stream].waits:
            if (wait.signal == "ready") != side.takes or not self.one_event(wait.other, side.stream):
                continue
            any_holds, other_cycles = True, self.traffic.cycles[wait.other]
            at = np.minimum(np.searchsorted(other_cycles, cycles), len(other_cycles) - 1)
            begin = self.begin(Side(wait.other, takes=wait.held_by == "ready"))[at]
            explained_from = np.where(other_cycles[at] == cycles, np.maximum(explained_from, begin), explained_from)
        return explained_from < self.begin(side) if any_holds else None

    def one_event(self, stream: int, other: int) -> bool:
        """Whether transfers of two streams in one cycle are one event."""
        return stream == other or self.group.get(stream, -1) == self.group.get(other, -2)

    @cached_property
    def group(self) -> dict[int, int]:
        """A group number for each stream whose transfers in one cycle are one event with those of others."""
        numbers: dict[int, int] = {}
        for one, other in self.merged:
            first, second = numbers.setdefault(one, one), numbers.setdefault(other, other)
            numbers.update({stream: first for stream, number in numbers.items() if number == second})
        return numbers


def together(traffic: Traffic) -> list[tuple[int, int]]:
    """Pairs of streams joined by logic of which the one with fewer transfers never transfers without the other."""
    pairs = {(min(n, w.other), max(n, w.other)) for n, s in enumerate(traffic.streams) for w in s.waits}
    groups = []
    for one, other in sorted(pairs):
        few, many = sorted((traffic.cycles[one], traffic.cycles[other]), key=len)
        if one != other and len(few) and traffic.clocks[one] == traffic.clocks[other] and np.isin(few, many).all():
            groups.append((one, other))
    return groups


def blocks_of(traffic: Traffic) -> list[FlowBlock]:
    """The blocks between the FIFOs; the outside of the design is one block for each of its streams."""
    into, out = {fifo.input for fifo in traffic.fifos}, {fifo.output for fifo in traffic.fifos}
    sides: dict[str, list[Side]] = {}
    for number, stream in enumerate(traffic.streams):
        if number not in out:
            sides.setdefault(stream.source or f"outside {number}", []).append(Side(number, takes=False))
        if number not in into:
            sides.setdefault(stream.target or f"outside {number}", []).append(Side(number, takes=True))
    coupled = frozenset(
        pair for n, s in enumerate(traffic.streams) for w in s.waits for pair in ((n, w.other), (w.other, n))
    )
    held_sides = frozenset(
        (Side(n, w.signal == "ready"), w.other) for n, s in enumerate(traffic.streams) for w in s.waits
    )
    return [
        FlowBlock(name if of[0].inside(traffic) else "", tuple(of), coupled, held_sides) for name, of in sides.items()
    ]


def _in_order(seen: GroupedTraffic, block: FlowBlock) -> Way:
    """The model in which each action of the block follows the last transfer that it saw."""
    after: dict[Side, tuple[After, ...]] = {}
    earliest: dict[Side, Cycles] = {}
    also: dict[Side, tuple[After, ...]] = {}
    opposite = {one.stream: one.takes for one in block.sides}
    for side in block.sides:
        begin = seen.begin(side)
        cycles: dict[int, Cycles] = {}
        keys, of, number = [], [], []
        key_of: dict[int, Cycles] = {}
        for stream in sorted(
            block.streams, key=lambda one: one == side.stream
        ):  # at equal times its own stream comes last
            same_clock = seen.traffic.clocks[stream] == seen.traffic.clocks[side.stream]
            logic = (side, stream) in block.held and not seen.one_event(side.stream, stream)
            shift = 1 if not same_clock or logic else 0
            cycles[stream] = seen.on_clock_of(stream, side.stream)
            keys.append(key_of.setdefault(stream, cycles[stream] - shift))
            of.append(np.full(len(cycles[stream]), stream))
            number.append(np.arange(len(cycles[stream])))
        key, stream_of, number_of = (np.concatenate(one) for one in (keys, of, number))
        order = np.argsort(key, kind="stable")
        key, stream_of, number_of = key[order], stream_of[order], number_of[order]
        at = np.searchsorted(key, begin, side="left") - 1
        has_cause = at >= 0
        parts = []
        for stream in block.streams:
            mine = has_cause & (stream_of[at] == stream)
            if not mine.any():
                continue
            cause = np.where(mine, number_of[at], NONE)
            lag = np.where(mine, begin - cycles[stream][np.where(mine, number_of[at], 0)], 0)
            parts.append(After(stream, cause, lag))
        ties = []
        for stream in (one for one, takes in opposite.items() if takes != side.takes and len(cycles[one])):
            moment = key[np.where(has_cause, at, 0)]
            place = np.minimum(np.searchsorted(key_of[stream], moment), len(cycles[stream]) - 1)
            tied = has_cause & (stream_of[at] != stream) & (key_of[stream][place] == moment)
            if tied.any():
                ties.append(
                    After(stream, np.where(tied, place, NONE), np.where(tied, begin - cycles[stream][place], 0))
                )
        after[side], earliest[side], also[side] = tuple(parts), np.where(has_cause, 0, begin), tuple(ties)
    return Way(after, earliest, also=also)


def _by_flow(runs: Sequence[GroupedTraffic], block: FlowBlock) -> Way | None:
    """The model in which each word leaves a fixed number of cycles after the words that it consists of arrived, and the
    block has room for a fixed number of words. The numbers are those that no run contradicts, applied to the first run.
    None if they do not explain every run."""
    ways = []
    rooms = [_rooms(seen, block) for seen in runs]
    if any(of_run is None for of_run in rooms):
        return None
    room = {key: max(of_run[key] for of_run in rooms if of_run) for key in rooms[0] or {}}
    lags = [_lags(seen, block, room) for seen in runs]
    lag = {key: min(of_run[key] for of_run in lags if key in of_run) for key in set().union(*lags)}
    if min(lag.values(), default=0) < 0:
        return None
    for seen in runs:
        after: dict[Side, tuple[After, ...]] = {}
        earliest: dict[Side, Cycles] = {}
        for side in block.sides:
            begin, own_begin = seen.begin(side), seen.own(side)
            gap = lag.get((side, side.stream), 0)
            bound, parts = (
                own_begin + gap,
                [After(side.stream, np.arange(len(begin)) - 1, np.full(len(begin), 1 + gap))],
            )
            for stream, cause in _causes_by_flow(seen, block, side, room):
                has_cause = cause >= 0
                late = lag.get((side, stream), 0)
                reached = seen.on_clock_of(stream, side.stream)[cause] + late
                bound = np.where(has_cause, np.maximum(bound, reached), bound)
                parts.append(After(stream, cause, np.full(len(begin), late)))
            first = np.zeros(len(begin), np.int64)
            if len(begin) and not any((part.cause[:1] >= 0).any() for part in parts):
                first[0] = begin[0]
            if (np.maximum(bound, first) != begin).any():
                return None
            after[side], earliest[side] = tuple(parts), first
        ways.append(Way(after, earliest))
    return ways[0]


def _rooms(seen: GroupedTraffic, block: FlowBlock) -> dict[tuple[Side, int], int] | None:
    """The largest number of words of each input that the block held before they left through each output; None if two
    streams have no fixed rate."""
    rooms: dict[tuple[Side, int], int] = {}
    for side in block.sides:
        for stream in (one.stream for one in block.sides if one.takes != side.takes):
            begin, cycles = seen.begin(side), seen.on_clock_of(stream, side.stream)
            place = _place(len(begin), len(cycles), side.takes)
            if place is None:
                return None
            if side.takes:  # outputs that had left when each word could be taken
                late = (side.stream, stream) in block.coupled
                left_before = np.searchsorted(cycles, begin, side="right" if late else "left") - 1
                rooms[side, stream] = int((place - left_before).max(initial=0))
            else:
                rooms[side, stream] = 0
    return rooms


def _causes_by_flow(
    seen: GroupedTraffic, block: FlowBlock, side: Side, room: Mapping[tuple[Side, int], int]
) -> Iterator[tuple[int, Cycles]]:
    count = len(seen.begin(side))
    for stream in (one.stream for one in block.sides if one.takes != side.takes):
        others = len(seen.traffic.cycles[stream])
        place = _place(count, others, side.takes)
        if place is not None and others:
            cause = place - room[side, stream]
            yield stream, np.where((cause >= 0) & (cause < others), cause, NONE)


def _lags(seen: GroupedTraffic, block: FlowBlock, room: Mapping[tuple[Side, int], int]) -> dict[tuple[Side, int], int]:
    """The least number of cycles from each cause of a side to its transfer, and between two of its own transfers, less
    one."""
    lags: dict[tuple[Side, int], int] = {}
    for side in block.sides:
        begin = seen.begin(side)
        if len(begin) > 1:
            lags[side, side.stream] = int((begin - seen.own(side))[1:].min())
        for stream, cause in _causes_by_flow(seen, block, side, room):
            has_cause = cause >= 0
            if has_cause.any():
                lags[side, stream] = int((begin - seen.on_clock_of(stream, side.stream)[cause])[has_cause].min())
    return lags


def _pipeline(runs: Sequence[GroupedTraffic], block: FlowBlock) -> int:
    """The latency in moving cycles of a block that stops while its last word is offered and not taken; 0 if it is not
    such a pipeline."""
    inputs, outputs = ([side for side in block.sides if side.takes is takes] for takes in (True, False))
    if len(inputs) != 1 or len(outputs) != 1:
        return 0
    (into,), (out,) = inputs, outputs
    if (into.stream, out.stream) not in block.coupled or runs[0].one_event(into.stream, out.stream):
        return 0
    latencies: set[int] = set()
    for seen in runs:
        taken, left = seen.traffic.cycles[into.stream], seen.traffic.cycles[out.stream]
        count, offered = len(left), seen.begin(out)
        if not count or count > len(taken):
            return 0
        stood = np.concatenate(([0], np.cumsum(left - offered)))
        moving = taken - stood[np.searchsorted(left, taken, side="right")]
        latencies |= set((offered - moving[:count] - stood[:count]).tolist()[:: max(1, count // 1000)])
        if len(latencies) != 1 or (offered - moving[:count] - stood[:count] != min(latencies)).any():
            return 0
        own_begin, goes_on = seen.own(into), np.concatenate(([-1], left[left > offered]))
        begin = np.maximum(own_begin, goes_on[np.searchsorted(goes_on, taken, side="right") - 1])
        if (begin != seen.begin(into))[1:].any():
            return 0
    return latencies.pop()


def _place(count: int, others: int, takes: bool) -> Cycles | None:
    """For each of `count` transfers the last of `others` that belongs to it; None if they have no fixed rate.

    A taken word belongs to the words that it becomes part of, or to the first of those that it becomes.
    """
    here = np.arange(count)
    if count == others:
        return here
    if not count or not others:
        return None
    if others > count and others // count > 1 and others % count < count and others - count * (others // count) < 64:
        times = others // count
        return here * times if takes else here * times + times - 1
    if count > others and count - others * (count // others) < 64 and count // others > 1:
        return here // (count // others)
    return np.minimum(here, others - 1) if abs(count - others) < 64 else None


def _on_time(seen: GroupedTraffic, block: FlowBlock) -> Way:
    """The model of a block that follows its own clock, whatever its streams do."""
    return Way(dict.fromkeys(block.sides, ()), {side: seen.begin(side) for side in block.sides})


def way_of(runs: Sequence[GroupedTraffic], block: FlowBlock) -> Way:
    """The model that explains a block best in the first run; the numbers of the other runs must agree."""
    ordered = [_in_order(seen, block) for seen in runs]
    inputs = [side.stream for side in block.sides if side.takes]
    outputs = [side.stream for side in block.sides if not side.takes]
    alike = _alike(ordered, runs, block)
    if not inputs and not alike and all(_begins(runs[0], seen, block) for seen in runs[1:]):
        return _on_time(runs[0], block)
    if latency := _pipeline(runs, block):
        earliest = {side: np.zeros_like(runs[0].begin(side)) for side in block.sides}
        return Way(dict.fromkeys(block.sides, ()), earliest, latency=latency)
    if inputs and outputs:
        flow = _by_flow(runs, block)
        # it takes no word while it gives one
        serial = any(
            part.of in outputs and side.takes and (part.lag[part.cause >= 0] > 0).any()
            for way in ordered for side, parts in way.after.items() for part in parts
        )  # fmt: skip
        if flow and not (serial and _constant(ordered) and alike):
            return flow
    if alike:
        return ordered[0]
    return replace(ordered[0], why="in another run it took other times for the same work")


def _constant(ways: Sequence[Way]) -> bool:
    """Whether each side follows each stream by one constant number of cycles."""
    lags = [part.lag[part.cause >= 0] for way in ways for parts in way.after.values() for part in parts]
    return all(of_part.min() == of_part.max() for of_part in lags)


def _begins(one: GroupedTraffic, other: GroupedTraffic, block: FlowBlock) -> bool:
    """Whether a block's offers had equal times in two runs except where a previous word was taken later."""
    for side in block.sides:
        begins = [seen.begin(side) for seen in (one, other)]
        count = min(len(begin) for begin in begins)
        later = np.maximum(begins[0][:count], other.own(side)[:count])
        if (later != begins[1][:count]).any():
            return False
    return True


def _alike(ways: Sequence[Way], runs: Sequence[GroupedTraffic], block: FlowBlock) -> bool:
    """Whether each transfer followed the same transfer by the same number of cycles in every run."""
    for (run, one), (other_run, other) in combinations(zip(runs, ways, strict=True), 2):
        for side in block.sides:
            first, second = _causes(run, one, side), _causes(other_run, other, side)
            count = min(first.shape[1], second.shape[1])
            unexplained_in_both = np.ones(count, bool)  # without transfers that logic explains
            for seen in (run, other_run):
                if (unexplained := seen.unexplained(side)) is not None:
                    unexplained_in_both &= unexplained[:count]
            if not np.array_equal(first[:, :count][:, unexplained_in_both], second[:, :count][:, unexplained_in_both]):
                return False
    return True


def _causes(seen: GroupedTraffic, way: Way, side: Side) -> Cycles:
    """For each transfer the stream that it follows, and the lag, shape (2, transfers)."""
    causes = np.full((2, len(seen.begin(side))), NONE)
    for part in way.after[side]:
        has_cause = part.cause >= 0
        causes[0, has_cause] = part.of
        causes[1, has_cause] = part.lag[has_cause]
    return causes
