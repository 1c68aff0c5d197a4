"""What must hold so that a speedup (or any output) is reached: one input solved for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.predict.explore import check_output, larger_is_better
from workbench.predict.formulas import ModelFile
from workbench.predict.kinds import outputs_of
from workbench.predict.words import DIGITS, input_words, output_text, output_title

_TRIED = 121
_HALVED = 50  # halvings of the step between two tried values: to the last digits of a number


@dataclass(frozen=True)
class Solution:
    """The value of an input at which an output has its target.

    `reached` is the output there: the target itself, or for a whole number (`integer`) the first that is at least as
    good. `short` is then the whole number beside it that is not good enough, with its output `short_reached`.
    """

    name: str
    value: float
    output: str
    target: float
    reached: float
    integer: bool = False
    short: float | None = None
    short_reached: float | None = None


def solve(
    file: ModelFile,
    name: str,
    target: float,
    output: str = "speedup",
    reading: str | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Solution:
    """The value of input `name`, between `low` and `high`, nearest to the model's own at which `output` is `target`.

    Without bounds, a thousandth to a thousand times the model's value is searched, within what the input may be.
    Raises WorkbenchError saying what the output reaches there where the target is out of reach.
    """
    allowed = file.domain(name)
    own = float(file.at({}, reading)[name])
    check_output(file, output)
    if not 0 < target < np.inf:
        raise WorkbenchError(Diagnostic(f"the {output} cannot be {target:g}", "Give a number above 0."))
    ends = sorted((own / 1000, own * 1000)) if own else [allowed.least, allowed.most]
    low = max(ends[0] if low is None else low, allowed.least)
    high = min(ends[1] if high is None else high, allowed.most)
    if allowed.integer:
        low, high = float(np.ceil(low)), float(np.floor(high))
    if not -np.inf < low < high < np.inf:
        hint = "Give it `minimum` and `maximum` in the model, and a value between them."
        where = ("inputs", name)
        raise WorkbenchError(
            file.marked.diagnostic(where, f"'{name}' cannot be searched from {low:g} to {high:g}", hint)
        )

    def off(value: float) -> float:
        return float(outputs_of(file, {name: value}, reading)[output]) - target

    tried = np.geomspace(low, high, _TRIED) if low > 0 else np.linspace(low, high, _TRIED)
    tried = np.unique(np.clip(np.rint(tried), low, high)) if allowed.integer else tried
    distances = [(float(value), _safe(off, float(value))) for value in tried]
    if not allowed.integer:
        distances = sorted([*distances, *_ends(off, distances)])
    reached = {value: distance for value, distance in distances if distance is not None}
    if allowed.integer:
        better = 1 if larger_is_better(file, output) else -1
        changing = [(a, b) for a, b in pairwise(reached) if (reached[a] * better >= 0) != (reached[b] * better >= 0)]
        if not changing:
            raise WorkbenchError(_out_of_reach(file, name, output, target, reached))
        places = [_neighbours(off, a, b, better) for a, b in changing]
        good, short = min(places, key=lambda pair: abs(pair[0] - own))
        return Solution(name, good, output, target, off(good) + target, True, short, off(short) + target)
    from scipy.optimize import brentq  # here, since it is long to import

    crossings = [(a, b) for a, b in pairwise(reached) if reached[a] == 0 or reached[a] * reached[b] <= 0]
    if not crossings:
        raise WorkbenchError(_out_of_reach(file, name, output, target, reached))
    roots = np.array([brentq(off, a, b, xtol=1e-12 * max(abs(a), abs(b)), rtol=1e-13) for a, b in crossings])
    value = float(roots[np.abs(roots - own).argmin()])
    return Solution(name, value, output, target, off(value) + target)


def _ends(
    off: Callable[[float], float], distances: Sequence[tuple[float, float | None]]
) -> Iterator[tuple[float, float | None]]:
    """The last values at which the model can be computed, between neighbours of which it can be at one only."""
    for (a, at_a), (b, at_b) in pairwise(distances):
        if (at_a is None) == (at_b is None):
            continue
        good, bad = (a, b) if at_b is None else (b, a)
        for _ in range(_HALVED):
            middle = (good + bad) / 2
            good, bad = (good, middle) if _safe(off, middle) is None else (middle, bad)
        if good not in (a, b):
            yield good, _safe(off, good)


def _neighbours(off: Callable[[float], float], a: float, b: float, better: int) -> tuple[float, float]:
    """Two neighbouring whole numbers between `a` and `b`: one that is good enough, one that is not."""
    good, short = (a, b) if off(a) * better >= 0 else (b, a)
    while abs(good - short) > 1:
        middle = float(np.floor((good + short) / 2))
        good, short = (middle, short) if off(middle) * better >= 0 else (good, middle)
    return good, short


def _safe(off: Callable[[float], float], value: float) -> float | None:
    try:
        return off(value)
    except WorkbenchError:
        return None


def _out_of_reach(file: ModelFile, name: str, output: str, target: float, reached: dict[float, float]) -> Diagnostic:
    at = ("inputs", name)
    if not reached:
        hint = "Every value makes some field invalid; give the input `minimum` and `maximum`."
        return file.marked.diagnostic(at, f"the model cannot be computed for any '{name}' in the bounds", hint)
    best = min(reached, key=lambda value: abs(reached[value]))
    least, most = (
        output_text(output, value + target, DIGITS) for value in (min(reached.values()), max(reached.values()))
    )
    first, last, nearest = (input_words(file, name, value) for value in (min(reached), max(reached), best))
    title = output_title(output)
    message = f"no '{name}' from {first} to {last} gives a {title.lower()} of {output_text(output, target, DIGITS)}"
    if least == most:
        return file.marked.diagnostic(at, message, f"{title} does not depend on '{name}': it is {least}.")
    hint = f"It reaches {least} to {most}, nearest at {name} = {nearest}; another input has to change too."
    return file.marked.diagnostic(at, message, hint)
