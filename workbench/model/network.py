"""A network between nodes, as a platform template describes it."""

from typing import Annotated

from pydantic import Field, model_validator

from workbench.model.document import Document

Times = tuple[Annotated[float, Field(ge=0)], ...]
#: What all nodes have, by what nodes that are not alike have in its place.
OF_NODES = {
    "overhead_s": "overheads_s", "gap_s": "gaps_s", "latency_s": "latencies_s", "gap_per_byte_s": "gaps_per_byte_s",
}  # fmt: skip
BY_PAIRS = ("latencies_s", "gaps_per_byte_s")


class Network(Document):
    """A network between nodes, in LogGP terms (RATSS 2011, section 3.3). Times in seconds, gaps per byte.

    Nodes that are not alike have o and g each, and L and G by pairs, as in HLogGP (Bosque, Pastor, "A Parallel
    Computational Model for Heterogeneous Clusters", IEEE TPDS 17(12), 2006). What is given so replaces the one number
    for all.
    """

    name: str = Field(description="its name, used by models")
    latency_s: Annotated[float, Field(ge=0)] = Field(0.0, description="L: from one end to the other")
    overhead_s: Annotated[float, Field(ge=0)] = Field(0.0, description="o: processor time per message")
    gap_s: Annotated[float, Field(ge=0)] = Field(0.0, description="g: between two short messages")
    gap_per_byte_s: Annotated[float, Field(ge=0)] = Field(0.0, description="G: between two bytes of a long message")
    reduction_per_byte_s: Annotated[float, Field(ge=0)] = Field(0.0, description="gamma: adding up, per byte")
    capacity: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="messages that it carries at full rate at once, where they share it (contention); empty: all",
        examples=[4],
    )
    eager_bytes: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="MPI's eager limit: a standard send of more bytes waits until its receiver has asked for it, "
        "on the simulated card; empty: none waits",
        examples=[4096],
    )
    overheads_s: Times = Field((), description="o of each node; empty: the same for all", examples=[[3e-6, 9e-6]])
    gaps_s: Times = Field((), description="g of each node; empty: the same for all", examples=[[7e-6, 7e-6]])
    latencies_s: tuple[Times, ...] = Field(
        (),
        description="L from each node (row) to each (column); empty: the same for all",
        examples=[[[0, 40e-6], [60e-6, 0]]],
    )
    gaps_per_byte_s: tuple[Times, ...] = Field(
        (),
        description="G from each node (row) to each (column); empty: the same for all",
        examples=[[[0, 8e-9], [8e-9, 0]]],
    )
    source: str = Field("", description="source of the numbers")

    @property
    def nodes(self) -> int | None:
        """How many nodes it describes one by one; None where all are alike."""
        return nodes_described(self)

    @model_validator(mode="after")
    def _of_one_size(self) -> "Network":
        if (wrong := unequal_lists(self)) is not None:
            raise ValueError(wrong[1])
        return self


def nodes_described(network: object) -> int | None:
    """How many nodes a network's vectors and matrices describe one by one; None where it has none."""
    return max(len(getattr(network, name)) for name in OF_NODES.values()) or None


def unequal_lists(network: object) -> tuple[str, str] | None:
    """The first of a network's vectors and matrices that is not of the size of the others, and what is wrong with
    it."""
    nodes = nodes_described(network)
    for name in OF_NODES.values():
        rows = getattr(network, name)
        if rows and len(rows) != nodes:
            return name, f"{name} has {len(rows)} nodes, and another list has {nodes}"
        if name in BY_PAIRS and any(len(row) != len(rows) for row in rows):
            return name, f"{name} needs a row for each node, with a number for each node"
    return None
