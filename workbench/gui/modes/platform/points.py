"""The rows of a transfer-time table: their values, problems and automatic fixes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.analysis.rate_curves import BAND_NAME, INKS, RATES, SIZES
from workbench.analysis.transfer_fit import INTERPOLATED, TransferFit, fit_transfers
from workbench.formats import yaml_edit
from workbench.formats.units import UnitError, quantity, written
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import bytes_text, rate_text, time_text
from workbench.pictures.plot import Line, Plot, Range
from workbench.session.edit.yaml_document import Path_, YamlDocument

_LONG = re.compile(r"\d+$|\d{5}")
_FIT_POINTS = 60  # at which the fit is drawn


@dataclass(frozen=True)
class TablePoint:
    """One row: as written, and as numbers where they can be read."""

    size_text: str
    time_text: str
    source: str
    size: float | None
    time_s: float | None
    problem: Diagnostic | None = None

    @property
    def rate(self) -> float | None:
        return self.size / self.time_s if self.size and self.time_s else None

    @property
    def size_shown(self) -> str:
        """The size as written; a bare number of bytes, or one of many digits, with its unit."""
        return bytes_text(self.size) if self.size and _LONG.match(self.size_text) else self.size_text

    @property
    def time_shown(self) -> str:
        """The time in the unit that fits it, to three digits; as written if it cannot be read."""
        return self.time_text if self.time_s is None else time_text(self.time_s)

    @property
    def time_tip(self) -> str:
        """All of its digits, as the file has them."""
        if self.time_s is None:
            return ""
        return f"{self.time_text} in the file{' (seconds)' if _bare(self.time_text) else ''}"

    @property
    def printed(self) -> bool:
        """Whether the row has a source of its own."""
        return bool(self.source) and self.source != INTERPOLATED


@dataclass(frozen=True)
class Fix:
    label: str
    edit: Callable[[str], str]


def _bare(text: str) -> bool:
    return isinstance(_plain(text), int | float)


def points_path(table: str) -> Path_:
    return ("transfer_tables", table, "points")


def points_of(document: YamlDocument, table: str) -> tuple[TablePoint, ...]:
    path = points_path(table)
    rows = document.value(path)
    points = []
    for n, row in enumerate(rows if isinstance(rows, list) else ()):
        values: Mapping[str, Any] = row if isinstance(row, Mapping) else {}
        places: tuple[Path_, ...] = ((*path, n, "bytes"), (*path, n, "time_s"), (*path, n, "source"), (*path, n))
        problems = [p for p in map(document.problem_at, places) if p]
        points.append(
            TablePoint(
                str(values.get("bytes", "")), str(values.get("time_s", "")), str(values.get("source", "")),
                document.number((*path, n, "bytes"), "B"), document.number((*path, n, "time_s"), "s"),
                min(problems, key=lambda d: d.severity is not Severity.ERROR, default=None),
            )
        )  # fmt: skip
    return tuple(points)


def readable(points: Sequence[TablePoint]) -> list[int]:
    """The numbers of the rows that have a size and a time."""
    return [number for number, point in enumerate(points) if point.rate]


def table_plot(
    name: str,
    points: Sequence[TablePoint],
    beside: str,
    others: Sequence[TablePoint],
    band: Range | None,
    movable: bool,
    fit: TransferFit | None = None,
) -> Plot:
    """The rows that can be read, each a point of the first line, another table's, and the fit. Points that are out of
    order are marked, as they are in the table."""
    rows = [points[number] for number in readable(points)]
    x, y = np.array([p.size for p in rows], float), np.array([p.rate for p in rows], float)
    wrong = next((number for number, point in enumerate(rows) if _is_error(point)), -1)
    filled = tuple(p.printed for p in rows)
    lines = [Line(name, x, y, INKS[0], points=True, joined=False, filled=filled, wrong=wrong, movable=movable)]
    order = np.argsort(x)
    lines.append(Line("", x[order], y[order], INKS[0]))
    if others:
        rates = sorted((p.size, p.rate) for p in others if p.size and p.rate)
        lines.append(Line(beside, np.array([s for s, _ in rates]), np.array([r for _, r in rates]), INKS[1]))
    if fit is not None and len(x) > 1:
        sizes = np.geomspace(x.min(), x.max(), _FIT_POINTS)
        lines.append(Line("fit", sizes, sizes / np.array([fit.time_s(size) for size in sizes]), "accent", True))

    def said(line: int, point: int) -> str:
        return f"{bytes_text(x[point])} in one call: {rate_text(y[point])}" if line == 0 else ""

    return Plot(SIZES, RATES, tuple(lines), span=band, span_name=BAND_NAME, legend=True, say=said)


def fit_of(points: Sequence[TablePoint]) -> TransferFit | None:
    """A latency and a bandwidth for the rows that can be read; its residuals are of those."""
    rows = [points[number] for number in readable(points)]
    return fit_transfers([p.size or 0.0 for p in rows], [p.time_s or 0.0 for p in rows], [p.source for p in rows])


def _is_error(point: TablePoint) -> bool:
    return point.problem is not None and point.problem.severity is Severity.ERROR


def fix_for(points: tuple[TablePoint, ...], table: str, row: int) -> Fix | None:
    """What certainly fixes a row whose size does not grow: swap, move or remove it."""
    path = points_path(table)
    sizes = [p.size for p in points]
    size, before = sizes[row], sizes[row - 1] if row else None
    if size is None or before is None or size > before or any(s is None for s in sizes):
        return None
    known = [s for s in sizes if s is not None]
    if size == before:
        return Fix(f"Remove row {row + 1}", lambda text: yaml_edit.remove_item(text, (*path, row)))
    swapped = known.copy()
    swapped[row - 1], swapped[row] = swapped[row], swapped[row - 1]
    if all(a < b for a, b in pairwise(swapped[max(0, row - 2) : row + 2])):
        return Fix(f"Swap rows {row}, {row + 1}", lambda text: yaml_edit.swap_items(text, path, row - 1, row))
    place = sum(s < size for s in known[:row])
    if known[place] == size:
        return None

    def move(text: str) -> str:
        for at in range(row, place, -1):
            text = yaml_edit.swap_items(text, path, at - 1, at)
        return text

    return Fix(f"Move row {row + 1} before row {place + 1}", move)


def next_point(points: tuple[TablePoint, ...]) -> dict[str, Any]:
    """A row to add at the end: twice the last size in twice its time, to be corrected."""
    last = points[-1] if points else None
    if last is None or last.size is None or last.time_s is None:
        return {"bytes": 4, "time_s": "10 us"}
    return {"bytes": written(last.size * 2, "B"), "time_s": written(float(f"{last.time_s * 2:.4g}"), "s")}


_GROUPED = re.compile(r"\d{1,3}(?:[,' \u202f\u00a0]\d{3})+(?!\d)")
_FIGURE = re.compile(r"[-+\u2212]?[\d.,' \u202f\u00a0]+(?:%|[\wµ/]{0,7})")
#: By what is in a column of a spreadsheet, the beginnings of words that its head has.
_HEADS = {"size": ("size", "byte", "length"), "time": ("time", "latency", "duration", "second"),
          "source": ("from", "source", "origin", "note", "reference", "remark", "comment")}  # fmt: skip
_UNIT_OF_HEAD = re.compile(r"[(\[]\s*([\wµ]+)\s*[)\]]|([\wµ]+)\s*$")


def pasted_points(text: str) -> list[dict[str, Any]]:
    """Rows of a spreadsheet: size, time and perhaps a source, apart by tabs, else by semicolons, else by commas.

    Columns are where the head names them; else size and time are the first two, and the source is the first text after
    them that is no figure. Not apart by commas, numbers may have these: in groups of thousands (`3,410.5`), or before a
    fraction (`20,5`). Bare numbers are in the units that the head names, as in `Size (KiB)` and `Time [us]`, else bytes
    and seconds. Lines that hold no two quantities are left out.
    """
    rows: list[dict[str, Any]] = []
    units, places = ["", ""], _FIRST
    for line in text.splitlines():
        apart = next((sign for sign in "\t;" if sign in line), ",")
        cells = [cell.strip() for cell in line.split(apart, -1 if apart != "," else max(2, *places.values()))]
        if len(cells) <= max(places["size"], places["time"]):
            continue
        figures = [cells[places["size"]], cells[places["time"]]]
        if apart != ",":
            figures = [_with_point(cell) for cell in figures]
        try:
            quantity(figures[0], "B")
            quantity(figures[1], "s")
        except UnitError:
            if not rows:
                every = line.split(apart)
                places = _places(every)
                heads = (every[places["size"]], every[places["time"]])
                units = [_unit_of(cell, unit) for cell, unit in zip(heads, ("B", "s"), strict=True)]
            continue
        size, time = (_in_unit(cell, unit) for cell, unit in zip(figures, units, strict=True))
        row: dict[str, Any] = {"bytes": size, "time_s": time}
        if source := _source_of(cells, places):
            row["source"] = source
        rows.append(row)
    return rows


_FIRST: Mapping[str, int] = {"size": 0, "time": 1}


def _places(heads: Sequence[str]) -> Mapping[str, int]:
    """The columns that heads name; the first two where they do not name both size and time."""
    found = {
        what: number
        for what, words in _HEADS.items()
        for number, head in reversed([*enumerate(heads)])
        if re.search(rf"\b({'|'.join(words)})", head, re.IGNORECASE)
    }
    return found if len({found.get("size", -1), found.get("time", -1), -1}) == 3 else _FIRST


def _source_of(cells: Sequence[str], places: Mapping[str, int]) -> str:
    if "source" in places:
        return cells[places["source"]] if places["source"] < len(cells) else ""
    others = (cell for number, cell in enumerate(cells) if number not in places.values())
    return next((cell for cell in others if cell and not _FIGURE.fullmatch(cell)), "")


def with_sources(rows: Sequence[dict[str, Any]], points: Sequence[TablePoint]) -> list[dict[str, Any]]:
    """Rows; those without a source have that of the point with the same size and time."""
    known = {(point.size, point.time_s): point.source for point in points if point.source}

    def source(row: dict[str, Any]) -> str:
        return known.get((quantity(str(row["bytes"]), "B"), quantity(str(row["time_s"]), "s")), "")

    return [{**row, "source": name} if "source" not in row and (name := source(row)) else row for row in rows]


def _with_point(cell: str) -> str:
    """A cell whose number has groups of thousands, or a comma before its fraction, as the workbench writes numbers."""
    if grouped := _GROUPED.match(cell):
        return re.sub(r"\D", "", grouped[0]) + cell[grouped.end() :]
    return re.sub(r"^(\d+),(\d+)", r"\1.\2", cell)


def _unit_of(head: str, unit: str) -> str:
    """The unit that a column's head names, if it is one of these; "" where it names none."""
    for match in _UNIT_OF_HEAD.finditer(head):
        named = match[1] or match[2]
        try:
            scale = quantity(f"1 {named}", unit)
        except UnitError:
            continue
        return "" if scale == 1 else named
    return ""


def _in_unit(cell: str, unit: str) -> str | int | float:
    value = _plain(cell)
    return f"{cell} {unit}" if unit and isinstance(value, int | float) else value


def _plain(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
