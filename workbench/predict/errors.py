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
    (predicted - measured) / measured in percent: negative where the model promises too short a time.
    """

    stage: str
    quantity: str
    predicted: float
    measured: float
    error_pct: float
    inputs: Mapping[str, float]
    source: str = ""


def errors(file: RatssModelFile, reading: str | None = None) -> tuple[ErrorRow, ...]:
    """Every measurement that the model document holds, beside the prediction at the same inputs."""
    return tuple(row for index in range(len(file.model.measured)) for row in _rows(file, index, reading))


def error_row(
    stage: str, quantity: str, predicted: float, measured: float, inputs: Mapping[str, float], source: str = ""
) -> ErrorRow:
    error_pct = (predicted - measured) / measured * 100 if measured else float("nan")
    return ErrorRow(stage, quantity, predicted, measured, error_pct, inputs, source)


def _rows(file: RatssModelFile, index: int, reading: str | None) -> Iterator[ErrorRow]:
    measured = file.model.measured[index]
    prediction = predict(file, measured.inputs, reading)
    for quantity, predicted in quantities(prediction, measured.stage).items():
        value = getattr(measured, quantity)
        if value is not None and predicted is not None:
            yield error_row(measured.stage, quantity, predicted, value, measured.inputs, measured.source)


def quantities(prediction: Prediction, stage: str = "") -> dict[str, float | None]:
    """What a measurement can be held against: of one stage (once an iteration), or of the application."""
    if stage:
        comp, comm, time_s = prediction.comp_s[stage], prediction.comm_s[stage], prediction.stage_s[stage]
        return {"comp_s": float(comp), "comm_s": float(comm), "total_s": float(time_s)}
    return {
        "comp_s": float(total(list(prediction.comp_s.values()))),
        "comm_s": float(total(list(prediction.comm_s.values()))),
        "total_s": float(prediction.total_s),
        "speedup": None if prediction.speedup is None else float(prediction.speedup),
    }
