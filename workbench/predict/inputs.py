"""The inputs of a model: named numbers in a unit, what values they may take, and how uncertain they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword

from workbench.api.models import ANY, Domain, ModelDocument
from workbench.formats.units import UNITS, UnitError, quantity
from workbench.formats.yaml_marks import Marked
from workbench.model.diagnostic import Diagnostic, near

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Spread:
    """How uncertain an input is, in its unit: uniform from `low` to `high`, or normal with `deviation`.

    Draws keep to `domain`: whole numbers are drawn alike often, and a normal draw beyond a bound is that bound
    (mirrored at one that is left out, such as 0 of what must be above 0).
    """

    value: float
    low: float | None = None
    high: float | None = None
    deviation: float | None = None
    domain: Domain = ANY


@dataclass(frozen=True)
class Inputs:
    """What a model's inputs were read as."""

    values: Mapping[str, float]
    domains: Mapping[str, Domain]
    spreads: Mapping[str, Spread]


def read_inputs(
    model: ModelDocument, marked: Marked, domains: Mapping[str, Domain], problems: list[Diagnostic]
) -> Inputs:
    """The inputs' values, what they may be, and those that are uncertain; what is wrong with them goes to `problems`.

    `domains` are what the model's fields ask of the inputs that they are.
    """
    values: dict[str, float] = {}
    allowed: dict[str, Domain] = {}
    spreads: dict[str, Spread] = {}
    for name, given in model.inputs.items():
        at: Path = ("inputs", name)
        values[name], allowed[name] = float("nan"), ANY
        if not name.isidentifier() or iskeyword(name):
            problems.append(
                marked.diagnostic(
                    at, f"'{name}' cannot name an input", "Write letters and _, as in read_bytes.", key=True
                )
            )
        if given.unit not in ("", *UNITS):
            hint = near(given.unit, UNITS, "Units here are")
            problems.append(marked.diagnostic((*at, "unit"), f"there is no unit '{given.unit}' here", hint))
            continue
        before = len(problems)
        numbers = {
            key: _in_unit(number, given.unit, (*at, key), marked, problems)
            for key in ("value", "minimum", "maximum", "low", "high", "deviation")
            if (number := getattr(given, key)) is not None
        }
        if len(problems) > before:
            continue
        least, most = numbers.pop("minimum", ANY.least), numbers.pop("maximum", ANY.most)
        own = Domain(given.type == "integer", least, most)
        allowed[name] = own.and_also(domains.get(name, ANY))
        values[name] = numbers["value"]
        spread = Spread(**numbers, domain=allowed[name])
        problems += [*_wrong_values(name, own, allowed[name], numbers, at, marked)] or _wrong_spread(
            name, spread, at, marked
        )
        if len(numbers) > 1:
            spreads[name] = spread
    return Inputs(values, allowed, spreads)


def _wrong_values(
    name: str, own: Domain, allowed: Domain, numbers: Mapping[str, float], at: Path, marked: Marked
) -> Iterator[Diagnostic]:
    if own.least > own.most:
        yield marked.diagnostic((*at, "minimum"), f"minimum is above maximum for '{name}'", "Swap them.")
        return
    for key, number in numbers.items():
        if key != "deviation" and allowed.bad(number) is not None:
            what = "" if key == "value" else f"{key} of "
            yield marked.diagnostic((*at, key), f"{what}'{name}' is {number:.12g}", f"It must be {allowed.said()}.")


def _wrong_spread(name: str, spread: Spread, at: Path, marked: Marked) -> Iterator[Diagnostic]:
    if (spread.low is None) != (spread.high is None):
        missing = "high" if spread.high is None else "low"
        yield marked.diagnostic(at, f"the input '{name}' has no {missing}", "Give both low and high.")
    elif spread.low is not None and spread.high is not None and spread.low > spread.high:
        yield marked.diagnostic((*at, "low"), f"low is above high for '{name}'", "Swap them.")
    elif spread.deviation is not None and (spread.deviation < 0 or spread.low is not None):
        hint = "Give low and high (uniform), or a deviation of 0 or more (normal)."
        yield marked.diagnostic((*at, "deviation"), f"'{name}' cannot be spread like this", hint)
    elif spread.low is not None and spread.high is not None and not spread.low <= spread.value <= spread.high:
        message = f"'{name}' is {spread.value:.12g}, outside its own low and high"
        yield marked.diagnostic(
            (*at, "value"), message, f"Write {spread.low:.12g} to {spread.high:.12g}, or move them."
        )


def wrong_point(point: Mapping[str, float], inputs: Inputs, at: Path, marked: Marked) -> Iterator[Diagnostic]:
    """What is wrong with values for inputs that the document gives at `at`: unknown names, values not allowed."""
    for name, value in point.items():
        if name not in inputs.values:
            hint = near(name, inputs.values, "The model's inputs")
            yield marked.diagnostic((*at, name), f"the model has no input '{name}'", hint or NO_INPUTS, key=True)
        elif inputs.domains[name].bad(value) is not None:
            said = inputs.domains[name].said()
            yield marked.diagnostic((*at, name), f"'{name}' is {value:.12g}", f"It must be {said}.")


NO_INPUTS = "The model has no inputs."


def _in_unit(value: float | str, unit: str, path: Path, marked: Marked, problems: list[Diagnostic]) -> float:
    """A number of an input in its unit; nan, with a diagnostic, where it is none."""
    try:
        return number(value, unit)
    except UnitError as error:
        problems.append(marked.diagnostic(path, error.message, error.hint))
        return float("nan")


def number(value: float | str, unit: str) -> float:
    """A number, or a text of one with or without a unit, in `unit`. Raises UnitError for what is not finite or none."""
    if isinstance(value, str) and unit:
        return quantity(value, unit)
    try:
        result = float(value)
    except OverflowError:
        raise UnitError("this number is too large", "Numbers go up to 1.8e308.") from None
    except ValueError:
        raise UnitError(
            f"'{str(value)[:40]}' is not a number", "Write for example 4 or 1e6; this one has no unit."
        ) from None
    if not abs(result) < float("inf"):
        raise UnitError(f"'{str(value)[:40]}' is not a finite number", "Write for example 4 or 1e6.")
    return result
