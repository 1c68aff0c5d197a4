"""What compilers made, kept under a hash of what they really read.

Which files a source includes is known only once it has been compiled: so the compiler's own list of them is kept under
a hash of the command (`reads`), and what it made under a hash of that and of what those files hold now. A file that is
not there counts too, where one would be found before the one that was read.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.api.compile import digest
from workbench.api.job import Job
from workbench.system.cache import cache_dir
from workbench.system.files import locked, replacing

_KEPT = {"cards": 40, "models": 40, "library": 40, "objects": 4000, "reads": 8000, "instrumented": 200}
_KEPT_FOLDERS = 3  # of 160 MB each
_LIST = "reads.json"


def remember_reads(command: str, base: Path, files: Iterable[Path], folders: Iterable[Path]) -> None:
    """Keep, for the command with this hash, what it read and in which folders it looked.

    Paths below `base`, the folder of this build, are kept relative to it.
    """
    reads = {name: relative_texts(paths, base) for name, paths in (("files", files), ("folders", folders))}
    with tempfile.TemporaryDirectory() as folder, suppress(OSError):
        made = Path(folder) / _LIST
        made.write_text(json.dumps(reads), encoding="utf-8")
        keep(made, cache_dir() / "reads" / command)


def kept_folder(kind: str, command: str, base: Path) -> Path | None:
    """Where that is kept, among others of its kind, which this command would make of the files as they are now; None if
    it never ran."""
    try:
        reads = json.loads((cache_dir() / "reads" / command / _LIST).read_text(encoding="utf-8"))
        files, folders = [base / p for p in reads["files"]], [base / p for p in reads["folders"]]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return cache_dir() / kind / digest([command, *contents(_candidates(files, folders))])


def relative_texts(paths: Iterable[Path], base: Path) -> list[str]:
    return [str(p.relative_to(base)) if p.is_relative_to(base) else str(p) for p in paths]


def _candidates(files: Sequence[Path], folders: Sequence[Path]) -> list[Path]:
    """The files that were read, and the places in the folders searched where one of the same name would be found."""
    found = set(files)
    for file in files:
        for folder in folders:
            if file.is_relative_to(folder):
                found.update(other / file.relative_to(folder) for other in folders)
    return sorted(found)


def contents(paths: Iterable[Path]) -> list[str | bytes]:
    """Names and contents, for the digest. A file that cannot be read counts by its name: the build will tell."""
    parts: list[str | bytes] = []
    for path in paths:
        parts.append(path.name)
        with suppress(OSError):
            parts.append(path.read_bytes())
    return parts


def take(kept: Path, target: Path) -> bool:
    """Copy a kept file; False where there is none."""
    try:
        shutil.copy2(kept, target)
        os.utime(kept.parent)
    except OSError:
        return False
    return True


def keep(made: Path, folder: Path, name: str = "") -> None:
    """Put a copy into the cache, whole or not at all; a cache that cannot be written only costs time."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / (name or made.name), made.stat().st_mode & 0o777) as copy, made.open("rb") as original:
            shutil.copyfileobj(original, copy)
        _forget_oldest(folder.parent, _KEPT[folder.parent.name])


def keep_folder(made: Path, folder: Path) -> Path:
    """Move a folder into the cache, whole or not at all. Where it then is: the cache's, or where it was made."""
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as staged:
            shutil.copytree(made, Path(staged) / folder.name)
            os.rename(Path(staged) / folder.name, folder)
        _forget_oldest(folder.parent, _KEPT_FOLDERS)
    if not folder.is_dir():
        return made
    shutil.rmtree(made, ignore_errors=True)
    return folder


@contextmanager
def one_at_a_time(kind: str, job: Job) -> Iterator[None]:
    """Of all who make what is kept of a kind, on this machine, one goes on; the others wait, and may then find it made.

    Raises Cancelled where the job is cancelled meanwhile. Where the cache cannot be written nobody waits.
    """
    lock = None
    with suppress(OSError):
        cache_dir().mkdir(parents=True, exist_ok=True)
        while (lock := locked(cache_dir() / f"{kind}.lock")) is None:
            job.check()
            time.sleep(0.05)
    try:
        yield
    finally:
        if lock:
            lock.close()


def _forget_oldest(folder: Path, kept: int) -> None:
    found = list(folder.iterdir())
    if len(found) > kept:
        for old in sorted(found, key=lambda f: f.stat().st_mtime)[:-kept]:
            shutil.rmtree(old, ignore_errors=True)
