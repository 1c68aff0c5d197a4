"""Numbers in a model document: literals with units, or formulas over the model's inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.formats.units import UnitError, quantity, unit_of_name
from workbench.formats.yaml_marks import Marked
from workbench.model.diagnostic import Diagnostic
from workbench.model.expression import Expression
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


def smallest(value: Quantity) -> float:
    """The least of a value or array; nan where any of it is nan."""
    return float(np.min(value))


def as_array(value: Quantity) -> NDArray[np.float64]:
    return np.asarray(value, dtype=np.float64)
