"""A loaded plugin, or the reason why it was not loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # only for types, so that an unused plugin costs almost nothing
    pass


@dataclass(frozen=True)
class LoadedPlugin:
    """A plugin and its origin; `error` is "", or the reason why it was not loaded.

    `brings` has the names of its additions, by kind; `overrides` those that an earlier plugin had.
    """

    name: str
    origin: str
    version: str = ""
    hooks: Sequence[str] = ()
    error: str = ""
    brings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    load_s: float = 0.0
