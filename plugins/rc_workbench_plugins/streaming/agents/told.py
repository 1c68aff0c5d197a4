"""What agents counted in a run, as a table of its folder: UTF-8 of what `workbench query` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.words import assert_words, result_words
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Table

ANSWERS = "stream_answers"


def table_of_answers(answers: Answers) -> dict[str, Table]:
    said = {
        "measures": [one.as_json() for one in answers.measures],
        "asserts": [one.as_json() for one in answers.asserts],
        "diagnostics": [problem.as_json() for problem in answers.diagnostics],
        "words": [*map(result_words, answers.measures), *map(assert_words, answers.asserts)],
    }
    return {ANSWERS: {"utf8": np.frombuffer(json.dumps(said).encode(), "u1")}}


def answers_told(tables: Mapping[str, Table], folder: str) -> dict[str, list[object]] | None:
    """The JSON that a run's agents left, and the same in words; None where it had none."""
    if ANSWERS not in tables:
        return None
    try:
        found: dict[str, list[object]] = json.loads(bytes(np.asarray(tables[ANSWERS]["utf8"])))
        return {key: list(found[key]) for key in ("measures", "asserts", "diagnostics", "words")}
    except (KeyError, TypeError, ValueError) as error:
        message = f"what the run's agents counted is damaged: {error}"
        raise WorkbenchError(Diagnostic(message, "Run again.", file=folder)) from None
