"""Converts the records of the host's synchronising calls to table `syncs`."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import read_syncs
from workbench.model.run_tables import TABLES, Table
from workbench.model.syncs import SyncKind
from workbench.traces.groups import numbered


def sync_tables(raw: Path) -> dict[str, Table]:
    """Table `syncs` of a run; none if its only thread did nothing but call the card."""
    records = read_syncs(raw)
    if not np.isin(records["kind"], [SyncKind.CARD, SyncKind.CARD_HELD, SyncKind.EXIT], invert=True).any():
        return {}
    records = records[np.argsort(records["thread"], kind="stable")]
    waits = records["kind"] == SyncKind.WAIT
    first = np.searchsorted(records["thread"], np.arange(int(records["thread"].max()) + 2))
    has_thread = (records["by_thread"] >= 0) & (records["by_thread"] < len(first) - 1)
    waker = np.where(has_thread, records["by_thread"], 0)
    woken_by = np.where(has_thread, first[waker] + records["by_record"], -1)
    objects = _in_order_of_use(np.append(records["object"], records["argument"][waits].astype(np.uint64)))
    columns = {
        **{name: records[name] for name in TABLES["syncs"] if name in (records.dtype.names or ())},
        "block": records["thread"],
        "object": objects[: len(records)],
        "argument": records["argument"].copy(),
        "woken_by": np.where(woken_by < first[waker + 1], woken_by, -1),
    }
    columns["argument"][waits] = objects[len(records) :]
    return {"syncs": {name: columns[name].astype(kind) for name, kind in TABLES["syncs"].items()}}


def _in_order_of_use(addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Numbers for addresses in order of use, which do not depend on the system's placement; -1 for address 0."""
    known, index = numbered(addresses.view(np.int64))
    first = np.full(len(known), len(addresses))
    np.minimum.at(first, index, np.arange(len(addresses)))
    first[known == 0] = -1
    rank = np.argsort(np.argsort(first)) - int((known == 0).any())
    return rank[index]
