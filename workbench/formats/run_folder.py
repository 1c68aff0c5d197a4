"""Run folders: `manifest.json` and `tables/<table>/<column>.npy` (`workbench.model.run`), with `raw/` while running.

A folder says "running" from its first moment; only the last step of `RunWriter.finish` says "complete". So whatever
interrupts a run (a kill, a full disk, a power cut) leaves a folder that opens and says that it is incomplete.
A finished run has `checksums.json`, by which damage is told.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from workbench.formats.checksums import CHECKSUMS, checksums_text, is_as_written, read_checksums
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import SCHEMA_VERSION, TABLES, Manifest, Run, RunStatus, Table

MANIFEST = "manifest.json"
Document = dict[str, Any]
#: From a version to the function that turns a manifest of that version into one of the next.
Migrations = Mapping[int, Callable[[Document], Document]]
MIGRATIONS: Migrations = {}

_ADAPTER = TypeAdapter(Manifest)
#: What the manifest's lists are called that these columns index; -1 stands for none where the second is True.
_INDEXES = {"block": ("blocks", False), "site": ("sites", True), "entry": ("entries", True),
            "resource": ("resources", True), "message": ("messages", True)}  # fmt: skip


def manifest_text(manifest: Manifest) -> str:
    return json.dumps(_ADAPTER.dump_python(manifest, mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_manifest(text: str, file: str, migrations: Migrations = MIGRATIONS) -> Manifest:
    """A manifest of this or an earlier version. Raises WorkbenchError where the text is none."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise WorkbenchError(
            Diagnostic(f"the manifest is not JSON: {error.msg}", "The folder is damaged; run again.", file=file,
                       line=error.lineno, column=error.colno)
        ) from None  # fmt: skip
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise WorkbenchError(Diagnostic("the manifest has no schema_version", "Is this a run's manifest?", file=file))
    if version > SCHEMA_VERSION:
        raise WorkbenchError(
            Diagnostic(f"this run is of version {version}, later than {SCHEMA_VERSION}, the latest that is known here",
                       "Open it with a newer RC Workbench.", file=file)
        )  # fmt: skip
    while version < SCHEMA_VERSION:
        if version not in migrations:
            raise WorkbenchError(
                Diagnostic(f"runs of version {version} can no longer be read", "Run again.", file=file)
            )
        document = {**migrations[version](document), "schema_version": version + 1}
        version += 1
    try:
        return _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WorkbenchError(
            Diagnostic(f"the manifest's {where} is wrong: {first['msg']}", "It is damaged; run again.", file=file)
        ) from None


def open_run(path: Path) -> tuple[Run, tuple[Diagnostic, ...]]:
    """Open a run folder; columns are memory-mapped, read only.

    An incomplete run, and a table that is damaged (which is then left out), are diagnostics. Raises WorkbenchError
    where `path` is no run folder or its manifest cannot be read.
    """
    file = path / MANIFEST
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise WorkbenchError(Diagnostic("the manifest is not text", "The folder is damaged.", file=str(file))) from None
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        message = "this is no run folder" if missing else f"the run cannot be read: {error.strerror}"
        hint = f"A run folder holds {MANIFEST}." if missing else ""
        raise WorkbenchError(Diagnostic(message, hint, file=str(path))) from None
    manifest = read_manifest(text, str(file))
    checksums = read_checksums(path) if manifest.status is not RunStatus.RUNNING else {}
    problems = [*_incomplete(manifest, path), *_damaged(manifest, checksums, path)]
    tables: dict[str, Table] = {}
    for name in _table_names(path / "tables"):
        folder = path / "tables" / name
        if name not in TABLES:
            problems.append(Diagnostic(f"table '{name}' is not known here", severity=Severity.NOTE, file=str(folder)))
            continue
        try:
            table = {column: _read_column(folder / f"{column}.npy", kind) for column, kind in TABLES[name].items()}
            _check_table(name, table, manifest)
            for column in table:
                if not is_as_written(path, f"tables/{name}/{column}.npy", checksums):
                    raise _DamagedError(f"{column}.npy is not as it was written")
        except _DamagedError as error:
            problems.append(
                Diagnostic(f"table '{name}' is damaged and is left out: {error}", "Views that need it stay empty.",
                           severity=Severity.WARNING, file=str(folder))
            )  # fmt: skip
        else:
            tables[name] = table
    if "intervals" in tables and (why := _bad_offsets(tables)):
        del tables["intervals"]
        problems.append(
            Diagnostic(f"the trace is left out: {why}", "Views that need it stay empty.", severity=Severity.WARNING,
                       file=str(path / "tables" / "intervals"))
        )  # fmt: skip
    return Run(path, manifest, tables), tuple(problems)


