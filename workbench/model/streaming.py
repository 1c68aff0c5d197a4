"""The `streaming` section of a project: blocks, edges between them, and where they are.

It says the same as files in the X language (Lancaster 2011, section 2.3), and may complete such files.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from workbench.model.document import Document

MOST_DEPTH = 1 << 24  #: elements of a queue, which has room for all of them from its start
Depth = Annotated[int, Field(ge=1, le=MOST_DEPTH)]
MOST_THREADS = 64  #: of a block
Threads = Annotated[int, Field(ge=1, le=MOST_THREADS)]


class ResourceKind(StrEnum):
    CORE = "core"
    FPGA = "fpga"


class StreamingBlock(Document):
    """A kind of block. It is composed where it has `blocks`; otherwise it has an implementation for where it runs."""

    inputs: dict[str, str] = Field(
        default_factory=dict, description="input ports, with the type of their elements", examples=[{"x": "unsigned16"}]
    )
    outputs: dict[str, str] = Field(
        default_factory=dict, description="output ports, with the type of their elements", examples=[{"y": "float64"}]
    )
    config: dict[str, str] = Field(
        default_factory=dict,
        description="configuration of each block: its type, and after = its default value",
        examples=[{"taps": "unsigned32 = 8"}],
    )
    cpp: tuple[str, ...] = Field(
        (), description="C++ files that implement it for processor cores; headers are included", examples=[["lpf.hpp"]]
    )
    verilog: tuple[str, ...] = Field((), description="Verilog files that implement it for FPGAs", examples=[["lpf.v"]])
    vhdl: tuple[str, ...] = Field((), description="VHDL files that implement it for FPGAs", examples=[["lpf.vhd"]])
    unit: dict[str, str] = Field(
        default_factory=dict,
        description="name of the C++ class or module, if it differs from the block's",
        examples=[{"verilog": "lpf_16"}],
    )
    blocks: dict[str, str] = Field(
        default_factory=dict,
        description="the blocks inside it: their kind and configuration",
        examples=[{"filter": "LPF (taps=16)"}],
    )
    edges: dict[str, str] = Field(
        default_factory=dict,
        description="the edges between these, by label; ports may be left out where there is one",
        examples=[{"a": "acquire -> filter", "b": "filter.y -> total.x (depth=32)"}],
    )


class Streaming(Document):
    """A streaming application: host program and design are made of its blocks."""

    sources: tuple[str, ...] = Field((), description="files in the X language", examples=[["laplace.x"]])
    blocks: dict[str, StreamingBlock] = Field(
        default_factory=dict, description="kinds of blocks, by name, as in these files"
    )
    top: str = Field(
        "",
        description="the block that is the application; empty: the one that no other block contains",
        examples=["Stream"],
    )
    resources: dict[str, ResourceKind] = Field(
        default_factory=dict,
        description="the resources on which blocks may be placed; simulation.cores is then the number of the cores",
        examples=[{"c0": "core", "card": "fpga"}],
    )
    mapping: dict[str, str] = Field(
        default_factory=dict,
        description="the resource of a block, or of all blocks in a composed one; this replaces the mapping in the "
        "files. A block that is not mapped runs on any free core",
        examples=[{"rng": "card"}],
    )
    depth: Depth | None = Field(None, description="default depth of a queue, in elements", examples=[128])
    depths: dict[str, Depth] = Field(
        default_factory=dict, description="depth of an edge's queue in elements, by label", examples=[{"a": 16}]
    )
    threads: dict[str, Threads] = Field(
        default_factory=dict,
        description="number of threads that run a block on processor cores (default 1); the first free one takes the "
        "next elements",
        examples=[{"stage3": 4}],
    )
    query: str = Field(
        "",
        description="a file of measure and assert statements, which agents count while the application runs",
        examples=["laplace.tt"],
    )
    frame: str = Field(
        "",
        description="length of a frame if a statement does not give one: a time, or a number of transfers; empty: "
        "the run is one frame",
        examples=["10 ms", "1000"],
    )
    bulk_elements: PositiveInt = Field(
        256, le=65536, description="elements that one transfer moves between processor and FPGA at most"
    )
    flush_us: PositiveFloat = Field(
        200.0,
        description="how long an element waits for others before a transfer starts, and the interval of polling an "
        "FPGA that had nothing",
    )
