"""Numbers in a model document: literals with units, or formulas over the model's inputs; and those inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, Field

from workbench.formats.units import UnitError, quantity, unit_of_name
from workbench.formats.yaml_marks import Marked, near
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.expression import Expression
from workbench.model.platform import Document, Platform
from workbench.predict.ratss_equations import Quantity

Formula = int | float | str
Path = tuple[str | int, ...]
_LITERAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*[A-Za-zµμ][A-Za-z/ µμ]*")


@dataclass(frozen=True)
class Compiled:
    """A formula ready to be computed. `path` is its field in the document; `names` are the inputs that it reads."""

    path: Path
    expression: Expression | None
    constant: float = 0.0

    @property
    def names(self) -> frozenset[str]:
        return self.expression.names if self.expression else frozenset()

    def value(self, inputs: Mapping[str, Quantity]) -> Quantity:
        if self.expression is None:
            return self.constant
        result = self.expression.evaluate(inputs)
        return result if isinstance(result, np.ndarray) else float(result)


def compile_formula(
    formula: Formula, path: Path, names: Iterable[str], marked: Marked, problems: list[Diagnostic]
) -> Compiled:
    """Read one field. A text is a quantity with a unit that fits the field's name ("195 MHz"), or a formula."""
    if not isinstance(formula, str):
        return Compiled(path, None, float(formula))
    unit = unit_of_name(str(path[-1]))
    if unit and _LITERAL.fullmatch(formula):
        try:
            return Compiled(path, None, quantity(formula, unit))
        except UnitError as error:
            problems.append(marked.diagnostic(path, error.message, error.hint))
            return Compiled(path, None, np.nan)
    span = marked.span(path)
    expression, found = Expression.parse(formula, names, marked.file, span.line, span.column)
    problems.extend(found)
    return Compiled(path, expression, np.nan)


#: Fields that must be above zero; no field can be below it.
_POSITIVE = {
    *("clock_hz", "ops_per_cycle", "rate_bytes_per_s", "efficiency", "bytes_per_element", "nodes", "transfers"),
    *("element_bytes", "units", "bandwidth_bytes_per_s", "layer_bytes", "problem_bytes"),
}


class Input(Document):
    """A named number of the model, in `unit` ("" for a plain number). It may be uncertain.

    `low` and `high` bound a uniform distribution; `deviation` is the standard deviation of a normal one around `value`.
    """

    value: float | str
    unit: str = ""
    title: str = ""
    low: float | str | None = None
    high: float | str | None = None
    deviation: float | str | None = None


