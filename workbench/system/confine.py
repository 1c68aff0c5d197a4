"""Keeps the programs of a run away from the rest of the machine, where the system allows it.

Inside there is no network, no other process, and nothing can be written but the run folder: the project's folder is
seen through an overlay, so that a program writes beside its sources as it always did, and what it wrote is then in the
run folder. `/tmp`, `/run` and `/dev/shm` are empty, its own and of bounded size. bubblewrap does this, over an overlay
that util-linux's unshare mounts; neither needs any rights.
"""

import functools
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.model.diagnostic import WorkbenchError
from workbench.system.process import run_program

_OVERLAY = 'mount -t overlay overlay -o "$1" "$2" && shift 2 && exec "$@"'
_TOOLS = ("bwrap", "unshare", "mount")
_PROBE_S = 20.0
_FILES_BYTES = 1 << 30  # of memory, in each folder of a program's own
#: What programs need to start.
_SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Confinement:
    """What to put before a command, and where the files are that it wrote in the project's folder."""

    prefix: tuple[str, ...]
    files: Path
    scratch: Path

    @staticmethod
    def exit_of(code: int) -> int:
        """A command's exit code as without the confinement: bubblewrap says 128 + N where signal N ended it."""
        return 128 - code if 128 < code < 128 + 65 else code

    def written(self) -> Iterator[Path]:
        """The files that it has written until now."""
        for folder, _, names in os.walk(self.files):
            yield from (path for name in names if (path := Path(folder, name)).is_file())

    def finish(self) -> tuple[str, ...]:
        """Clear away what was needed meanwhile; the files that were written, relative to the project's folder."""
        work = self.scratch / "work" / "work"
        if work.is_dir():
            work.chmod(0o700)  # overlayfs leaves it without any permission
        shutil.rmtree(self.scratch, ignore_errors=True)
        written = sorted(p.relative_to(self.files).as_posix() for p in self.files.rglob("*") if p.is_file())
        if not written:
            shutil.rmtree(self.files, ignore_errors=True)
        return tuple(written)


#: After `env`, which takes a program whose path has a `=` for a variable.
ANY_NAME = ("sh", "-c", 'exec "$@"', "sh")


def confine(root: Path, files: Path, writable: Sequence[Path], readable: Sequence[Path]) -> Confinement | None:
    """A confinement for one program that starts in `root`; None where this system has none.

    What it writes below `root` goes to `files`, a new folder, which has to be on a disk that can hold an overlay.
    `writable` folders are open to it as they are; `readable` ones stay visible even below `/tmp`.
    """
    if missing_tools():
        return None
    scratch = files.with_name(f".{files.name}")
    for folder in (files, scratch / "work", scratch / "merged"):
        folder.mkdir(parents=True, exist_ok=True)
    shown = [option for folder in readable for option in ("--ro-bind", str(folder), str(folder))]
    open_ = [option for folder in writable for option in ("--bind", str(folder), str(folder))]
    overlay = ",".join(
        ["userxattr", *(f"{name}={_escaped(path)}" for name, path in
                        (("lowerdir", root), ("upperdir", files), ("workdir", scratch / "work")))]
    )  # fmt: skip
    prefix = (
        # the request to end is for the program, which may still have something to write
        "env", "--ignore-signal=TERM",
        "unshare", "--map-root-user", "--mount", "sh", "-c", _OVERLAY, "sh", overlay, str(scratch / "merged"),
        "bwrap", "--unshare-user", "--uid", str(os.getuid()), "--gid", str(os.getgid()),
        "--unshare-net", "--unshare-ipc", "--unshare-pid", "--die-with-parent",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
        *(word for folder in ("/tmp", "/run", "/dev/shm") for word in (*_bounded(), "--tmpfs", folder)),
        *shown, "--bind", str(scratch / "merged"), str(root), *open_, "--chdir", str(root), "--",
        "env", "--default-signal=TERM", *ANY_NAME,
    )  # fmt: skip
    confinement = Confinement(prefix, files, scratch)
    way = (root, files.stat().st_dev)  # whether an overlay can be, hangs on these
    if way not in _tried:
        _tried[way] = _runs(prefix)
    if not _tried[way]:
        confinement.finish()
        return None
    return confinement


_tried: dict[tuple[Path, int], bool] = {}


@functools.cache
def _bounded() -> tuple[str, ...]:
    """What bounds the files in memory that bubblewrap mounts next, where it can (from version 0.7 on)."""
    known = "--size" in run_program(["bwrap", "--help"], timeout_s=_PROBE_S).stdout
    return ("--size", str(_FILES_BYTES)) if known else ()


@functools.cache
def read_only() -> tuple[str, ...]:
    """What to put before a program that is to read files and do nothing else: it can write none, and has no network.
    Empty where this system does not keep programs so."""
    prefix = ("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
              "--")  # fmt: skip
    return prefix if shutil.which(prefix[0]) and _runs(prefix) else ()


def reads_only(program: Path, *folders: Path, instead: Mapping[Path, Path] | None = None) -> tuple[str, ...]:
    """As `read_only`, and of the user's files it sees those below these folders alone, beside the system's programs and
    libraries. What is reached from there by a symbolic link it does not see. `instead`: of a file it sees another."""
    if not read_only():
        return ()
    own = os.path.realpath(program)
    installed = os.path.dirname(os.path.dirname(own))  # bin and lib of a GHDL that somebody unpacked
    system = [*_SYSTEM, *([installed] if installed != "/" else [])]
    shown = [word for path in system if os.path.lexists(path) for word in _shown(path)]
    seen = [*((path, path) for path in folders), *((other, path) for path, other in (instead or {}).items())]
    given = [word for pair in seen for word in ("--ro-bind", *map(str, pair))]
    return ("bwrap", "--unshare-all", "--die-with-parent", *shown, "--dev", "/dev", "--proc", "/proc", *given, "--")


def _shown(path: str) -> tuple[str, ...]:
    return ("--symlink", os.readlink(path), path) if os.path.islink(path) else ("--ro-bind", path, path)


@functools.cache
def missing_tools() -> tuple[str, ...]:
    """The tools that confining needs and this machine lacks."""
    return tuple(tool for tool in _TOOLS if shutil.which(tool) is None)


def _runs(prefix: Sequence[str]) -> bool:
    """Whether the system lets us: containers and some distributions forbid user namespaces."""
    try:
        return run_program([*prefix, "true"], timeout_s=_PROBE_S).returncode == 0
    except WorkbenchError:
        return False


def _escaped(path: Path) -> str:
    """A path within the options of an overlay, where colons and commas part."""
    text = str(path).replace("\\", "\\\\")
    return text.replace(":", "\\:").replace(",", "\\,")
