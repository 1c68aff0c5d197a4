"""The ports by which a design asks memory on its card, as a run names them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MemoryPort:
    """A port of the design's into a memory. Index in a list of them is its number in tables."""

    id: str = field(
        metadata={"description": "its name in the platform's template, after its card's if there are several"}
    )
    kind: str = field(metadata={"description": "the kind of port", "examples": ["axi_master"]})
    memory: str = field(
        metadata={"description": "the memory that it accesses, after its card's name if there are several cards"}
    )
    clock: str = field(metadata={"description": "the name of its clock"})
    word_bits: int = field(metadata={"minimum": 0, "description": "width of a data word"})
    memory_bytes_per_s: float = field(
        metadata={"minimum": 0, "description": "the memory's peak rate over all channels"}
    )
