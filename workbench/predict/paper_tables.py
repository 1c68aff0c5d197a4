"""The printed tables of the papers beside what the bundled models come to, cell by cell.

A cell agrees where our number rounds to the printed one: it differs by at most half a unit of the last printed digit.
Where it does not, the erratum's number says why (`ERRATA.md` beside the kind's models).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from workbench.api import ModelKind
from workbench.api.predictions import Cell
from workbench.formats.documents import Schema, load_document
from workbench.model.diagnostic import WorkbenchError
from workbench.model.document import Document
from workbench.model.platform import Platform
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import load_model
from workbench.predict.library import find_model

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


class Tables(Document):
    schema_version: int
    cells: tuple[Cell, ...]


def printed_cells(kind: ModelKind) -> tuple[Cell, ...]:
    """The cells of the paper that a kind's models come from; none where it has none."""
    if kind.printed is None:
        return ()
    tables, problems = load_document(Schema(title="list of printed tables", model=Tables), kind.printed.file)
    if tables is None:
        raise WorkbenchError(*problems)
    return tables.cells


def printed_rows(kind: ModelKind, platforms: Mapping[str, Platform]) -> tuple[CellRow, ...]:
    """Every printed number of a kind's paper. WorkbenchError where a bundled model cannot be read."""
    cells = printed_cells(kind)
    models: dict[str, Evaluation] = {}
    for name in {cell.model for cell in cells}:
        model, problems = load_model(kind, find_model(name, kind), platforms)
        if model is None:
            raise WorkbenchError(*problems)
        models[name] = Evaluation(model)
    return tuple(rows_of(cells, lambda cell, at: cell_value(models[cell.model], cell, at)))


def cell_value(values: Evaluation, cell: Cell, at: float) -> float:
    """The number that a cell names in one of its columns, in SI units."""
    printed = values.file.kind.printed
    assert printed is not None
    changes = {cell.over: at} if cell.over else {}
    return printed.value(Evaluation(values.file, changes, cell.reading), cell)


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
    return math.isfinite(value) and abs(value - float(number)) <= 0.5 * 10.0**exponent + _SLACK * abs(value)
