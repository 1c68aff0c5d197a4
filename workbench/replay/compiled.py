"""Loops in C that replay needs: compiled once, kept in the cache by their text and the compiler's version."""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.cache import cache_dir
from workbench.system.process import run_program
from workbench.system.toolchain import find_compiler


@cache
def compiled(name: str) -> ctypes.CDLL:
    """The library of `resources/replay/NAME.c`. WorkbenchError where there is no C compiler, or it refuses."""
    compiler = find_compiler("c")
    if isinstance(compiler, Diagnostic):
        raise WorkbenchError(compiler)
    source = files("workbench.resources") / "replay" / f"{name}.c"
    key = hashlib.sha256(source.read_bytes() + compiler.version.encode()).hexdigest()[:32]
    library = cache_dir() / "replay" / f"{key}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with as_file(source) as path, TemporaryDirectory(dir=library.parent) as folder:
            made = Path(folder) / library.name
            command = [str(compiler.path), "-O2", "-shared", "-fPIC", "-o", str(made), str(path)]
            lines: list[str] = []
            if run_program(command, timeout_s=120, on_line=lines.append).returncode:
                raise WorkbenchError(Diagnostic(f"{name}.c cannot be compiled", "\n".join(lines[-10:])))
            made.replace(library)
    return ctypes.CDLL(str(library))
