"""What calls of a platform's API open, by names of the template's own: descriptors, handles and mappings, of which its
other entries speak (`HostEntry.opens` and `HostEntry.of`)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.model.platform import HostEntry

_GIVEN = re.compile(r"(?:(?P<expression>.*\S)\s+is\s+)?(?P<names>[A-Za-z_]\w*(?:\s*\|\s*[A-Za-z_]\w*)*)", re.DOTALL)


@dataclass(frozen=True)
class Opened:
    """`expression` is the descriptor, handle or pointer; empty: a call's result (opens) or its first argument (of)."""

    expression: str
    names: tuple[str, ...]


def opened(text: str) -> Opened | None:
    """What `opens` or `of` says: `h2c`, `h2c|c2h` or `*handle is bar0`; None where it is neither, or nothing."""
    match = _GIVEN.fullmatch(text.strip())
    if match is None:
        return None
    return Opened(match["expression"] or "", tuple(name.strip() for name in match["names"].split("|")))


def opened_names(entries: Iterable[HostEntry]) -> dict[str, int]:
    """The names that the entries' `opens` give, numbered from 1 in their order."""
    names = (name for entry in entries if (opening := opened(entry.opens)) for name in opening.names)
    return {name: number for number, name in enumerate(dict.fromkeys(names), 1)}
