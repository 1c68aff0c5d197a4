"""What a kind of model says of a prediction, for window, page and terminal alike: figures, parts, times, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.api.model_diagrams import Diagram, DiagramChange
from workbench.api.models import FieldPath, M_co, ModelValues, Values
from workbench.api.views import Figure
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import Category

if TYPE_CHECKING:
    from workbench.api.job import Job
    from workbench.model.platform import Platform


@dataclass(frozen=True)
class PartLine:
    """A part of the result: `share` of the largest. `category` None with no equation is a heading."""

    name: str
    value: str
    share: float
    equation: str
    category: Category | None = None
    strong: bool = False


@dataclass(frozen=True)
class Row:
    """An attribute, its unit, a value for each column. `strong` rows are sums; `notes` stand small under values; `run`
    is the folder of the run that it is about, `runs` of that of each value, and `depths` how deep the colour behind
    each value is, from 0 to 1."""

    attribute: str
    unit: str
    values: tuple[str, ...]
    strong: bool = False
    notes: tuple[str, ...] = ()
    bad: tuple[bool, ...] = ()
    tip: str = ""
    run: str = ""
    runs: tuple[str, ...] = ()
    depths: tuple[float, ...] = ()

    def run_at(self, column: int) -> str:
        """The run that a value is about, or else the row."""
        return self.runs[column] if 0 <= column < len(self.runs) else self.run


@dataclass(frozen=True)
class PaperTable:
    """A table as a paper prints one: attributes down, values across."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Lane:
    """A row of a timing diagram: a network or bus, a node, or the host."""

    name: str
    note: str


@dataclass(frozen=True)
class Bar:
    """A part of one iteration. `start_s` and `end_s` are as drawn, from the left; `real_s` is when it starts."""

    lane: int
    category: Category | None
    name: str
    stage: str
    round: int
    rounds: int
    start_s: float
    end_s: float
    real_s: float
    equation: str

    @property
    def time_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class StageSpan:
    """Where a stage stands as drawn; `skipped` are the iterations left out at `skip_s` (drawn `gap_s` wide)."""

    name: str
    start_s: float
    end_s: float
    rounds: int
    starts: tuple[float, ...]
    skipped: int
    skip_s: float
    gap_s: float
    real_s: float
    overlapped: bool


@dataclass(frozen=True)
class Timing:
    """When each part happens. `note` is how a stage's time comes of its parts'."""

    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    stages: tuple[StageSpan, ...]
    drawn_s: float
    note: str = ""


@dataclass(frozen=True)
class Share:
    """A share from 0 to 1, one of a `group` that is shown together; the `strong` one is listed first."""

    group: str
    name: str
    value: float
    strong: bool = False


@dataclass(frozen=True)
class Piece:
    """A part of a source: `lines` are those that it is made of, from 1, `value` what it comes to, `text` in words.

    `children` are what it is made up of, `head_line` is where it begins by a word of its own (a loop, a branch; 0 for
    none). A `strong` one decides. `changes` are what its menu offers to change in the model.
    """

    id: str
    name: str
    value: float
    text: str
    lines: tuple[int, ...]
    note: str = ""
    children: tuple[Piece, ...] = ()
    head_line: int = 0
    strong: bool = False
    changes: tuple[DiagramChange, ...] = ()


@dataclass(frozen=True)
class Structure:
    """What a source is taken apart into, and of what unit the pieces' values are ("cycles")."""

    source: Path
    unit: str
    root: Piece


@dataclass(frozen=True)
class Curve:
    """Points of a chart; a `plain` one is a line to hold the others against. `runs` are the folders of the runs that
    its points are of, `beside` names the curve that a plain one predicts: it has its ink, and is not named again."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    plain: bool = False
    runs: tuple[str, ...] = ()
    beside: str = ""

    def run_at(self, point: int) -> str:
        return self.runs[point] if point < len(self.runs) else ""


@dataclass(frozen=True)
class Chart:
    """Curves over two axes of plain numbers: `y` "by" `x` is what they are of, `title` how they are to be read, `log`
    of the y axis."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log: bool = False


