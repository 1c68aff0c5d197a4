"""Compiles replay's loops in C once, and keeps them in the cache like the card."""

import ctypes
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.api.compile import digest, needed
from workbench.api.kept import keep, kept_whole
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.cache import cache_dir
from workbench.system.process import run_program
from workbench.system.toolchain import find_compiler

_SOURCES = Path(str(files("workbench.resources"))) / "replay"
_FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC")


@cache
def compiled(name: str) -> ctypes.CDLL:
    """The compiled library of `resources/replay/NAME.c`. Raises WorkbenchError without a C compiler, or if it fails."""
    compiler, source = needed(find_compiler("c")), _SOURCES / f"{name}.c"
    folder = (
        cache_dir()
        / "replay"
        / digest([compiler.version, *_FLAGS, name, *(one.read_bytes() for one in sorted(_SOURCES.glob("*.[ch]")))])
    )
    if kept_whole(folder):
        return ctypes.CDLL(str(folder / f"{name}.so"))
    with TemporaryDirectory() as built:
        library = Path(built) / f"{name}.so"
        result = run_program([compiler.path, *_FLAGS, "-o", library, source], timeout_s=120)
        if result.returncode:
            raise WorkbenchError(Diagnostic("what replays runs does not compile", result.stderr, file=str(source)))
        keep(library, folder)
        return ctypes.CDLL(str(folder / library.name if kept_whole(folder) else library))
