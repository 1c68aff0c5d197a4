"""Works out a suggestion's changes for the calls and states that its rule selects in a run."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from workbench.analysis.picks import CALLS, STATES, Picked, call_names, work_of
from workbench.analysis.rule_changes import CALL_PICKS, SCALE, STATE_PICKS, RuleChange
from workbench.analysis.selection import Selection
from workbench.model.blocks import Side
from workbench.model.changes import CHANGES, Change, ScaleCalls, ScaleHost, ScaleState, change_of
from workbench.model.diagnostic import WorkbenchError

#: A host state has code of its own beside its calls if these take less than this share of its time.
_IN_CALLS = 0.99
#: Changes whose count joins or splits calls; with a count of 1 they change nothing.
_FROM_TWO = ("unite", "split", "fewer_starts")
#: A factor closer to 1 reads as no change.
_SEEN = 0.005
_NOTHING = "in this run it would change nothing"


def changes_of(changes: Sequence[RuleChange], s: Selection) -> tuple[tuple[Change, ...], str]:
    """All applicable changes for a selection; without any, the reason."""
    answers = [_changes_of_line(line, s) for line in changes]
    distinct = tuple(dict.fromkeys(change for applicable, _ in answers for change in applicable))
    return distinct, "" if distinct or not answers else answers[0][1]


def _changes_of_line(change: RuleChange, s: Selection) -> tuple[tuple[Change, ...], str]:
    """The changes that one line of a suggestion gives for a selection; without any, the reason."""
    if change.kind == SCALE:
        states = work_of(str(s.values[change.pick]), s) if change.work_of else STATES[change.pick](s)
        none = f"no work of {s.values[change.pick]} is marked" if change.work_of else STATE_PICKS[change.pick].none
        return tuple(_scaled(change, states, s)), _NOTHING if states else none
    if not change.pick:
        changes = _of_values(change, s, {})
        return (changes,) if changes else (), _NOTHING
    selections = CALLS[change.pick](s)
    per_selection = (_of_values(change, selected, {"calls": call_names(selected)}) for selected in selections)
    none = _NOTHING if selections else CALL_PICKS[change.pick].none
    return tuple(filter(None, per_selection)), none


def _of_values(change: RuleChange, selection: Selection, calls: Mapping[str, Any]) -> Change | None:
    """The change, or None if the run lacks a value or nothing would change."""
    values = selection.values
    arguments: dict[str, Any] = dict(calls)
    for name, metric in change.texts.items():
        arguments[name] = str(values[metric])
        if not arguments[name]:
            return None
    integers = {entry.name for entry in fields(CHANGES[change.kind]) if entry.type == "int"}
    for name, expression in change.numbers.items():
        value = float(expression.evaluate(values))
        if not math.isfinite(value):
            return None
        arguments[name] = math.ceil(value) if name in integers else value
    if (change.kind in _FROM_TWO and arguments["count"] < 2) or _same_table(arguments, selection):
        return None
    try:
        return change_of({"kind": change.kind, **arguments})
    except WorkbenchError:  # a number that the catalogue does not have, such as a size of 0
        return None


def _same_table(arguments: Mapping[str, Any], selection: Selection) -> bool:
    return "table" in arguments and all(
        c.entry is not None and c.entry.transfer == arguments["table"] for c in selection.calls
    )


def _scaled(change: RuleChange, picked: Sequence[Picked], s: Selection) -> Iterator[Change]:
    factor = max(float(change.numbers["factor"].evaluate(s.values)), 0.0)
    if not math.isfinite(factor) or abs(factor - 1) < _SEEN:
        return
    for metrics, states in picked:
        block = metrics.block
        if block.side is Side.FPGA:
            yield from (ScaleState(block.group or block.id, one.state.name, factor) for one in states)
            continue
        indexes = {one.state.index for one in states}
        calls = [c for c in s.of.calls if c.block == block.id and c.state.index in indexes]
        if calls:
            yield ScaleCalls(call_names(replace(s, calls=tuple(calls))), factor)
        for one in states:
            in_calls_s = sum(c.time_s for c in calls if c.state.index == one.state.index)
            if in_calls_s < _IN_CALLS * one.time_s:
                yield ScaleHost(block.id, one.state.name, factor)
