"""Predictions as JSON documents and as tables of text."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from workbench.api.predictions import ErrorRow
from workbench.model.text import table, thousands, time_text
from workbench.predict.explore import Bands, Exploration, sweep
from workbench.predict.formulas import ModelFile
from workbench.predict.sensitivity import Influence
from workbench.predict.solve import Solution
from workbench.predict.space import Space
from workbench.predict.tables import QUANTITIES
from workbench.predict.words import DIGITS, input_words, output_text, output_title, point_words

#: Sweeps of at most this many points are reported point by point.
_TOLD = 1000


def errors_text(file: ModelFile, rows: Iterable[ErrorRow]) -> str:
    rows = list(rows)
    waited = any(row.waiting_s for row in rows)
    cells = [("At", "Stage", "Quantity", "Predicted", "Measured", "Error", *(["Waiting, left out"] if waited else []))]
    for row in rows:
        kind = row.quantity if row.quantity == "speedup" else "total_s"  # all others are times
        error = "" if math.isnan(row.error_pct) else f"{row.error_pct:+.2f} %"
        values = (output_text(kind, row.predicted, DIGITS), output_text(kind, row.measured, DIGITS), error)
        waiting = (time_text(row.waiting_s, DIGITS) if row.waiting_s else "",) if waited else ()
        quantity = output_title(row.quantity) if row.quantity in QUANTITIES else row.quantity
        cells.append((point_words(file, row.inputs), row.stage or "application", quantity, *values, *waiting))
    return table(cells)


def exploration_json(file: ModelFile, exploration: Exploration, space: Space, reading: str | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "output": exploration.output,
        "points": exploration.points,
        "minimum": asdict(exploration.minimum),
        "maximum": asdict(exploration.maximum),
        "mean": exploration.mean,
        "quantiles": {f"{share:g}": value for share, value in exploration.quantiles.items()},
        "pareto": list(map(asdict, exploration.front)),
        "pareto_thinned": exploration.front_thinned,
    }
    if not space.samples and space.points <= _TOLD:
        head, *rows = sweep_rows(file, space, reading)
        document["rows"] = [dict(zip(head, row, strict=True)) for row in rows]
    return document


def sweep_rows(file: ModelFile, space: Space, reading: str | None) -> Iterator[tuple[Any, ...]]:
    """A sweep as a table: a head, then the inputs and the outputs of each point. Raises WorkbenchError where it is too
    large for one."""
    names = [axis.name for axis in space.axes]
    columns = {name: values for name, values in sweep(file, space, reading).outputs.items() if name not in names}
    yield (*names, *columns)
    for place in np.ndindex(*space.shape):
        at = (float(axis.values[i]) for axis, i in zip(space.axes, place, strict=True))
        yield (*at, *(float(values[place]) for values in columns.values()))


def bands_rows(bands: Bands, space: Space) -> Iterator[tuple[Any, ...]]:
    """Bands as a table: a head, then the inputs and each quantile of a point."""
    yield (*(axis.name for axis in space.axes), *(f"{share:.0%} of {bands.output}" for share in bands.quantiles))
    for place in np.ndindex(*(len(axis.values) for axis in space.axes)):
        at = (float(axis.values[i]) for axis, i in zip(space.axes, place, strict=True))
        yield (*at, *(float(values[place]) for values in bands.quantiles.values()))


def exploration_text(file: ModelFile, exploration: Exploration, space: Space, reading: str | None) -> str:
    parts = []
    if not space.samples and space.points <= _TOLD:
        head, *points = sweep_rows(file, space, reading)
        names = [axis.name for axis in space.axes]
        cells = [_point_cells(file, names, head[len(names) :], point) for point in points]
        parts.append(table([(*names, *map(output_title, head[len(names) :])), *cells]))
    output, against = exploration.output, exploration.against
    summary = [("points", thousands(exploration.points), "")]
    for name, extreme in (("least", exploration.minimum), ("largest", exploration.maximum)):
        title = f"{name} {output_title(output).lower()}"
        summary.append((title, output_text(output, extreme.value, DIGITS), point_words(file, extreme.inputs)))
    quantiles = exploration.quantiles.items()
    summary += [(f"{share:.0%} below", output_text(output, value, DIGITS), "") for share, value in quantiles]
    parts.append(table(summary))
    if exploration.front:
        rows = [(output_title(against), output_title(output), "at")]
        rows += [
            (output_text(against, p.x, DIGITS), output_text(output, p.y, DIGITS), point_words(file, p.inputs))
            for p in exploration.front
        ]
        parts.append(table(rows))
    return "\n\n".join(parts)


def _point_cells(
    file: ModelFile, inputs: Sequence[str], outputs: Sequence[str], point: Sequence[float]
) -> tuple[str, ...]:
    """A point of a sweep: the values of its inputs, then of its outputs."""
    given, computed = point[: len(inputs)], point[len(inputs) :]
    return (
        *(input_words(file, name, value) for name, value in zip(inputs, given, strict=True)),
        *(output_text(name, value, DIGITS) for name, value in zip(outputs, computed, strict=True)),
    )


def bands_json(bands: Bands, space: Space) -> dict[str, Any]:
    return {
        "output": bands.output,
        "axes": {axis.name: axis.values.tolist() for axis in space.axes},
        "quantiles": {f"{share:g}": values.tolist() for share, values in bands.quantiles.items()},
    }


def bands_text(file: ModelFile, bands: Bands, space: Space) -> str:
    _, *points = bands_rows(bands, space)
    names = [axis.name for axis in space.axes]
    head = (*names, *(f"{share:.0%} of {output_title(bands.output).lower()}" for share in bands.quantiles))
    outputs = [bands.output] * len(bands.quantiles)
    return table([head, *(_point_cells(file, names, outputs, point) for point in points[:_TOLD])])


def influences_text(rows: Iterable[Influence]) -> str:
    rows = list(rows)
    if not rows:
        return "The model has no inputs: nothing in it can be changed. Give it some under inputs, and name them in it."
    cells: list[tuple[str, ...]] = [("Input", "Elasticity", "Alone", "With others")]
    for row in rows:
        shares = ("" if s is None else f"{s:.1%}" for s in (row.first_order, row.total_order))
        cells.append((row.name, f"{row.elasticity:+.4f}" if math.isfinite(row.elasticity) else "–", *shares))
    none = any(not math.isfinite(row.elasticity) for row in rows)
    note = "\n–: the input or the output is 0 or infinite here, so a change in per cent is undefined."
    return table(cells) + note * none


def influences_json(rows: Iterable[Influence]) -> list[dict[str, Any]]:
    """JSON has no number for an elasticity that there is none of."""
    return [asdict(row) | {"elasticity": row.elasticity if math.isfinite(row.elasticity) else None} for row in rows]


def solution_json(solution: Solution) -> dict[str, Any]:
    document: dict[str, Any] = {"name": solution.name, "value": solution.value, solution.output: solution.reached}
    document |= {"target": solution.target, "integer": solution.integer}
    if solution.short is not None:
        document |= {"short": {"value": solution.short, solution.output: solution.short_reached}}
    return document


def solution_text(file: ModelFile, solution: Solution) -> str:
    output = solution.output

    def at(value: float) -> str:
        return input_words(file, solution.name, value)

    reached = output_text(output, solution.reached, DIGITS)
    said = f"{solution.name} = {at(solution.value)} gives a {output_title(output).lower()} of {reached}"
    if solution.short is None or solution.short_reached is None:
        return said
    target = output_text(output, solution.target, DIGITS)
    short = f"{at(solution.short)} gives {output_text(output, solution.short_reached, DIGITS)}, {target} is expected"
    return f"{said} (whole numbers only: {short})"
