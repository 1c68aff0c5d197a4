"""Predictions against measurements, stage by stage, as Table V of the RATSS paper shows them."""

from collections.abc import Iterator, Mapping

from rc_workbench_plugins.ratss.compute import Model, Prediction, predict
from rc_workbench_plugins.ratss.equations import total
from workbench.api.predictions import ErrorRow


def errors(values: Model) -> tuple[ErrorRow, ...]:
    """Every measurement that the model document holds, beside the prediction at the same inputs."""
    return tuple(row for index in range(len(values.model.measured)) for row in _rows(values, index))


def error_row(
    stage: str, quantity: str, predicted: float, measured: float, inputs: Mapping[str, float], source: str = "",
    waiting_s: float = 0.0,
) -> ErrorRow:  # fmt: skip
    error_pct = (predicted - measured) / measured * 100 if measured else float("nan")
    return ErrorRow(stage, quantity, predicted, measured, error_pct, inputs, source, waiting_s)


def _rows(values: Model, index: int) -> Iterator[ErrorRow]:
    measured = values.model.measured[index]
    prediction = predict(values.at(measured.inputs))
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
