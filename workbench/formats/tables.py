"""Whether a run's tables fit its manifest and themselves: what does not would mislead, or end a view with an error."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from workbench.formats.columns import DamagedError
from workbench.model.run import Manifest
from workbench.model.run_tables import MOST_AMOUNT, TABLES, Table

#: What the manifest's lists are called that these columns index; -1 means none where the second is True.
_INDEXES = {"block": ("blocks", False), "site": ("sites", True), "entry": ("entries", True),
            "resource": ("resources", True), "message": ("messages", True),
            "stream": ("streams", False), "fifo": ("fifos", False), "clock": ("clocks", False),
            "memory_port": ("memory_ports", False)}  # fmt: skip
_STATES = ("state", "from_state", "to_state")
#: Times, counts and lengths: from 0 to what sums of thousands of them can hold.
_AMOUNTS = (
    "time_ps", "cycles", "visits", "count", "runs", "min_run", "max_run", "repeat", "body", "t0_ps", "t1_ps", "words",
    "transfers", "source_stalls", "sink_stalls", "idle", "cycle", "first_cycle", "last_cycle", "uncertainty_ps",
    "messages",
    *(name for name in TABLES["memory_ports"] if name != "memory_port"),
)  # fmt: skip
_DEEPEST = 64  # each loop around another at least doubles the calls
_PIECE = 1 << 20  # intervals looked at together


def check_table(name: str, table: Table, manifest: Manifest) -> None:
    """Raise DamagedError where columns differ in length, point outside what they index, or hold impossible amounts."""
    lengths = {len(column) for column in table.values()}
    if len(lengths) > 1:
        raise DamagedError("its columns differ in length")
    if name == "intervals" or name not in TABLES or lengths == {0}:
        return
    for column, (list_name, none_allowed) in _INDEXES.items():
        if column in table:
            count = len(getattr(manifest, list_name))
            if _outside(table, column, -1 if none_allowed or name == "call_order" else 0, count - 1):
                raise DamagedError(f"column {column} points outside the manifest's {count} {list_name}")
    states = np.array([len(block.states) for block in manifest.blocks] or [0])
    most = np.where(table["block"] < 0, states.max(), states[table["block"]]) if "block" in table else states.max()
    least = -1 if name == "call_order" else 0  # a loop is in no state
    for column in _STATES:
        if column in table and ((table[column] < least) | (table[column] >= most)).any():
            raise DamagedError(f"column {column} points outside its block's states")
    for column in _AMOUNTS:
        if column in table and _outside(table, column, 0, MOST_AMOUNT):
            raise DamagedError(f"column {column} holds an impossible value")
    if "log2_cycles" in table and _outside(table, "log2_cycles", 0, 63):
        raise DamagedError("column log2_cycles holds an impossible value")
    if name == "call_stats" and _outside(table, "bytes", 0, 1 << 62):
        raise DamagedError("column bytes holds an impossible value")
    if name == "stream_waits":
        waits = np.array([len(stream.waits) for stream in manifest.streams])
        if ((table["wait"] < 0) | (table["wait"] >= waits[table["stream"]])).any():
            raise DamagedError("column wait points outside its stream's waits")
    if name == "call_order":
        _check_order(table)


def _outside(table: Table, column: str, low: int, high: int) -> bool:
    return bool(int(table[column].min()) < low or int(table[column].max()) > high)


def _check_order(table: Table) -> None:
    """Every loop's body ends within the loop around it."""
    loops = np.flatnonzero(table["body"])
    ends = loops + 1 + np.asarray(table["body"])[loops]
    # bodies as brackets: of those that open at one depth, each closes before the next opens
    places, opens = np.concatenate((ends, loops)), np.repeat((False, True), len(loops))  # at one place ends come first
    order = np.argsort(places, kind="stable")
    opens = opens[order]
    depth = np.cumsum(np.where(opens, 1, -1)) + ~opens
    if len(loops) and int(depth.max()) > _DEEPEST:
        raise DamagedError(f"column body nests loops more than {_DEEPEST} deep")
    by_depth = order[np.argsort(depth, kind="stable")]
    pairs = by_depth.reshape(-1, 2)
    nested = (pairs[:, 0] >= len(loops)) & (pairs[:, 1] < len(loops))
    closed_at = np.where(nested, places[pairs[:, 1]], -1)
    if len(loops) and (
        not nested.all() or (closed_at != ends[pairs[:, 0] - len(loops)]).any() or int(ends.max()) > len(table["body"])
    ):
        raise DamagedError("column body reaches beyond the loop around it")


def bad_trace(tables: Mapping[str, Table], manifest: Manifest, as_written: bool) -> str:
    """Why the intervals cannot be shown, or ''. What is known to be as it was written is in order."""
    if "interval_offsets" not in tables:
        return "table 'interval_offsets' is missing"
    offsets, states = np.asarray(tables["interval_offsets"]["offset"]), tables["intervals"]["state"]
    rows = len(manifest.blocks)
    if len(offsets) < 2 or not rows or (len(offsets) - 1) % rows or offsets[0] != 0 or offsets[-1] != len(states):
        return "its offsets do not fit its intervals"
    if (np.diff(offsets) < 0).any():
        return "its offsets do not fit its intervals"
    some = np.flatnonzero(np.diff(offsets))
    if not len(some):
        return ""
    counts = np.array([len(block.states) for block in manifest.blocks])
    wrong = some[np.maximum.reduceat(states, offsets[some]) >= counts[some % rows]]
    if len(wrong):
        return f"block {manifest.blocks[wrong[0] % rows].id} is in a state that it does not have"
    in_order = as_written or _in_order(np.asarray(tables["intervals"]["start_ps"]), offsets, rows, manifest.time_ps)
    return "" if in_order else "its times are not in order"


def _in_order(starts: NDArray[np.int64], offsets: NDArray[np.int64], rows: int, time_ps: int) -> bool:
    """Whether every row's intervals begin one after the other, within the run."""
    for begin in range(0, len(starts), _PIECE):
        part = starts[begin : begin + _PIECE + 1]
        if not np.isin(np.flatnonzero(part[1:] < part[:-1]) + begin + 1, offsets).all():
            return False
    some = np.flatnonzero(np.diff(offsets))
    some = some[np.argsort(some % rows, kind="stable")]
    firsts, lasts = starts[offsets[some]], starts[offsets[some + 1] - 1]
    same = np.diff(some % rows) == 0
    return bool(firsts.min() >= 0 and lasts.max() <= time_ps and (lasts[:-1] <= firsts[1:])[same].all())
