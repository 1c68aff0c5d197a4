"""The text of an LLVM module, in which stands what llvmlite does not tell: lines, loops, layouts."""

import re
from collections.abc import Iterator
from pathlib import Path

from rc_workbench_plugins.opencl.layout import Layout

_METADATA = re.compile(r"^!(\d+) = (?:distinct )?(.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"!(\d+)")
_LOCATION = re.compile(r"!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)(?:, inlinedAt: !(\d+))?")
_FILE = re.compile(r'filename: "([^"]*)", directory: "([^"]*)"')
_DEFINED = re.compile(r"^define .*?@(\"[^\"]+\"|[\w.$-]+)\(")


class ModuleText:
    """A module's text: the metadata by number, the lines of each function, the layout of its structures."""

    def __init__(self, text: str, source: Path) -> None:
        self.source = source
        self.whole = text
        self.metadata = {int(number): said for number, said in _METADATA.findall(text)}
        self.layout = Layout.of(text)
        self._places: dict[int, tuple[int, int]] = {}

    def function(self, name: str) -> tuple[str, Iterator[str]]:
        """The line that defines a function, and a line for each of its instructions."""
        lines = iter(self.whole.splitlines())
        for line in lines:
            if (match := _DEFINED.match(line)) and match[1].strip('"') == name:
                return line, self._instructions(lines)
        raise KeyError(name)

    def place(self, number: int) -> tuple[int, int]:
        """Line and column in the source itself of a location: of what came of an included file, where it is used."""
        if number not in self._places:
            match = _LOCATION.match(self.metadata.get(number, ""))
            if match is None:
                return (0, 0)
            if not self._in_source(int(match[3])):
                self._places[number] = self.place(int(match[4])) if match[4] else (0, 0)
            else:
                self._places[number] = (int(match[1]), int(match[2] or 0))
        return self._places[number]

    def strings(self, number: int | None) -> list[str]:
        """A metadata node's strings."""
        return re.findall(r'!"([^"]*)"', self.metadata.get(number or -1, ""))

    def integers(self, number: int) -> tuple[int, ...]:
        """A metadata node's numbers."""
        return tuple(int(n) for n in re.findall(r"\bi32 (-?\d+)", self.metadata.get(number, "")))

    def unroll(self, number: int) -> int | None:
        """What `#pragma unroll` asks of a loop: a factor, 0 for fully; None for nothing."""
        for part in _REFERENCE.findall(self.metadata.get(number, "")):
            said = self.metadata.get(int(part), "")
            if match := re.search(r'"llvm\.loop\.unroll\.count", i32 (\d+)', said):
                return int(match[1])
            if "llvm.loop.unroll.full" in said or "llvm.loop.unroll.enable" in said:
                return 0
        return None

    def loop_place(self, number: int) -> tuple[int, int]:
        """The lines that a loop begins and ends on, (0, 0) if they are unknown."""
        parts = [int(part) for part in _REFERENCE.findall(self.metadata.get(number, ""))]
        lines = [line for line, _ in map(self.place, parts) if line]
        return (lines[0], lines[-1]) if lines else (0, 0)

    def _in_source(self, scope: int) -> bool:
        said = self.metadata.get(scope, "")
        if (match := _FILE.search(said)) is not None:
            return Path(match[2], match[1]) == self.source
        inner = re.search(r"\bfile: !(\d+)", said)
        return self._in_source(int(inner[1])) if inner else False

    @staticmethod
    def _instructions(lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            if line.startswith("}"):
                return
            if not line.startswith("  "):
                continue  # a label
            while line.count("[") > line.count("]"):
                line += " " + next(lines).strip()
            yield line.strip()
