"""Predictions as JSON documents and as tables of text."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from workbench.api.predictions import ErrorRow
from workbench.model.text import table
from workbench.predict.explore import Bands, Exploration, sweep
from workbench.predict.formulas import ModelFile
from workbench.predict.sensitivity import Influence
from workbench.predict.solve import Solution
from workbench.predict.space import Space

#: Sweeps of at most this many points are reported point by point.
_TOLD = 1000


def errors_text(rows: Iterable[ErrorRow]) -> str:
    rows = list(rows)
    waited = any(row.waiting_s for row in rows)
    cells = [("At", "Stage", "Quantity", "Predicted", "Measured", "Error", *(["Waiting, left out"] if waited else []))]
    for row in rows:
        at = ", ".join(f"{name} = {value:g}" for name, value in row.inputs.items())
        error = "" if math.isnan(row.error_pct) else f"{row.error_pct:+.2f} %"
        values = (f"{row.predicted:.4g}", f"{row.measured:.4g}", error)
        waiting = (f"{row.waiting_s:.4g}" if row.waiting_s else "",) if waited else ()
        cells.append((at, row.stage or "application", row.quantity, *values, *waiting))
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
        given = len(space.axes)
        said = [tuple(f"{v:g}" if n < given else f"{v:.4g}" for n, v in enumerate(point)) for point in points]
        parts.append(table([head, *said]))
    summary = [("points", f"{exploration.points:,}", "")]
    for name, extreme in (("least", exploration.minimum), ("largest", exploration.maximum)):
        where = ", ".join(f"{key} = {value:.4g}" for key, value in extreme.inputs.items())
        summary.append((f"{name} {exploration.output}", f"{extreme.value:.5g}", where))
    summary += [(f"{share:.0%} below", f"{value:.4g}", "") for share, value in exploration.quantiles.items()]
    parts.append(table(summary))
    if exploration.front:
        rows = [(exploration.against, exploration.output, "at")]
        rows += [
            (f"{p.x:.4g}", f"{p.y:.4g}", ", ".join(f"{k} = {v:.4g}" for k, v in p.inputs.items()))
            for p in exploration.front
        ]
        parts.append(table(rows))
    return "\n\n".join(parts)


def bands_json(bands: Bands, space: Space) -> dict[str, Any]:
    return {
        "output": bands.output,
        "axes": {axis.name: axis.values.tolist() for axis in space.axes},
        "quantiles": {f"{share:g}": values.tolist() for share, values in bands.quantiles.items()},
    }


def bands_text(bands: Bands, space: Space) -> str:
    head, *points = bands_rows(bands, space)
    given = len(space.axes)
    said = [tuple(f"{v:g}" if n < given else f"{v:.4g}" for n, v in enumerate(point)) for point in points[:_TOLD]]
    return table([head, *said])


def influences_text(rows: Iterable[Influence]) -> str:
    rows = list(rows)
    if not rows:
        return "The model has no inputs: nothing in it can be changed. Give it some under inputs, and name them in it."
    cells: list[tuple[str, ...]] = [("Input", "Elasticity", "Alone", "With others")]
    for row in rows:
        shares = ("" if s is None else f"{s:.1%}" for s in (row.first_order, row.total_order))
        cells.append((row.name, f"{row.elasticity:+.4f}" if math.isfinite(row.elasticity) else "–", *shares))
    none = any(not math.isfinite(row.elasticity) for row in rows)
    note = "\n–: the input or the output is 0 or without bound here, so that there is no change in per cent."
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


def solution_text(solution: Solution) -> str:
    said = f"{solution.name} = {solution.value:.6g} gives a {solution.output} of {solution.reached:.6g}"
    if solution.short is None:
        return said
    short = f"{solution.short:.6g} gives {solution.short_reached:.6g}, {solution.target:g} is expected"
    return f"{said} (whole numbers only: {short})"
