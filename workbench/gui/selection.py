"""What is selected: one thing at a time, the same in every view. Plain data, compared by value."""

from __future__ import annotations

from dataclasses import dataclass


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
