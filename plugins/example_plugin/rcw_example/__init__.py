"""What a third party writes: one of each kind of thing that a plugin can bring, through the public hooks alone.

What costs time to import (schemas, numpy) is imported where it is used.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rcw_example.lab import Lab
from rcw_example.terse import verilog
from workbench.api import (
    Category,
    Command,
    Exporter,
    FileKind,
    HdlLanguage,
    HostLanguage,
    Importer,
    Later,
    Metric,
    ModelKind,
    Panel,
    PlatformSupport,
    PortKind,
    PortStyle,
    RuleFile,
    Syntax,
    Target,
    Undo,
    WindowMode,
    hookimpl,
    words,
)
from workbench.api.hdl import TranslatedVerilog

if TYPE_CHECKING:
    from rcw_example.amdahl import AmdahlModel
    from workbench.api import HardwarePort, Job, Measured, ModelValues, Run, Values, Workbench
    from workbench.api.window import Mode

HERE = Path(__file__).parent
SYNTAX = Syntax("#", block=None)  # of *.calls


@hookimpl
def workbench_platforms() -> Sequence[PlatformSupport]:
    """A template, and its API's header and sources on the simulated card's client library."""
    return [PlatformSupport("example_card", HERE / "example_card.yaml", HERE / "api", (HERE / "api" / "example.c",))]


@hookimpl
def workbench_rules() -> Sequence[RuleFile]:
    return [RuleFile(HERE / "rules.yaml")]


@hookimpl
def workbench_metrics() -> Sequence[Metric]:
    """A metric of the selected calls; None if there is nothing to divide by."""
    return [
        Metric(
            "example.bytes_per_ms",
            "Bytes moved in a millisecond of these calls",
            "size",
            lambda selected: sum(c.bytes for c in selected.calls) / selected.time_s / 1e3 if selected.time_s else None,
        )
    ]


@hookimpl
def workbench_port_kinds() -> Sequence[PortKind]:
    def strobe() -> type[HardwarePort]:
        from rcw_example.strobe import StrobePort

        return StrobePort

    names = words("strobe") + words("data=word,data", bits="any")  # what its signals' names end in
    style = PortStyle("example_strobe", "Strobed words", names, (frozenset({"strobe", "data"}),), sides=("in", "out"))
    return [PortKind("example_strobe", "Example: a word, and a strobe when it is there", strobe, style)]


@hookimpl
def workbench_host_languages() -> Sequence[HostLanguage]:
    """Lines that call the platform's API. What reads them is imported when it is first used."""

    class Calls:
        name = "calls"
        files: tuple[FileKind, ...] = (FileKind("Calls", (".calls",), SYNTAX),)
        scan = staticmethod(Later("rcw_example.calls:scan"))
        instrument = staticmethod(Later("rcw_example.calls:instrument"))
        plain = staticmethod(Later("rcw_example.calls:plain"))
        outline = staticmethod(Later("rcw_example.calls:outline"))
        definition = staticmethod(Later("rcw_example.calls:definition"))

    return [Calls()]


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [TranslatedVerilog("terse", (".terse",), verilog)]


@hookimpl
def workbench_targets() -> Sequence[Target]:
    return [Lab()]


@hookimpl
def workbench_exporters() -> Sequence[Exporter]:
    """Blocks and their times as lines of text."""

    def write(measured: Measured, file: BinaryIO) -> None:
        for metrics in measured.blocks:
            file.write(f"{metrics.block.id} {metrics.time_s:.9f}\n".encode())

    return [Exporter("example_times", "times of blocks, as text", ".txt", write)]


@hookimpl
def workbench_importers() -> Sequence[Importer]:
    def read(path: Path, job: Job) -> Run:
        from rcw_example.busy import read_busy

        return read_busy(path)

    return [Importer("example_busy", "a host thread's busy times, as text", (".busy",), read)]


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    """Amdahl's law: `workbench predict example_amdahl`."""

    def document() -> type[AmdahlModel]:
        from rcw_example.amdahl import AmdahlModel

        return AmdahlModel

    def outputs(values: ModelValues[AmdahlModel]) -> Mapping[str, Values]:
        share, times = values.of("accelerated_share"), values.of("times_faster")
        return {"speedup": 1 / (1 - share + share / times)}

    title = "Amdahl's law for one accelerated part"
    return [ModelKind("example_amdahl", title, document, outputs, goal="speedup", larger=frozenset({"speedup"}))]


@hookimpl
def workbench_commands() -> Sequence[Command]:
    """`workbench example-busiest RUN`."""

    def add(parser: ArgumentParser) -> None:
        parser.add_argument("run_folder", type=Path, metavar="RUN")

    def run(arguments: Namespace, workbench: Workbench) -> int:
        blocks = workbench.open_run(arguments.run_folder).blocks
        print(max(blocks, key=lambda b: b.share_of(Category.WORK)).block.id)
        return 0

    return [Command("example-busiest", "the block that works most", add, run)]


@hookimpl
def workbench_modes() -> Sequence[WindowMode]:
    """What stands in the window's rail; Qt is imported when it is first shown."""

    def view() -> type[Mode]:
        from rcw_example.cross_off import CrossOff

        return CrossOff

    nothing = ("No run is open", "Its blocks can be crossed off here.")
    side = Panel(width_px=260, least_px=160)
    return [WindowMode("example_cross_off", "Cross off", "check", view, nothing, details=side, undo=Undo.OWN)]
