"""Work items that go through a kernel together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl.flow import FlowEdge, Segment
from rc_workbench_plugins.opencl.values import Array


@dataclass(eq=False)
class InStep:
    """Work items in step: their numbers in the batch, and their values by name."""

    lanes: NDArray[np.int64]
    values: dict[str, Array]

    def part(self, fixed: Mapping[str, Array], chosen: NDArray[np.bool_], edge: FlowEdge) -> InStep:
        """Some of the work items, with what they need along an edge; all have the values that are `fixed`."""
        part = dict(fixed)
        for name in edge.needs:
            value = self.values.get(name)
            if value is not None:
                part[name] = value if len(value) == 1 else value[chosen]
        return InStep(self.lanes[chosen], part)


def joined(fixed: Mapping[str, Array], segment: Segment, parts: Sequence[InStep]) -> InStep:
    """Work items that wait before the same segment, together."""
    if len(parts) == 1:
        return parts[0]
    columns = dict(fixed)
    for name in segment.live:
        values = [part.values[name] for part in parts]
        first = values[0]
        if all(len(v) == 1 and (v is first or v.tobytes() == first.tobytes()) for v in values):
            columns[name] = first
        else:
            shapes = [(len(part.lanes), *v.shape[1:]) for v, part in zip(values, parts, strict=True)]
            columns[name] = np.concatenate(list(map(np.broadcast_to, values, shapes)))
    return InStep(np.concatenate([part.lanes for part in parts]), columns)
