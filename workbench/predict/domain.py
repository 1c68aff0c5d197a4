"""What values a number may take: whole or real, and between which bounds. Fields of models and inputs have one each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

Values = float | NDArray[np.float64]


@dataclass(frozen=True)
class Domain:
    """Values from `least` to `most`; `above` leaves `least` itself out, `integer` all but whole numbers."""

    integer: bool = False
    least: float = -np.inf
    most: float = np.inf
    above: bool = False

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


def domain_in(annotations: Iterable[Any]) -> Domain | None:
    """The domain that a field's type carries (in `Annotated`, also inside a union or mapping), or None."""
    for annotation in annotations:
        if isinstance(annotation, Domain):
            return annotation
        if (found := domain_in(get_args(annotation))) is not None:
            return found
    return None
