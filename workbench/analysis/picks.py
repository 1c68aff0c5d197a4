"""Picks of a rule's changes (`rule_changes`): the calls and states of a run that each pick selects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from workbench.analysis.rounds import CallOrder, Mask
from workbench.analysis.selection import Selection
from workbench.api.results import BlockMetrics, CallMetrics, StateMetrics
from workbench.model.pragma import Category
from workbench.model.targets import resolve_target

Pair = tuple[int, int]  # site and state
Picked = tuple[BlockMetrics, tuple[StateMetrics, ...]]  # a block that represents its replicas, and some of its states


def _selected(s: Selection) -> Sequence[Selection]:
    return [s] if s.calls else []


def _longest(s: Selection) -> Sequence[Selection]:
    return _selection_of_calls(s, {_pair(max(s.calls, key=lambda call: call.time_s))}) if s.calls else []


def _call_by_call(s: Selection) -> Sequence[Selection]:
    return [one for pair in sorted(map(_pair, s.calls)) for one in _selection_of_calls(s, {pair})]


def _together(s: Selection) -> Sequence[Selection]:
    return _groups(s, lambda order: order.of(set(map(_pair, s.calls))))


def _with_data(s: Selection) -> Sequence[Selection]:
    mine = set(map(_pair, s.calls))
    groups = _groups(s, lambda order: order.in_rounds & (order.of(mine) | order.beside(order.of(mine))))
    return [one for one in groups if mine & set(map(_pair, one.calls))]


def _starts(s: Selection) -> Sequence[Selection]:
    return _selection_of_calls(s, _toward(s, s.order.used(s.order.starts))) if s.order else []


def _selected_starts(s: Selection) -> Sequence[Selection]:
    return _selection_of_calls(s, set(map(_pair, s.calls)) & s.order.used(s.order.starts)) if s.order else []


def _settings(s: Selection) -> Sequence[Selection]:
    order = s.order
    if order is None:
        return []
    repeated = order.used(order.in_rounds & order.sends & order.of(set(map(_pair, s.calls))))
    return _selection_of_calls(s, repeated - order.used(order.starts))


def _next_data(s: Selection) -> Sequence[Selection]:
    return _selection_of_calls(s, _toward(s, s.order.used(s.order.next_data))) if s.order else []


def _before_reads(s: Selection) -> Sequence[Selection]:
    order = s.order
    return _selection_of_calls(s, order.used(order.before_reads(order.of(set(map(_pair, s.calls)))))) if order else []


def _asynchronous(s: Selection) -> Sequence[Selection]:
    entries = s.of.platform.host.entries if s.of.platform else ()
    kinds = {entry.kind.value for entry in entries if entry.asynchronous}
    early = {call.entry for call in s.calls if call.entry and call.entry.kind in kinds}
    early -= {
        entry for entry, described in zip(s.of.run.manifest.entries, entries, strict=False) if described.asynchronous
    }
    return _selection_of_calls(s, {_pair(call) for call in s.calls if call.entry in early})


def _other_polls(s: Selection) -> Sequence[Selection]:
    if s.order is None:
        return []
    kinds, counts = np.unique(s.order.kind[s.order.waits & s.order.asks], return_counts=True)
    return (
        _selection_of_calls(s, {s.order.pairs[kind] for kind in np.delete(kinds, counts.argmax()).tolist()})
        if len(kinds)
        else []
    )


#: The selections of each pick of calls, one for each change.
CALLS: Mapping[str, Callable[[Selection], Sequence[Selection]]] = {
    "selected": _selected,
    "each": _call_by_call,
    "longest": _longest,
    "together": _together,
    "with_data": _with_data,
    "starts": _starts,
    "selected_starts": _selected_starts,
    "settings": _settings,
    "next_data": _next_data,
    "before_reads": _before_reads,
    "asynchronous": _asynchronous,
    "other_polls": _other_polls,
}


def _selected_states(s: Selection) -> Sequence[Picked]:
    return [(s.block, s.states)] if s.states else []


def _own_work(s: Selection) -> Sequence[Picked]:
    return _work_of([s.block])


def _culprit_work(s: Selection) -> Sequence[Picked]:
    return _work_of([s.late_block] if s.late_block else [])


#: The states of each pick of states.
STATES: Mapping[str, Callable[[Selection], Sequence[Picked]]] = {
    "selected": _selected_states,
    "work": _own_work,
    "culprit": _culprit_work,
}


def work_of(name: str, s: Selection) -> Sequence[Picked]:
    """The busiest of the blocks with this name (of a block or of an instance), with its work states."""
    ids = {block.id for block in resolve_target(name, [b.block for b in s.of.blocks])} if name else set()
    return _work_of([b for b in s.of.blocks if b.block.id in ids])


def _work_of(blocks: Sequence[BlockMetrics]) -> Sequence[Picked]:
    """The busiest of these blocks, with its work states."""
    busiest = max(blocks, key=lambda block: block.time_of(Category.WORK), default=None)
    if busiest is None or not busiest.time_of(Category.WORK):
        return []
    return [(busiest, tuple(s for s in busiest.states if s.state.category is Category.WORK and s.time_s))]


def _pair(call: CallMetrics) -> Pair:
    return call.site_number, call.state.index


def _selection_of_calls(s: Selection, pairs: set[Pair]) -> Sequence[Selection]:
    """A selection with these calls of the thread that `s.order` belongs to."""
    thread = s.block.block.id if s.on_host or s.order is None else s.order.block
    calls = tuple(call for call in s.of.calls if call.block == thread and _pair(call) in pairs)
    return [replace(s, calls=calls, time_s=sum(call.time_s for call in calls))] if calls else []


def _groups(s: Selection, chosen: Callable[[CallOrder], Mask]) -> Sequence[Selection]:
    """A selection for each group of consecutive calls. Without an order, each site with consecutive calls is a
    group."""
    if s.order is None:
        return [
            selection for call in s.calls if call.runs.max > 1 for selection in _selection_of_calls(s, {_pair(call)})
        ]
    return [selection for pairs in s.order.groups(chosen(s.order)) for selection in _selection_of_calls(s, pairs)]


def _toward(s: Selection, pairs: set[Pair]) -> set[Pair]:
    """The calls whose states name the selected block, or all calls if none does."""
    if s.on_host or s.order is None:
        return pairs
    blocks = [b.block for b in s.of.blocks]
    states = next(b for b in s.of.blocks if b.block.id == s.order.block).block.states
    group_ids = {b.block.id for b in s.of.blocks if b.block.group == s.block.block.group}
    naming_pairs = {
        (site, state)
        for site, state in pairs
        if any(block.id in group_ids for target in states[state].targets for block in resolve_target(target, blocks))
    }
    return naming_pairs or pairs


def call_names(s: Selection) -> tuple[str, ...]:
    """Names of the selected calls for changes: FILE:LINE, with the column if the line has other calls; in a file
    outside of the project, the calls' name if it is unique."""
    selected = {call.site_number for call in s.calls}
    sites = list(enumerate(s.of.run.manifest.sites))
    others = [site for number, site in sites if number not in selected]
    places = {(site.file, site.line) for site in others}
    other_names = {name for site in others for name in (site.label, site.callee)}
    names = []
    for call in s.calls:
        site = call.site
        if PurePath(site.file).is_absolute() and site.label not in other_names:
            names.append(site.label)
        else:
            names.append(f"{call.place}:{site.column}" if (site.file, site.line) in places else call.place)
    return tuple(dict.fromkeys(names))
