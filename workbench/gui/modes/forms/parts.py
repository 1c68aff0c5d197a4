"""The entries in the list of a document's parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.api.forms import Group
from workbench.session.edit.yaml_document import Path_


@dataclass(frozen=True)
class DocumentPart:
    """A line of the list: where it is in the document, how it is called, which form it has.

    Its `note` is shown where it has room beside the title, its `value` there or else below the title.
    `what` is said after the title of the form; `removable` parts can be taken out, `named`
    ones be given another key. `add` is what a button at the form's end adds. The fields are below `path`, or below
    `at` where several lines are forms of one part of the document.
    """

    path: Path_
    title: str
    note: str
    what: str
    groups: tuple[Group, ...]
    code: bool = True
    removable: bool = False
    named: bool = False
    add: str = ""
    at: Path_ | None = None
    value: str = ""

    @property
    def base(self) -> Path_:
        """Where in the document the fields are."""
        return self.path if self.at is None else self.at

    @property
    def field_paths(self) -> tuple[Path_, ...]:
        """The fields by their paths in the document."""
        return tuple((*self.base, *field.path) for group in self.groups for field in group.fields)

    @property
    def table(self) -> str:
        """The name of the transfer table that this part is, or ""."""
        return str(self.path[1]) if len(self.path) == 2 and self.path[0] == "transfer_tables" else ""


@dataclass(frozen=True)
class PartSection:
    """A group of parts; `add` names what the plus button adds, "" where nothing can be added. Those with a `tab` are
    shown on that one of the list's tabs. `about` says what such parts are for, where there is none yet; `path` is where
    they are in the document. `kinds` are those of which one is chosen as a part is added, each with its title."""

    title: str
    parts: tuple[DocumentPart, ...]
    add: str = ""
    tab: str = ""
    about: str = ""
    path: Path_ = ()
    kinds: Mapping[str, str] = field(default_factory=dict)


#: What projects and templates call a part that says how the program's own code puts elements into a queue.
QUEUE_CALL = "call of a queue"


def new_queue_call(count: int) -> dict[str, str]:
    """The least of such a part that is valid, where there are so many already."""
    return {"prototype": f"bool Queue::push{count}(int value)", "kind": "push"}
