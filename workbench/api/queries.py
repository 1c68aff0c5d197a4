"""What is asked of a run in a language of its own: by a plugin's `RunQueries`, for window and terminal alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.api.builds import AgentQuery, HdlBuild
    from workbench.api.descriptors import Composition
    from workbench.api.virtual_time import ClockFrame
    from workbench.model.diagnostic import Diagnostic
    from workbench.model.run import Run
    from workbench.model.run_tables import Table
    from workbench.model.streams import Fifo, Stream


@dataclass(frozen=True)
class QueriedBlock:
    """A block of the application, and on what it stands, where that is known. `place` is where it is written: file and
    line. `statements` are what can be asked of it: titles and statements, each of one or more lines."""

    name: str
    stands: str = ""
    in_hardware: bool = False
    place: tuple[str, int] | None = None
    statements: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class QueriedEdge:
    """An edge of the application with its label, and the measures that can be asked: titles and statements. If there is
    little room, the first of `short` that fits is the label. `place` is its file and line."""

    label: str
    source: str
    sink: str
    words: str
    statements: tuple[tuple[str, str], ...]
    place: tuple[str, int] | None = None
    short: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """What can be asked about: blocks, edges, and the words that a statement may be made of.

    `keywords` are the language's, `names` those of the application, in the order in which they are proposed. `check`
    says what is wrong in a query, with lines and columns; columns count characters. `of_design`: the edges are those of
    an ordinary design, and not the project's application.
    """

    name: str
    blocks: tuple[QueriedBlock, ...]
    edges: tuple[QueriedEdge, ...]
    keywords: tuple[str, ...]
    names: tuple[str, ...]
    check: Callable[[str], tuple[Diagnostic, ...]]
    of_design: bool = False


@dataclass(frozen=True)
class Curve:
    """A named line of a picture; `dashed` is what is not measured."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    dashed: bool = False


@dataclass(frozen=True)
class Curves:
    """A picture of a distribution: shares, 0 to 1, over what `unit` says, on a logarithmic axis where `log`."""

    title: str
    unit: str
    lines: tuple[Curve, ...]
    log: bool = False


@dataclass(frozen=True)
class Reply:
    """What a statement came to. Times are seconds, other numbers in `unit`.

    `times_s` are where frames begin, and the last one ends. `values` are a number a frame, or at `moments_s` where it
    was followed event by event (each until the next one, where it `stays`); `shares` are a histogram a frame, over
    `bins`, each as `bin_words` say, of `events` in each frame. `holds` is of an assertion, `line` the statement's, from
    1. All times may be off by `unsure_s` on the host's clock, either way, and a value by what `uncertain` says of it
    (of none, where it is empty). `curves` are pictures of a histogram's distribution beside its bars; the first is its
    cumulative share. `counted` are what agents counted of the same statement while the application ran.
    """

    label: str
    text: str
    words: str
    line: int
    unit: str = ""
    times_s: tuple[float, ...] = ()
    values: tuple[float | None, ...] = ()
    moments_s: tuple[float, ...] = ()
    bin_words: tuple[str, ...] = ()
    shares: tuple[tuple[float, ...], ...] = ()
    holds: bool | None = None
    stays: bool = False
    unsure_s: float = 0.0
    uncertain: tuple[float, ...] = ()
    curves: tuple[Curves, ...] = ()
    counted: tuple[Reply, ...] = ()
    events: tuple[float, ...] = ()


@dataclass(frozen=True)
class QueueFill:
    """An edge's rate, the mean number of elements in its queue of `depth` (0 if unknown), and the share of the time, 0
    to 1, in which it held its sender back."""

    rate_per_s: float
    held: float
    mean: float = 0.0
    depth: int = 0


@dataclass(frozen=True)
class ExplainedBar:
    """A number of an answer, drawn as a bar: of a block or an edge, and in words. The bar is full at `whole`, or the
    longest of all where that is 0; `statement` asks for it. `counted` is what agents counted of the same, and `warning`
    says that it differs from the trace, or that counts were lost."""

    name: str
    value: float
    words: str
    statement: str = ""
    whole: float = 0.0
    counted: float | None = None
    counted_words: str = ""
    warning: str = ""


