"""What agents counted in a run, as a table of its folder: UTF-8 of what `workbench query` prints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rc_workbench_plugins.streaming.agents.cost import Cost
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult
from rc_workbench_plugins.streaming.query.words import assert_words, result_words
from workbench.api import Diagnostic, Severity, Table, WorkbenchError

ANSWERS = "stream_answers"


def table_of_answers(
    told: Mapping[str, Answers], uncounted: Iterable[Diagnostic] = (), cost: Iterable[Cost] = ()
) -> dict[str, Table]:
    """Of agents by where they are, in the order in which the statements were written; `uncounted` tells of those that
    no agent counts."""
    if not told:
        return {}
    measures = sorted(((one, by) for by, found in told.items() for one in found.measures), key=_written)
    asserts = sorted(((one, by) for by, found in told.items() for one in found.asserts), key=_written)
    problems = [*uncounted, *(problem for found in told.values() for problem in found.diagnostics)]
    said = {
        "measures": [one.as_json() | {"agent": by} for one, by in measures],
        "asserts": [one.as_json() | {"agent": by} for one, by in asserts],
        "diagnostics": [problem.as_json() for problem in problems],
        "agents": [one.as_json() for one in cost],
        "words": [*(result_words(one) for one, _ in measures), *(assert_words(one) for one, _ in asserts)],
    }
    return {ANSWERS: {"utf8": np.frombuffer(json.dumps(said).encode(), "u1")}}


def _written(one: tuple[MeasureResult | AssertResult, str]) -> tuple[int, int]:
    of = one[0].measure if isinstance(one[0], MeasureResult) else one[0].asserted
    return of.line, of.column


def problem_told(said: Mapping[str, Any]) -> Diagnostic:
    """A diagnostic from its JSON. TypeError or ValueError where it is none."""
    return Diagnostic(**{**said, "severity": Severity(said.get("severity", "error"))})


def answers_told(tables: Mapping[str, Table], folder: str) -> dict[str, list[Any]] | None:
    """The JSON that a run's agents left, and the same in words; None where it had none."""
    if ANSWERS not in tables:
        return None
    try:
        found: dict[str, list[Any]] = json.loads(bytes(np.asarray(tables[ANSWERS]["utf8"])))
        for problem in found["diagnostics"]:
            problem_told(problem)
        for one in found.setdefault("agents", []):
            Cost(**one)
        return {key: list(found[key]) for key in ("measures", "asserts", "diagnostics", "agents", "words")}
    except (KeyError, TypeError, ValueError) as error:
        message = f"what the run's agents counted is damaged: {error}"
        raise WorkbenchError(Diagnostic(message, "Run again.", file=folder)) from None
