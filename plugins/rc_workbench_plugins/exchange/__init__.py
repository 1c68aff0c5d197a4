"""Runs for other programs, and other programs' runs: Chrome's trace format both ways, Perfetto, OTF2, VCD, FST,
Parquet, CSV and folded stacks."""

from collections.abc import Sequence

from workbench.api import Exporter, Importer, Later, hookimpl


def _later(place: str) -> Later:
    """What writes or reads is imported then."""
    return Later(f"{__name__}.{place}")


@hookimpl
def workbench_exporters() -> Sequence[Exporter]:
    return [
        Exporter("chrome", "trace for chrome://tracing and Perfetto", ".json", _later("exports:write_chrome")),
        Exporter("perfetto", "trace for Perfetto, with flows", ".pftrace", _later("perfetto_export:write_perfetto")),
        Exporter("vcd", "states as waveforms (VCD)", ".vcd", _later("waves:write_vcd")),
        Exporter("fst", "states as waveforms (FST)", ".fst", _later("waves:write_fst")),
        Exporter("parquet", "table of every state and call (Parquet)", ".parquet",
                 _later("parquet_export:write_parquet")),
        Exporter("otf2", "archive for Vampir and Scalasca (OTF2)", "-otf2", _later("otf2_export:write_otf2"),
                 write_folder=_later("otf2_export:write_otf2")),
        Exporter("csv", "table of blocks and their states", ".csv", _later("exports:write_csv")),
        Exporter("folded", "folded stacks for flame graphs and speedscope", ".folded",
                 _later("exports:write_folded")),
    ]  # fmt: skip


@hookimpl
def workbench_importers() -> Sequence[Importer]:
    suffixes = (".json",)
    return [Importer("chrome", "trace events in Chrome's JSON format", suffixes, _later("chrome_import:read_chrome"))]
