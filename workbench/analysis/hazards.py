"""What a change requires: a changed FPGA design, and the data hazards to settle first.

Both follow from the addresses and the order of a run's calls, and from the kind of change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rounds import CallOrder, Mask
from workbench.model.changes import (
    Asynchronous,
    Change,
    Early,
    FewerStarts,
    Interrupt,
    OtherPlatform,
    PollDelay,
    Retype,
    ScaleCalls,
    ScaleHost,
    Split,
    Unite,
)
from workbench.model.platform import CallKind
from workbench.model.text import listed
from workbench.traces.groups import Numbers

C = TypeVar("C", bound=Change)


@dataclass(frozen=True)
class Demands:
    """Whether the design must change, and the data hazard to settle first; "" if the run shows none."""

    hardware: bool = True
    hazard: str = ""


def demands_of(changes: Sequence[Change], measured: MeasuredRun) -> Demands:
    """The combined demands of a set of changes on the design and on its developer."""
    demands = [_demands(change, measured) for change in changes]
    hazards = dict.fromkeys(one.hazard for one in demands if one.hazard)
    return Demands(any(one.hardware for one in demands), "; ".join(hazards))


def _demands(change: Change, measured: MeasuredRun) -> Demands:
    if isinstance(change, ScaleHost | Split | PollDelay | Retype):
        return Demands(hardware=False)
    if isinstance(change, OtherPlatform):
        return Demands(hazard="the design and the host must fit the other platform's ports and calls")
    if isinstance(change, ScaleCalls):
        return Demands(hardware=change.factor == 0 and _moves_words(change.calls, measured))
    look = _LOOK.get(type(change))
    if look is None:
        return Demands()
    demands = [look(change, rows) for rows in _rows_of(change, measured)]
    hazards = dict.fromkeys(one.hazard for one in demands if one.hazard)
    return Demands(any(one.hardware for one in demands), "; ".join(hazards))


@dataclass(frozen=True)
class _Rows:
    """A thread's calls (`order`), the mask of a change's calls among them (`mask`), and the possible bytes per
    address step (`units`)."""

    order: CallOrder
    mask: Mask
    units: tuple[int, ...]
    measured: MeasuredRun

    def name(self, rows: Mask) -> str:
        """The labels of the calls in these rows, as a list."""
        sites = self.measured.run.manifest.sites
        labels = dict.fromkeys(sites[site].label for site, _ in sorted(self.order.used(rows)) if site >= 0)
        return listed([f"'{label}'" for label in labels])


def _rows_of(change: Change, measured: MeasuredRun) -> Iterator[_Rows]:
    """The rows of each thread that makes calls of the change."""
    call_names: Sequence[str] = getattr(change, "calls", ())
    pairs: dict[str, set[tuple[int, int]]] = {}
    for call in measured.calls:
        if {call.place, f"{call.place}:{call.site.column}", call.site.label, call.site.callee} & set(call_names):
            pairs.setdefault(call.block, set()).add((call.site_number, call.state.index))
    hardware = measured.platform.hardware if measured.platform else None
    units = {int(getattr(port, "address_unit_bytes", 1)) for port in hardware.ports} if hardware else {1, 4}
    for block in measured.blocks:
        order = measured.order_of(block) if block.block.id in pairs else None
        if order is not None:
            yield _Rows(order, order.of(pairs[block.block.id]), tuple(sorted(units)), measured)


def _moves_words(calls: Iterable[str], measured: MeasuredRun) -> bool:
    kinds = {c.entry.kind for c in measured.calls if c.entry and {c.place, f"{c.place}:{c.site.column}"} & set(calls)}
    return bool(kinds & {CallKind.SEND.value, CallKind.RECEIVE.value})


def _unite(change: Unite, rows: _Rows) -> Demands:
    order, at = rows.order, np.flatnonzero(rows.mask)
    if len(at) < 2:
        return Demands(hardware=False)
    problems = [_addresses(order, at, np.diff(at) == 1, rows.units)]
    longest, _, _ = order.longest_row(rows.mask)
    if change.count > longest and (between := _between(at, len(rows.mask)) & ~rows.mask).any():
        when = "before the first of them" if order.sends[at].any() else "until the last of them"
        problems.append(f"other calls come between these ({rows.name(between)}): all data must be available {when}")
        if _written_again(order.address[at], order.bytes[at], rows.units):
            problems.append("each round uses the same addresses: needs a buffer for each")
    hazards = [one for one in problems if one]
    return Demands(bool(hazards), "; ".join(hazards))


def _addresses(order: CallOrder, at: Numbers, steps: Mask, units: Sequence[int]) -> str:
    """The reason why one call cannot reach all addresses of consecutive calls; "" if it can."""
    before, after = at[:-1][steps], at[1:][steps]
    first_address, next_address, size = order.address[before], order.address[after], order.bytes[before]
    if not len(first_address):
        return ""
    if (first_address < 0).any() or (next_address < 0).any():
        return "the run did not keep the addresses: check that they are consecutive"
    fits = [next_address - first_address == size // unit for unit in units]
    if any(fit.all() for fit in fits):
        return ""
    if (first_address == next_address).all():
        return f"all go to address {int(first_address[0]):#x}: the hardware must take the words of one call in turn"
    odd = int(np.flatnonzero(~fits[0])[0])
    return (
        f"addresses {int(first_address[odd]):#x} and {int(next_address[odd]):#x} are not consecutive: the hardware's"
        " address map must change"
    )


def _written_again(address: Numbers, size: Numbers, units: Sequence[int]) -> bool:
    unit = max(units)
    order = np.argsort(address, kind="stable")
    ends = address[order] + np.maximum(size[order] // unit, 1)
    return bool((address[order][1:] < ends[:-1]).any())


def _between(at: Numbers, count: int) -> Mask:
    inside: Mask = np.zeros(count, dtype=bool)
    inside[at[0] : at[-1]] = True
    return inside


def _early(change: Early, rows: _Rows) -> Demands:
    """The demands of an early write: the FPGA may still read the old data, or the host may read it later."""
    order = rows.order
    moved = rows.mask & (order.round_of < order.rounds)
    if (order.address[moved] < 0).any():
        return Demands(False, "the run did not keep the addresses: check that the FPGA no longer reads them")
    if _meets_next_round(order, moved, moved, rows.units):
        return Demands(True, f"needs a second buffer: {rows.name(moved)} writes addresses that the FPGA still reads")
    read = order.receives & ~order.control
    if _meets_next_round(order, moved, read, rows.units):
        reads = f"{rows.name(read)} reads addresses that {rows.name(moved)} has written by then"
        return Demands(True, f"needs a second buffer: {reads}, if both are one memory")
    return Demands(hardware=False)


def _meets_next_round(order: CallOrder, moved: Mask, later: Mask, units: Sequence[int]) -> bool:
    """Whether the moved calls of a round reach addresses that other calls of the round before reach.

    Calls after a wait belong both to the next round and to the round that ended.
    """
    spans = [_spans(order, rows, max(units)) for rows in (moved, later)]
    (low, high), (low2, high2) = spans
    shift = 1 if later is moved else 0
    a, b = slice(shift, None), slice(None, -shift or None)
    both_reach = (high[a] >= 0) & (high2[b] >= 0)
    meet: Mask = both_reach & (low[a] < high2[b])
    meet &= low2[b] < high[a]
    return bool(meet.any())


def _spans(order: CallOrder, rows: Mask, unit: int) -> tuple[Numbers, Numbers]:
    """For each round, the first address that these calls reach and the first one after them; -1 without calls."""
    at = np.flatnonzero(rows)
    low = np.full(order.rounds + 1, np.iinfo(np.int64).max)
    high = np.full(order.rounds + 1, -1)
    np.minimum.at(low, order.round_of[at], order.address[at])
    np.maximum.at(high, order.round_of[at], order.address[at] + np.maximum(order.bytes[at] // unit, 1))
    return low, high


def _asynchronous(change: Asynchronous, rows: _Rows) -> Demands:
    del rows
    return Demands(
        False, f"the host must leave each buffer alone until its transfer ends: needs {change.buffers} of them"
    )


def _fewer_starts(change: FewerStarts, rows: _Rows) -> Demands:
    return Demands(True, _data_between(rows, change.count))


def _data_between(rows: _Rows, rounds: int) -> str:
    """The data between starts that must be kept for several rounds, as a demand; "" if none."""
    order, at = rows.order, np.flatnonzero(rows.mask)
    if len(at) < 2 or order.starts_together > 1:
        return ""
    data = _between(at, len(rows.mask)) & ~order.control & ~order.waits & ~rows.mask
    kept_data = []
    for moving, kind_of_data in ((data & order.sends, "data"), (data & order.receives, "results")):
        if moving.any() and _written_again(order.address[moving], order.bytes[moving], rows.units):
            kept_data.append(
                f"the {kind_of_data} of {rounds} rounds ({rows.name(moving)}, now at the same addresses each time)"
            )
    return f"needs room for {' and for '.join(kept_data)}" if kept_data else ""


def _interrupt(change: Interrupt, rows: _Rows) -> Demands:
    """The demands of waiting for an interrupt: none if the design already interrupts."""
    del change
    kinds = {call.entry.kind for call in rows.measured.calls if call.entry}
    return Demands(CallKind.INTERRUPT.value not in kinds)


_LOOK: Mapping[type[Change], Callable[..., Demands]] = {
    Unite: _unite,
    Early: _early,
    Asynchronous: _asynchronous,
    FewerStarts: _fewer_starts,
    Interrupt: _interrupt,
}
