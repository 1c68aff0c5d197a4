"""When each part of a prediction happens: the timing diagram of a RATSS model (Fig. 3), drawn from its numbers."""

from dataclasses import dataclass
from typing import Literal

from rc_workbench_plugins.ratss.compute import Model, Prediction
from rc_workbench_plugins.ratss.model import Stage, Transaction
from workbench.api import Diagnostic, WorkbenchError

Lane = Literal["configuration", "communication", "computation", "host"]


@dataclass(frozen=True)
class Interval:
    """A part of one iteration of a stage, from the application's start. `part` is a node, a transaction, or "".

    `iterations` of the stage follow one another; `round_s` is how long one takes.
    """

    stage: str
    part: str
    lane: Lane
    start_s: float
    end_s: float
    iterations: float
    round_s: float


def schedule(values: Model, prediction: Prediction) -> tuple[Interval, ...]:
    """The first iteration of every stage, for a prediction of single values.

    Data go out before the computation and come back after it (gather, reduce, and what `returns`); where a stage
    overlaps them, both start together, as for a round in the middle of many. Pipelined stages all start at once.
    """
    if any(getattr(value, "shape", ()) for value in (prediction.total_s, *prediction.stage_s.values())):
        raise WorkbenchError(Diagnostic("a timing diagram shows one design point", "Choose one point of the sweep."))
    intervals: list[Interval] = []
    begin = 0.0
    for index, stage in enumerate(values.model.stages):
        configuration_s, before_s, after_s, host_s = (
            float(values.of("stages", index, field))
            for field in ("configuration_s", "preprocessing_s", "postprocessing_s", "microprocessor_s")
        )
        intervals += _stage(stage, prediction, begin, configuration_s, before_s, host_s, after_s)
        if not values.model.pipelined:
            begin += float(prediction.stage_s[stage.name])
    return tuple(intervals)


def _stage(
    stage: Stage,
    prediction: Prediction,
    begin: float,
    configuration_s: float,
    before_s: float,
    host_s: float,
    after_s: float,
) -> list[Interval]:
    iterations = float(prediction.iterations[stage.name])
    comp_s, comm_s = float(prediction.comp_s[stage.name]), float(prediction.comm_s[stage.name])
    round_s = max(comp_s, comm_s) if stage.overlapped else comp_s + comm_s
    intervals: list[Interval] = []

    def put(part: str, lane: Lane, start_s: float, duration_s: float) -> float:
        if duration_s > 0:
            intervals.append(Interval(stage.name, part, lane, start_s, start_s + duration_s, iterations, round_s))
        return start_s + duration_s

    def move(moves: list[Transaction], start_s: float) -> float:
        if stage.nonblocking:  # they run side by side: drawn in one block, delays and the longest of the rest
            return put(" + ".join(m.name for m in moves), "communication", start_s, comm_s)
        for transaction in moves:
            start_s = put(
                transaction.name, "communication", start_s, float(prediction.parts[stage.name, transaction.name])
            )
        return start_s

    start = put("", "configuration", begin, configuration_s)
    back = [m for m in stage.transactions if m.returns or m.kind in ("gather", "reduce")]
    out = list(stage.transactions) if stage.nonblocking else [m for m in stage.transactions if m not in back]
    computing = start if stage.overlapped else move(out, start)
    working = put("preprocessing", "host", computing, before_s)
    for node in stage.nodes:
        put(node.name, "computation", working, float(prediction.parts[stage.name, node.name]))
    put("microprocessor", "host", working, host_s)
    put("postprocessing", "host", computing + comp_s - after_s, after_s)
    if stage.overlapped:
        middle = move(out, start)
        if not stage.nonblocking:
            move(back, middle)
    elif not stage.nonblocking:
        move(back, computing + comp_s)
    return intervals
