"""Run folders: `manifest.json` and `tables/<table>/<column>.npy` (`workbench.model.run`), with `raw/` while running.

A folder says "running" from its first moment; only the last step of `RunWriter.finish` says "complete". So whatever
interrupts a run (a kill, a full disk, a power cut) leaves a folder that opens and says that it is incomplete.
A finished run has `checksums.json`, by which damage is reported.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO

import numpy as np

from workbench.formats.checksums import CHECKSUMS, checksums_text, is_as_written, read_checksums
from workbench.formats.columns import DamagedError, let_go, read_column
from workbench.formats.manifest import manifest_text, read_manifest
from workbench.formats.tables import bad_trace, check_table
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.exits import exit_words, shortfall
from workbench.model.run import Manifest, Run, RunStatus
from workbench.model.run_tables import LATER_COLUMNS, TABLES, Table
from workbench.system.files import locked, read_regular, replace_file

MANIFEST = "manifest.json"
RAW = "raw"
KEPT = "tables"  # in `raw`
_LOCK = "writing"  # in `raw`, held while the run goes on
_MANIFEST_LIMIT = 256 << 20  # bytes


def open_run(path: Path) -> tuple[Run, tuple[Diagnostic, ...]]:
    """Open a run folder; columns are memory-mapped, read only. The run of a project's copy is the copy's.

    An incomplete run, and a table that is damaged (which is then left out), are diagnostics. Raises WorkbenchError
    where `path` is no run folder or its manifest cannot be read.
    """
    manifest = manifest_in(path)
    checksums, unread = _checksums(path) if manifest.status is not RunStatus.RUNNING else ({}, ())
    problems = [*_incomplete(manifest, path), *unread, *_damaged(manifest, checksums, path)]
    tables: dict[str, Table] = {}
    for name in _table_names(path / "tables"):
        folder = path / "tables" / name
        try:
            table = {
                column: read_column(folder / f"{column}.npy", kind) for column, kind in _columns_of(folder).items()
            }
            for column, none in LATER_COLUMNS.get(name, {}).items():
                if column not in table:
                    table[column] = np.full(len(next(iter(table.values()), ())), none, TABLES[name][column])
            check_table(name, table, manifest)
            let_go(table)
            for column in table:
                if not is_as_written(path, f"tables/{name}/{column}.npy", checksums):
                    raise DamagedError(f"{column}.npy changed after it was written")
        except DamagedError as error:
            problems.append(
                Diagnostic(f"table '{name}' is damaged and is left out: {error}", "Views that need it stay empty.",
                           severity=Severity.WARNING, file=str(folder))
            )  # fmt: skip
        else:
            tables[name] = table
    if "intervals" in tables and (why := bad_trace(tables, manifest, "tables/intervals/start_ps.npy" in checksums)):
        del tables["intervals"]
        problems.append(
            Diagnostic(f"the trace is left out: {why}", "Views that need it stay empty.", severity=Severity.WARNING,
                       file=str(path / "tables" / "intervals"))
        )  # fmt: skip
    return Run(path, manifest, tables), tuple(problems)


def manifest_in(path: Path) -> Manifest:
    """What a run folder says of its run. Raises WorkbenchError where it is no run folder, or cannot be read."""
    file = path / MANIFEST
    try:
        text = read_regular(file, _MANIFEST_LIMIT)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        message = "this is not a run folder" if missing else f"the run cannot be read: {error.strerror}"
        hint = f"A run folder holds {MANIFEST}." if missing else ""
        raise WorkbenchError(Diagnostic(message, hint, file=str(path))) from None
    manifest = read_manifest(text, str(file))
    manifest = replace(manifest, project=_project_of(manifest.project, path))
    if manifest.status is RunStatus.COMPLETE and manifest.exit:  # a run of an earlier version: today that is a failure
        return replace(manifest, status=RunStatus.FAILED, reason=exit_words(manifest.exit))
    return manifest


def _project_of(written: str, run: Path) -> str:
    """The project file of a run: that of the same name beside the `runs` folder which the run is in, or else the one
    written. They differ after a project was copied or moved."""
    for folder in Path(os.path.abspath(run)).parents if written else ():
        beside = folder.parent / PurePosixPath(written).name
        if folder.name == "runs" and beside.is_file():
            with suppress(OSError):
                return written if beside.samefile(written) else str(beside)
            return str(beside)
    return written


def _checksums(path: Path) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """The checksums of a run's files, or none, with the reason where they cannot be read."""
    try:
        return read_checksums(path), ()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "") or str(error)
        message = f"the run's checksums cannot be read, so later changes stay unnoticed: {why}"
        hint = "Run again to be sure."
        return {}, (Diagnostic(message, hint, Severity.WARNING, str(path / CHECKSUMS)),)


