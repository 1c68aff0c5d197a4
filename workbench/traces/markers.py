"""Moments of a run with names."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Marker:
    time_ps: int
    name: str


def next_name(markers: Iterable[Marker]) -> str:
    """A name that no marker has."""
    taken = {marker.name for marker in markers}
    return next(name for number in range(1, len(taken) + 2) if (name := f"Marker {number}") not in taken)
