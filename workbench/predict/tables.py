"""Tables of a model as a paper prints them: measurements beside predictions, and the paper's own numbers."""

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

from workbench.api import ModelKind
from workbench.api.models import point_text
from workbench.api.predictions import Cell, ErrorRow, PaperTable, Row, RunComparison
from workbench.model.diagnostic import WorkbenchError
from workbench.model.text import NARROW, attribute_text, count_text, scientific, significant, time_text
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.kinds import code_of
from workbench.predict.paper_tables import CellRow, cell_value, printed_cells, rows_of

QUANTITIES = {"comp_s": "t_comp", "comm_s": "t_comm", "total_s": "t_application", "speedup": "speedup"}


def error_table(file: ModelFile, errors: Iterable[ErrorRow]) -> PaperTable | None:
    """Predicted, experimental and error, as Table V; None where the model holds no measurement."""
    rows: list[Row] = []
    at: Mapping[str, float] | None = None
    for row in errors:
        if row.inputs and row.inputs != at:
            rows.append(Row(point_text(file.model, row.inputs), "", ("", "", ""), strong=True))
        at = row.inputs
        rows.append(replace(_error_row(row), strong=False))
    if not rows:
        return None
    columns = ("Predicted", "Experimental", "Error")
    return PaperTable("Modelling error", "measurements in the model", columns, tuple(rows))


def run_table(comparison: RunComparison) -> PaperTable:
    """A run's parts, stages and whole beside the prediction at the run's settings."""
    rows: list[Row] = []
    for row in comparison.rows:
        rows.append(_error_row(row))
        if row.waiting_s:
            tip = "Waiting depends on the other side: it is a result of the run, not an input of the model"
            rows.append(Row("waiting, left out", "", ("", time_text(row.waiting_s), ""), tip=tip))
    at = ", ".join(
        f"{name} {significant(v) if v != int(v) else count_text(v)}" for name, v in comparison.inputs.items()
    )
    note = f"{comparison.run_name}{', ' if at else ''}{at}; times of all iterations"
    return PaperTable("Compared with the open run", note, ("Predicted", "Measured", "Error"), tuple(rows))


def _error_row(row: ErrorRow) -> Row:
    speedup = row.quantity == "speedup"
    text = significant if speedup else time_text
    name = QUANTITIES.get(row.quantity, row.quantity)
    whole = row.quantity in QUANTITIES
    stage = f"{row.stage}: " if row.stage else ""
    error = "" if math.isnan(row.error_pct) else f"{row.error_pct:+.1f}{NARROW}%".replace("-", "−")
    return Row(
        f"{stage}{name}", "", (text(row.predicted), text(row.measured), error),
        strong=whole, bad=(False, False, abs(row.error_pct) > 20), tip=row.source,
    )  # fmt: skip


def read_kinds(kinds: Iterable[ModelKind]) -> None:
    """Import the code that kinds of models are made of, and read their printed tables, before they are used."""
    for kind in kinds:
        pieces: list[Callable[[], object]] = [*code_of(kind), partial(cells_of, kind)]
        for piece in pieces:
            with suppress(Exception):  # what is broken is reported where it is used
                piece()


@cache
def cells_of(kind: ModelKind) -> tuple[Cell, ...]:
    """The cells of a kind's paper, read once."""
    return printed_cells(kind)


def is_printed(file: ModelFile) -> bool:
    """Whether a paper prints tables of this model."""
    return any(c.model == file.model.name for c in cells_of(file.kind))


def paper_tables(file: ModelFile) -> tuple[PaperTable, ...]:
    """The papers' own tables beside this model's numbers, where the model is one that they print."""
    tables: dict[str, list[Cell]] = {}
    for cell in cells_of(file.kind):
        if cell.model == file.model.name:
            tables.setdefault(cell.table, []).append(cell)
    values = Evaluation(file)
    shown = []
    for name, group in tables.items():
        rows = [row for cell in group if (row := _paper_row(values, cell))]
        wide = max((len(r.values) for r in rows), default=1)
        heads = next(
            (tuple(f"{a:g} {c.over}" for a in c.at) for c in group if len(c.at) == wide and c.over), ("Value",)
        )
        word = file.kind.printed.word if file.kind.printed else ""
        shown.append(PaperTable(f"{word} {name}".strip(), "ours above, as printed below", heads, tuple(rows)))
    return tuple(shown)


def _paper_row(values: Evaluation, cell: Cell) -> Row | None:
    try:
        rows: list[CellRow] = list(rows_of([cell], lambda of, at: cell_value(values, of, at)))
    except (WorkbenchError, LookupError, StopIteration, AssertionError):
        return None  # a copy that was changed need not have the printed field any more
    notes = tuple(f"{r.paper}{'' if r.agrees else ' ' + (r.erratum or 'differs')}" for r in rows)
    name = f"{cell.cell}, {cell.reading}" if cell.reading else cell.cell
    return Row(
        name,
        "",
        tuple(scientific(r.ours) if "E" in r.paper else attribute_text(r.ours) for r in rows),
        notes=notes,
        bad=tuple(not r.agrees for r in rows),
    )
