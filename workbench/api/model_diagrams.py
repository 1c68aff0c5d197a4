"""A model drawn: its parts, and what goes between them; and how a drawing changes its document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.api.models import FieldPath


@dataclass(frozen=True)
class DiagramNode:
    """A node of a diagram. `figure` is what it comes to, `words` stand beside it and `second` below; `field` is where
    the document has it, `part` what is taken out with it where that is another place. The `strong` one decides."""

    id: str
    title: str
    figure: str = ""
    words: str = ""
    second: str = ""
    icon: str = ""
    strong: bool = False
    field: FieldPath = ()
    part: FieldPath = ()


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


@dataclass(frozen=True)
class DocumentStep:
    """A value put at a place of a document, `inserted` before what stands there; None takes out what is there."""

    path: FieldPath
    value: Any = None
    inserted: bool = False


@dataclass(frozen=True)
class DiagramChange:
    """A change that a drawing offers, by what people call it: its steps in their order, and the part to look at."""

    title: str
    steps: tuple[DocumentStep, ...]
    part: FieldPath = ()


class DiagramEditor(Protocol):
    """How drawings of a kind's models are edited. `data` is the document as it was written."""

    def additions(self, data: Mapping[str, Any], diagram: str, at: FieldPath) -> Sequence[DiagramChange]:
        """What can be added to a diagram, or to the part that is chosen (empty: none)."""
        ...

    def connections(
        self, data: Mapping[str, Any], diagram: str, source: DiagramNode, target: DiagramNode
    ) -> Sequence[DiagramChange]:
        """What can go from one node to another."""
        ...

    def removal(self, data: Mapping[str, Any], part: FieldPath) -> DiagramChange:
        """Takes a part out, with what names it."""
        ...

    def renamed(self, data: Mapping[str, Any], part: FieldPath, name: str) -> DiagramChange:
        """Gives a part another name, also where others name it."""
        ...


def items_of(data: Mapping[str, Any], *path: str | int) -> Sequence[Mapping[str, Any]]:
    """The items of a list in a document; none where there is no such list."""
    here: Any = data
    for key in path:
        if isinstance(here, Mapping):
            here = here.get(key)
        else:
            here = here[key] if isinstance(here, list) and isinstance(key, int) and key < len(here) else None
    return [item if isinstance(item, Mapping) else {} for item in here] if isinstance(here, list) else []


def appended(data: Mapping[str, Any], path: FieldPath, value: Any) -> DocumentStep:
    """An edit that appends a value to a list, and creates the list if there is none."""
    items = items_of(data, *path)
    return DocumentStep((*path, len(items)), value, True) if items else DocumentStep(path, [value])


def free_name(items: Sequence[Mapping[str, Any]], word: str) -> str:
    """A name that none of the items has: "station 3"."""
    taken = {str(item.get("name")) for item in items}
    return next(name for number in range(1, len(items) + 2) if (name := f"{word} {number}") not in taken)
