"""Where one has been: back and forward through modes, selections and ranges."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.gui.selection import Selection

Range = tuple[int, int]
_MOST = 100


@dataclass(frozen=True)
class Place:
    mode: str
    selection: Selection | None
    time_range: Range | None


class Places:
    def __init__(self) -> None:
        self._places: list[Place] = []
        self._position = -1

    @property
    def can_go_back(self) -> bool:
        return self._position > 0

    @property
    def can_go_forward(self) -> bool:
        return self._position < len(self._places) - 1

    def remember(self, place: Place) -> bool:
        """Add a place after the one where one is. False where that is the same."""
        if self._places and self._places[self._position] == place:
            return False
        self._places = [*self._places[: self._position + 1], place][-_MOST:]
        self._position = len(self._places) - 1
        return True

    def go(self, step: int) -> Place | None:
        """The place `step` further, which one is at now; None where there is none."""
        if not 0 <= self._position + step < len(self._places):
            return None
        self._position += step
        return self._places[self._position]
