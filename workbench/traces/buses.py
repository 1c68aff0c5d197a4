"""The transfers of a run on each of its buses, over time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.traces.trace import NOTHING, Bytes, Trace

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Bus:
    """A bus, and what had it: transfer i from `begin_ps` to `end_ps`, in order, for the call of `site` that `block`
    made; `code` is the category of that call's state."""

    name: str
    begin_ps: Numbers
    end_ps: Numbers
    block: Numbers
    site: Numbers
    code: Bytes

    def at(self, time_ps: float) -> int | None:
        """The transfer under way at a time."""
        number = int(np.searchsorted(self.begin_ps, int(time_ps), "right")) - 1
        return number if number >= 0 and time_ps < self.end_ps[number] else None

    def codes(self, from_ps: float, pixel_ps: float, width: int) -> Bytes:
        """The category in the middle of each pixel, NOTHING where the bus is free."""
        centres = (from_ps + pixel_ps * (np.arange(width) + 0.5)).astype(np.int64)
        numbers = np.searchsorted(self.begin_ps, centres, "right") - 1
        under_way = (numbers >= 0) & (centres < self.end_ps[np.maximum(numbers, 0)])
        return np.where(under_way, self.code[np.maximum(numbers, 0)], NOTHING).astype(np.uint8)

    def busy_ps(self) -> int:
        return int((self.end_ps - self.begin_ps).sum())


def buses_of(run: Run, trace: Trace) -> tuple[Bus, ...]:
    """The buses that any transfer of the run had."""
    calls = run.tables.get("calls")
    if calls is None or not len(calls["t0_ps"]):
        return ()
    grants, ends = np.asarray(calls["grant_ps"]).astype(np.int64), np.asarray(calls["end_ps"]).astype(np.int64)
    ends = np.where(ends >= 0, ends, calls["t1_ps"])
    buses = []
    for number, name in enumerate(run.manifest.resources):
        mine = np.flatnonzero((grants >= 0) & (calls["resource"] == number))
        mine = mine[np.argsort(grants[mine], kind="stable")]
        if not len(mine):
            continue
        block, state = (np.asarray(calls[column])[mine].astype(np.int64) for column in ("block", "state"))
        code = np.zeros(len(mine), np.uint8)
        for one in np.unique(block).tolist():
            code[block == one] = trace.codes[one][state[block == one]]
        site = np.asarray(calls["site"])[mine].astype(np.int64)
        buses.append(Bus(name, grants[mine], ends[mine], block, site, code))
    return tuple(buses)