def _incomplete(manifest: Manifest, path: Path) -> Iterator[Diagnostic]:
    if said := shortfall(manifest):
        yield Diagnostic(said, "The rest is shown; run again for the missing part.",
                         severity=Severity.WARNING, file=str(path))  # fmt: skip


def _damaged(manifest: Manifest, checksums: Mapping[str, str], path: Path) -> Iterator[Diagnostic]:
    """What is not as it was written, besides tables that are there."""
    of_tables = {name for name in checksums if name.startswith("tables/")}
    gone = {PurePosixPath(name).parent for name in of_tables if not (path / name).parent.is_dir()}
    changed = [name for name in checksums if name not in of_tables and not is_as_written(path, name, checksums)]
    for name in (*sorted(map(str, gone)), *changed):
        yield Diagnostic("this part of the run was changed, damaged or removed later",
                         "Its numbers may be wrong; run again to be sure.", severity=Severity.WARNING,
                         file=str(path / name))  # fmt: skip


def _table_names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []  # a run that was ended has no tables yet, and says so by its status


def _columns_of(folder: Path) -> Mapping[str, str | None]:
    """A table's columns and their kinds; those that are there, of any kind, where it is a plugin's."""
    known = TABLES.get(folder.name)
    if known:
        later = {name for name in LATER_COLUMNS.get(folder.name, {}) if not (folder / f"{name}.npy").exists()}
        return {column: kind for column, kind in known.items() if column not in later}
    return {path.stem: None for path in sorted(folder.glob("*.npy"))}


class RunWriter:
    """A run folder in the making. Creating one makes the folder, with status running, and `raw` for records.

    Until `finish` or `mark`, or the end of this process, the run goes on. Tables that are written meanwhile are in
    `part`, and `finish` adds the others. Every method raises
    WorkbenchError where the disk is full, the place is read-only or, on creation, holds something.
    """

    def __init__(self, path: Path, manifest: Manifest | None = None) -> None:
        started = manifest or Manifest(name=path.name, status=RunStatus.RUNNING, created=now())
        started = replace(started, status=RunStatus.RUNNING)
        self._write_in(path, started, _new_folder(path, started))

    def _write_in(self, path: Path, manifest: Manifest, lock: BinaryIO | None) -> None:
        self.path, self.raw, self.part, self.manifest = path, path / RAW, path / "tables.part", manifest
        self._lock = lock  # until this is gone, the run goes on

    @classmethod
    def taken_up(cls, run: Run) -> RunWriter | None:
        """The writer of a run that left its records without tables; None where it is still going on."""
        assert run.path is not None
        with _readable_errors(run.path):
            lock = locked(run.path / RAW / _LOCK)
        if lock is None:
            return None
        writer = cls.__new__(cls)
        writer._write_in(run.path, run.manifest, lock)
        shutil.rmtree(writer.part, ignore_errors=True)
        return writer

    def describe(self, manifest: Manifest) -> None:
        """Say what is known of the run so far; its status stays."""
        with _readable_errors(self.path):
            self.manifest = replace(manifest, status=self.manifest.status)
            self._write_manifest(self.manifest)

    def keep(self, tables: Mapping[str, Table]) -> None:
        """Tables of a run that was ended, for when its others are made."""
        with _readable_errors(self.path):
            _write_tables(self.raw / KEPT, tables)

    def kept(self) -> dict[str, Table]:
        """The tables that were kept."""
        tables: dict[str, Table] = {}
        with suppress(DamagedError):
            for name in _table_names(self.raw / KEPT):
                folder = self.raw / KEPT / name
                tables[name] = {column: read_column(folder / f"{column}.npy", None) for column in _columns_of(folder)}
        return tables

    def finish(self, manifest: Manifest, tables: Mapping[str, Table], *, keep_raw: bool = False) -> Run:
        """Write the tables, then the manifest as its last step; `raw` goes once all else is safe."""
        with _readable_errors(self.path):
            try:
                _write_tables(self.part, tables)
                shutil.rmtree(self.path / "tables", ignore_errors=True)
                os.replace(self.part, self.path / "tables")
                files = [*(self.path / "tables").rglob("*.npy"), *(p for p in self.path.iterdir() if p.is_file())]
                others = [p for p in files if p.name not in (MANIFEST, CHECKSUMS)]
                text = checksums_text(self.path, others, {MANIFEST: manifest_text(manifest)})
                (self.path / CHECKSUMS).write_text(text, encoding="utf-8")
                self._write_manifest(manifest)
            except BaseException:
                shutil.rmtree(self.part, ignore_errors=True)
                with suppress(OSError):
                    (self.path / CHECKSUMS).unlink(missing_ok=True)
                raise
        self.manifest = manifest
        self._let_go()
        if not keep_raw:
            shutil.rmtree(self.raw, ignore_errors=True)
        return open_run(self.path)[0]

    def mark(self, status: RunStatus, reason: str = "") -> None:
        """Say that the run failed or was cancelled, and why. What else the folder holds stays, but for half a table."""
        with _readable_errors(self.path):
            shutil.rmtree(self.part, ignore_errors=True)
            marked = replace(self.manifest, status=status, reason=reason)
            (self.path / CHECKSUMS).unlink(missing_ok=True)
            self._write_manifest(marked)
            self.manifest = marked
            self._let_go()

    def _let_go(self) -> None:
        if self._lock:
            self._lock.close()

    def _write_manifest(self, manifest: Manifest) -> None:
        replace_file(self.path / MANIFEST, manifest_text(manifest).encode())


