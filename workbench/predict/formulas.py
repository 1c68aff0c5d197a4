"""Numbers in a model document: literals with units, or formulas over the model's inputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as Folder
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from workbench.api import ModelKind
from workbench.api.models import ANY, NOT_NEGATIVE, Domain, Input, ModelDocument, Values, domain_in
from workbench.formats.units import UnitError, quantity, unit_of_name
from workbench.formats.yaml_marks import Marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, near
from workbench.model.expression import Expression
from workbench.model.platform import Platform
from workbench.predict.inputs import NO_INPUTS, Inputs, Path, Spread, number, wrong_point

_LITERAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*[A-Za-zµμ][A-Za-z/ µμ]*")
_NOT_FINITE = re.compile(r"[-+]?\.?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Compiled:
    """A formula ready to be computed. `path` is its field in the document; `names` are the inputs that it reads."""

    path: Path
    expression: Expression | None
    constant: float = 0.0
    domain: Domain = NOT_NEGATIVE

    @property
    def names(self) -> frozenset[str]:
        return self.expression.names if self.expression else frozenset()

    def value(self, inputs: Mapping[str, Values]) -> Values:
        """A number (numpy's, so that nothing computed from it raises) or an array."""
        if self.expression is None:
            return np.float64(self.constant)
        result = self.expression.evaluate(inputs)
        return result if isinstance(result, np.ndarray) else np.float64(result)


def formulas_of(part: BaseModel, at: Path = ()) -> Iterator[tuple[Path, int | float | str, Domain]]:
    """Every number and formula of a document or a part of one: its path, what is written, what values it may take."""
    for name, info in type(part).model_fields.items():
        yield from _formulas_in(getattr(part, name), (*at, name), domain_in((*info.metadata, info.annotation)))


def _formulas_in(value: Any, at: Path, allowed: Domain | None) -> Iterator[tuple[Path, int | float | str, Domain]]:
    if isinstance(value, BaseModel):
        yield from formulas_of(value, at)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _formulas_in(item, (*at, index), allowed)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _formulas_in(item, (*at, key), allowed)
    elif allowed is not None and value is not None:
        yield at, value, allowed


def asked_of_inputs(model: ModelDocument, besides: Mapping[str, Domain]) -> dict[str, Domain]:
    """What the fields that are nothing but an input ask of it, and what is asked `besides`."""
    asked = dict(besides)
    for _, formula, allowed in formulas_of(model):
        name = formula.strip() if isinstance(formula, str) else ""
        if name in model.inputs:
            asked[name] = asked.get(name, ANY).and_also(allowed)
    return asked


def compile_formula(
    formula: int | float | str, path: Path, allowed: Domain, names: Collection[str], marked: Marked,
    problems: list[Diagnostic],
) -> Compiled:  # fmt: skip
    """Read one field. A text is a quantity with a unit that fits the field's name ("195 MHz"), or a formula."""
    unit = unit_of_name(next((str(part) for part in reversed(path) if isinstance(part, str)), ""))
    try:
        if not isinstance(formula, str):
            return Compiled(path, None, number(formula, ""), allowed)
        if unit and _LITERAL.fullmatch(formula):
            return Compiled(path, None, quantity(formula, unit), allowed)
        if formula not in names and _NOT_FINITE.fullmatch(formula):
            raise UnitError(f"'{formula}' is not a finite number", "Write for example 4 or 1e6.")
    except UnitError as error:
        problems.append(marked.diagnostic(path, error.message, error.hint))
        return Compiled(path, None, np.nan, allowed)
    span = marked.span(path)
    expression, wrong = Expression.parse(formula, names, marked.file, span.line, span.column)
    problems.extend(wrong)
    return Compiled(path, expression, np.nan, allowed)


@dataclass(frozen=True)
class ModelFile:
    """A checked model with its formulas compiled; `marked` knows where each field is in its text.

    `domains` are the values that each input may take.
    """

    kind: ModelKind
    model: ModelDocument
    marked: Marked
    inputs: Mapping[str, float]
    domains: Mapping[str, Domain]
    spreads: Mapping[str, Spread]
    formulas: Mapping[Path, Compiled] = field(repr=False)
    platform: Platform | None = field(repr=False)
    platforms: Mapping[str, Platform] = field(repr=False)

    @property
    def folder(self) -> Folder:
        """Where its file is."""
        return Folder(self.marked.file or "").absolute().parent

    def value(self, path: Path, inputs: Mapping[str, Values]) -> Values:
        """One field at some inputs. WorkbenchError naming it where its value is not one that it may take."""
        formula = self.formulas[path]
        try:
            result = formula.value(inputs)
        except WorkbenchError as error:
            raise WorkbenchError(
                *(self.marked.diagnostic(path, d.message, d.hint) for d in error.diagnostics)
            ) from None
        bad = formula.domain.bad(result)
        if bad is not None:
            if not np.isfinite(bad):
                message, hint = "is not a finite number", "Does its formula divide by zero?"
            else:
                free = formula.domain == NOT_NEGATIVE
                message = f"is {bad:.12g}"
                hint = "It cannot be negative." if free else f"It must be {formula.domain.said()}."
            raise WorkbenchError(self.marked.diagnostic(path, f"{dotted(path)} {message}", hint))
        return result

    def at(self, changes: Mapping[str, Values], reading: str | None) -> dict[str, Values]:
        """The inputs with those of a reading and `changes` laid over. WorkbenchError for names the model lacks."""
        readings = {name: self.model.readings.get(name, {}) for name in (*self.kind.readings, *self.model.readings)}
        if reading is not None and reading not in readings:
            hint = near(reading, readings, "The model's readings") or "The model has no readings."
            raise WorkbenchError(self.marked.diagnostic(("readings",), f"the model has no reading '{reading}'", hint))
        for name in changes:
            self.domain(name)
        return {**self.inputs, **(readings[reading] if reading else {}), **changes}

    def domain(self, name: str) -> Domain:
        """The values that an input may take. WorkbenchError where the model has no such input."""
        if name not in self.inputs:
            hint = near(name, self.inputs, "The model's inputs") or NO_INPUTS
            raise WorkbenchError(self.marked.diagnostic(("inputs",), f"the model has no input '{name}'", hint))
        return self.domains[name]

    def unit(self, name: str) -> str:
        """The unit that an input is in; "" for a plain number."""
        given: Input | None = self.model.inputs.get(name)
        return given.unit if given else ""

    def check(self, name: str, values: Values) -> None:
        """WorkbenchError where an input may not take one of the values."""
        allowed = self.domain(name)
        if (bad := allowed.bad(values)) is not None:
            hint = f"It must be {allowed.said() or 'a finite number'}."
            raise WorkbenchError(self.marked.diagnostic(("inputs", name), f"'{name}' cannot be {bad:.12g}", hint))


F = TypeVar("F", bound=ModelFile)


def wrong_points(
    file: ModelFile, points: Iterable[tuple[Path, Mapping[str, float]]], leave: Iterable[Path] = ()
) -> Iterator[Diagnostic]:
    """Fields without a value they may take, at the model's inputs, in its readings, and at `points` of the document.

    `leave` are the fields that need more than the inputs.
    """
    inputs = Inputs(file.inputs, file.domains, file.spreads)
    readings = [(("readings", name), point) for name, point in file.model.readings.items()]
    known = set(leave)
    for at, point in [((), {}), *readings, *points]:
        wrong = [*wrong_point(point, inputs, at, file.marked)]
        yield from wrong
        for path in [] if wrong else [path for path in file.formulas if path not in known]:
            try:
                file.value(path, {**file.inputs, **point})
            except WorkbenchError as error:
                known.add(path)
                for problem in error.diagnostics:
                    where = f" in {dotted(at)}" if at else ""
                    yield replace(problem, message=f"{problem.message}{where}")


def what_if(file: F, changes: Mapping[str, float]) -> F:
    """The same model with other values of some inputs, certain ones and in every reading. WorkbenchError where an input
    may not have its value."""
    for name, value in changes.items():
        file.check(name, value)
    readings = {
        reading: {name: value for name, value in point.items() if name not in changes}
        for reading, point in file.model.readings.items()
    }
    spreads = {name: spread for name, spread in file.spreads.items() if name not in changes}
    model = file.model.model_copy(update={"readings": readings})
    return replace(file, model=model, inputs={**file.inputs, **changes}, spreads=spreads) if changes else file


def fixed(file: F, varying: Iterable[str], reading: str | None) -> F:
    """The same model with every formula that reads no `varying` input computed once and for all."""
    inputs, moving = file.at({}, reading), frozenset(varying)
    formulas = {}
    for path, formula in file.formulas.items():
        if formula.expression and formula.names <= inputs.keys() - moving:
            formula = replace(formula, expression=None, constant=float(file.value(path, inputs)))
        formulas[path] = formula
    return replace(file, formulas=formulas)


class Evaluation:
    """What `workbench.api.models.ModelValues` promises. Equal formulas are computed once."""

    def __init__(
        self, file: ModelFile, changes: Mapping[str, Values] | None = None, reading: str | None = None
    ) -> None:
        self.file, self.changes, self.reading = file, changes or {}, reading
        self.inputs: Mapping[str, Values] = file.at(self.changes, reading)
        self.model, self.platform, self.folder = file.model, file.platform, file.folder
        self.platforms = file.platforms
        self._known: dict[tuple[str, Domain], Values] = {}

    def of(self, *path: str | int, **names: Values) -> Values:
        formula = self.file.formulas.get(path)
        if formula is None:
            raise KeyError(f"the document gives no number at {dotted(path)}")
        if formula.expression is None or not formula.names.isdisjoint(names):
            return self.file.value(path, {**self.inputs, **names})
        key = (formula.expression.text, formula.domain)
        if key not in self._known:
            self._known[key] = self.file.value(path, self.inputs)
        return self._known[key]

    def gives(self, *path: str | int) -> bool:
        return path in self.file.formulas

    def at(self, changes: Mapping[str, Values]) -> Evaluation:
        return Evaluation(self.file, changes, self.reading)

    def problem(self, path: Path, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> Diagnostic:
        return self.file.marked.diagnostic(path, message, hint, severity)


def dotted(path: Path) -> str:
    """A field's path as people read it: stages[0].nodes[1].clock_hz."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
