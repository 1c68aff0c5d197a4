"""Places in the host program that its run-time library tells as addresses, as lines of its sources."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.model.diagnostic import WorkbenchError
from workbench.system.process import run_program

_ADDRESS = re.compile(r" \(at host\+0x(?P<address>[0-9a-f]+)\)")


def with_source_lines(text: str, executable: Path, root: Path | None) -> str:
    """The text with each `(at host+0x...)` as `(at FILE:LINE)`, relative to `root` where it lies there.

    An address is one to which a call returns. What binutils' addr2line cannot tell is left out.
    """
    addresses = [int(match["address"], 16) - 1 for match in _ADDRESS.finditer(text)]
    if not addresses:
        return text
    command = ["addr2line", "-e", str(executable), *(hex(address) for address in addresses)]
    try:
        lines = run_program(command, timeout_s=20).stdout.splitlines()
    except WorkbenchError:
        lines = []
    found = iter([*lines, *[""] * (len(addresses) - len(lines))])

    def place(match: re.Match[str]) -> str:
        file, _, line = next(found).partition(" ")[0].rpartition(":")
        if not file or file == "??" or not line.isdigit():
            return ""
        path = Path(file)
        if root and path.is_relative_to(root):
            path = path.relative_to(root)
        return f" (at {path}:{line})"

    return _ADDRESS.sub(place, text)
