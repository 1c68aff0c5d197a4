"""What must hold so that a speedup (or any output) is reached: one input solved for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from workbench.formats.yaml_marks import near
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.predict.explore import check_output, outputs_of
from workbench.predict.formulas import ModelFile


@dataclass(frozen=True)
class Solution:
    """The value of an input at which an output has its target."""

    name: str
    value: float
    output: str
    target: float


def solve(
    file: ModelFile,
    name: str,
    target: float,
    output: str = "speedup",
    changes: Mapping[str, float] | None = None,
    reading: str | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Solution:
    """The value of input `name`, between `low` and `high`, nearest to the model's own at which `output` is `target`.

    Without bounds, a thousandth to a thousand times the model's value is searched. Raises WorkbenchError saying what
    the output reaches there where the target is out of reach.
    """
    changes = changes or {}
    here = file.at(dict(changes), reading)
    if name not in here:
        hint = near(name, here, f"The model's inputs: {', '.join(here) or 'none'}.")
        raise WorkbenchError(Diagnostic(f"the model has no input '{name}'", hint, file=file.marked.file))
    check_output(file, output)
    own = float(here[name])
    low = own / 1000 if low is None else low
    high = own * 1000 if high is None else high
    if not low < high:
        raise WorkbenchError(Diagnostic(f"'{name}' cannot be searched from {low:g} to {high:g}", "Give both bounds."))

    def off(value: float) -> float:
        return float(outputs_of(file, {**changes, name: value}, reading)[output]) - target

    tried = np.geomspace(low, high, 121) if low > 0 else np.linspace(low, high, 121)
    reached = {float(value): found for value in tried if (found := _safe(off, float(value))) is not None}
    values = list(reached)
    crossings = [(a, b) for a, b in pairwise(values) if reached[a] == 0 or reached[a] * reached[b] <= 0]
    if not crossings:
        raise WorkbenchError(_out_of_reach(file, name, output, target, reached))
    roots = np.array([brentq(off, a, b, xtol=1e-12 * max(abs(a), abs(b)), rtol=1e-13) for a, b in crossings])
    return Solution(name, float(roots[np.abs(roots - own).argmin()]), output, target)


def _safe(off: Callable[[float], float], value: float) -> float | None:
    try:
        return off(value)
    except WorkbenchError:
        return None


def _out_of_reach(file: ModelFile, name: str, output: str, target: float, reached: dict[float, float]) -> Diagnostic:
    if not reached:
        hint = "Every value leaves some field without a sensible value; give narrower bounds."
        return Diagnostic(f"the model cannot be computed for any '{name}' in the bounds", hint, file=file.marked.file)
    best = min(reached, key=lambda value: abs(reached[value]))
    span = (min(reached.values()) + target, max(reached.values()) + target)
    message = f"no '{name}' from {min(reached):g} to {max(reached):g} gives a {output} of {target:g}"
    if span[0] == span[1]:
        return Diagnostic(message, f"{output} does not depend on '{name}': it is {span[0]:g}.", file=file.marked.file)
    hint = f"It reaches {span[0]:g} to {span[1]:g}, nearest at {name} = {best:g}; another input has to change too."
    return Diagnostic(message, hint, file=file.marked.file)