class _DamagedError(Exception):
    pass


def _incomplete(manifest: Manifest, path: Path) -> Iterator[Diagnostic]:
    said = {
        RunStatus.RUNNING: "this run is incomplete: it is still going, or was ended before it could finish",
        RunStatus.FAILED: "this run failed",
        RunStatus.CANCELLED: "this run was cancelled",
    }
    if manifest.status in said:
        why = f": {manifest.reason}" if manifest.reason else ""
        yield Diagnostic(said[manifest.status] + why, "What it has is shown; run again for the rest.",
                         severity=Severity.WARNING, file=str(path))  # fmt: skip


def _damaged(manifest: Manifest, checksums: Mapping[str, str], path: Path) -> Iterator[Diagnostic]:
    """What is not as it was written, besides tables that are there."""
    of_tables = {name for name in checksums if name.startswith("tables/")}
    gone = {PurePosixPath(name).parent for name in of_tables if not (path / name).parent.is_dir()}
    changed = [name for name in checksums if name not in of_tables and not is_as_written(path, name, checksums)]
    for name in (*sorted(map(str, gone)), *changed):
        yield Diagnostic("this part of the run was changed, damaged or removed since the run was made",
                         "What it says may be wrong; run again to be sure.", severity=Severity.WARNING,
                         file=str(path / name))  # fmt: skip
    if manifest.time_ps < 0 or manifest.cycles < 0:
        yield Diagnostic(f"the manifest is damaged: it says {manifest.time_ps} ps and {manifest.cycles} cycles",
                         "Run again.", severity=Severity.WARNING, file=str(path / MANIFEST))  # fmt: skip


def _table_names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []  # a run that was ended has no tables yet, and says so by its status


def _read_column(path: Path, kind: str) -> NDArray[Any]:
    try:
        with path.open("rb") as stream:
            magic = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if magic == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(stream)
        if dtype != np.dtype(kind) or len(shape) != 1:
            raise _DamagedError(f"{path.name} holds {dtype} of {len(shape)} dimensions, not {np.dtype(kind)} of one")
        column: NDArray[Any] = np.load(path, mmap_mode="r" if shape[0] else None, allow_pickle=False)
        return column
    except FileNotFoundError:
        raise _DamagedError(f"{path.name} is missing") from None
    except (OSError, ValueError, EOFError) as error:
        raise _DamagedError(f"{path.name} cannot be read ({error})") from None


def _check_table(name: str, table: Table, manifest: Manifest) -> None:
    lengths = {len(column) for column in table.values()}
    if len(lengths) > 1:
        raise _DamagedError("its columns are not equally long")
    if name == "intervals" or lengths == {0}:
        return
    for column, (list_name, none_allowed) in _INDEXES.items():
        if column in table:
            count = len(getattr(manifest, list_name))
            low, high = int(table[column].min()), int(table[column].max())
            if low < (-1 if none_allowed else 0) or high >= count:
                raise _DamagedError(f"column {column} points outside the manifest's {count} {list_name}")
    if "block" in table:
        states = np.array([len(block.states) for block in manifest.blocks])
        for column in ("state", "from_state", "to_state"):
            if column in table and ((table[column] < 0) | (table[column] >= states[table["block"]])).any():
                raise _DamagedError(f"column {column} points outside its block's states")


