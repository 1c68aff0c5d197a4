"""What is wrong with something a person wrote, said so that the person can fix it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path


class Severity(StrEnum):
    """How much a diagnostic matters: an error stops what was asked for, the others do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One finding about bad input: where it is, what is wrong, and what would be right.

    `line` and `column` count from 1; they are None where the fault has no place in a file.
    """

    message: str = field(metadata={"description": "what is wrong", "examples": ["there is no table 'wirte'"]})
    hint: str = field(
        default="",
        metadata={"description": "what would be right, or what to do", "examples": ["Did you mean 'write'?"]},
    )
    severity: Severity = field(default=Severity.ERROR, metadata={"description": "how bad it is"})
    file: str | None = field(default=None, metadata={"description": "where it is", "examples": ["/home/me/card.yaml"]})
    line: int | None = field(default=None, metadata={"description": "from 1", "examples": [31]})
    column: int | None = field(default=None, metadata={"description": "from 1", "examples": [9]})

    def text(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        head = f"{place}: " if place else ""
        return f"{head}{self.severity.value}: {self.sentences}"

    @property
    def sentences(self) -> str:
        """What is wrong and what to do, without place and severity."""
        said = self.message if not self.hint or self.message.endswith((".", "!", "?", ":")) else f"{self.message}."
        return f"{said} {self.hint}".rstrip()

    @property
    def command(self) -> str:
        """The command that the hint gives between backquotes, or ""."""
        parts = self.hint.split("`")
        return parts[1] if len(parts) > 2 else ""

    def as_json(self) -> dict[str, object]:
        """The shape that the command line prints: file, line, column, severity, message, hint."""
        return {one.name: getattr(self, one.name) for one in fields(Diagnostic)}


@dataclass(frozen=True)
class OfProject(Diagnostic):
    """One of a value in the project's document, which who finds it does not read; `keys` lead there."""

    keys: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class OfTemplate(Diagnostic):
    """What a platform template lacks for a use; `keys` lead to where it would be."""

    keys: tuple[str | int, ...] = ()


class WorkbenchError(Exception):
    """A failure that a person can act on; it carries its diagnostics and never needs a traceback."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(d.text() for d in diagnostics))
        self.diagnostics = diagnostics


class Cancelled(Exception):
    """The person who started the job ended it."""


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether one of them is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


_LONGEST, _MOST_COMPARED = 200, 2000  # characters of a name; names


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """The known name that is most like another one, first of all but for its case; empty where none is. Of long names,
    and of a great many, only the case is looked at: comparing takes too long."""
    import difflib  # only where something is wrong

    names = sorted(known)
    same = [other for other in names if other.lower() == name.lower()]
    names = (
        [other for other in names if len(other) <= _LONGEST]
        if len(names) <= _MOST_COMPARED and len(name) <= _LONGEST
        else []
    )
    return next(iter(same or difflib.get_close_matches(name, names, 1, likeness)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question whether the nearest of the known names is meant; empty where none is near."""
    near = nearest(name, known)
    return f"Did you mean '{near}'?" if near else ""


def near(name: str, known: Iterable[str], otherwise: str) -> str:
    """A hint: the nearest of the known names, or all of them behind `otherwise`; empty where there are none."""
    names = list(known)
    return did_you_mean(name, names) or (f"{otherwise}: {', '.join(names)}." if names else "")


def unknown_name(kind: str, name: str, known: Iterable[str], file: Path | None = None) -> Diagnostic:
    """That there is no such thing, with the name that may be meant, or all there are."""
    names = sorted(known)
    hint = did_you_mean(name, names) or f"Known: {', '.join(names) or 'none'}."
    return Diagnostic(f"there is no {kind} '{name}'", hint, file=str(file) if file else None)
