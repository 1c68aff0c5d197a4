"""Where what was built is kept, to be taken again: a folder that can be deleted at any time."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import platformdirs

from workbench.system import store
from workbench.system.folders import NAME

#: what the workbench keeps in it, a folder each; a folder that the user chose may hold more
KINDS = (
    "api", "bench", "cards", "compilers", "composed", "ghdl", "instrumented", "library", "mixed", "models", "objects",
    "primitives", "reads", "replay", "side_by_side", "verilated", "verilog", "vhdl", "words",
)  # fmt: skip
LIMIT_MB = 4000
_EVERY_S = 60.0


def cache_dir() -> Path:
    """`$RCW_CACHE`, or the folder chosen in the settings, or the system's for such."""
    chosen = os.environ.get("RCW_CACHE") or store.preference("folder.cache", "")
    return Path(chosen) if chosen else platformdirs.user_cache_path(NAME, appauthor=False)


def clear_cache() -> int:
    """Remove everything that the workbench keeps in the cache; the bytes that this freed."""
    before_bytes = cache_bytes()
    for kind in KINDS:
        shutil.rmtree(cache_dir() / kind, ignore_errors=True)
    return before_bytes - cache_bytes()


def cache_bytes() -> int:
    """The size of everything that the workbench keeps in the cache."""
    return sum(size for _, size, _ in _entries())


def bound_cache() -> None:
    """Remove the entries that were used least recently, until the cache is within the size that the settings allow."""
    chosen = store.preference("cache_mb", "")
    limit_bytes = (int(chosen) if chosen.isdecimal() else LIMIT_MB) * 10**6
    entries = sorted(_entries(), reverse=True)
    for used_s, size_bytes, entry in entries:
        limit_bytes -= size_bytes
        if limit_bytes < 0 and (used_s, size_bytes, entry) != entries[0]:
            shutil.rmtree(entry, ignore_errors=True)
            with suppress(OSError):
                entry.unlink()


def bound_cache_at_times() -> None:
    """As `bound_cache`, which looks at each of thousands of files, but once a minute at most."""
    last = cache_dir() / "bounded"
    with suppress(OSError):
        if last.exists() and abs(time.time() - last.stat().st_mtime) < _EVERY_S:
            return
        last.touch()
    bound_cache()


def _entries() -> Iterator[tuple[float, int, Path]]:
    """Each entry: when it was used last, its size in bytes, and its file or folder."""
    for kind in KINDS:
        with suppress(OSError):
            for entry in os.scandir(cache_dir() / kind):
                with suppress(OSError):
                    yield entry.stat().st_mtime, _bytes(entry), Path(entry)


def _bytes(entry: os.DirEntry[str]) -> int:
    if not entry.is_dir(follow_symlinks=False):
        return entry.stat(follow_symlinks=False).st_size
    with suppress(OSError), os.scandir(entry) as inner:
        return sum(map(_bytes, inner))
    return 0
