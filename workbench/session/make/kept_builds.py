"""Caches instrumented copies under a hash of everything that the language read (`api/kept.py`).

A build is kept as plain data with the copies' texts and without its folder's name, so that it fits any folder. A build
with errors, or without a list of what it was made from (`read`), is made again each time.
"""

import io
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, cast

from workbench.api.builds import HdlBuild, HostBuild
from workbench.api.compile import digest
from workbench.api.descriptors import ReadsWithTools
from workbench.api.kept import keep_data, kept_folder, remember_reads, taken
from workbench.api.source.files import expand_sources
from workbench.model.application import HardwareSources, HostSources
from workbench.model.diagnostic import has_errors
from workbench.model.platform import Platform
from workbench.session.open.reader_child import Data

_FILE = "build.pickle"
B = TypeVar("B", HostBuild, HdlBuild)
S = TypeVar("S", HostSources, HardwareSources)


def keeping(
    language: object, root: Path, platform: Platform, values: Mapping[str, str], out: Path
) -> Callable[[S, Callable[[], B]], B]:
    """A function that takes a part and `make()`, which instruments it into the folder `out`; it returns `make()`'s
    result, or the equal cached one."""

    def kept(part: S, make: Callable[[], B]) -> B:
        return _kept_or_new((*_inputs(root, part, platform, values), *_code(language)), _folders(root, part), out, make)

    return kept


def _inputs(
    root: Path, part: HostSources | HardwareSources, platform: Platform, values: Mapping[str, str]
) -> list[str]:
    texts = [str(root), part.model_dump_json(), platform.model_dump_json(), repr(sorted(values.items()))]
    return [*texts, *map(str, expand_sources(root, part.sources))]


def _folders(root: Path, part: HostSources | HardwareSources) -> Iterable[Path]:
    """The folders in which included files are searched."""
    inner = (root / name for name in part.include_dirs)
    return dict.fromkeys((root, *inner, *((root / name).parent for name in part.sources)))


def _kept_or_new(asked: Sequence[str], folders: Iterable[Path], out: Path, make: Callable[[], B]) -> B:
    command = digest(asked)
    folder = kept_folder("instrumented", command, out)
    if folder and (kept := _read_build(folder / _FILE, out)):
        return cast(B, kept)
    began_s = time.time()
    build = make()
    if build.read and not has_errors(build.diagnostics) and _unchanged_since(began_s, build.read):
        remember_reads(command, out, build.read, folders)
        if (data := _written(build, out)) and (folder := kept_folder("instrumented", command, out)):
            keep_data(data, folder, _FILE)
    return build


def _unchanged_since(time_s: float, files: Iterable[Path]) -> bool:
    return all(path.stat().st_mtime < time_s for path in files if path.exists())


def _code(language: object) -> Iterator[str]:
    """The versions of all code that instruments: the language's plugin, the installed packages, and its tools."""
    yield type(language).__qualname__
    plugin = sys.modules[type(language).__module__.partition(".")[0]]  # languages may build upon each other
    own = getattr(plugin, "__path__", [plugin.__file__])
    for place in (*sys.modules["workbench"].__path__, *own, str(files("workbench.resources"))):
        yield from _stamps(str(place))
    for folder in sys.path:
        with suppress(OSError):
            yield from sorted(name for name in os.listdir(folder or ".") if name.endswith(".dist-info"))
    if isinstance(language, ReadsWithTools):
        yield from language.tools()


@cache
def _stamps(place: str) -> tuple[str, ...]:
    inner = (os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
    code = (file for file in (place, *inner) if file.endswith((".py", ".h", ".hpp", ".c", ".v", ".vhd", ".j2")))
    return tuple(f"{file} {(stat := os.stat(file)).st_size} {stat.st_mtime_ns}" for file in sorted(code))


class _Pickler(pickle.Pickler):
    """Pickles paths below a folder as relative ones."""

    def __init__(self, stream: io.BytesIO, base: Path) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._base = base

    def persistent_id(self, one: object) -> str | None:
        within = isinstance(one, Path) and one.is_relative_to(self._base)
        return str(cast(Path, one).relative_to(self._base)) if within else None


class _Unpickler(Data):
    def __init__(self, stream: io.BytesIO, base: Path) -> None:
        super().__init__(stream)
        self._base = base

    def persistent_load(self, relative: str) -> Path:
        return self._base / relative


def _written(build: HostBuild | HdlBuild, out: Path) -> bytes:
    """The build and its files; nothing if they contain their folder's name."""
    texts = {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    stream = io.BytesIO()
    _Pickler(stream, out).dump((build, {str(path): text for path, text in texts.items()}))
    data = stream.getvalue()
    return b"" if os.fsencode(out) in data else data


def _read_build(file: Path, out: Path) -> Any:
    """The cached build, with its files written; None if it is not cached."""
    if (data := taken(file)) is None:
        return None
    try:
        build, texts = _Unpickler(io.BytesIO(data), out).load()
        for name, text in texts.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(text)
    except (OSError, ValueError, EOFError, pickle.UnpicklingError):
        return None
    return build
