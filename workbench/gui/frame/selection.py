"""The selected object, which all views share. Plain data, compared by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.analysis import Analysis
    from workbench.model.blocks import Block, State
    from workbench.model.run import Run


@dataclass(frozen=True)
class SelectedFinding:
    finding: str  # Finding.id


@dataclass(frozen=True)
class SelectedBlock:
    block: str  # Block.id


@dataclass(frozen=True)
class SelectedState:
    block: str
    state: int  # State.index


@dataclass(frozen=True)
class SelectedCall:
    site: int  # index in the run's Manifest.sites


@dataclass(frozen=True)
class SelectedMessage:
    source: str
    target: str
    message: str


@dataclass(frozen=True)
class SelectedLine:
    file: str
    line: int


Selection = SelectedFinding | SelectedBlock | SelectedState | SelectedCall | SelectedMessage | SelectedLine


def place_of(chosen: Selection | None, run: Run | None, analysis: Analysis | None) -> tuple[str, int] | None:
    """File and line of a selection, where it has one."""
    if isinstance(chosen, SelectedLine):
        return chosen.file, chosen.line
    if analysis is None or run is None or chosen is None or isinstance(chosen, SelectedMessage):
        return None
    if isinstance(chosen, SelectedFinding):
        places = [p for f in analysis.findings if f.id == chosen.finding for p in f.places]
        return (places[0].file, places[0].line) if places else None
    if isinstance(chosen, SelectedCall):
        site = run.manifest.sites[chosen.site]
        return site.file, site.line
    blocks = [b for b in run.manifest.blocks if b.id == chosen.block]
    at: Block | State | None = blocks[0] if blocks else None
    if blocks and isinstance(chosen, SelectedState):
        at = blocks[0].states[chosen.state]
    return (at.file, at.line) if at is not None and at.file and at.line else None
