"""What a testbench has to know of a top whose language gives its ports types."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from workbench.model.application import HardwareSources


@dataclass(frozen=True)
class PortTypes:
    """The types of a top's ports by their names, its generics as (name, type, value), all as they are written, and the
    clauses before it by which these names are known."""

    types: Mapping[str, str]
    generics: tuple[tuple[str, str, str], ...] = ()
    context: str = ""


@runtime_checkable
class HasPortTypes(Protocol):
    """A hardware language in which testbenches are written in its own words."""

    def port_types(self, root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> PortTypes | None:
        """The types of the top's ports; None if the design is not in this language only."""
        ...
