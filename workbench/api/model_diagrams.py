"""A model drawn: its parts, and what goes between them."""

from dataclasses import dataclass

from workbench.api.models import FieldPath


@dataclass(frozen=True)
class DiagramNode:
    """A node of a diagram. `figure` is what it comes to, `words` stand beside it and `second` below; `field` is where
    the document has it. The `strong` one decides."""

    id: str
    title: str
    figure: str = ""
    words: str = ""
    second: str = ""
    icon: str = ""
    strong: bool = False
    field: FieldPath = ()


@dataclass(frozen=True)
class DiagramLink:
    """What goes from one node to another (their ids), and how much of it in a few words; the longer `time_s`, the wider
    it is drawn."""

    source: str
    target: str
    name: str
    amount: str = ""
    time_s: float = 0.0
    field: FieldPath = ()


@dataclass(frozen=True)
class Diagram:
    """A model as nodes and what goes between them, drawn from the left in the direction of the links. No two links of a
    direction between two nodes have one name."""

    title: str
    note: str
    nodes: tuple[DiagramNode, ...]
    links: tuple[DiagramLink, ...]