def _new_folder(path: Path, manifest: Manifest) -> BinaryIO | None:
    """Make a run's folder, also in the place of one whose run never began; what holds it."""
    with _readable_errors(path):
        if path.exists() and any(path.iterdir()) and not _never_began(path):
            raise WorkbenchError(
                Diagnostic("this folder is not empty", "Choose another folder for the run; this one is unchanged.",
                           file=str(path))
            )  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.", ignore_cleanup_errors=True) as temporary:
            part = Path(temporary) / path.name  # a run folder is there with its manifest, or not at all
            (part / RAW).mkdir(parents=True)
            lock = locked(part / RAW / _LOCK)
            (part / MANIFEST).write_text(manifest_text(manifest), encoding="utf-8")
            if path.exists() and any(path.iterdir()):
                shutil.rmtree(path)
            os.replace(part, path)
    return lock


def _never_began(path: Path) -> bool:
    """Whether a folder is of a run that ended before its programs were started, and holds nothing else: no record, no
    file of a person's."""
    names = {entry.name for entry in path.iterdir()}
    if not {MANIFEST, RAW} <= names <= {MANIFEST, RAW, "platform.yaml", "build"}:
        return False
    if [entry.name for entry in (path / RAW).iterdir()] != [_LOCK]:
        return False
    lock = locked(path / RAW / _LOCK)
    if lock is not None:
        lock.close()
    return lock is not None


def now() -> str:
    """The time of day, as manifests keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write_tables(folder: Path, tables: Mapping[str, Table]) -> None:
    """Write those that are not there yet."""
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        if (folder / name).exists():
            continue
        kinds = TABLES.get(name) or {column: values.dtype.str for column, values in table.items()}
        if set(table) != set(kinds) or len({len(column) for column in table.values()}) > 1:
            raise ValueError(f"table {name} does not have the columns {', '.join(kinds)} of equal length")
        (folder / name).mkdir()
        for column, kind in kinds.items():
            values = table[column]
            kind = values.dtype.str if kind[0] == "u" else kind
            np.save(folder / name / f"{column}.npy", np.asarray(values, dtype=kind), allow_pickle=False)


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
