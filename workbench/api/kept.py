"""What compilers made, kept under a hash of what they really read.

Which files a source includes is known only once it has been compiled: so the compiler's own list of them is kept under
a hash of the command (`reads`), and what it made under a hash of that and of what those files hold now. A file that is
not there counts too, where one would be found before the one that was read.

Every entry has checksums. A damaged one is removed, and made again.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.api.compile import digest
from workbench.api.job import Job
from workbench.system.cache import bound_cache_at_times, cache_dir
from workbench.system.files import locked, replace_file, sha256

_KEPT = {
    "cards": 400,
    "models": 400,
    "library": 40,
    "objects": 4000,
    "reads": 8000,
    "instrumented": 200,
    "ghdl": 2000,
    "words": 100,
    "primitives": 200,
    "replay": 4,
}
_KEPT_FOLDERS = 3  # of 160 MB each
_LARGE = {"cards", "verilated", "side_by_side"}  # entries that take seconds to make: then the cache's size is looked at
_LIST, _SUMS = "reads.json", "checksums.json"


def remember_reads(
    command: str, base: Path, files: Iterable[Path], folders: Iterable[Path], root: Path | None = None
) -> None:
    """Keep, for the command with this hash, what it read and in which folders it looked.

    Paths below `base`, the folder of this build, are kept relative to it, and so are those below `root`.
    """
    reads = {name: relative_texts(paths, base, root) for name, paths in (("files", files), ("folders", folders))}
    keep_data(json.dumps(reads).encode(), cache_dir() / "reads" / command, _LIST)


def kept_folder(kind: str, command: str, base: Path) -> Path | None:
    """Where that is kept, among others of its kind, which this command would make of the files as they are now; None if
    it never ran."""
    try:
        reads = json.loads(taken(cache_dir() / "reads" / command / _LIST) or b"")
        files, folders = ([Path(os.path.normpath(base / p)) for p in reads[name]] for name in ("files", "folders"))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return cache_dir() / kind / digest([command, *contents(_candidates(files, folders, base))])


def relative_texts(paths: Iterable[Path], base: Path, root: Path | None = None) -> list[str]:
    bases = (base, root) if root else (base,)
    return [os.path.relpath(p, base) if any(map(p.is_relative_to, bases)) else str(p) for p in paths]


def _candidates(files: Sequence[Path], folders: Sequence[Path], base: Path) -> list[Path]:
    """The files that were read, and the places in the folders searched where one of the same name would be found; in an
    order that is the same for any `base`."""
    paths = set(files)
    for file in files:
        for folder in folders:
            if file.is_relative_to(folder):
                paths.update(other / file.relative_to(folder) for other in folders)
    return sorted(paths, key=lambda path: os.path.relpath(path, base))


def contents(paths: Iterable[Path]) -> list[str | bytes]:
    """Names and contents, for the digest. A file that cannot be read counts by its name: the build will tell."""
    parts: list[str | bytes] = []
    for path in paths:
        parts.append(path.name)
        with suppress(OSError):
            parts.append(path.read_bytes())
    return parts


def taken(kept: Path) -> bytes | None:
    """The content of a kept file; None if there is none, or if it is damaged: then its entry is removed."""
    try:
        data = kept.read_bytes()
        os.utime(kept.parent)
    except OSError:
        return None
    if sha256(data) == _sums(kept.parent).get(kept.name, ("", 0, 0))[0]:
        return data
    shutil.rmtree(kept.parent, ignore_errors=True)
    return None


def take(kept: Path, target: Path) -> bool:
    """Copy a kept file to a target, which then is as new as any file that is written now: make compares times.

    False if there is none, or if it is damaged.
    """
    if (data := taken(kept)) is None:
        return False
    try:
        target.write_bytes(data)
        shutil.copymode(kept, target)
    except OSError:
        return False
    return True


def kept_text(place: Path, make: Callable[[], str]) -> str:
    """The text kept at a place in the cache; else the one that `make` returns, which is kept there."""
    if (data := taken(place)) is not None:
        return data.decode("utf-8")
    text = make()
    keep_data(text.encode(), place.parent, place.name)
    return text


def kept_whole(folder: Path) -> bool:
    """Whether a folder is in the cache as it was kept. A damaged one is removed.

    Files of the size and time with which they were kept are not read again.
    """
    if not folder.is_dir():
        return False
    sums = _sums(folder)
    if sums and all(_is_whole(folder / name, *kept) for name, kept in sums.items()):
        with suppress(OSError):
            os.utime(folder)
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def _is_whole(file: Path, checksum: str, size_bytes: int, mtime_ns: int) -> bool:
    try:
        now = file.stat()
        if now.st_size != size_bytes:
            return False
        return now.st_mtime_ns == mtime_ns or sha256(file.read_bytes()) == checksum
    except OSError:
        return False


def _sums(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Checksum, size (bytes) and time (ns) of each file of a cache entry; empty if it is damaged."""
    try:
        read = json.loads((folder / _SUMS).read_text(encoding="utf-8"))
        return {name: (str(checksum), int(size), int(time)) for name, (checksum, size, time) in read.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def seal(folder: Path, names: Iterable[str] | None = None) -> None:
    """Write down the checksums of an entry's files, of all or of those with these names. OSError if that fails."""
    sums: dict[str, tuple[str, int, int]] = {} if names is None else _sums(folder)
    files = (p for p in sorted(folder.rglob("*")) if p.is_file()) if names is None else (folder / n for n in names)
    for file in files:
        now = file.stat()
        sums[str(file.relative_to(folder))] = (sha256(file.read_bytes()), now.st_size, now.st_mtime_ns)
    replace_file(folder / _SUMS, json.dumps(sums).encode())


def ensure(place: Path, data: bytes) -> Path:
    """A file of the cache with this content: written if it is missing or differs. OSError if that fails."""
    try:
        same = place.read_bytes() == data
    except OSError:
        same = False
    if not same:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, data)
    return place


def keep(file: Path, folder: Path, name: str = "") -> None:
    """Put a copy into the cache, whole or not at all; a cache that cannot be written only costs time."""
    with suppress(OSError):
        keep_data(file.read_bytes(), folder, name or file.name, file.stat().st_mode & 0o777)


def keep_data(data: bytes, folder: Path, name: str, permissions: int = 0o666) -> None:
    """Put a file into the cache as `keep` does."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / name, data, permissions)
        seal(folder, [name])
        _forget_oldest(folder.parent, _KEPT[folder.parent.name])


def keep_folder(source: Path, folder: Path) -> Path:
    """Move a folder into the cache, whole or not at all. Where it then is: the cache's, or where it was made."""
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as staged:
            shutil.copytree(source, Path(staged) / folder.name)
            seal(Path(staged) / folder.name)
            os.rename(Path(staged) / folder.name, folder)
        _forget_oldest(folder.parent, _KEPT_FOLDERS)
    if not folder.is_dir():
        return source
    shutil.rmtree(source, ignore_errors=True)
    return folder


@contextmanager
def one_at_a_time(kind: str, job: Job) -> Iterator[None]:
    """A lock for cached things of a kind, on this machine: one process builds, the others wait and may then use the
    result.

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
    """Where there are more entries than may be kept, leave nine tenths of these: to look for the oldest takes long."""
    if len(os.listdir(folder)) > kept:
        for old in sorted(folder.iterdir(), key=lambda entry: entry.stat().st_mtime)[: kept // 10 - kept]:
            shutil.rmtree(old, ignore_errors=True)
    if folder.name in _LARGE:
        bound_cache_at_times()
