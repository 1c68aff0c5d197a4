"""Replication by resources alone, as `aoc -O3` does it, beside the steps of a model (section 6.6, Table 4)."""

from dataclasses import dataclass, replace

from rc_workbench_plugins.opencl.compute import KernelDesign, Model, Prediction, designs, predict, profile_of
from rc_workbench_plugins.opencl.document import Replication
from rc_workbench_plugins.opencl.optimisations import applied
from rc_workbench_plugins.opencl.resources import largest, needed
from rc_workbench_plugins.opencl.search import named, withheld

#: of the logic, aoc's `maximum_logic_utilization` (section 6.6)
MOST_LOGIC = 0.85
_FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class Compared:
    """A design beside the first of a model: how many times as fast it is in cycles, and in time from the least to the
    most by the clocks that both may reach (None where a board has none)."""

    name: str
    prediction: Prediction
    speedup_cycles: float
    speedup_time: tuple[float, float] | None


def compared(values: Model) -> tuple[Compared, ...]:
    """The resource-driven design and the model's last one, each over the first. None of a model without steps."""
    every = designs(values)
    if len(every) == 1:
        return ()
    profile = profile_of(values)
    first, last = predict(every[0], profile), predict(every[-1], profile)
    driven = predict(driven_design(every[0], values.model.resource_driven), profile)
    return tuple(_over(first, one, name) for one, name in ((driven, driven.design.name), (last, last.design.name)))


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
    name = f"-O3: {named((), replace(setting, unroll={}))}"
    return replace(first, name=name, setting=setting, used=None, frequency_hz=None)


def _over(first: Prediction, one: Prediction, name: str) -> Compared:
    ratio = float(first.cycles) / float(one.cycles)
    clocks = [_clocks(prediction) for prediction in (first, one)]
    if not all(clocks):
        return Compared(name, one, ratio, None)
    (slow, fast), (least, most) = (pair for pair in clocks if pair)
    return Compared(name, one, ratio, (ratio * least / fast, ratio * most / slow))


def _clocks(one: Prediction) -> tuple[float, float] | None:
    known = one.design.frequency_hz
    return one.clocks_hz if known is None else (float(known), float(known))
