"""The edits that instrument a copy of a source file: insertions within lines, so that line numbers do not change."""

from dataclasses import dataclass, field
from pathlib import Path

from workbench.model.custom import PlacedMetric
from workbench.model.pragma import PlacedPragma


@dataclass
class Edits:
    """Replacements in one file, in bytes. Those at one offset keep the order in which they were added,
    insertions before what is replaced there.

    `conditions` tells which pragma's condition, or which metric, was written into which line.
    """

    path: Path
    parts: list[tuple[int, int, str]] = field(default_factory=list)
    conditions: dict[int, PlacedPragma | PlacedMetric] = field(default_factory=dict)

    def insert(self, offset: int, text: str) -> None:
        self.parts.append((offset, offset, text))

    def replace(self, start: int, end: int, text: str) -> None:
        self.parts.append((start, end, text))

    def apply(self, data: bytes) -> bytes:
        pieces, position = [], 0
        for start, end, text in sorted(self.parts, key=lambda part: (part[0], part[1] > part[0])):
            pieces += [data[position:start], text.encode()]
            position = end
        return b"".join([*pieces, data[position:]])
