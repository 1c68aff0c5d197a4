"""Forms: the fields of a part of a document, their order and their labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Field:
    """`kind`: text, code, long (code of several lines), prose, lines (a list, one per line), pairs (a mapping, a row
    for each name), lists (the same of lists, their values with commas), names (a list of `choices` or others,
    with commas), expression (over names that the form completes), expressions (a list of such, one per line), number
    (or several, with commas), numbers (a list of them, with commas), rows (a list of such lists, one per line), unit (a
    quantity), address (a number, in hexadecimal), choice, table (the name of one), check. `of` names what choices the
    platform offers: networks, transfer_tables; or platforms. `notes` say what a choice means, beside it. `picks` says
    what a dialog may choose for it: file, files (perhaps with patterns of names: `file *.yaml`), folder or folders. A
    field `aside` is shown where it is set, and where all fields are asked for."""

    path: tuple[int | str, ...]
    label: str
    kind: str = "text"
    note: str = ""
    choices: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    default: str | bool = ""
    of: str = ""
    picks: str = ""
    aside: bool = False


@dataclass(frozen=True)
class Group:
    """Fields of a form under one title. `part` is where they are below the form's part, where they can be removed
    together."""

    title: str
    note: str
    fields: tuple[Field, ...]
    part: tuple[int | str, ...] = ()