@dataclass(frozen=True)
class Explained:
    """A question about the run as a whole, its answer, and the statements that show it. With `bars` these are shown in
    place of the answer, and `note` below them. What is drawn of it in the graph: words at `blocks`, the share of the
    time that blocks are `busy`, which `limit` all, and `queues` by edge."""

    question: str
    answer: str
    statements: tuple[str, ...]
    blocks: Mapping[str, str] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    limit: tuple[str, ...] = ()
    queues: Mapping[str, QueueFill] = field(default_factory=dict)
    bars: tuple[ExplainedBar, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class DesignAgents:
    """What counts a design's streams and states in the FPGA, beside its counters: the Verilog of the modules
    `AGENT_MODULE`, one for each monitor that has room for it (`resources/hdl/README.md`); by monitor, how many groups
    have frames of their own, and how many statements are counted; what is not; and why statements fit no part of the
    design (`AgentQuery.misfits`)."""

    text: str
    sizes: Mapping[int, tuple[int, int]]
    diagnostics: tuple[Diagnostic, ...] = ()
    misfits: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class ReadAgents:
    """The agents of an FPGA whose names begin with `place`, in a run: its design, the words that were read out of it,
    what puts its clocks on the host's, the number of its first FIFO, and by monitor the numbers that switched
    an agent as the program started (`AgentSettings`)."""

    place: str
    build: HdlBuild
    words: NDArray[np.uint32]
    frames: Mapping[str, ClockFrame]
    first_fifo: int = 0
    switched: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Switching:
    """How agents are switched as a program starts: the `numbers` that $RCW_AGENT then has; the names of all statements
    that they count (label or text); and whether the frames of any have the length that was asked for."""

    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    framed: bool = False


@runtime_checkable
class CountsInDesign(Protocol):
    """A protocol of a plugin's `RunQueries`: agents in the FPGA count statements while the application runs."""

    def agents(self, build: HdlBuild, asked: AgentQuery, clocks_hz: Mapping[str, float]) -> DesignAgents:
        """The agents of a design; `clocks_hz` are the platform's clocks. WorkbenchError with what is wrong in the
        query."""
        ...

    def valued(
        self, text: str, streams: Sequence[Stream], fifos: Sequence[Fifo], own: Sequence[str]
    ) -> tuple[str, ...]:
        """The ids of the streams whose words' values statements ask about, as far as these can be read. Names may
        begin with that of an FPGA that has the design, one of `own`."""
        ...

    def names(self, text: str) -> tuple[str, ...]:
        """What statements are called, by label or text, as far as these can be read."""
        ...

    def check_frame(self, frame: str) -> None:
        """WorkbenchError for a text that is no length of frames."""
        ...

    def switches(
        self, builds: Sequence[HdlBuild], clocks_hz: Mapping[str, float], frame: str, only: Sequence[str]
    ) -> Switching:
        """How the agents of FPGAs are switched: frames of that length ("": as they were built), and of statements
        `only` those (none: all). WorkbenchError where they cannot."""
        ...

    def counted_in(
        self, fpgas: Sequence[ReadAgents], clocks_hz: Mapping[str, float]
    ) -> tuple[Mapping[str, Table], tuple[Diagnostic, ...]]:
        """The run's tables of what they counted in each FPGA, and what is to be known of it."""
        ...


@runtime_checkable
class RunQueries(Protocol):
    """A language in which runs are asked; in the window, in a thread."""

    name: str
    title: str

    def subject(self, run: Run) -> Subject | None:
        """What of a run can be asked about; None where there is nothing. Raises WorkbenchError for a damaged run."""
        ...

    def planned(self, composition: Composition) -> Subject | None:
        """What can be asked about once a project is run; None where there is nothing. Raises WorkbenchError with what
        is wrong in it."""
        ...

    def ask(self, run: Run, text: str, frame: str) -> Sequence[Reply]:
        """What its statements come to, in frames of that length ("": one). Raises WorkbenchError with what is wrong."""
        ...

    def explain(self, run: Run) -> Sequence[Explained]:
        """What the run shows without being asked."""
        ...
