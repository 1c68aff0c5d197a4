"""The document of a RATSS model: what an application asks of a multi-FPGA system, before any code is written.

Every number may be a formula over the model's `inputs`, so that any input can be swept, varied or solved for.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from workbench.model.platform import Document
from workbench.predict.formulas import Count, Formula, Positive, Share
from workbench.predict.inputs import ModelDocument


class ComputeNode(Document):
    """An FPGA node in a stage (Eqs. 3 and 4).

    `measured_in` names the FPGA states that an instrumented run counts its work in ("BLOCK GROUP/STATE", or "STATE").
    `correction` multiplies the computed time: measured over predicted, where a run's measurement was taken over.
    """

    name: str = "FPGA"
    pipeline_cycles: Formula = 0
    elements: Formula
    ops_per_element: Formula = 1
    clock_hz: Positive
    ops_per_cycle: Positive
    measured_in: tuple[str, ...] = ()
    correction: Formula = 1


class Transaction(Document):
    """A movement of data in a stage (Eqs. 5 to 10, 18 to 20, 26, 27).

    `bytes` is each node's message k. The gap comes from `table` (a transfer table of the platform, read at
    `bytes / transfers`), from `rate_bytes_per_s` and `efficiency` (Eq. 7), from `gap_per_byte_s`, or from its network;
    one of them must say it. On a `serial` network (an SNAP) the P messages follow one another; otherwise collectives
    go in a binomial tree, of whole rounds where P is no power of two. `transfers` is how often the delay is paid
    (erratum R6). `reduction_s` is a reduce's gamma, one addition of `bytes_per_element` bytes. Its `reading` is Eq. 20
    as printed (`literal`: gamma times the message's bytes) or as it fits Table III (`fitted`: gamma times its elements,
    and a short gap a round; erratum R7). `measured_in` names the host's states (pragmas or calls) that an instrumented
    run spends on it; `correction` is as for a node.
    """

    name: str
    kind: Literal["scatter", "gather", "broadcast", "reduce", "io"]
    nodes: Count = 1
    bytes: Formula
    transfers: Positive = 1
    network: str = ""
    table: str = ""
    serial: bool = False
    overlapped: bool = False
    returns: bool = False  # brings results back, so it comes after the computation (gather and reduce always do)
    reading: Literal["literal", "fitted"] = "literal"
    latency_s: Formula | None = None
    overhead_s: Formula | None = None
    gap_s: Formula | None = None
    gap_per_byte_s: Formula | None = None
    reduction_s: Formula | None = None
    bytes_per_element: Positive = 4
    rate_bytes_per_s: Positive | None = None
    efficiency: Share | None = None
    measured_in: tuple[str, ...] = ()
    correction: Formula = 1


class Stage(Document):
    """One synchronous step of the application (Eqs. 11 to 15). `after` names the stages it needs first."""

    name: str
    iterations: Formula = 1
    overlapped: bool = False
    nonblocking: bool = False
    configuration_s: Formula = 0
    preprocessing_s: Formula = 0
    postprocessing_s: Formula = 0
    microprocessor_s: Formula = 0
    nodes: tuple[ComputeNode, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    after: tuple[str, ...] = ()


class Measured(Document):
    """What an implementation took, at some values of the inputs: for the error, stage by stage (Table V).

    `stage` is one stage's name, or "" for the application; times are of all its iterations.
    """

    stage: str = ""
    inputs: dict[str, float] = Field(default_factory=dict)
    comp_s: Annotated[float, Field(ge=0)] | None = None
    comm_s: Annotated[float, Field(ge=0)] | None = None
    total_s: Annotated[float, Field(gt=0)] | None = None
    speedup: Annotated[float, Field(gt=0)] | None = None
    source: str = ""


class RatssModel(ModelDocument):
    """A RATSS model. `system` is its class (Fig. 1): nonuniform nodes in a uniform system, or uniform nodes in a
    nonuniform one. `resources` are named formulas to weigh time against; `baseline_s` is the software's time.
    The readings `literal` and `fitted` also choose that reading of every reduce."""

    system: Literal["NNUS", "UNNS"] = "NNUS"
    stages: tuple[Stage, ...]
    iterations: Formula = 1
    pipelined: bool = False
    baseline_s: Positive | None = None
    resources: dict[str, Formula] = Field(default_factory=dict)
    measured: tuple[Measured, ...] = ()
