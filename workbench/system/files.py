"""Files written whole or not at all."""

import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from workbench.model.diagnostic import Diagnostic, WorkbenchError

SOURCE_LIMIT = 32 << 20  # bytes: no person writes a source of that length
_STAGED = ".rcw-"  # in the name of a file that is to replace another: .main.c.rcw-0123abcd
_ODD = re.compile('["\x00-\x1f\x7f\ud800-\udfff]')
_LEFT_S = 60.0  # nobody writes for that long


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def real(path: Path) -> Path:
    """The path with its links followed as far as they lead; a circle of links, which `resolve` may raise for, stays."""
    return Path(os.path.realpath(path))


def locale_hint(name: str) -> str:
    """What to do where a name is UTF-8 and the locale's encoding is not, so that programs cannot be given the name;
    empty where that is not so."""
    if sys.getfilesystemencoding() == "utf-8":
        return ""
    try:
        os.fsencode(name).decode("utf-8")
    except UnicodeError:
        return ""
    return "File names in this locale are ASCII only: set LC_ALL=C.UTF-8, and do not set PYTHONUTF8=0."


def check_name(path: Path) -> None:
    """WorkbenchError for a path with characters by which C and Verilog cannot name a file, and programs not be told of
    one: quotation marks, control characters, bytes that are no UTF-8."""
    for name in reversed((path, *path.parents)):
        if _ODD.search(name.name):
            what = "a character that C and Verilog cannot have in a file's name"
            hint = (
                locale_hint(name.name)
                or "Rename it, without quotation marks, control characters and bytes that are not UTF-8."
            )
            raise WorkbenchError(Diagnostic(f"the name of '{name}' has {what}", hint, file=str(path)))


def open_regular(path: Path) -> BinaryIO:
    """A regular file open for reading. OSError for anything else: reading a device or a pipe may never end."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "this is not a regular file", str(path))
    return os.fdopen(handle, "rb")


def read_regular(path: Path, limit_bytes: int = SOURCE_LIMIT) -> bytes:
    """A regular file's bytes. OSError where there is none, and for one that is larger than the limit."""
    with open_regular(path) as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {limit_bytes >> 20} MiB", str(path))
    return data


def read_file(path: Path) -> bytes:
    """A file's bytes. WorkbenchError where it cannot be read."""
    try:
        return read_regular(path)
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot read this file: {error.strerror}", file=str(path))) from None


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write several files, all of them or none: new ones first beside the old, then each put in its place.

    Keeps permissions and symbolic links. Raises WorkbenchError (disk full, read-only folder); then nothing is changed.
    """
    staged: list[tuple[Path, str]] = []
    replaced: list[tuple[Path, bytes | None]] = []
    path = Path()
    try:
        for path, data in contents.items():
            if path.exists() and not path.is_file():
                raise OSError(errno.EINVAL, "it is a folder, a device or a pipe")
            with _staged(real(path)) as file:
                file.write(data)
            staged.append((real(path), file.name))
        for path, temporary in staged:
            before = path.read_bytes() if path.exists() else None
            os.replace(temporary, path)
            replaced.append((path, before))
    except OSError as error:
        for done, before in reversed(replaced):
            _restore(done, before)
        message = f"cannot write this file: {error.strerror or error}"
        raise WorkbenchError(
            Diagnostic(message, "Free space, or allow writing there; nothing was changed.", file=str(path))
        ) from None
    finally:
        for _, temporary in staged:
            with suppress(OSError):
                os.unlink(temporary)


def replace_file(path: Path, data: bytes, permissions: int = 0o666) -> None:
    """Write one file at once or not at all. Raises OSError where that fails."""
    with replacing(path, permissions) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, permissions: int = 0o666) -> Iterator[BinaryIO]:
    """A file beside `path` to write to, which takes its place at the block's end, whole and on the disk.

    Where the block raises, and where nothing can be written (OSError), what stood there stays. Nothing takes the place
    of a device or a pipe: it is written to.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    with _staged(path, permissions) as file:
        yield file
    try:
        os.replace(file.name, path)
    except OSError:
        os.unlink(file.name)
        raise


def locked(path: Path) -> BinaryIO | None:
    """A file that is made where it is missing, and held until it is closed or this process is gone; None where another
    holds it. Raises OSError."""
    stream = path.open("ab")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        return None
    return stream


def sweep(folder: Path) -> None:
    """Take away what processes that were killed while they wrote left in a folder."""
    with suppress(OSError):
        for left in folder.glob(f".*{_STAGED}????????"):
            if left.is_file() and time.time() - left.stat().st_mtime > _LEFT_S:
                left.unlink()


@contextmanager
def _staged(path: Path, permissions: int = 0o666) -> Iterator[BinaryIO]:
    """A temporary file beside `path`, with the permissions that `path` has or would get; on the disk at the block's
    end, and gone where the block raises."""
    sweep(path.parent)
    name = str(path.parent / f".{path.name}{_STAGED}{secrets.token_hex(4)}")
    with open(name, "xb", opener=lambda name, flags: os.open(name, flags, permissions)) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                os.chmod(name, path.stat().st_mode & 0o7777)
        except BaseException:
            os.unlink(name)
            raise


def _restore(path: Path, before: bytes | None) -> None:
    with suppress(OSError):
        if before is None:
            path.unlink()
        else:
            replace_file(path, before)
