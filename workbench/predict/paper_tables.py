"""The printed tables of the papers beside what the bundled models come to, cell by cell.

A cell agrees where our number rounds to the printed one: it differs by at most half a unit of the last printed digit.
Where it does not, the erratum's number says why (`resources/models/ERRATA.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

from pydantic import Field

from workbench.formats.documents import Schema, load_document
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Document, Platform
from workbench.predict.density import DensityModelFile, density, load_density
from workbench.predict.errors import errors
from workbench.predict.library import find_model
from workbench.predict.ratss import RatssModelFile, load_ratss, predict

#: For a printed digit that the model's number meets exactly halfway, give or take double precision.
_SLACK = 1e-9


@dataclass(frozen=True)
class CellRow:
    """One printed cell. `paper` keeps its digits; `ours` is the model's number in the same unit."""

    table: str
    cell: str
    paper: str
    ours: float
    agrees: bool
    erratum: str
    model: str
    reading: str


class Cell(Document):
    """How a row of a table is found in a model; `over` and `at` are the swept input and its values, one a column."""

    table: str
    cell: str
    model: str
    what: str
    over: str = ""
    at: tuple[float, ...] = (0.0,)
    paper: tuple[str, ...]
    scale: float = 1.0
    reading: str | None = None
    errata: dict[str, str] = Field(default_factory=dict)


class Tables(Document):
    schema_version: int
    cells: tuple[Cell, ...]


def printed_tables(kind: str) -> tuple[Cell, ...]:
    """The cells of a paper: "ratss" or "density"."""
    path = Path(str(files("workbench.resources"))) / "models" / f"{kind}_tables.yaml"
    tables, problems = load_document(Schema(title="list of printed tables", model=Tables), path)
    if tables is None:
        raise WorkbenchError(*problems)
    return tables.cells


def ratss_rows(platforms: Mapping[str, Platform]) -> tuple[CellRow, ...]:
    """Tables I to XII. WorkbenchError where a bundled model cannot be read."""
    cells = printed_tables("ratss")
    models: dict[str, RatssModelFile] = {}
    for name in {cell.model for cell in cells}:
        model, problems = load_ratss(find_model(name, "ratss"), platforms)
        if model is None:
            raise WorkbenchError(*problems)
        models[name] = model
    return tuple(rows_of(cells, lambda cell, at: ratss_value(models[cell.model], cell, at)))


def density_rows(platforms: Mapping[str, Platform]) -> tuple[CellRow, ...]:
    """Every number of the density paper. WorkbenchError where a bundled model cannot be read."""
    cells = printed_tables("density")
    models: dict[str, DensityModelFile] = {}
    for name in {cell.model for cell in cells}:
        model, problems = load_density(find_model(name, "density"), platforms)
        if model is None:
            raise WorkbenchError(*problems)
        models[name] = model
    return tuple(rows_of(cells, lambda cell, at: density_value(models[cell.model], cell)))


def density_value(file: DensityModelFile, cell: Cell) -> float:
    """The number that a cell names, in SI units. Layers are counted from 1, as in the paper."""
    result = density(file, {}, cell.reading)
    kind, _, number = cell.what.partition(" ")
    if kind == "limit":
        return float(result.limit_ops_per_s)
    bound = result.bounds[int(number) - 1]
    return float(
        {
            "mu": bound.layer.layer_bytes,
            "beta": bound.layer.bandwidth_bytes_per_s,
            "lambda": bound.layer.latency_s,
            "fraction": bound.latency_fraction,
            "sigma": bound.ops_per_s_without_latency,
            "divisor": bound.layer.layer_bytes / bound.ops_per_byte,
        }[kind]
    )


def rows_of(cells: Iterable[Cell], value: Callable[[Cell, float], float]) -> Iterator[CellRow]:
    for cell in cells:
        for at, paper in zip(cell.at, cell.paper, strict=True):
            ours = value(cell, at) * cell.scale
            where = f", {at:g} {cell.over}" if cell.over else ""
            reading = f", {cell.reading}" if cell.reading else ""
            agrees = rounds_to(ours, paper)
            erratum = "" if agrees else cell.errata.get(f"{at:g}" if cell.over else "", "")
            yield CellRow(
                cell.table, f"{cell.cell}{where}{reading}", paper, ours, agrees, erratum, cell.model, cell.reading or ""
            )


def rounds_to(value: float, printed: str) -> bool:
    """Whether a value is within half a unit of the last digit of a printed number."""
    number = Decimal(printed)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(value - float(number)) <= 0.5 * 10.0**exponent + _SLACK * abs(value)


def ratss_value(file: RatssModelFile, cell: Cell, at: float) -> float:
    """The number that a cell names, in SI units."""
    changes = {cell.over: at} if cell.over else {}
    kind, _, name = cell.what.partition(" ")
    if kind == "field":
        path = tuple(int(part) if part.isdigit() else part for part in name.split("."))
        readings = file.model.readings
        return float(file.value(path, {**file.inputs, **readings.get(cell.reading or "", {}), **changes}))
    if kind == "network":
        network, _, attribute = name.partition(".")
        assert file.platform is not None
        return float(getattr(next(n for n in file.platform.networks if n.name == network), attribute))
    if kind in ("measured", "error"):
        row = next(
            row
            for row in errors(file, cell.reading)
            if row.quantity == name and all(row.inputs.get(k) == v for k, v in changes.items())
        )
        return row.measured if kind == "measured" else row.error_pct
    prediction = predict(file, changes, cell.reading)
    if kind == "part":
        stage, _, part = name.partition("/")
        return float(prediction.parts[stage, part])
    found = {
        "comp": prediction.comp_s.get(name),
        "comm": prediction.comm_s.get(name),
        "stage": prediction.stage_s.get(name),
        "total": prediction.total_s,
        "speedup": prediction.speedup,
    }.get(kind)
    if found is None:
        raise WorkbenchError(Diagnostic(f"'{cell.what}' names nothing in the model {cell.model}"))
    return float(found)
