"""What a rule's `select` picks from a block, and the metrics of it that the rule's expressions read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.analysis.knowledge import CheckedRule, Select
from workbench.analysis.metric_names import METRICS, Value
from workbench.analysis.results import BlockMetrics, CallMetrics, StateMetrics
from workbench.model.platform import CallKind, Platform
from workbench.model.pragma import COMMUNICATION, WAITS, Category

Values = dict[str, Value]


@dataclass(frozen=True)
class Selection:
    """Some states of a block, and the host calls made in them. `time_s` is theirs together."""

    block: BlockMetrics
    states: tuple[StateMetrics, ...]
    calls: tuple[CallMetrics, ...]
    time_s: float

    @property
    def state_indexes(self) -> frozenset[int]:
        return frozenset(s.state.index for s in self.states)


def select_block(
    rule: CheckedRule, block: BlockMetrics, calls: Sequence[CallMetrics], general: Values
) -> Selection | None:
    """The selection of a rule in a block; None where nothing is selected.

    A rule that asks for kinds of calls, or for a condition on calls, selects those calls and the states they are in,
    and its time is the calls'; otherwise the states decide.
    """
    select = rule.rule.select
    states = tuple(s for s in block.states if s.state.index and has(select, s))
    indexes = {s.state.index for s in states}
    mine = tuple(c for c in calls if c.block == block.block.id and c.state.index in indexes)
    if not select.kinds and rule.call_condition is None:
        return Selection(block, states, mine, sum(s.time_s for s in states)) if states else None
    chosen = []
    for call in mine:
        if select.kinds and (call.entry is None or call.entry.kind not in [kind.value for kind in select.kinds]):
            continue
        if rule.call_condition is not None:
            values = {**general, **call_values([call], calls), **_times(call.time_s, general)}
            if not rule.call_condition.evaluate(values):
                continue
        chosen.append(call)
    if not chosen:
        return None
    used = {c.state.index for c in chosen}
    picked = tuple(s for s in states if s.state.index in used)
    return Selection(block, picked, tuple(chosen), sum(c.time_s for c in chosen))


def has(select: Select, measured: StateMetrics) -> bool:
    """Whether a state's category and reasons are what `select` asks for: any combination of reasons."""
    state = measured.state
    reasons = set(state.reasons)
    return (
        (not select.categories or state.category in select.categories)
        and (not select.reasons or bool(reasons & set(select.reasons)))
        and set(select.all_reasons) <= reasons
        and not reasons & set(select.without_reasons)
        and (not select.not_only or not reasons or bool(reasons - set(select.not_only)))
    )


def general_values(
    total_s: float, threshold: float, host_wait_share: float, fpga_work_share: float, platform: Platform | None = None
) -> Values:
    """Every metric's name with a value that says "none", and those that are the same for all rules."""
    entries = platform.host.entries if platform else ()
    nothing: Values = {name: "" if metric.unit == "text" else 0.0 for name, metric in METRICS.items()}
    return nothing | {
        "total": total_s,
        "threshold": threshold,
        "host.wait_share": host_wait_share,
        "fpga.work_share": fpga_work_share,
        "platform.interrupt": float(any(entry.kind is CallKind.INTERRUPT for entry in entries)),
        "platform.asynchronous": float(any(entry.asynchronous for entry in entries)),
        "platform.port": platform.hardware.style.value if platform and platform.hardware else "",
    }


def selection_values(selection: Selection, calls: Sequence[CallMetrics], general: Values) -> Values:
    """All metrics of a selection, but for those of replicas and the culprit."""
    block = selection.block
    visits = sum(s.visits for s in selection.states)
    values: Values = {
        **general,
        **_times(selection.time_s, general),
        "visits": visits,
        "cycles": sum(s.cycles for s in selection.states),
        "time_each": selection.time_s / visits if visits else 0.0,
        "block.work_share": block.share_of(Category.WORK),
        "block.overhead_share": block.share_of(Category.OVERHEAD),
        "block.communication_share": block.share_of(*COMMUNICATION),
        "block.wait_share": block.share_of(*WAITS),
        "block.has_work": float(any(s.state.category is Category.WORK for s in block.states)),
    }
    return values | call_values(selection.calls, calls) if selection.calls else values


def _times(time_s: float, general: Values) -> Values:
    total = float(general["total"])
    return {"time": time_s, "share": time_s / total if total else 0.0}


def call_values(chosen: Sequence[CallMetrics], everyone: Sequence[CallMetrics]) -> Values:
    """Metrics of calls. Without a table, the best rate that any call of the same entry reached stands for it."""
    count = sum(c.count for c in chosen)
    size = sum(c.bytes for c in chosen)
    time_s = sum(c.time_s for c in chosen)
    runs = sum(c.runs.count for c in chosen)
    rated = [c.rate for c in chosen if c.rate]
    values: Values = {
        "count": count,
        "sites": len({c.site_number for c in chosen}),
        "bytes": size,
        "bytes_per_call": size / count if count else 0.0,
        "rate.min": min((r.min for r in rated), default=0.0),
        "rate.avg": size / time_s if time_s else 0.0,
        "rate.max": max((r.max for r in rated), default=0.0),
        "runs.count": runs,
        "runs.min": min((c.runs.min for c in chosen), default=0),
        "runs.avg": count / runs if runs else 0.0,
        "runs.max": max((c.runs.max for c in chosen), default=0),
    }
    longest = max(chosen, key=lambda c: c.time_s)
    values |= {
        "longest.label": longest.site.label,
        "longest.bytes_per_call": longest.bytes_per_call,
        "longest.rate": longest.rate.avg if longest.rate else 0.0,
    }
    values |= _table_values(longest)
    best = [_best_times(call, everyone) for call in chosen]
    for column, name in enumerate(("time_at_best", "time_at_best_size", "time_at_best_type")):
        values[f"table.{name}"] = sum(times[column] for times in best)
    if longest.table is None:
        values["table.best_rate"] = _best_seen(longest, everyone)
    return values


def _table_values(call: CallMetrics) -> Values:
    table = call.table
    if table is None:
        return {}
    return {
        "table.known": 1.0,
        "table.type": table.type,
        "table.moved": table.moved,
        "table.best_rate": table.best_rate,
        "table.best_type": table.best_type,
        "table.best_size": table.best_size,
        "table.best_range_low": table.best_range_low,
        "table.best_rate_of_type": table.best_rate_of_type,
        "table.range_low": table.range_low,
        "table.range_high": float("inf") if table.range_high is None else table.range_high,
        "table.best_type_at_size": table.best_type_at_size,
        "table.best_rate_at_size": table.best_rate_at_size,
    }


def _best_times(call: CallMetrics, everyone: Sequence[CallMetrics]) -> tuple[float, float, float]:
    if call.table:
        return call.table.time_at_best_s, call.table.time_at_best_size_s, call.table.time_at_best_type_s
    best = _best_seen(call, everyone)
    return (call.bytes / best if best else call.time_s), call.time_s, call.time_s


def _best_seen(call: CallMetrics, everyone: Sequence[CallMetrics]) -> float:
    return max((c.rate.max for c in everyone if c.rate and c.entry == call.entry), default=0.0)


def replica_values(times_s: Mapping[str, float]) -> Values:
    """Over the replicas of a block: how long each was in the selected states."""
    times = list(times_s.values())
    return {
        "replicas.count": len(times),
        "replicas.time_least": min(times),
        "replicas.time_mean": sum(times) / len(times),
        "replicas.time_most": max(times),
        "replicas.time_sum": sum(times),
    }
