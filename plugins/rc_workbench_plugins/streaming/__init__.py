"""Streaming applications measured across clocks (Lancaster, TimeTrial, 2011)."""

from collections.abc import Sequence
from dataclasses import replace

from workbench.api import Command, Composer, FileKind, FindingSource, Later, Metric, RunQueries, hookimpl
from workbench.api.languages import C

#: The X language: comments, strings and numbers as in C, and words of its own.
X = replace(
    C,
    directives=False,
    lexer="",
    includes="",
    keywords="block|input|output|config|impl|as|resource|map|use|core|fpga|cpp|verilog|vhdl|string|float32|float64"
    "|(?:un)?signed(?:8|16|32|64)",
)


class StreamingComposer:
    """Host program and design of a project's `streaming` section. What makes them is imported when it is first used."""

    name = "streaming"
    files: tuple[FileKind, ...] = (FileKind("X", (".x",), X),)
    compose = staticmethod(Later(f"{__name__}.composer:compose"))
    restored = staticmethod(Later(f"{__name__}.composer:restored"))


@hookimpl
def workbench_composers() -> Sequence[Composer]:
    return [StreamingComposer()]


class StreamQueries:
    """The query language, for the window."""

    name = "streams"
    title = "Streams"
    subject = staticmethod(Later(f"{__name__}.query.window:subject"))
    planned = staticmethod(Later(f"{__name__}.query.window:planned"))
    ask = staticmethod(Later(f"{__name__}.query.window:ask"))
    explain = staticmethod(Later(f"{__name__}.query.window:explain"))
    agents = staticmethod(Later(f"{__name__}.agents.design:agents"))
    counted_in = staticmethod(Later(f"{__name__}.agents.design_answers:counted_in"))
    valued = staticmethod(Later(f"{__name__}.agents.design:valued"))
    names = staticmethod(Later(f"{__name__}.agents.switching:names"))
    check_frame = staticmethod(Later(f"{__name__}.agents.switching:length_of"))
    switches = staticmethod(Later(f"{__name__}.agents.design:switches"))
    queues = staticmethod(Later(f"{__name__}.queues:queues"))


@hookimpl
def workbench_queries() -> Sequence[RunQueries]:
    return [StreamQueries()]


@hookimpl
def workbench_findings() -> Sequence[FindingSource]:
    return [
        FindingSource(
            "stream limit",
            Later(f"{__name__}.limit_finding:stream_findings"),
            Later(f"{__name__}.limit_finding:stream_bound"),
            Later(f"{__name__}.limit_finding:stream_advice"),
        ),
        FindingSource("short queue", Later(f"{__name__}.limit_finding:short_queues")),
        FindingSource("order of threads", Later(f"{__name__}.overtaking:ends_that_overtake")),
    ]


@hookimpl
def workbench_metrics() -> Sequence[Metric]:
    """Metrics of findings on the application's limits; no rule selects them."""
    busy = "Share of the run in which the block waits neither for data nor for room in a full queue"
    least = "Least depth that loses under 1 % by replay, if the other queues keep their depths"
    return [
        Metric("stream.busy", busy, "share", lambda selected: None),
        Metric("stream.depth", "Declared depth of the queue in elements", "count", lambda selected: None),
        Metric("stream.least_depth", least, "count", lambda selected: None),
    ]


@hookimpl
def workbench_commands() -> Sequence[Command]:
    return [
        _command("calibrate", "fit an FPGA's clock to the processor's, from messages", f"{__name__}.command"),
        _command("query", "evaluate a query on a run: its measures and assertions", f"{__name__}.query.command"),
    ]


def _command(name: str, title: str, place: str) -> Command:
    return Command(name, title, Later(f"{place}:add_arguments"), Later(f"{place}:run"))