class ModelDocument(Document):
    """What every kind of model has. `readings` are named sets of input values, for where a source can be read in
    several ways."""

    schema_version: int
    name: str
    title: str = ""
    description: str = ""
    platform: str = ""
    inputs: dict[str, Input] = Field(default_factory=dict)
    readings: dict[str, dict[str, float]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Spread:
    """How uncertain an input is, in its unit: uniform from `low` to `high`, or normal with `deviation`."""

    value: float
    low: float | None = None
    high: float | None = None
    deviation: float | None = None


@dataclass(frozen=True)
class ModelFile:
    """A checked model with its formulas compiled; `marked` knows where each field stands in its text."""

    model: ModelDocument
    marked: Marked
    inputs: Mapping[str, float]
    spreads: Mapping[str, Spread]
    formulas: Mapping[Path, Compiled] = field(repr=False)
    platform: Platform | None = field(repr=False)

    def value(self, path: Path, inputs: Mapping[str, Quantity]) -> Quantity:
        """One field at some inputs. WorkbenchError naming it where it is negative, not a number or infinite."""
        result = self.formulas[path].value(inputs)
        least, most = (result, result) if isinstance(result, float | int) else (np.min(result), np.max(result))
        last = str(path[-1])
        if not (least >= 0 and most < np.inf):
            if not (np.isfinite(least) and np.isfinite(most)):
                message, hint = "is not a finite number", "Does its formula divide by zero?"
            else:
                message, hint = f"is {least:g}", "It cannot be negative."
            raise WorkbenchError(self.marked.diagnostic(path, f"{dotted(path)} {message}", hint))
        if least == 0 and last in _POSITIVE:
            raise WorkbenchError(self.marked.diagnostic(path, f"{dotted(path)} is 0", "It must be above 0."))
        return result

    def at(self, changes: Mapping[str, Quantity], reading: str | None) -> dict[str, Quantity]:
        """The inputs with those of a reading and `changes` laid over. WorkbenchError for names the model lacks."""
        readings = self.model.readings
        if reading is not None and reading not in readings:
            hint = near(reading, readings, f"The model's readings: {', '.join(readings) or 'none'}.")
            raise WorkbenchError(Diagnostic(f"the model has no reading '{reading}'", hint, file=self.marked.file))
        for name in changes:
            if name not in self.inputs:
                hint = near(name, self.inputs, f"The model's inputs: {', '.join(self.inputs) or 'none'}.")
                raise WorkbenchError(Diagnostic(f"the model has no input '{name}'", hint, file=self.marked.file))
        return {**self.inputs, **(readings[reading] if reading else {}), **changes}


F = TypeVar("F", bound=ModelFile)


def fixed(file: F, varying: Iterable[str], reading: str | None) -> F:
    """The same model with every formula that reads no `varying` input computed once and for all."""
    inputs, moving = file.at({}, reading), frozenset(varying)
    formulas = {}
    for path, formula in file.formulas.items():
        if formula.expression and formula.names <= inputs.keys() - moving:
            formula = Compiled(path, None, float(file.value(path, inputs)))
        formulas[path] = formula
    return replace(file, formulas=formulas)


class Evaluation:
    """A model's fields at some inputs. Equal formulas are computed once."""

    def __init__(self, file: ModelFile, inputs: Mapping[str, Quantity]) -> None:
        self.file, self.inputs = file, inputs
        self._known: dict[tuple[str, bool], Quantity] = {}

    def of(self, path: Path) -> Quantity:
        expression = self.file.formulas[path].expression
        if expression is None:
            return self.file.value(path, self.inputs)
        key = (expression.text, path[-1] in _POSITIVE)
        if key not in self._known:
            self._known[key] = self.file.value(path, self.inputs)
        return self._known[key]


def dotted(path: Path) -> str:
    """A field's path as people read it: stages[0].nodes[1].clock_hz."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def read_inputs(
    model: ModelDocument, marked: Marked, found: list[Diagnostic]
) -> tuple[dict[str, float], dict[str, Spread]]:
    """The inputs' values and those that are uncertain; what is wrong with them, or with readings, goes to `found`."""
    values: dict[str, float] = {}
    spreads: dict[str, Spread] = {}
    for name, given in model.inputs.items():
        at: Path = ("inputs", name)
        if not name.isidentifier():
            found.append(marked.diagnostic(at, f"'{name}' is no name for an input", "Write letters and _.", key=True))
        values[name] = in_unit(given.value, given.unit, (*at, "value"), marked, found)
        bounds = {
            bound: in_unit(number, given.unit, (*at, bound), marked, found)
            for bound in ("low", "high", "deviation")
            if (number := getattr(given, bound)) is not None
        }
        spread = Spread(values[name], **bounds)
        if (spread.low is None) != (spread.high is None):
            missing = "high" if spread.high is None else "low"
            found.append(marked.diagnostic(at, f"the input '{name}' has no {missing}", "Give both low and high."))
        elif spread.low is not None and spread.high is not None and spread.low > spread.high:
            found.append(marked.diagnostic((*at, "low"), f"low is above high for '{name}'", "Swap them."))
        elif spread.deviation is not None and (spread.deviation < 0 or spread.low is not None):
            hint = "Give low and high (uniform), or a deviation of 0 or more (normal)."
            found.append(marked.diagnostic((*at, "deviation"), f"'{name}' cannot be spread like this", hint))
        elif bounds:
            spreads[name] = spread
    for reading, changes in model.readings.items():
        for name in changes:
            if name not in values:
                hint = near(name, values, f"The model's inputs: {', '.join(values) or 'none'}.")
                found.append(
                    marked.diagnostic(("readings", reading, name), f"the model has no input '{name}'", hint, key=True)
                )
    return values, spreads


def in_unit(value: float | str, unit: str, path: Path, marked: Marked, found: list[Diagnostic]) -> float:
    """A number of an input in its unit; nan, with a diagnostic, where it is none."""
    if not isinstance(value, str):
        return float(value)
    try:
        return quantity(value, unit) if unit else float(value)
    except UnitError as error:
        found.append(marked.diagnostic(path, error.message, error.hint))
    except KeyError:
        found.append(
            marked.diagnostic((*path[:-1], "unit"), f"there is no unit '{unit}' here", "Write s, Hz, B, B/s or s/B.")
        )
    except ValueError:
        found.append(marked.diagnostic(path, f"'{value}' is no number", "Give the input a `unit`, or write a number."))
    return np.nan


def formulas_of(part: BaseModel, at: Path, leave: Iterable[str] = ()) -> Iterator[tuple[Path, Formula]]:
    """The numbers and formulas of a part of a document, by path; `leave` are its fields that are plain texts."""
    for name, value in part:
        if name not in leave and isinstance(value, int | float | str) and not isinstance(value, bool):
            yield (*at, name), value
