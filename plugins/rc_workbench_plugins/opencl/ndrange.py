"""How many work items a launch has, and in which groups (OpenCL 1.2, section 3.2)."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NDRange:
    """Work items along one to three dimensions, in groups of `local_size`, which divides `global_size`."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]

    @property
    def dimensions(self) -> int:
        return len(self.global_size)

    @property
    def group_items(self) -> int:
        return prod(self.local_size)

    @property
    def group_counts(self) -> tuple[int, ...]:
        return tuple(g // n for g, n in zip(self.global_size, self.local_size, strict=True))

    @property
    def groups(self) -> int:
        return prod(self.group_counts)

    def sample(self, most: int | None) -> NDArray[np.int64]:
        """The numbers of the groups that run: all, or `most` spread evenly over them."""
        if most is None or most >= self.groups:
            return np.arange(self.groups)
        return np.linspace(0, self.groups - 1, most).astype(np.int64)

    def group_ids(self, groups: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """A group's place along each of three dimensions, by its number; the first varies fastest."""
        return _places(groups, self.group_counts)

    def local_ids(self) -> list[NDArray[np.int64]]:
        """Each work item's place in its group, along each of three dimensions."""
        return _places(np.arange(self.group_items), self.local_size)


def _places(numbers: NDArray[np.int64], sizes: tuple[int, ...]) -> list[NDArray[np.int64]]:
    places = []
    for size in (*sizes, 1, 1)[:3]:
        places.append(numbers % size)
        numbers = numbers // size
    return places
