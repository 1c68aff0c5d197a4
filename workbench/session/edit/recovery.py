"""Unsaved texts kept against a crash: written to a folder of the workbench, removed once saved, and offered after a
crash."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.session.edit.documents import Document
from workbench.system import store
from workbench.system.files import read_regular, sha256
from workbench.system.folders import state_dir

FOLDER = "unsaved"


@dataclass(frozen=True)
class UnsavedText:
    """An unsaved text: `kind` is its mode, `project` the open project file, or empty.

    `process` and `began` identify its window, which may still run. `base` is the SHA-256 of the file when it was read,
    or empty.
    """

    path: str
    kind: str
    project: str
    text: str
    base: str
    process: int
    began: float
    record: Path = field(default=Path(), compare=False)

    @property
    def file_changed(self) -> bool:
        """Whether the file changed since its text was kept."""
        try:
            return sha256(Path(self.path).read_bytes()) != self.base
        except OSError:
            return bool(self.base)

    def forget(self) -> None:
        with suppress(OSError):
            self.record.unlink()


def _folder() -> Path:
    return state_dir() / FOLDER


def _began(process: int) -> float:
    """The start time of a process in seconds since the epoch; 0 if it has ended."""
    import psutil  # only where something is kept

    try:
        return float(psutil.Process(process).create_time())
    except psutil.Error:
        return 0.0


class Keeper:
    """Keeps a window's unsaved texts. If it cannot write, it keeps nothing and editing continues."""

    def __init__(self) -> None:
        self._kept: dict[Document, UnsavedText] = {}

    def keep(self, documents: Iterable[Document], project: Path | None) -> None:
        """Update the kept texts to the unsaved ones."""
        unsaved = [d for d in documents if d.dirty and d.path is not None]
        for document in [d for d in self._kept if d not in unsaved or str(d.path) != self._kept[d].path]:
            self._kept.pop(document).forget()
        for document in unsaved:
            before = self._kept.get(document)
            if before is None or before.text != document.text:
                with suppress(OSError):
                    self._kept[document] = self._write(document, project)

    def _write(self, document: Document, project: Path | None) -> UnsavedText:
        process = os.getpid()
        name = sha256(f"{document.kind} {document.path}".encode())[:16]
        record = _folder() / f"{name}-{process}.json"
        kept = UnsavedText(
            str(document.path), document.kind, str(project or ""), document.text, document.base_sha256,
            process, _began(process), record,
        )  # fmt: skip
        values: dict[str, Any] = asdict(kept)
        del values["record"]
        store.write_json(record, values)
        return kept


def left_behind() -> tuple[UnsavedText, ...]:
    """The unsaved texts of windows that crashed, oldest first.

    Texts that the files now hold are dropped, and so are records that cannot be read.
    """
    dated: list[tuple[float, UnsavedText]] = []
    for record in _folder().glob("*.json"):
        try:
            kept = UnsavedText(**json.loads(read_regular(record)), record=record)
            written = record.stat().st_mtime
            still_runs = _began(int(kept.process)) == float(kept.began)
        except (OSError, ValueError, TypeError):
            with suppress(OSError):
                record.unlink()
            continue
        if not still_runs:
            dated.append((written, kept))
    return tuple(kept for _, kept in sorted(dated, key=lambda pair: pair[0]))
