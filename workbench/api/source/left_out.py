"""What synthesis leaves out of HDL: text from a comment `synthesis translate_off` to one of `synthesis translate_on`.

Synthesis tools leave it out, simulators do not. Here it is left out of all: what is read, simulated, proved and built
is what the FPGA will do.
"""

import re

from workbench.api.languages import Syntax
from workbench.api.source.pragma_text import comments

_ANY = re.compile(rb"(?:translate|synthesis)_off", re.IGNORECASE)
#: As GHDL takes them, and yosys but for `pragma`.
_SWITCH = re.compile(
    r"(?:--|//|/\*)[ \t]*(?:synopsys|synthesis|pragma)[ \t]+(?:translate|synthesis)_(on|off)\b", re.IGNORECASE
)
_TEXT = re.compile(rb"[^\r\n\t]")


def left_out(data: bytes, syntax: Syntax) -> tuple[tuple[int, int], ...]:
    """The byte ranges that are left out, with the comments around them; one without an end goes to the file's."""
    if not _ANY.search(data):
        return ()
    ranges: list[tuple[int, int]] = []
    begun: int | None = None
    for start, comment in comments(data.decode("latin-1"), syntax):
        if switch := _SWITCH.match(comment):
            if switch[1].lower() == "on" and begun is not None:
                ranges.append((begun, start + len(comment)))
                begun = None
            elif switch[1].lower() == "off" and begun is None:
                begun = start
    return (*ranges, (begun, len(data))) if begun is not None else tuple(ranges)


def synthesised(data: bytes, syntax: Syntax) -> bytes:
    """The text with blanks in place of what is left out: all else stays where it is."""
    at = 0
    parts: list[bytes] = []
    for start, end in left_out(data, syntax):
        parts += [data[at:start], _TEXT.sub(b" ", data[start:end])]
        at = end
    return b"".join((*parts, data[at:])) if parts else data
