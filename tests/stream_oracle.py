"""The query language once more, one picosecond after the other and one event after the other, for traces of a few ps.

It shares no line with `query/evaluate.py`: what both say alike is what `query/measures.py` says that it means.
"""

from itertools import pairwise

from rc_workbench_plugins.streaming.query.measures import (
    And,
    Blocked,
    Comparison,
    Condition,
    Measure,
    Metric,
    Not,
    Number,
    Or,
    Statistic,
    Tap,
)

from workbench.api.stream_events import Events

Value = float | None


class Oracle:
    def __init__(self, events: Events) -> None:
        self.events = events
        self.start, self.end = events.start_ps, events.end_ps
        self.known: dict[Measure, list[tuple[int, int, Value]]] = {}

    # what is so at a time, once all that happens then has happened

    def held(self, edge: str, t: int) -> int:
        one = self.events.edges[edge]
        return sum(p <= t for p in one.push_ps.tolist()) - sum(p <= t for p in one.pop_ps.tolist())

    def in_spell(self, spells, t: int) -> bool:
        return any(begin <= t < end for begin, end in spells.tolist())

    def operand(self, side: Measure | Number, t: int) -> Value:
        if isinstance(side, Number):
            return side.value
        if not side.instant:
            if side not in self.known:
                self.known[side] = [(f[0], f[1], f[2]) for f in self.frames(side)]
            ended = [value for _, end, value in self.known[side] if end <= t]
            return ended[-1] if ended else None
        if side.when is not None and self.truth(side.when, t) is not True:
            return None
        edge = self.events.edges[side.edges[-1]]
        if side.metric is Metric.OCCUPANCY:
            return self.held(side.edges[-1], t)
        if side.metric is Metric.LATENCY:
            latencies = [(pop, late) for pop, late in self.latencies(side.edges) if late is not None and pop <= t]
            return latencies[-1][1] if latencies else None
        if side.metric is Metric.INTERVAL:
            intervals = [(at, long) for at, long in self.intervals(edge, side.tap) if long is not None and at <= t]
            return intervals[-1][1] if intervals else None
        values = [v for p, v in zip(edge.push_ps.tolist(), edge.values.tolist(), strict=True) if p <= t]
        return values[-1] if values else None

    def truth(self, condition: Condition, t: int) -> bool | None:
        """None: not known."""
        match condition:
            case Blocked(edge):
                return self.in_spell(self.events.edges[edge].blocked_ps, t)
            case Not(of):
                worth = self.truth(of, t)
                return None if worth is None else not worth
            case And(of):
                parts = [self.truth(part, t) for part in of]
                return False if False in parts else None if None in parts else True
            case Or(of):
                parts = [self.truth(part, t) for part in of]
                return True if True in parts else None if None in parts else False
            case Comparison(left, relation, right):
                one, other = self.operand(left, t), self.operand(right, t)
                if one is None or other is None:
                    return None
                return {
                    ">": one > other, ">=": one >= other, "<": one < other,
                    "<=": one <= other, "==": one == other, "!=": one != other,
                }[relation]  # fmt: skip

    # elements of a path

    def latencies(self, labels) -> list[tuple[int, int | None]]:
        """Time of each pop at the path's end, and how long its element was under way."""
        path = [self.events.edges[label] for label in labels]
        found = []
        for number, pop in enumerate(path[-1].pop_ps.tolist()):
            index: int | None = number
            for into, out in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
                if index is not None and len(into.pop_ps) != len(out.push_ps):
                    taken = [i for i, p in enumerate(into.pop_ps.tolist()) if p <= out.push_ps[index]]
                    index = taken[-1] if taken else None
            found.append((pop, None if index is None else pop - int(path[0].push_ps[index])))
        return found

    def intervals(self, edge, tap: Tap) -> list[tuple[int, int | None]]:
        """Time of each transfer, and of how many of the ps since the one before its end was not waiting."""
        times, spells = (edge.pop_ps, edge.waiting_ps) if tap is Tap.POP else (edge.push_ps, edge.blocked_ps)
        moments = times.tolist()
        worked = [sum(not self.in_spell(spells, t) for t in range(*pair)) for pair in pairwise(moments)]
        return list(zip(moments, [None, *worked], strict=True)) if moments else []

    # frames

    def bounds(self, measure: Measure, transfers: list[int]) -> list[int]:
        bounds = [self.start]
        if measure.frame.elements:
            for number, t in enumerate(transfers, 1):
                if number % measure.frame.elements == 0:
                    bounds.append(t)
            if len(transfers) % measure.frame.elements or bounds[-1] < self.end or len(bounds) == 1:
                bounds.append(self.end)
            return bounds
        while measure.frame.time_ps and bounds[-1] + measure.frame.time_ps < self.end:
            bounds.append(bounds[-1] + measure.frame.time_ps)
        return [*bounds, self.end]

    def frames(self, measure: Measure) -> list[tuple]:
        """(start, end, value or histogram or samples, collected, count) of each."""
        edge = self.events.edges[measure.edges[-1]]
        transfers = (edge.pop_ps if measure.tap is Tap.POP else edge.push_ps).tolist()
        bounds = self.bounds(measure, transfers)
        found = []
        for number, (begin, end) in enumerate(pairwise(bounds)):
            times = [t for t in range(begin, end) if measure.when is None or self.truth(measure.when, t) is True]
            collected = len(times)
            events = []
            for index, t in enumerate(transfers):
                if measure.frame.elements:
                    here = index // measure.frame.elements == number
                else:
                    here = begin < t <= end or (t == begin == self.start)
                before = measure.when is None or (t > self.start and self.truth(measure.when, t - 1) is True)
                if here and before:
                    events.append(index)
            found.append((begin, end, *self.one(measure, edge, times, events, transfers, collected)))
        return found

    def one(self, measure, edge, times, events, transfers, collected):
        match measure.metric:
            case Metric.RATE:
                return (len(events) * 10**12 / collected if collected else None), collected, len(events)
            case Metric.UTIL:
                if edge.tick_ps:
                    share = len(events) * edge.tick_ps / collected if collected else None
                else:
                    busy = sum(not self.in_spell(edge.waiting_ps, t) for t in times)
                    share = busy / collected if collected else None
                return share, collected, len(events)
            case Metric.BACKPRESSURE:
                blocked = sum(self.in_spell(edge.blocked_ps, t) for t in times)
                return (blocked / collected if collected else None), collected, 0
            case Metric.OCCUPANCY:
                values = [self.held(measure.edges[0], t) for t in times]
                return self.statistic(measure, values), collected, 0
            case Metric.LATENCY:
                late = self.latencies(measure.edges)
                chosen = [late[i][1] for i in events if late[i][1] is not None]
                times_ = [late[i][0] for i in events if late[i][1] is not None]
                return self.statistic(measure, chosen, times_), collected, len(chosen)
            case Metric.INTERVAL:
                long = self.intervals(edge, measure.tap)
                chosen = [i for i in events if long[i][1] is not None]
                return (
                    self.statistic(measure, [long[i][1] for i in chosen], [long[i][0] for i in chosen]),
                    collected,
                    len(chosen),
                )
            case Metric.VALUE:
                chosen = [edge.values.tolist()[i] for i in events]
                return self.statistic(measure, chosen, [transfers[i] for i in events]), collected, len(chosen)

    def statistic(self, measure: Measure, values: list, times: list | None = None):
        if measure.statistic is Statistic.HIST:
            counts = [0] * (len(measure.bins) + 1)
            for value in values:
                counts[sum(bound <= value for bound in measure.bins)] += 1
            return tuple(counts)
        if measure.statistic is Statistic.TRACE:
            return None if times is None else list(zip(times, values, strict=True))
        if measure.statistic is Statistic.SUM:
            return sum(values)
        if not values:
            return None
        return {"mean": sum(values) / len(values), "min": min(values), "max": max(values)}[measure.statistic]
