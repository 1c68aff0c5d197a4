"""Documents of models: their inputs, their numbers and formulas, and what values each may take.

A kind of model is a `ModelDocument` with fields of its own. A field of type `Formula`, `Positive`, `Count` or `Share`
holds a number, a quantity in the unit that its name ends in ("195 MHz" of `clock_hz`), or a formula over the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from workbench.api.forms import Group
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.document import Document
from workbench.model.text import NARROW, value_text

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

    from workbench.model.platform import Platform

#: The values of an input or an output: one number, or an array of a sweep's or a draw's.
Values = float | NDArray[np.float64]
FieldPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Domain:
    """Values from `least` to `most`; `above` leaves `least` itself out, `integer` all but whole numbers.

    Values beyond `doubtful` are allowed, but nothing real has them.
    """

    integer: bool = False
    least: float = -np.inf
    most: float = np.inf
    above: bool = False
    doubtful: float = np.inf

    def said(self) -> str:
        """What a value must be: "a whole number, at least 1"; "" for any number."""
        parts = ["a whole number"] if self.integer else []
        if self.least > -np.inf:
            parts.append(f"above {self.least:.12g}" if self.above else f"at least {self.least:.12g}")
        if self.most < np.inf:
            parts.append(f"at most {self.most:.12g}")
        return ", ".join(parts)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The bounds as JSON Schema says them; they hold for numbers, a formula is text."""
        bounds: dict[str, Any] = {"multipleOf": 1} if self.integer else {}
        if self.least > -np.inf:
            bounds["exclusiveMinimum" if self.above else "minimum"] = self.least
        if self.most < np.inf:
            bounds["maximum"] = self.most
        return {**handler(core), **bounds}

    def bad(self, values: Values) -> float | None:
        """The first of the values that is not allowed (nan and infinities never are); None where all are."""
        if isinstance(values, float | int):
            good = self.least <= values <= self.most and -np.inf < values < np.inf
            good = good and not (self.above and values == self.least) and not (self.integer and values % 1)
            return None if good else float(values)
        least, most = float(np.min(values)), float(np.max(values))
        outside = not (least >= self.least and most <= self.most and -np.inf < least and most < np.inf)
        if not outside and not (self.above and least == self.least) and not self.integer:
            return None
        flat = np.ravel(values)
        fit = np.isfinite(flat) & (flat >= self.least) & (flat <= self.most)
        if self.above:
            fit &= flat != self.least
        if self.integer:
            fit &= flat == np.rint(flat)
        return None if fit.all() else float(flat[~fit][0])

    def held(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values, rounded where they must be whole, and moved to the nearest bound where they lie outside; they are
        mirrored at a bound that is left out itself."""
        values = np.rint(values) if self.integer else values
        values = self.least + np.abs(values - self.least) if self.above else values
        return np.clip(values, self.least, self.most) if self.least > -np.inf or self.most < np.inf else values

    def and_also(self, other: Domain) -> Domain:
        """The values that both allow."""
        least = max(self.least, other.least)
        above = any(domain.above and domain.least == least for domain in (self, other))
        return Domain(self.integer or other.integer, least, min(self.most, other.most), above)


ANY = Domain()
NOT_NEGATIVE = Domain(least=0)
POSITIVE = Domain(least=0, above=True)
COUNT = Domain(integer=True, least=1)
SHARE = Domain(least=0, most=1, above=True)
#: The fastest clock of an FPGA's logic, in hertz. Source: Stratix 10 TX Device Overview (Intel 683717, 2023), section
#: Core Clocking: "The core clock network [...] at clock rates up to 1 GHz". Designs reach a fraction of it.
FASTEST_FPGA_CLOCK_HZ = 1e9
FPGA_CLOCK = Domain(least=0, above=True, doubtful=FASTEST_FPGA_CLOCK_HZ)


def domain_in(annotations: Iterable[Any]) -> Domain | None:
    """The domain that a field's type carries (in `Annotated`, also inside a union or mapping), or None."""
    for annotation in annotations:
        if isinstance(annotation, Domain):
            return annotation
        if (inner := domain_in(get_args(annotation))) is not None:
            return inner
    return None


#: A field of a document that holds a number or a formula, of any value from 0.
Formula = Annotated[int | float | str, NOT_NEGATIVE]
#: A field that holds a number above 0, or a formula.
Positive = Annotated[int | float | str, POSITIVE]
#: A field that holds a whole number from 1, or a formula.
Count = Annotated[int | float | str, COUNT]
#: A field that holds a number from 0 to 1, or a formula.
Share = Annotated[int | float | str, SHARE]
#: A field that holds the clock of an FPGA's logic in hertz, or a formula.
FpgaClock = Annotated[int | float | str, FPGA_CLOCK]


class Input(Document):
    """A named number of the model. It may be uncertain.

    Sweeps, draws and solutions keep to the values that it may take. A field that is nothing but an input asks the same
    of it as of itself (a node count is a whole number, at least 1).
    """

    value: float | str = Field(description="its value; a text with a unit is converted to `unit`", examples=["100 MHz"])
    unit: str = Field("", description="the unit that formulas get it in; empty for a plain number", examples=["Hz"])
    title: str = Field("", description="what it is", examples=["clock of the design"])
    type: Literal["real", "integer"] = Field("real", description="whether only whole numbers make sense")
    minimum: float | str | None = Field(
        None, description="the least value that sweeps, draws and solutions may take", examples=[1]
    )
    maximum: float | str | None = Field(None, description="the greatest value that they may take", examples=[64])
    low: float | str | None = Field(
        None, description="uncertain: the low end of a uniform distribution", examples=["90 MHz"]
    )
    high: float | str | None = Field(None, description="uncertain: its high end", examples=["110 MHz"])
    deviation: float | str | None = Field(
        None, description="uncertain: standard deviation of a normal distribution around `value`", examples=["5 MHz"]
    )


class PartDocument(Document):
    """A part of a model's document. `called` is what people call one, `new` the fields that a new one begins with, and
    `form` its fields as they stand in a form: all of its own, in their order, where it is empty."""

    called: ClassVar[str] = ""
    new: ClassVar[Mapping[str, object]] = {}
    form: ClassVar[tuple[Group, ...]] = ()


class ModelDocument(PartDocument):
    """What every kind of model has. `readings` are named sets of input values, for where a source can be read in
    several ways."""

    schema_version: int = Field(description="schema version of this document")
    name: str = Field(description="a short name")
    title: str = Field("", description="title in window and reports")
    description: str = Field(
        "",
        description="what is modelled, and source of the numbers",
        examples=["Sizes from the paper, clock from a first synthesis"],
    )
    platform: str = Field(
        "",
        description="the platform template whose tables, networks and memories it uses: its name, or a file beside the "
        "model",
        examples=["nallatech_h101"],
    )
    inputs: dict[str, Input] = Field(
        default_factory=dict,
        description="named numbers that formulas may use, and that can be swept, varied and solved for",
    )
    readings: dict[str, dict[str, float]] = Field(
        default_factory=dict,
        description="named sets of input values, for a source that can be read in several ways",
        examples=[{"printed": {"clock": 100e6}}],
    )


def point_text(model: ModelDocument, point: Mapping[str, Values]) -> str:
    """Inputs' values as people read them, as the title of a column; "Value" for the model's own."""
    said = (
        f"{value_text(float(value), model.inputs[name].unit if name in model.inputs else '')}{NARROW}{name}"
        for name, value in point.items()
    )
    return ", ".join(said) or "Value"


M_co = TypeVar("M_co", bound=ModelDocument, covariant=True)


class ModelValues(Protocol[M_co]):
    """A model at one point, or at many: its numbers are floats, or arrays that broadcast in a sweep."""

    @property
    def model(self) -> M_co: ...
    @property
    def platform(self) -> Platform | None:
        """The platform that the document names."""

    @property
    def folder(self) -> Path:
        """Where the document's file stands: other files are named from there."""

    @property
    def inputs(self) -> Mapping[str, Values]:
        """Where it is computed: the document's inputs, those of `reading` and then `changes` laid over."""

    @property
    def changes(self) -> Mapping[str, Values]: ...
    @property
    def reading(self) -> str | None: ...
    def of(self, *path: str | int, **names: Values) -> Values:
        """The value of a field that is given, by its place: `of("stages", 0, "clock_hz")`; `names` are what its formula
        may read besides the inputs. WorkbenchError naming the field where it is not one that it may take."""
        ...

    def gives(self, *path: str | int) -> bool:
        """Whether the document gives a number at a place."""
        ...

    def at(self, changes: Mapping[str, Values]) -> ModelValues[M_co]:
        """The model elsewhere, in the same reading."""
        ...

    def problem(self, path: FieldPath, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> Diagnostic:
        """A diagnostic at a place of the document."""
        ...


class ModelReading(Protocol[M_co]):
    """A document whose keys and values are right, and whose formulas are not read yet."""

    @property
    def model(self) -> M_co: ...
    @property
    def platform(self) -> Platform | None:
        """The platform that the document names; None where it names none, and where there is none of that name."""

    @property
    def folder(self) -> Path:
        """Where the document's file stands: other files are named from there."""

    def line(self, path: FieldPath) -> int:
        """The line that a place stands on."""
        ...

    def tell(
        self, path: FieldPath, message: str, hint: str = "", severity: Severity = Severity.ERROR, *, key: bool = False
    ) -> None:
        """Say what is wrong at a place, or at its key."""
        ...


@dataclass(frozen=True)
class Completed:
    """A document with what its kind adds to it.

    `inputs` are inputs that it has without being given, `domains` what values of inputs are asked for besides what
    fields ask. `names` are what the formula at a place may read besides the inputs. `points` are inputs' values that
    the document holds elsewhere, by their places: it must have sensible numbers there too.
    """

    model: ModelDocument
    inputs: Mapping[str, float] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)
    names: Callable[[FieldPath], Sequence[str]] = lambda path: ()
    points: Sequence[tuple[FieldPath, Mapping[str, float]]] = ()


def told_twice(reading: ModelReading, names: Iterable[str], paths: Iterable[FieldPath], what: str) -> None:
    """Tell of each name that stands above already."""
    seen: dict[str, FieldPath] = {}
    for name, path in zip(names, paths, strict=True):
        if name in seen:
            hint = f"Give this one another name: the first is on line {reading.line(seen[name])}."
            reading.tell(path, f"two {what} are called '{name}'", hint)
        seen.setdefault(name, path)