def _bad_offsets(tables: Mapping[str, Table]) -> str:
    if "interval_offsets" not in tables:
        return "table 'interval_offsets' is missing"
    offsets, length = tables["interval_offsets"]["offset"], len(tables["intervals"]["state"])
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != length or (np.diff(offsets) < 0).any():
        return "its offsets do not fit its intervals"
    return ""


class RunWriter:
    """A run folder in the making. Creating one makes the folder, with status running, and `raw` for records.

    Every method raises WorkbenchError where the disk is full, the place is read-only or, on creation, holds something.
    """

    def __init__(self, path: Path, manifest: Manifest | None = None) -> None:
        self.path = path
        self.raw = path / "raw"
        started = manifest or Manifest(name=path.name, status=RunStatus.RUNNING, created=now())
        self.manifest = replace(started, status=RunStatus.RUNNING)
        with _readable_errors(path):
            if path.exists() and any(path.iterdir()):
                raise WorkbenchError(
                    Diagnostic("this folder is not empty", "Choose another for the run; this one was left as it is.",
                               file=str(path))
                )  # fmt: skip
            path.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.", ignore_cleanup_errors=True) as made:
                part = Path(made) / path.name  # a run folder is there with its manifest, or not at all
                (part / "raw").mkdir(parents=True)
                (part / MANIFEST).write_text(manifest_text(self.manifest), encoding="utf-8")
                os.replace(part, path)

    def finish(self, manifest: Manifest, tables: Mapping[str, Table], *, keep_raw: bool = False) -> Run:
        """Write the tables, then the manifest as its last step; `raw` goes once all else is safe."""
        part = self.path / "tables.part"
        with _readable_errors(self.path):
            shutil.rmtree(part, ignore_errors=True)
            try:
                _write_tables(part, tables)
                shutil.rmtree(self.path / "tables", ignore_errors=True)
                os.replace(part, self.path / "tables")
                files = [*(self.path / "tables").rglob("*.npy"), *(p for p in self.path.iterdir() if p.is_file())]
                others = [p for p in files if p.name not in (MANIFEST, CHECKSUMS)]
                text = checksums_text(self.path, others, {MANIFEST: manifest_text(manifest)})
                (self.path / CHECKSUMS).write_text(text, encoding="utf-8")
                self._write_manifest(manifest)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                with suppress(OSError):
                    (self.path / CHECKSUMS).unlink(missing_ok=True)
                raise
        self.manifest = manifest
        if not keep_raw:
            shutil.rmtree(self.raw, ignore_errors=True)
        return open_run(self.path)[0]

    def mark(self, status: RunStatus, reason: str = "") -> None:
        """Say that the run failed or was cancelled, and why. What else the folder holds stays."""
        with _readable_errors(self.path):
            marked = replace(self.manifest, status=status, reason=reason)
            (self.path / CHECKSUMS).unlink(missing_ok=True)
            self._write_manifest(marked)
            self.manifest = marked

    def _write_manifest(self, manifest: Manifest) -> None:
        part = self.path / f"{MANIFEST}.part"
        try:
            part.write_text(manifest_text(manifest), encoding="utf-8")
            os.replace(part, self.path / MANIFEST)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise


def now() -> str:
    """The time of day, as manifests keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write_tables(folder: Path, tables: Mapping[str, Table]) -> None:
    folder.mkdir()
    for name, table in tables.items():
        if set(table) != set(TABLES[name]) or len({len(column) for column in table.values()}) > 1:
            raise ValueError(f"table {name} does not have the columns {', '.join(TABLES[name])}, equally long")
        (folder / name).mkdir(parents=True)
        for column, kind in TABLES[name].items():
            np.save(folder / name / f"{column}.npy", np.asarray(table[column], dtype=kind), allow_pickle=False)


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = {
            28: "The disk is full: free some space and run again.",
            30: "This place is read-only: choose another folder for the run.",
            13: "You may not write here: choose another folder for the run.",
        }.get(error.errno or 0, "")
        raise WorkbenchError(
            Diagnostic(f"the run cannot be written: {error.strerror or error}", hint, file=str(path))
        ) from None
