"""Tables of a model as the paper prints them: attributes down, values for each node count across. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from workbench.gui.predict.words import input_text, scientific
from workbench.model.diagnostic import WorkbenchError
from workbench.model.text import NARROW, count_text, significant, thousands
from workbench.predict.calibrate import RunComparison
from workbench.predict.density import DensityModelFile
from workbench.predict.errors import ErrorRow, errors
from workbench.predict.formulas import ModelFile
from workbench.predict.paper_tables import Cell, CellRow, density_value, printed_tables, ratss_value, rows_of
from workbench.predict.ratss import Prediction, RatssModelFile, in_tree, predict
from workbench.predict.ratss_equations import rounds


@dataclass(frozen=True)
class Row:
    """An attribute, its unit, a value for each column. `strong` rows are sums; `notes` stand small under values."""

    attribute: str
    unit: str
    values: tuple[str, ...]
    strong: bool = False
    notes: tuple[str, ...] = ()
    bad: tuple[bool, ...] = ()
    tip: str = ""


@dataclass(frozen=True)
class PaperTable:
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


Points = Sequence[Mapping[str, float]]


def points_of(file: RatssModelFile) -> tuple[Mapping[str, float], ...]:
    """The columns: the inputs that measurements were made at, or the model's own."""
    found: list[Mapping[str, float]] = []
    for measured in file.model.measured:
        if measured.inputs not in found:
            found.append(measured.inputs)
    return tuple(found) or ({},)


def column_title(file: ModelFile, point: Mapping[str, float]) -> str:
    said = [f"{input_text(file, name, value)}{NARROW}{name}" for name, value in point.items()]
    return ", ".join(said) or "value"


def plain(value: float) -> str:
    """An attribute as the paper prints it: whole numbers in full, small and large ones with an exponent."""
    if value == int(value) and abs(value) < 1e10:
        return thousands(int(value))
    if abs(value) < 1e-2 or abs(value) >= 1e6:
        return scientific(value)
    return significant(value, 4)


def model_tables(file: RatssModelFile, points: Points, reading: str | None = None) -> tuple[PaperTable, ...]:
    """The application's table, that of its nodes, that of its networks."""
    columns = tuple(column_title(file, p) for p in points)
    predictions = [predict(file, p, reading) for p in points]
    return (
        _application(file, columns, predictions),
        _nodes(file, columns, points, predictions, reading),
        _transactions(file, columns, points, predictions, reading),
    )


def _row(
    attribute: str, unit: str, values: Sequence[float], text: Callable[[float], str] = scientific, strong: bool = False
) -> Row:
    return Row(attribute, unit, tuple(text(float(v)) for v in values), strong)


def _application(file: RatssModelFile, columns: tuple[str, ...], found: Sequence[Prediction]) -> PaperTable:
    rows: list[Row] = []
    for stage in file.model.stages:
        name = stage.name
        rows.append(_row(f"{name}: iterations", "", [float(p.iterations[name]) for p in found], plain))
        rows += [_row(f"computation {n.name}", "s", [float(p.parts[name, n.name]) for p in found])
                 for n in stage.nodes]  # fmt: skip
        rows.append(_row("t_comp", "s", [float(p.comp_s[name]) for p in found], strong=True))
        rows += [_row(f"communication {m.name}", "s", [float(p.parts[name, m.name]) for p in found])
                 for m in stage.transactions]  # fmt: skip
        rows.append(_row("t_comm", "s", [float(p.comm_s[name]) for p in found], strong=True))
        rows.append(_row(f"t_stage, {'overlapped' if stage.overlapped else 'serial'}", "s",
                         [float(p.stage_s[name]) for p in found], strong=True))  # fmt: skip
    rows.append(_row("t_application", "s", [float(p.total_s) for p in found], strong=True))
    speedups = [p.speedup for p in found]
    if None not in speedups:
        rows.append(_row("speedup", "", [float(s) for s in speedups if s is not None], significant, strong=True))
    return PaperTable("Application", "Eqs. 11 to 17, each stage's times once an iteration", columns, tuple(rows))


def _attributes(
    file: RatssModelFile, at: tuple[str | int, ...], fields: Mapping[str, tuple[str, str]], points: Points,
    reading: str | None,
) -> list[Row]:  # fmt: skip
    return [
        _row(title, unit, [float(file.value((*at, field), file.at(p, reading))) for p in points], plain)
        for field, (title, unit) in fields.items()
        if (*at, field) in file.formulas
    ]


NODE_FIELDS = {
    "pipeline_cycles": ("PL, pipeline latency", "cycles"),
    "ops_per_cycle": ("R, throughput", "operations/cycle"),
    "clock_hz": ("F, clock", "Hz"),
    "elements": ("N, elements", "elements"),
    "ops_per_element": ("N, operations an element", "operations"),
}
MOVE_FIELDS = {
    "nodes": ("P", "nodes"),
    "bytes": ("k", "bytes"),
    "rate_bytes_per_s": ("R, rate", "bytes/s"),
    "efficiency": ("efficiency", ""),
}


def _nodes(
    file: RatssModelFile, columns: tuple[str, ...], points: Points, found: Sequence[Prediction], reading: str | None
) -> PaperTable:
    rows: list[Row] = []
    for index, stage in enumerate(file.model.stages):
        for n, node in enumerate(stage.nodes):
            rows.append(Row(f"{stage.name}: {node.name}", "", tuple("" for _ in points), strong=True))
            rows += _attributes(file, ("stages", index, "nodes", n), NODE_FIELDS, points, reading)
            rows.append(_row("t_fpga", "s", [float(p.parts[stage.name, node.name]) for p in found], strong=True))
    return PaperTable("Node attributes", "Eqs. 3 and 4", columns, tuple(rows))


