"""Runs for other programs, and other programs' runs: Chrome's trace format both ways, Perfetto, VCD, FST, Parquet, CSV
and folded stacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from workbench.api import Exporter, Importer, hookimpl

if TYPE_CHECKING:  # read and written by what is imported then
    from workbench.api import Job, Measured, Run


@hookimpl
def workbench_exporters() -> Sequence[Exporter]:
    return [
        Exporter("chrome", "trace for chrome://tracing and Perfetto", ".json", _write_chrome),
        Exporter("perfetto", "trace for Perfetto, with flows", ".pftrace", _write_perfetto),
        Exporter("vcd", "states as waveforms (VCD)", ".vcd", _write_vcd),
        Exporter("fst", "states as waveforms (FST)", ".fst", _write_fst),
        Exporter("parquet", "table of every state and call (Parquet)", ".parquet", _write_parquet),
        Exporter("csv", "table of blocks and their states", ".csv", _write_csv),
        Exporter("folded", "folded stacks for flame graphs and speedscope", ".folded", _write_folded),
    ]


@hookimpl
def workbench_importers() -> Sequence[Importer]:
    return [Importer("chrome", "trace events in Chrome's JSON format", (".json",), _read_chrome)]


def _write_chrome(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.exports import write_chrome

    write_chrome(measured, file)


def _write_perfetto(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.perfetto_export import write_perfetto

    write_perfetto(measured, file)


def _write_vcd(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.waves import write_vcd

    write_vcd(measured, file)


def _write_fst(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.waves import write_fst

    write_fst(measured, file)


def _write_parquet(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.parquet_export import write_parquet

    write_parquet(measured, file)


def _write_csv(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.exports import write_csv

    write_csv(measured, file)


def _write_folded(measured: Measured, file: BinaryIO) -> None:
    from rc_workbench_plugins.exchange.exports import write_folded

    write_folded(measured, file)


def _read_chrome(path: Path, job: Job) -> Run:
    from rc_workbench_plugins.exchange.chrome_import import read_chrome

    return read_chrome(path, job)
