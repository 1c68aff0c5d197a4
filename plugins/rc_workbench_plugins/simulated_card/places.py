"""Places in the host program that its run-time library tells as addresses, as lines of its sources."""

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.api import Diagnostic, Severity, WorkbenchError
from workbench.api.records import read_lines
from workbench.api.unstable import run_program

_PLACE = re.compile(r" \(at (?P<file>.+):(?P<line>\d+)\)$")
_ADDRESS = re.compile(r" \(at (?P<of>host|rank)\+0x(?P<address>[0-9a-f]+)\)")


def with_source_lines(text: str, executable: Path, root: Path) -> str:
    """The text with each `(at host+0x...)`, of a rank's copy `(at rank+0x...)`, as `(at FILE:LINE)`, relative to
    `root` where it lies there.

    An address is one to which a call returns. Of functions that are inlined in one another the innermost below `root`
    counts. What binutils' addr2line cannot tell is left out.
    """
    known: dict[tuple[str, str], str] = {}
    for of in {match["of"] for match in _ADDRESS.finditer(text)}:
        file = executable if of == "host" else executable.with_name(f"{executable.name}.rank1.so")
        addresses = [match["address"] for match in _ADDRESS.finditer(text) if match["of"] == of]
        known |= {(of, address): place for address, place in zip(addresses, _lines(file, addresses, root), strict=True)}
    return _ADDRESS.sub(lambda match: known[match["of"], match["address"]], text)


def _lines(executable: Path, addresses: Sequence[str], root: Path) -> list[str]:
    """ " (at FILE:LINE)" for each address, in hexadecimal; "" where it is not known."""
    called = [hex(int(address, 16) - 1) for address in addresses]
    try:
        listing = run_program(["addr2line", "-a", "-i", "-e", str(executable), *called], timeout_s=20).stdout
    except WorkbenchError:
        return [""] * len(addresses)
    groups = [*re.split(r"^0x.*\n", listing, flags=re.MULTILINE)[1:], *[""] * len(addresses)]
    return [_place(group, root) for group in groups[: len(addresses)]]


def _place(group: str, root: Path) -> str:
    lines = [line.partition(" ")[0].rpartition(":") for line in group.splitlines()]
    known = [(Path(file), line) for file, _, line in lines if file != "??" and line.isdigit()]
    own = [(path.relative_to(root), line) for path, line in known if path.is_relative_to(root)]
    return next((f" (at {path}:{line})" for path, line in own or known), "")


def host_notes(raw: Path, executable: Path, root: Path) -> list[Diagnostic]:
    """What the host's run-time library noted of what virtual cores cannot keep, each at its line."""
    notes = []
    for note in read_lines(raw / "host_notes.txt"):
        if not note.strip("\0"):  # the file's free room
            continue
        text = with_source_lines(note, executable, root)
        place = _PLACE.search(text)
        file, line = (place["file"], int(place["line"])) if place else (None, None)
        notes.append(Diagnostic(_PLACE.sub("", text), severity=Severity.WARNING, file=file, line=line))
    return notes
