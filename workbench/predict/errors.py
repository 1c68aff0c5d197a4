"""Predictions against measurements, stage by stage, as Table V of the RATSS paper shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.predict.ratss import Prediction, RatssModelFile, predict
from workbench.predict.ratss_equations import total


@dataclass(frozen=True)
class ErrorRow:
    """One predicted quantity beside its measurement; `inputs` are where the model was computed.

    `stage` is "" for the application; `quantity` is comp_s, comm_s, total_s (seconds) or speedup. `error_pct` is
    (predicted - measured) / measured in percent: negative where the model promises too short a time. `waiting_s` is
    what a run waited in that part besides; `measured` is without it.
    """

    stage: str
    quantity: str
    predicted: float
    measured: float
    error_pct: float
    inputs: Mapping[str, float]
    source: str = ""
    waiting_s: float = 0.0


def errors(file: RatssModelFile, reading: str | None = None) -> tuple[ErrorRow, ...]:
    """Every measurement that the model document holds, beside the prediction at the same inputs."""
    return tuple(row for index in range(len(file.model.measured)) for row in _rows(file, index, reading))


def error_row(
    stage: str, quantity: str, predicted: float, measured: float, inputs: Mapping[str, float], source: str = "",
    waiting_s: float = 0.0,
) -> ErrorRow:  # fmt: skip
    error_pct = (predicted - measured) / measured * 100 if measured else float("nan")
    return ErrorRow(stage, quantity, predicted, measured, error_pct, inputs, source, waiting_s)


def _rows(file: RatssModelFile, index: int, reading: str | None) -> Iterator[ErrorRow]:
    measured = file.model.measured[index]
    prediction = predict(file, measured.inputs, reading)
    for quantity, predicted in quantities(prediction, measured.stage).items():
        value = getattr(measured, quantity, None)
        if value is not None and predicted is not None:
            yield error_row(measured.stage, quantity, predicted, value, measured.inputs, measured.source)


def quantities(prediction: Prediction, stage: str = "") -> dict[str, float | None]:
    """What a measurement can be held against, of all iterations: of one stage, or of the application."""
    names = [stage] if stage else list(prediction.stage_s)
    comp_s, comm_s = (
        float(total([by_stage[name] * prediction.iterations[name] for name in names]))
        for by_stage in (prediction.comp_s, prediction.comm_s)
    )
    if stage:
        return {"comp_s": comp_s, "comm_s": comm_s, "total_s": float(prediction.stage_s[stage])}
    speedup = None if prediction.speedup is None else float(prediction.speedup)
    return {"comp_s": comp_s, "comm_s": comm_s, "total_s": float(prediction.total_s), "speedup": speedup}
