"""Connections on which data pass whenever both sides agree (valid and ready, in whatever words), and their FIFOs.

A stream is one such connection of an elaborated design, an edge between two of its instances. In a cycle it transfers
(valid and ready), or its sink stalls it (valid alone), or its source does (ready alone), or it idles (neither).
The `mark` of its end, where it has one, is no word, and no transfer.
"""

from dataclasses import dataclass, field

from workbench.model.blocks import COUNT


@dataclass(frozen=True)
class StreamWait:
    """A combinational path: a stream's own `signal` can be held low by `held_by` of the stream `other`."""

    signal: str = field(metadata={"description": "which of the stream's own is held: valid or ready"})
    other: int = field(metadata={**COUNT, "description": "the stream that holds it, as an index"})
    held_by: str = field(metadata={"description": "which of that stream's is low then: valid or ready"})


@dataclass(frozen=True)
class Stream:
    """An edge. Index in a list of streams is its number in tables.

    `source` and `target` are instances, the deepest that drive valid and ready; empty: outside of the design.
    """

    id: str = field(metadata={"description": "unique in the design: the source's instance and its port's name"})
    source: str = field(metadata={"description": "the instance that sends; empty outside of the design"})
    target: str = field(metadata={"description": "the instance that takes; empty outside of the design"})
    style: str = field(metadata={"description": "the naming style that it was found by", "examples": ["axi_stream"]})
    bits: int = field(metadata={**COUNT, "description": "width of its data in bits; 0: unknown"})
    clock: str = field(
        metadata={"description": "its clock: an input of the top, or an output of a PLL; empty: another"}
    )
    valid: str = field(metadata={"description": "the signal that offers, as Verilog reads it below the top"})
    ready: str = field(metadata={"description": "the signal that takes, as Verilog reads it below the top"})
    file: str = field(default="", metadata={"description": "the source that declares its port"})
    line: int = field(default=0, metadata={**COUNT, "description": "from 1"})
    waits: tuple[StreamWait, ...] = field(
        default=(), metadata={"description": "other streams that hold it through combinational logic"}
    )
    mark: str = field(
        default="",
        metadata={
            "description": "the signal that marks a transfer as the stream's end, which is not a word; empty: none",
            "examples": ["queue.s_tlast"],
        },
    )
    pairs: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata={
            "description": "valid and ready as single instances have both at their ports, below the top",
            "examples": [["queue.s_tvalid", "queue.s_tready"]],
        },
    )
    data: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "the signal of its words as single instances have it at their ports, below the top",
            "examples": ["queue.s_tdata"],
        },
    )


@dataclass(frozen=True)
class Fifo:
    """An instance that gives what it takes, in order, and holds it meanwhile."""

    id: str = field(metadata={"description": "its instance"})
    module: str = field(metadata={"description": "its module"})
    input: int = field(metadata={**COUNT, "description": "the stream that it takes, as an index"})
    output: int = field(metadata={**COUNT, "description": "the stream that it gives, as an index"})
    depth: int = field(metadata={**COUNT, "description": "words that its memory can hold; 0: unknown"})
    file: str = field(default="", metadata={"description": "where its module is"})
    line: int = field(default=0, metadata={**COUNT, "description": "from 1"})