def _transactions(
    file: RatssModelFile, columns: tuple[str, ...], points: Points, found: Sequence[Prediction], reading: str | None
) -> PaperTable:
    rows: list[Row] = []
    for index, stage in enumerate(file.model.stages):
        for n, move in enumerate(stage.transactions):
            via = move.network or (f"table {move.table}" if move.table else "")
            rows.append(Row(f"{move.name}: {move.kind}", via, tuple("" for _ in points), strong=True))
            at = ("stages", index, "transactions", n)
            rows += _attributes(file, at, MOVE_FIELDS, points, reading)
            if in_tree(move):
                nodes = [float(file.value((*at, "nodes"), file.at(p, reading))) for p in points]
                rows.append(_row("log2 P, the next whole number", "rounds", [float(rounds(n)) for n in nodes], plain))
            rows.append(_row("t", "s", [float(p.parts[stage.name, move.name]) for p in found], strong=True))
    return PaperTable("Network attributes", "Eqs. 5 to 10, 18 to 20, 26, 27", columns, tuple(rows))


QUANTITIES = {"comp_s": "t_comp", "comm_s": "t_comm", "total_s": "t_application", "speedup": "speedup"}


def error_table(file: RatssModelFile, reading: str | None = None) -> PaperTable | None:
    """Predicted, experimental and error, as Table V; None where the model holds no measurement."""
    rows: list[Row] = []
    at: Mapping[str, float] | None = None
    for row in errors(file, reading):
        if row.inputs and row.inputs != at:
            rows.append(Row(column_title(file, row.inputs), "", ("", "", ""), strong=True))
        at = row.inputs
        rows.append(replace(_error_row(row), strong=False))
    if not rows:
        return None
    columns = ("predicted", "experimental", "error")
    return PaperTable("Modelling error", "measurements that the model holds", columns, tuple(rows))


def run_table(comparison: RunComparison) -> PaperTable:
    """A run's parts, stages and whole beside the prediction at the run's settings."""
    rows: list[Row] = []
    for row in comparison.rows:
        rows.append(_error_row(row))
        if row.waiting_s:
            tip = "How long it waits depends on the other side: a result of the run, not an input of the model"
            rows.append(Row("waiting there, left out", "s", ("", scientific(row.waiting_s), ""), tip=tip))
    at = ", ".join(
        f"{name} {significant(v) if v != int(v) else count_text(v)}" for name, v in comparison.inputs.items()
    )
    note = f"{comparison.run_name}{', ' if at else ''}{at}; times of all iterations"
    return PaperTable("Against the open run", note, ("predicted", "measured", "error"), tuple(rows))


def _error_row(row: ErrorRow) -> Row:
    speedup = row.quantity == "speedup"
    text = significant if speedup else scientific
    name = QUANTITIES.get(row.quantity, row.quantity)
    whole = row.quantity in QUANTITIES
    stage = f"{row.stage}: " if row.stage else ""
    error = "" if math.isnan(row.error_pct) else f"{row.error_pct:+.1f}{NARROW}%".replace("-", "−")
    return Row(
        f"{stage}{name}", "" if speedup else "s", (text(row.predicted), text(row.measured), error),
        strong=whole, bad=(False, False, abs(row.error_pct) > 20), tip=row.source,
    )  # fmt: skip


@cache
def printed_cells(kind: str) -> tuple[Cell, ...]:
    """A paper's cells, read once."""
    return printed_tables(kind)


def is_printed(file: ModelFile) -> bool:
    """Whether a paper prints tables of this model."""
    return any(c.model == file.model.name for c in printed_cells("ratss"))


def paper_tables(file: ModelFile) -> tuple[PaperTable, ...]:
    """The papers' own tables beside this model's numbers, where the model is one that they print."""
    ratss = isinstance(file, RatssModelFile)
    cells = [c for c in printed_cells("ratss" if ratss else "density") if c.model == file.model.name]
    tables: dict[str, list[Cell]] = {}
    for cell in cells:
        tables.setdefault(cell.table, []).append(cell)
    made = []
    for name, group in tables.items():
        rows = [row for cell in group if (row := _paper_row(file, cell))]
        wide = max((len(r.values) for r in rows), default=1)
        heads = next(
            (tuple(f"{a:g} {c.over}" for a in c.at) for c in group if len(c.at) == wide and c.over), ("value",)
        )
        title = f"Table {name}" if ratss else name
        made.append(PaperTable(title, "ours above, as printed below", heads, tuple(rows)))
    return tuple(made)


def _paper_row(file: ModelFile, cell: Cell) -> Row | None:
    def value(of: Cell, at: float) -> float:
        if isinstance(file, RatssModelFile):
            return ratss_value(file, of, at)
        assert isinstance(file, DensityModelFile)
        return density_value(file, of)

    try:
        found: list[CellRow] = list(rows_of([cell], value))
    except (WorkbenchError, LookupError, StopIteration, AssertionError):
        return None  # a copy that was changed need not have the printed field any more
    notes = tuple(f"{r.paper}{'' if r.agrees else ' ' + (r.erratum or 'differs')}" for r in found)
    name = f"{cell.cell}, {cell.reading}" if cell.reading else cell.cell
    return Row(
        name,
        "",
        tuple(scientific(r.ours) if "E" in r.paper else plain(r.ours) for r in found),
        notes=notes,
        bad=tuple(not r.agrees for r in found),
    )
