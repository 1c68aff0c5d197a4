"""The bytes of a source file, and the pragmas in its active code."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.api.languages import Syntax
from workbench.api.source.left_out import left_out
from workbench.api.source.lines import line_starts
from workbench.api.source.pragma_text import find_marks
from workbench.model.custom import PlacedMetric
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import PlacedPragma

_LEFT_OUT = (
    "is in text that synthesis leaves out (translate_off), and is not used",
    "Move it to a branch that becomes hardware.",
)


@dataclass
class SourceFile:
    """A source file's bytes, pragmas and metrics; `used` are the pragmas that some branch took."""

    path: Path
    data: bytes
    starts: list[int]
    pragmas: list[tuple[int, PlacedPragma]]
    used: set[int] = field(default_factory=set)
    metrics: list[tuple[int, PlacedMetric]] = field(default_factory=list)

    def line_start(self, line: int) -> int:
        return self.starts[line - 1]

    def indent(self, line: int) -> int:
        start = self.line_start(line)
        rest = self.data[start : start + 1000]
        return len(rest) - len(rest.lstrip(b" \t")) + 1

    def column(self, offset: int, line: int) -> int:
        """An offset's column in characters, from 1."""
        return len(self.data[self.line_start(line) : offset].decode("utf-8", errors="replace")) + 1

    def begins_line(self, offset: int, line: int) -> bool:
        return not self.data[self.line_start(line) : offset].strip()

    def stray(self, block: str = "always block", cases: str = "a case item") -> Iterator[Diagnostic]:
        """A warning for each pragma that no branch took."""
        for number, (_, placed) in enumerate(self.pragmas):
            if number not in self.used:
                name = placed.pragma.name
                yield Diagnostic(
                    f"the pragma '{name}' is before no branch of a clocked {block}, and is not used",
                    f"Move it directly before the first statement of an if or else arm, {cases} or the whole block.",
                    Severity.WARNING,
                    placed.file,
                    placed.line,
                    placed.column,
                )


def read_pragmas(path: Path, data: bytes, syntax: Syntax, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """A file's pragmas, and what is wrong with them. `name` is the file's name in messages."""
    starts = line_starts(data)
    pragmas, written, problems = find_marks(data.decode("utf-8", errors="replace"), syntax, name)
    placed = [(starts[p.line - 1] + _byte_column(data, starts, p), p) for p in pragmas]
    metrics = [(starts[m.line - 1] + _byte_column(data, starts, m), m) for m in written]
    without = left_out(data, syntax) if placed or metrics else ()
    lost = [p for at, p in placed if within(at, without)]
    warnings = [unused(p, _LEFT_OUT) for p in lost]
    kept = [(at, p) for at, p in placed if p not in lost]
    warnings += [not_counted(m, *_LEFT_OUT) for at, m in metrics if within(at, without)]
    metrics = [(at, m) for at, m in metrics if not within(at, without)]
    return SourceFile(path, data, starts, kept, metrics=metrics), (*problems, *warnings)


def not_counted(placed: PlacedMetric, what: str, hint: str) -> Diagnostic:
    return placed.diagnostic(f"the metric '{placed.metric.name}' {what}", hint, Severity.WARNING)


def unused(placed: PlacedPragma, words: tuple[str, str]) -> Diagnostic:
    what, hint = words
    return placed.diagnostic(f"the pragma '{placed.pragma.name}' {what}", hint)


def within(offset: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in ranges)


def _byte_column(data: bytes, starts: Sequence[int], placed: PlacedPragma | PlacedMetric) -> int:
    start = starts[placed.line - 1]
    line = data[start : starts[placed.line] if placed.line < len(starts) else len(data)]
    return len(line.decode("utf-8", errors="replace")[: placed.column - 1].encode())
