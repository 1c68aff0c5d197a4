"""Replication by resources alone, as `aoc -O3` does it, beside the steps of a model (section 6.6, Table 4)."""

from dataclasses import dataclass, replace

import numpy as np

from rc_workbench_plugins.opencl.compute import KernelDesign, Model, Prediction, designs, predict, profile_of
from rc_workbench_plugins.opencl.document import RESOURCE_DRIVEN, MeasuredSpeedup, Replication
from rc_workbench_plugins.opencl.optimisations import applied
from rc_workbench_plugins.opencl.pipelines import estimate
from rc_workbench_plugins.opencl.resources import largest, needed
from rc_workbench_plugins.opencl.search import named, withheld

#: of the logic, aoc's `maximum_logic_utilization` (section 6.6)
MOST_LOGIC = 0.85
_FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class Compared:
    """A design beside the first of a model: how many times as fast it is in cycles, and in time from the least to the
    most by the clocks that both may reach (None where a board has none). `reach`: the least and the most in cycles by
    any SIMD and compute units of that design that fit the board. `measured`: the speedup that the model gives as
    measured, if it does."""

    name: str
    prediction: Prediction
    speedup_cycles: float
    speedup_time: tuple[float, float] | None
    reach: tuple[float, float]
    measured: MeasuredSpeedup | None = None

    @property
    def within(self) -> bool | None:
        """Whether the measured speedup is within the range in time; None where one of them is not known."""
        if self.measured is None or self.speedup_time is None:
            return None
        least, most = self.speedup_time
        return least <= self.measured.speedup <= most


def compared(values: Model) -> tuple[Compared, ...]:
    """The resource-driven design and the model's last one, each over the first. None of a model without steps."""
    every = designs(values)
    if len(every) == 1:
        return ()
    profile = profile_of(values)
    first, last = predict(every[0], profile), predict(every[-1], profile)
    driven = predict(driven_design(every[0], values.model.resource_driven), profile)
    measured = {one.design: one for one in values.model.measured}
    return tuple(
        replace(_over(first, one, profile), measured=measured.get(name))
        for name, one in ((RESOURCE_DRIVEN, driven), (last.design.name, last))
    )


def driven_design(first: KernelDesign, given: Replication | None) -> KernelDesign:
    """The largest replication within the logic and the DSP blocks, SIMD preferred; or that which is given."""
    simd, units = 1.0, 1.0
    if given is not None:
        simd, units = float(given.simd), float(given.compute_units)
    else:
        work = applied(first.base, first.changes, first.board)
        allowed = [[1.0] if what in withheld(first.base) else _FACTORS for what in ("SIMD", "CU")]
        for one, other in sorted(((s, u) for s in allowed[0] for u in allowed[1]), key=lambda p: (p[0] * p[1], p[0])):
            shares = needed(work, replace(first.setting, simd=one, compute_units=other), first.board)
            if (most := largest(shares.shares)) is None:
                break
            if float(most) <= 1 and float(shares.logic or 0.0) <= MOST_LOGIC:
                simd, units = one, other
    setting = replace(first.setting, simd=simd, compute_units=units)
    name = f"{RESOURCE_DRIVEN}: {named((), replace(setting, unroll={}))}"
    return replace(first, name=name, setting=setting, used=None, frequency_hz=None)


def _over(first: Prediction, one: Prediction, profile: str) -> Compared:
    name, ratio = one.design.name, float(first.cycles) / float(one.cycles)
    reach = _reach(first, one.design, profile)
    clocks = [_clocks(prediction) for prediction in (first, one)]
    if not all(clocks):
        return Compared(name, one, ratio, None, reach)
    (slow, fast), (least, most) = (pair for pair in clocks if pair)
    return Compared(name, one, ratio, (ratio * least / fast, ratio * most / slow), reach)


def _reach(first: Prediction, design: KernelDesign, profile: str) -> tuple[float, float]:
    allowed = [[1.0] if what in withheld(design.base) else _FACTORS for what in ("SIMD", "CU")]
    simd, units = np.array(allowed[0])[:, None], np.array(allowed[1])[None, :]
    work = applied(design.base, design.changes, design.board)
    setting = replace(design.setting, simd=simd, compute_units=units)
    ratios = float(first.cycles) / np.broadcast_to(estimate(work, design.board, setting, profile).cycles,
                                                   (simd.size, units.size))  # fmt: skip
    used = largest(needed(work, setting, design.board).shares)
    fits = ratios if used is None else ratios[np.broadcast_to(used, ratios.shape) <= 1]
    return (float(fits.min()), float(fits.max())) if fits.size else (0.0, 0.0)


def _clocks(one: Prediction) -> tuple[float, float] | None:
    known = one.design.frequency_hz
    return one.clocks_hz if known is None else (float(known), float(known))
