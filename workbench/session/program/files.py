"""Writes results for the user: atomically, in a folder that is created if necessary, and never over the user's own
files."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import read_regular, real, replace_file, replacing, sha256, write_files

_KIND_BYTES = 40  # bytes of a file's first line that identify the kind of a result
_MARK = ".rc-workbench.json"  # in a folder that is the workbench's own: the files that it wrote there


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file by replacing it at once. WorkbenchError if it cannot be written; the old file then stays."""
    _make_folder(path.parent)
    write_files({path: content.encode("utf-8") if isinstance(content, str) else content})


def write_result(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` make a report, a picture or an export, and move it to its place.

    An existing file is replaced only if it is a result of the same kind (its first line begins the same); a source or a
    project is not. WorkbenchError for that, and if nothing can be written; the old file stays.
    """
    path = real(path)
    _make_folder(path.parent)
    try:
        with replacing(path) as file:
            write(file)
            file.flush()
            if path.is_file() and path.stat().st_size and _kind(path) != _kind(Path(file.name)):
                raise WorkbenchError(
                    Diagnostic(
                        "this is another kind of file, so it was not replaced",
                        "Choose another name: only an earlier result of the same kind is replaced.",
                        file=str(path),
                    )
                )
    except OSError as error:
        raise WorkbenchError(_cannot_write(error, path)) from None


def write_result_text(path: Path, text: str) -> None:
    write_result(path, lambda file: file.write(text.encode()))


def write_result_table(path: Path, rows: Iterable[Iterable[str | float]]) -> None:
    """Write rows as CSV, the head first, with numbers in full precision."""

    def write(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        text.detach()  # which leaves the file open

    write_result(path, write)


def _kind(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.readline(_KIND_BYTES)


def claim_folder(out: Path) -> None:
    """Prepare `out` for writing: new, empty, or written by an earlier `seal_folder`, whose files are deleted.

    WorkbenchError if it holds other files, or a file that was changed since; then nothing is touched.
    """
    mark = out / _MARK
    try:
        out.mkdir(parents=True, exist_ok=True)
        files = [p for p in out.rglob("*") if not p.is_dir() or p.is_symlink()]
        listed = _listed(mark)
        foreign = [p for p in files if p != mark and not _is_as_written(p, listed.get(str(p.relative_to(out))))]
        if foreign:
            raise WorkbenchError(
                Diagnostic(
                    f"this folder holds files that are not the workbench's own, such as {foreign[0].relative_to(out)}",
                    "Choose a new or empty folder; this one is unchanged.",
                    file=str(out),
                )
            )
        for path in files:
            path.unlink()
        replace_file(mark, json.dumps({"files": {}}).encode())
    except OSError as error:
        raise WorkbenchError(_cannot_write(error, out)) from None


def seal_folder(out: Path) -> None:
    """List the files written to `out`, so that the workbench recognises them next time."""
    files = {str(p.relative_to(out)): sha256(p.read_bytes()) for p in sorted(out.rglob("*")) if p.is_file()}
    files.pop(_MARK, None)
    write_files({out / _MARK: json.dumps({"files": files}, indent=1).encode()})


def _listed(mark: Path) -> dict[str, Any]:
    try:
        files = json.loads(read_regular(mark))["files"]
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    return files if isinstance(files, dict) else {}


def _is_as_written(path: Path, expected_sha256: object) -> bool:
    return path.is_file() and not path.is_symlink() and sha256(path.read_bytes()) == expected_sha256


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkbenchError(_cannot_write(error, folder)) from None


def _cannot_write(error: OSError, path: Path) -> Diagnostic:
    return Diagnostic(f"cannot write: {error.strerror or error}", "Choose another place.", file=str(path))
