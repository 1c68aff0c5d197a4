"""What is wrong on which line of a file's text as it is now. Plain data, no Qt."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.model.diagnostic import Diagnostic, Severity

Problems = dict[int, tuple[Diagnostic, ...]]


@dataclass(frozen=True)
class CheckedProblem:
    """What reading the sources says of a line (from 1, as it was then), and the text that the line had."""

    line: int
    text: str
    diagnostic: Diagnostic


def checked_problems(
    diagnostics: Iterable[Diagnostic], same_file: Callable[[str], bool], text: str
) -> tuple[CheckedProblem, ...]:
    """The errors and warnings about lines of one file, whose text was read as `text`."""
    here = [
        (problem.line, problem)
        for problem in diagnostics
        if problem.file and problem.line and problem.severity is not Severity.NOTE and same_file(problem.file)
    ]
    lines = text.split("\n") if here else []
    return tuple(CheckedProblem(line, lines[line - 1], problem) for line, problem in here if 0 < line <= len(lines))


def problems_now(
    typed: Sequence[Diagnostic], checked: Sequence[CheckedProblem], moved: LinesMoved, text_of: Callable[[int], str]
) -> Problems:
    """By line, the gravest first: what the text says now (`typed`), and what was read of lines that are still as they
    were. `text_of` gives a line's text now. What both say is there once."""
    by_line: dict[int, dict[tuple[str, str], Diagnostic]] = {}
    for problem in typed:
        if problem.line is not None:
            by_line.setdefault(problem.line, {})[problem.message, problem.hint] = problem
    for old in checked:
        line = moved.place(old.line)
        if line and text_of(line) == old.text:
            by_line.setdefault(line, {}).setdefault((old.diagnostic.message, old.diagnostic.hint), old.diagnostic)
    order = list(Severity)
    return {line: tuple(sorted(said.values(), key=lambda d: order.index(d.severity))) for line, said in by_line.items()}


def problem_text(problems: Mapping[int, Sequence[Diagnostic]], line: int) -> str:
    """What is wrong on a line and what would be right, a line of text for each problem; "" where nothing is."""
    return "\n".join(". ".join(filter(None, (d.message, d.hint))) for d in problems.get(line, ()))
