"""Finds a text in the files of a project."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.api.source.edits import decode
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import read_file

MOST_HITS = 2000


@dataclass(frozen=True)
class Hit:
    """A line with the text, at `column` with `length`, from 0."""

    path: Path
    line: int
    column: int
    length: int
    text: str


@dataclass(frozen=True)
class Hits:
    """The hits. `whole` says whether all are listed; `unread` are files that could not be read."""

    hits: tuple[Hit, ...]
    whole: bool = True
    unread: tuple[Diagnostic, ...] = ()


def pattern_of(text: str, *, case: bool = False, word: bool = False, regex: bool = False) -> re.Pattern[str]:
    """The search pattern. WorkbenchError for an invalid regular expression."""
    source = text if regex else re.escape(text)
    try:
        return re.compile(rf"\b(?:{source})\b" if word else source, 0 if case else re.IGNORECASE)
    except re.error as error:
        raise WorkbenchError(Diagnostic(f"this is not a regular expression: {error}", "Correct it.")) from None


def find_text(
    files: Iterable[Path], pattern: re.Pattern[str], texts: Mapping[Path, str], most: int = MOST_HITS
) -> Hits:
    """The first hit in each line, by file and line. `texts` are those of files with unsaved changes."""
    hits: list[Hit] = []
    unread: list[Diagnostic] = []
    for path in files:
        try:
            text = texts[path] if path in texts else decode(read_file(path))
        except WorkbenchError as error:
            unread += error.diagnostics
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if (match := pattern.search(line)) and match.end() > match.start():
                if len(hits) == most:
                    return Hits(tuple(hits), False, tuple(unread))
                hits.append(Hit(path, number, match.start(), match.end() - match.start(), line))
    return Hits(tuple(hits), True, tuple(unread))
