"""A plugin as it was loaded, or why it was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what only types need: a plugin that is found, and not used, costs next to nothing
    pass


@dataclass(frozen=True)
class LoadedPlugin:
    """A plugin and where it came from; `error` is empty, or why it could not be loaded.

    `brings` has the names of what it brings, by kind; `overrides` those that another plugin brought before it.
    """

    name: str
    origin: str
    version: str = ""
    hooks: Sequence[str] = ()
    error: str = ""
    brings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    load_s: float = 0.0