@dataclass(frozen=True)
class Results:
    """A model at one point, as it is shown.

    The first of the `figures` is the large one; those of `point` stand beside the parts. `more` are numbers beside the
    inputs, `tables`, `charts` and `diagrams` (one each) are by the name of their page, `errors` are against what the
    document says was measured. `shares` are drawn as bars, `structure` stands beside the source.
    """

    figures: tuple[Figure, ...]
    point: tuple[Figure, ...]
    parts_title: str
    parts: tuple[PartLine, ...]
    said: str = ""
    timing: Timing | None = None
    tables: Mapping[str, tuple[PaperTable, ...]] = field(default_factory=dict)
    errors: Sequence[ErrorRow] = ()
    more: Mapping[str, str] = field(default_factory=dict)
    shares_title: str = ""
    shares: tuple[Share, ...] = ()
    structure: Structure | None = None
    charts: Mapping[str, Chart] = field(default_factory=dict)
    diagrams: Mapping[str, Diagram] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What `workbench predict` says of a model: `document` with --json, else `text`; then the `errors` against
    what the document says was measured, and `notes` on how to read it."""

    document: Mapping[str, Any]
    text: str
    errors: Sequence[ErrorRow] | None = None
    notes: Sequence[Diagnostic] = ()


@dataclass(frozen=True)
class ErrorRow:
    """One predicted quantity beside its measurement; `inputs` are where the model was computed.

    `stage` is "" for the application; `quantity` is comp_s, comm_s, total_s (seconds) or speedup. `error_pct` is
    (predicted - measured) / measured in percent: negative where the model promises too short a time. `waiting_s` is
    what a run waited in that part besides; `measured` is without it.
    """

    stage: str
    quantity: str
    predicted: float
    measured: float
    error_pct: float
    inputs: Mapping[str, float]
    source: str = ""
    waiting_s: float = 0.0


@dataclass(frozen=True)
class RunComparison:
    """A prediction beside a run. `rows` are the parts (their names as quantity), then each stage's comp_s and comm_s,
    then the application's total_s; times of all iterations. `inputs` are those that the run's settings tell.

    `corrections` are what each measured part's `correction` would have to be for the model to give the run's times;
    parts that the run waited in have none. `measured` is the document's entry of this run, and `at` its place in the
    list `measured` where it stands there already.
    """

    rows: tuple[ErrorRow, ...]
    inputs: Mapping[str, float]
    corrections: Mapping[FieldPath, float]
    diagnostics: tuple[Diagnostic, ...]
    run_name: str
    measured: Mapping[str, object] = field(default_factory=dict)
    at: int | None = None


@dataclass(frozen=True)
class Layer:
    """A memory layer: its local store mu, the bandwidth beta into it and the latency lambda of a transfer.

    An `estimated` one has a number that is an estimate.
    """

    name: str
    layer_bytes: Values
    bandwidth_bytes_per_s: Values
    latency_s: Values
    estimated: bool = False

    @property
    def label(self) -> str:
        """Its name in results, which says that a number is an estimate."""
        return f"{self.name} (estimate)" if self.estimated else self.name


@dataclass(frozen=True)
class LayerBound:
    """The bound a layer sets. `ops_per_s` is Eq. 6; `ops_per_s_without_latency` is Eq. 7. `streams` are those besides
    the input by name, with their bytes for each operation; `shared_bytes` are of those that share the layer's rate with
    the input, `most_ops_per_s` is what the others let through."""

    layer: Layer
    ops_per_byte: Values
    ops_per_s: Values
    ops_per_s_without_latency: Values
    latency_fraction: Values
    streams: Mapping[str, Values] = field(default_factory=dict)
    shared_bytes: Values = 0.0
    most_ops_per_s: Values = float("inf")


@dataclass(frozen=True)
class Density:
    """What memory layers let an algorithm reach.

    `limit_ops_per_s` is the least of the layers' bounds and the compute bound; `binding` names what sets it ("" for no
    bound at all). `binding_layer` is the least of the layers alone, `balance` the largest layer's bound over it.
    """

    bounds: tuple[LayerBound, ...]
    compute_ops_per_s: Values | None
    limit_ops_per_s: Values
    binding: str
    binding_layer: str
    balance: Values


@dataclass(frozen=True)
class PlatformDensity:
    """What the memory layers of one platform let an algorithm reach: the bounds, and the least of them, which the layer
    `binding` sets. An `own` one has the model's own layers."""

    name: str
    title: str
    bounds: tuple[LayerBound, ...]
    limit_ops_per_s: float
    binding: str
    own: bool = False


@dataclass(frozen=True)
class DensityPoint:
    """rho with a store of `alpha_bytes`, measured and by the model; `difference_pct` is measured over the model's."""

    alpha_bytes: float
    measured_ops_per_byte: float
    model_ops_per_byte: float
    difference_pct: float


class MeasuredDensity(Protocol):
    """What a kernel's loads say of its density."""

    @property
    def element_bytes(self) -> int: ...
    def rho(self, alpha_bytes: Values) -> NDArray[np.float64]:
        """Operations per loaded byte with a store of `alpha_bytes`."""
        ...


class OnPlatforms(ModelValues[M_co], Protocol[M_co]):
    """A model at one point, and the platforms that its document could name."""

    @property
    def platforms(self) -> Mapping[str, Platform]: ...


class LayerModel(Protocol):
    """A kind whose models are memory layers and a density over them: they are drawn, and moved with the mouse."""

    def layers(self, values: ModelValues) -> tuple[Layer, ...]: ...
    def density(self, values: ModelValues, moved: Sequence[Layer] | None = None) -> Density:
        """The bounds; `moved` are layers to take instead of the model's."""
        ...

    def rho(self, values: ModelValues, alpha_bytes: Values) -> Values: ...
    def results(self, values: ModelValues, density: Density | None = None) -> Results: ...
    def kernels(self) -> Mapping[str, tuple[Path, Sequence[str]]]:
        """C kernels that come with it, by what they are called, with their arguments."""
        ...

    def measure(self, kernel: Path, arguments: Sequence[str] = (), *, job: Job | None = None) -> MeasuredDensity: ...
    def beside(self, values: ModelValues, measured: Any) -> tuple[DensityPoint, ...]:
        """The measured curve beside the model's."""
        ...

    def platforms(self, values: OnPlatforms) -> Mapping[str, str]:
        """The platforms with memory layers that it can be compared on, by name, with their titles."""
        ...

    def compared(self, values: OnPlatforms, names: Sequence[str], measured: Any = None) -> tuple[PlatformDensity, ...]:
        """The model's own layers and those of other platforms, the fastest first; by the measured density if given."""
        ...

    def compared_table(self, values: ModelValues, compared: Sequence[PlatformDensity]) -> PaperTable: ...


@dataclass(frozen=True)
class Cell:
    """How a row of a printed table is found in a model; `over` and `at` are the swept input and its values, one a
    column. `what` is the kind's own word for the number; `paper` keeps the printed digits."""

    table: str
    cell: str
    model: str
    what: str
    paper: tuple[str, ...]
    over: str = ""
    at: tuple[float, ...] = (0.0,)
    scale: float = 1.0
    reading: str | None = None
    errata: Mapping[str, str] = field(default_factory=dict)
