"""The system's own libclang, which reads sources where it is newer than the one that came with the workbench."""

import ctypes
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

#: where Debian, Fedora and Arch have it, and how they call it: libclang-19.so.19, libclang.so.20.1
_LIBRARIES = ("usr/lib/llvm-*/lib", "usr/lib64", "usr/lib")
_LIBRARY = re.compile(r"libclang(?:-(\d+)\.so\.[\d.]+|\.so\.(\d+)[\d.]*)")


@dataclass(frozen=True)
class SystemClang:
    """A libclang, with the folder of its own headers (`include` in it)."""

    version: int
    library: Path
    headers: Path


def newer(folders: Iterable[Path], than: int) -> list[SystemClang]:
    """Each libclang in these folders of libraries that is newer, and whose headers are there: a parser reads those of
    its own version. The newest first."""
    libraries = []
    for folder in folders:
        for library in folder.glob("libclang[-.]*so.*"):
            match = _LIBRARY.fullmatch(library.name)
            number = int(match[1] or match[2]) if match else 0
            for headers in (folder / "clang" / str(number), folder.parent / "lib" / "clang" / str(number)):
                if number > than and (headers / "include" / "stddef.h").is_file():
                    libraries.append(SystemClang(number, library, headers))
    return sorted(libraries, key=lambda one: (-one.version, len(one.library.name), one.library.name))


def first_that_loads(libraries: Iterable[SystemClang]) -> SystemClang | None:
    for one in libraries:
        with suppress(OSError):  # of another machine, or with a part of it missing
            ctypes.CDLL(str(one.library))
            return one
    return None


@cache
def system_clang() -> SystemClang | None:
    return first_that_loads(_of_this_machine())


def tools() -> list[str]:
    """What sources may be read with instead of the library that came along (`ReadsWithTools`)."""
    libraries = (one.library.resolve() for one in _of_this_machine())
    return [f"{library} {library.stat().st_mtime_ns}" for library in libraries]


def _of_this_machine() -> list[SystemClang]:
    ours = re.match(r"\d+", version("libclang"))
    folders = [folder for pattern in _LIBRARIES for folder in Path("/").glob(pattern)]
    return newer(folders, int(ours[0]) if ours else 0)
