"""Object files, compiled once: kept under a hash of the command and of all that the compiler read (`kept.py`)."""

import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path

from workbench.api.compile import compiler_warnings, digest
from workbench.api.job import Job
from workbench.api.kept import keep, keep_data, kept_folder, remember_reads, take, taken
from workbench.api.source.flags import include_folders, options
from workbench.model.diagnostic import Diagnostic
from workbench.system.process import ENGLISH, ProcessResult
from workbench.system.toolchain import Tool

_OBJECT, _SAID = "object", "said.txt"
_PREREQUISITE = re.compile(r"(?:\\.|[^\s\\])+")

#: what the compiler reads besides its command line
_FOLDERS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_VARIABLES = (
    *_FOLDERS, "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "SOURCE_DATE_EPOCH",
    "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
)  # fmt: skip
_MAPS = ("-ffile-prefix-map=", "-fmacro-prefix-map=", "-fdebug-prefix-map=")
_MORE = re.compile(rb"\.incbin|#\s*embed|__has_(include|embed)|__(DATE|TIME|TIMESTAMP)__")
_OWN = Path(str(files("workbench.resources")))

Run = Callable[[Sequence[str | Path]], ProcessResult]


@dataclass(frozen=True)
class ObjectFile:
    """An object file to be made of a source. `flags` are the compiler's, without those of input and output; `made_by`
    is whatever else it depends on. Below `root` lies a project whose place is not to be in the object file: projects
    elsewhere get the same one."""

    tool: Tool
    flags: Sequence[str]
    source: Path
    target: Path
    made_by: Sequence[str] = field(default=())
    root: Path | None = None

    def command(self, listed: Path) -> list[str]:
        """What compiles it, and lists in a file what was read for it."""
        anywhere = [f"-ffile-prefix-map={self.root}=."] if self.root else []
        words = (*anywhere, "-MD", "-MF", listed, "-c", self.source, "-o", self.target)
        return [str(self.tool.path), *self.flags, *map(str, words)]


def _at_once(command: Sequence[str], run: Run) -> ProcessResult:
    return run(command)


def compile_objects(
    objects: Sequence[ObjectFile],
    job: Job,
    *,
    base: Path,
    cwd: Path,
    what: str,
    through: Callable[[Sequence[str], Run], ProcessResult] = _at_once,
) -> tuple[Diagnostic, ...]:
    """Make object files, several at once, those that are kept as they were; `base` is the folder of this build, which
    may be another the next time. `through` takes each one's command through its steps.

    Returns the compiler's warnings; WorkbenchError with its errors where it has any."""

    def run(command: Sequence[str | Path]) -> ProcessResult:
        return job.run(command, cwd=cwd, env=ENGLISH, on_line=lambda line: None)

    def compile_(one: ObjectFile, command: Sequence[str]) -> ProcessResult:
        began_s = time.monotonic()
        result = through(command, run)
        how = "cannot compile" if result.returncode else "compiled"
        job.log(f"{Path(command[0]).name}: {how} {one.source.name} in {time.monotonic() - began_s:.1f} s")
        return result

    def make(one: ObjectFile) -> ProcessResult:
        return object_file(one, base, cwd, partial(compile_, one))

    with ThreadPoolExecutor(max_workers=max(1, min(len(objects), os.cpu_count() or 1))) as pool:
        return compiler_warnings(pool.map(make, objects), job, what, len(objects))


def object_file(
    one: ObjectFile, base: Path, cwd: Path, compile_: Callable[[Sequence[str]], ProcessResult]
) -> ProcessResult:
    """Build an object file, or take it from the cache; returns the compiler's output."""
    command = _key(one, os.path.abspath(base))
    kept = kept_folder("objects", command, base)
    if kept and (said := taken(kept / _SAID)) is not None and take(kept / _OBJECT, one.target):
        return ProcessResult(0, "", said.decode("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        listed, began_s = Path(folder) / "reads.d", time.time()
        result = compile_(one.command(listed))
        if result.returncode or not listed.is_file():
            return result
        read = [Path(os.path.abspath(cwd / name)) for name in prerequisites(listed)]
        searched = [cwd / name for name in (*include_folders(one.flags), *_folders_of_environment())]
        remember_reads(command, base, read, (one.source.parent, *searched), one.root)
        kept = kept_folder("objects", command, base)
        unchanged = all(path.stat().st_mtime < began_s for path in read if path.exists())
        placed = one.root and str(one.root) in result.stderr
        if kept and unchanged and not placed and not any(map(_reads_more, read)):
            keep_data(result.stderr.encode(), kept, _SAID)
            keep(one.target, kept, _OBJECT)
    return result


def _key(one: ObjectFile, base: str) -> str:
    """A hash of the command and of the variables that the compiler reads. Paths below `base` and `root` count from
    `base`, where the compiler only reads files by them, or maps them: in a macro's value they are part of the object
    file."""

    def from_base(path: str) -> str:
        path = path.replace(base, "")
        return path.replace(str(one.root), os.path.relpath(one.root, base)) if one.root else path

    kept = []
    for kind, path in options(one.flags):
        reads = bool(path) or kind.startswith(_MAPS)
        kept += [from_base(word) if reads else word for word in (kind, path)]
    paths = map(from_base, (str(one.source), *one.made_by))
    return digest([one.tool.version, *kept, *paths, *(f"{name}={os.environ.get(name)}" for name in _VARIABLES)])


def _folders_of_environment() -> list[str]:
    return [path for name in _FOLDERS for path in os.environ.get(name, "").split(os.pathsep) if path]


def _reads_more(file: Path) -> bool:
    """Whether a source says that its object file depends on more than the files that the compiler lists."""
    if file.is_relative_to("/usr") or file.is_relative_to(_OWN) or file.suffix == ".py":
        return False
    try:
        return bool(_MORE.search(file.read_bytes()))
    except OSError:
        return True


def prerequisites(listed: Path) -> list[str]:
    """The files that a compiler's list of them (`-MF`) names."""
    text = listed.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    words = [word for rule in text.splitlines() for word in _PREREQUISITE.findall(rule.partition(": ")[2])]
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
