"""What sources include, looked at before a parser opens it: regular files, where the project may look."""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.api.languages import C, syntax_of
from workbench.api.source.lines import source_bytes
from workbench.model.diagnostic import Diagnostic
from workbench.system.files import SOURCE_LIMIT


class Includes:
    """The include directives of sources and of what they include, each file read once.

    `folders` are searched after the includer's own; `allowed` are the folders that files may lie in. A name that is
    found in neither is the compiler's affair.
    """

    def __init__(self, folders: Sequence[Path], allowed: Iterable[Path]) -> None:
        self._folders = [os.fspath(folder) for folder in folders]
        self._allowed = [os.path.realpath(folder) for folder in (*allowed, *folders)]
        self._read: dict[str, tuple[list[str], list[Diagnostic]]] = {}

    def problems(self, source: Path) -> tuple[Diagnostic, ...]:
        """What a source includes, itself or through others, that is not to be opened."""
        pending, seen = [os.path.realpath(source)], set()
        every: list[Diagnostic] = []
        while pending:
            file = pending.pop()
            if file not in seen:
                seen.add(file)
                inner, problems = self._of(file)
                pending += inner
                every += problems
        return tuple(every)

    def _of(self, file: str) -> tuple[list[str], list[Diagnostic]]:
        if file not in self._read:
            self._read[file] = self._look(file)
        return self._read[file]

    def _look(self, file: str) -> tuple[list[str], list[Diagnostic]]:
        includes = (syntax_of(file) or C).includes
        pattern = re.compile(includes.encode(), re.MULTILINE) if includes else None
        data = source_bytes(Path(file)) if pattern else b""
        inner: list[str] = []
        problems: list[Diagnostic] = []
        for match in pattern.finditer(data) if pattern else ():
            path, why = self.resolved(os.path.dirname(file), os.fsdecode(match[1]))
            if why:
                line = data.count(b"\n", 0, match.start(1)) + 1
                column = match.start(1) - data.rfind(b"\n", 0, match.start(1))
                problems.append(Diagnostic(f"the included file {why}", _HINT, file=file, line=line, column=column))
            elif path:
                inner.append(path)
        return inner, problems

    def resolved(self, folder: str, name: str) -> tuple[str, str]:
        """The file that a directive brings, and why it is not to be opened; both empty where it is not found."""
        for place in (folder, *self._folders):
            try:
                path = os.path.realpath(os.path.join(place, name))
                info = os.stat(path)
            except (OSError, ValueError):
                continue
            if stat.S_ISDIR(info.st_mode):
                continue
            if not stat.S_ISREG(info.st_mode):
                return path, "is not a regular file"
            if not any(path.startswith(allowed.rstrip("/") + "/") for allowed in self._allowed):
                return path, "lies outside of the project's folder"
            if info.st_size > SOURCE_LIMIT:
                return path, f"is larger than {SOURCE_LIMIT >> 20} MiB"
            return path, ""
        return "", ""


_HINT = "The source was not read. Name a file of the project, or its folder in the project: include_dirs or outside."
