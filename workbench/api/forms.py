"""Forms: which fields a part of a document has, in which order, and how each is said."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """`kind`: text, code, long (code of several lines), prose, lines (a list, one a line), number, unit (a quantity),
    choice, table (the name of one), check. `of` names what choices the platform offers: networks, transfer_tables; or
    platforms."""

    path: tuple[int | str, ...]
    label: str
    kind: str = "text"
    note: str = ""
    choices: tuple[str, ...] = ()
    default: str | bool = ""
    of: str = ""


@dataclass(frozen=True)
class Group:
    title: str
    note: str
    fields: tuple[Field, ...]
