"""A traced run as one Parquet table: a row for each stretch of a state and for each call, as data tools read them."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from rc_workbench_plugins.exchange.needs import library, require_trace
from workbench.api import Measured

COLUMNS = ("block", "side", "kind", "name", "category", "from_ps", "to_ps", "bytes", "file", "line")


def write_parquet(measured: Measured, file: BinaryIO) -> None:
    """Block by block its states in order of time, then its calls. WorkbenchError for a run without trace, or where
    pyarrow is not installed."""
    require_trace(measured)
    arrow, parquet = library("pyarrow", "Parquet"), library("pyarrow.parquet", "Parquet")
    text, number = arrow.dictionary(arrow.int32(), arrow.string()), arrow.int64()
    kinds = (text, text, text, text, text, number, number, number, text, number)
    schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)))
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for columns in _groups(measured):
            arrays = [_array(arrow, kind, column) for kind, column in zip(kinds, columns, strict=True)]
            writer.write_table(arrow.table(arrays, schema=schema))


def _array(arrow: Any, kind: Any, column: Any) -> Any:
    if arrow.types.is_dictionary(kind):
        codes, texts = column
        return arrow.DictionaryArray.from_arrays(arrow.array(codes, arrow.int32()), arrow.array(texts, arrow.string()))
    return arrow.array(column, kind)


def _groups(measured: Measured) -> Iterator[tuple[Any, ...]]:
    """Columns of the rows that are written together; those of text as codes and texts."""
    run = measured.run
    calls = run.tables.get("calls")
    for number, block in enumerate(run.manifest.blocks):
        last = max((state.index for state in block.states), default=-1) + 1
        states = {state.index: state for state in block.states}
        listed = [states.get(index) for index in range(last)]
        names = [state.name if state else "" for state in listed]
        categories = [state.category.value if state and state.category else "unclassified" for state in listed]
        files = [(state.file or "") if state else "" for state in listed]
        lines = np.array([(state.line or 0) if state else 0 for state in listed], np.int64)
        for edges, indexes in measured.pieces(number):
            same = np.zeros(len(indexes), np.int32)
            codes = indexes.astype(np.int32)
            yield (
                (same, [block.id]), (same, [block.side.value]), (same, ["state"]), (codes, names), (codes, categories),
                edges[:-1], edges[1:], same.astype(np.int64), (codes, files), lines[codes],
            )  # fmt: skip
        mine = np.flatnonzero(np.asarray(calls["block"]) == number) if calls is not None else ()
        if calls is None or not len(mine):
            continue
        sites = run.manifest.sites
        site = np.asarray(calls["site"])[mine].astype(np.int32)
        same = np.zeros(len(mine), np.int32)
        yield (
            (same, [block.id]), (same, [block.side.value]), (same, ["call"]), (site, [each.label for each in sites]),
            (site, [each.callee for each in sites]), np.asarray(calls["t0_ps"])[mine], np.asarray(calls["t1_ps"])[mine],
            np.asarray(calls["bytes"])[mine].astype(np.int64), (site, [each.file for each in sites]),
            np.array([each.line for each in sites], np.int64)[site],
        )  # fmt: skip
