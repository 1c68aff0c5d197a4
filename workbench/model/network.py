"""A network between nodes, as a platform template describes it."""

from typing import Annotated

from pydantic import Field

from workbench.model.document import Document


class Network(Document):
    """A network between nodes, in LogGP terms (RATSS 2011, section 3.3). Times in seconds, gaps per byte."""

    name: str = Field(description="its name, used by models")
    latency_s: Annotated[float, Field(ge=0)] = Field(0.0, description="L: from one end to the other")
    overhead_s: Annotated[float, Field(ge=0)] = Field(0.0, description="o: what the processor spends on a message")
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
    source: str = Field("", description="source of the numbers")
