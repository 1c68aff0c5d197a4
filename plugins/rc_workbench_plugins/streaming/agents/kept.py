"""What a run's agents counted, in a table of its folder: JSON, in UTF-8, of the results in their base units."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from rc_workbench_plugins.streaming.agents.cost import Cost
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.measures import (
    And,
    Assert,
    AssertResult,
    FrameLength,
    FrameValue,
    Measure,
    MeasureResult,
    Metric,
    Statistic,
    Tap,
    Within,
)
from workbench.api import Diagnostic, Severity, Table, WorkbenchError

ANSWERS = "stream_answers"
#: The same of agents beside the counters, which an application may have too.
OF_DESIGN = "design_answers"


def table_of_answers(
    counted: Mapping[str, Answers], uncounted: Iterable[Diagnostic] = (), costs: Iterable[Cost] = (),
    name: str = ANSWERS,
) -> dict[str, Table]:  # fmt: skip
    """Of agents by where they are, in the order in which the statements were written; `uncounted` are problems of
    statements that no agent counts."""
    if not counted:
        return {}
    measures = [replace(one, agent=by) for by, answers in counted.items() for one in answers.measures]
    asserts = [replace(one, agent=by) for by, answers in counted.items() for one in answers.asserts]
    problems = [*uncounted, *(problem for answers in counted.values() for problem in answers.diagnostics)]
    kept = {
        "measures": list(map(_without_conditions, sorted(measures, key=lambda one: _place(one.measure)))),
        "asserts": list(map(_without_comparisons, sorted(asserts, key=lambda one: _place(one.asserted)))),
        "diagnostics": list(map(asdict, problems)),
        "costs": list(map(asdict, costs)),
    }
    text = json.dumps(kept, default=lambda array: array.tolist())
    return {name: {"utf8": np.frombuffer(text.encode(), "u1")}}


def _place(statement: Measure | Assert) -> tuple[int, int]:
    return statement.line, statement.column


def _without_conditions(one: MeasureResult) -> dict[str, Any]:
    """A result as JSON has it: its words do not need what it was measured under."""
    return asdict(replace(one, measure=replace(one.measure, when=None), diagnostics=()))


def _without_comparisons(one: AssertResult) -> dict[str, Any]:
    compared = tuple((replace(side, when=None), worth) for side, worth in one.compared)
    return asdict(replace(one, asserted=replace(one.asserted, condition=And(())), compared=compared))


def kept_answers(tables: Mapping[str, Table], folder: str) -> Answers | None:
    """What a run's agents counted; None where it had none. WorkbenchError where that is damaged."""
    kept = [_kept(tables[name], folder) for name in (ANSWERS, OF_DESIGN) if name in tables]
    if not kept:
        return None
    return Answers(
        tuple(one for answers in kept for one in answers.measures),
        tuple(one for answers in kept for one in answers.asserts),
        tuple(one for answers in kept for one in answers.diagnostics),
        tuple(one for answers in kept for one in answers.costs),
    )


def _kept(table: Table, folder: str) -> Answers:
    try:
        kept = json.loads(bytes(np.asarray(table["utf8"])))
        if "words" in kept:
            raise ValueError("an earlier version wrote it")
        return Answers(
            tuple(map(_result, kept["measures"])),
            tuple(map(_held, kept["asserts"])),
            tuple(map(_problem, kept["diagnostics"])),
            tuple(Cost(**one) for one in kept["costs"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        message = f"what the run's agents counted cannot be read: {error}"
        raise WorkbenchError(Diagnostic(message, "Run again.", file=folder)) from None


def _result(one: dict[str, Any]) -> MeasureResult:
    frames = tuple(map(_frame, one["frames"]))
    return MeasureResult(**one | {"measure": _measure(one["measure"]), "frames": frames, "diagnostics": ()})


def _held(one: dict[str, Any]) -> AssertResult:
    asserted = Assert(**one["asserted"] | {"condition": And(())})
    compared = tuple((_measure(side), value) for side, value in one["compared"])
    return AssertResult(
        **one | {"asserted": asserted, "compared": compared, "broken_ps": tuple(map(tuple, one["broken_ps"]))}
    )


def _measure(one: dict[str, Any]) -> Measure:
    enums = {"metric": Metric(one["metric"]), "statistic": Statistic(one["statistic"]), "tap": Tap(one["tap"])}
    lists = {"edges": tuple(one["edges"]), "bins": tuple(one["bins"])}
    within = one["within"] and Within(
        **one["within"] | {name: tuple(one["within"][name]) for name in ("states", "into")}
    )
    return Measure(**one | enums | lists | {"frame": FrameLength(**one["frame"]), "within": within})


def _frame(one: dict[str, Any]) -> FrameValue:
    histogram, samples = one["histogram"], one["samples"]
    if samples:
        times, values = samples
        samples = np.array(times, np.int64), np.array(values)
    return FrameValue(**one | {"histogram": tuple(histogram) if histogram else None, "samples": samples})


def _problem(one: dict[str, Any]) -> Diagnostic:
    return Diagnostic(**one | {"severity": Severity(one["severity"])})
