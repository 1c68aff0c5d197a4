"""Reads foreign sources in a child process, so that a failing parser becomes a diagnostic.

The child is a fork, so it starts within milliseconds with every plugin loaded. It has limits of processor time, waiting
and memory, no files and no terminal, and returns its result as plain data without code.
"""

import enum
import gc
import importlib
import io
import os
import pickle
import resource
import select
import signal
import struct
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeVar, cast

from workbench.api.faults import PluginFault, plugin_of
from workbench.api.job import Job, JobEvent
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.supervise import PR_SET_PDEATHSIG, prctl

T = TypeVar("T")

MEMORY_BYTES = 768 << 20  # in addition to the workbench's own memory
CPU_S = 8.0
_LOOK_S = 0.1  # between checks whether the job is cancelled
_EVENT_BYTES = 4000  # with its length below the atomic size of a pipe (PIPE_BUF)
IDLE_S = 4.0  # without any work: it waits for a pipe or a device, possibly forever


class ReaderEnded(Exception):
    """The child did not finish; `why` gives the reason."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class _Fault:
    """The child's error: `kind` is "diagnostics", "os", "ended" or "fault"."""

    kind: str
    content: tuple[Any, ...]


def in_child(work: Callable[[], T], cpu_s: float = CPU_S, idle_s: float = IDLE_S, job: Job | None = None) -> T:
    """The result of `work()`, or its exception, computed in a child. ReaderEnded if a limit or a crash ended it.

    Events of the job in the child reach the job here. Cancelled if the job is cancelled, which ends the child. Import
    needed modules before: a child cannot wait for another thread's import.
    """
    receiving, sending = os.pipe()
    hearing, telling = os.pipe()
    last, crying = os.pipe()
    before = _statm()[1]
    child = os.fork()
    if child == 0:
        if job is not None:
            job.redirect(partial(_tell, telling))
        _be_child(work, (sending, telling), crying, cpu_s)
    for end in (sending, telling, crying):
        os.close(end)
    usage: resource.struct_rusage | None = None
    status = 0
    try:
        data = _received(receiving, hearing, child, idle_s, job)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(receiving)
        os.close(hearing)
        with suppress(ChildProcessError):
            _, status, usage = os.wait4(child, 0)
        words = _last_words(last)
    if status or not data:
        raise ReaderEnded(_why(status, usage, before, cpu_s, words))
    return cast(T, result_or_raise(Data(io.BytesIO(data)).load()))


def result_or_raise(came: object) -> object:
    """Return the result of the work, or raise its error."""
    if isinstance(came, _Fault):
        raise _raised(came)
    return came


def _tell(stream: int, event: JobEvent) -> None:
    """Send an event to the parent. An event is dropped if the pipe is full, since a later one replaces it."""
    data = pickle.dumps(event, pickle.HIGHEST_PROTOCOL)
    free = select.poll()
    free.register(stream, select.POLLOUT)
    with suppress(OSError):
        if len(data) < _EVENT_BYTES and free.poll(0):
            os.write(stream, struct.pack("<H", len(data)) + data)  # in one piece, below the atomic size of a pipe


def _heard(stream: int, job: Job | None) -> bool:
    """Pass an event of the child on to the job; False at the end of events."""
    size = os.read(stream, 2)
    if len(size) < 2:
        return False
    data = os.read(stream, struct.unpack("<H", size)[0])
    event = Data(io.BytesIO(data)).load()
    if job is not None and isinstance(event, JobEvent):
        job.tell(event)
    return True


def _received(stream: int, hearing: int, child: int, idle_s: float, job: Job | None) -> bytes:
    """All data that the child sends. A child that does nothing for `idle_s` seconds is ended, unless it could go on and
    other processes have the processor."""
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    poll.register(hearing, select.POLLIN)
    pieces: list[bytes] = []
    spent = 0.0
    silent_since = time.monotonic()
    while True:
        ready = {number for number, _ in poll.poll(1000 * min(idle_s, _LOOK_S))}
        if job is not None:
            job.check()
        if hearing in ready and not _heard(hearing, job):
            poll.unregister(hearing)
        if stream in ready:
            piece = os.read(stream, 1 << 20)
            if not piece:
                poll.unregister(stream)
                while poll.poll(0) and _heard(hearing, job):  # its last events
                    pass
                return b"".join(pieces)
            pieces.append(piece)
        if ready:
            silent_since = time.monotonic()
        if time.monotonic() - silent_since < idle_s:
            continue
        silent_since = time.monotonic()
        import psutil  # not needed if the answer comes in time

        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(child)
            times, waits = process.cpu_times(), process.status() == psutil.STATUS_SLEEPING
            if times.user + times.system == spent and waits:
                os.kill(child, signal.SIGALRM)
            spent = times.user + times.system


def _raised(fault: _Fault) -> Exception:
    if fault.kind == "diagnostics":
        return WorkbenchError(*fault.content)
    if fault.kind == "os":
        return OSError(*fault.content)
    if fault.kind == "ended":
        return ReaderEnded(*fault.content)
    return PluginFault(*fault.content)


def _last_words(stream: int) -> str:
    """The last line of an ended child's standard error."""
    os.set_blocking(stream, False)
    try:
        lines = os.read(stream, 1 << 16).decode("utf-8", "replace").split("\n")
    except BlockingIOError:  # a process of the child is still running
        lines = []
    finally:
        os.close(stream)
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


def _why(status: int, usage: resource.struct_rusage | None, before: int, cpu_s: float, words: str) -> str:
    """The reason for a child's end; `before` is its memory (bytes) at the start, `words` its last line."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGXCPU:
        return f"reading it takes more than {cpu_s:g} s of processor time"
    if number == signal.SIGALRM:
        return "reading it never ends: it may be a pipe or a device"
    if usage is not None and (usage.ru_maxrss << 10) - before > MEMORY_BYTES // 2:
        return _TOO_MUCH
    if number == signal.SIGABRT:  # only the parser knows the reason
        return f"its parser crashed (SIGABRT){': ' if words else ''}{words}"
    if number in (signal.SIGSEGV, signal.SIGBUS):
        return f"its parser crashed ({signal.Signals(number).name}), probably from too deep nesting"
    return "its parser ended without a result"


_TOO_MUCH = f"reading it takes more than {MEMORY_BYTES >> 20} MiB of memory"


def _be_child(work: Callable[[], object], kept: tuple[int, int], crying: int, cpu_s: float) -> NoReturn:
    try:
        gc.disable()  # objects of other threads of the parent must not be collected here
        _confine(kept, crying, cpu_s)
        sending = kept[0]
        result = outcome(work)
        with open(sending, "wb", closefd=False) as stream:
            pickle.dump(result, stream, pickle.HIGHEST_PROTOCOL)
        os._exit(0)
    finally:
        os._exit(1)


def _statm() -> tuple[int, int]:
    """The memory (bytes) of this process, and the memory in use with which its child starts: a fork has pages of files
    only after reading them."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        mapped, resident, of_files, *_ = map(int, stream.read().split())
    return mapped * resource.getpagesize(), (resident - of_files) * resource.getpagesize()


def _confine(kept: tuple[int, int], crying: int, cpu_s: float) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGSEGV, signal.SIGABRT,
                   signal.SIGBUS, signal.SIGPIPE):  # fmt: skip
        signal.signal(number, signal.SIG_DFL)  # the parent's handlers address its user
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no wait for a killed process
    nothing = os.open(os.devnull, os.O_RDWR)
    os.set_blocking(crying, False)  # an event is dropped if it is full
    for standard, place in enumerate((nothing, nothing, crying)):
        os.dup2(place, standard)
    low, high = sorted(kept)
    os.closerange(3, low)
    os.closerange(low + 1, high)
    os.closerange(high + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    used = _statm()[0]
    _lower(resource.RLIMIT_AS, used + MEMORY_BYTES)
    _lower(resource.RLIMIT_CPU, max(1, round(cpu_s)))
    _lower(resource.RLIMIT_CORE, 0)


def _lower(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def outcome(work: Callable[[], object]) -> object:
    """The result of the work, or its exception, as data."""
    try:
        return work()
    except WorkbenchError as error:
        return _Fault("diagnostics", error.diagnostics)
    except RecursionError:
        return _Fault("ended", ("it is nested too deeply",))
    except MemoryError:
        return _Fault("ended", (_TOO_MUCH,))
    except OSError as error:
        return _Fault("os", (error.errno, error.strerror or str(error), str(error.filename or "")))
    except BaseException as error:  # a defect: the parent reports it, as without a child
        return _Fault("fault", (f"a reader failed:\n{traceback.format_exc()}", plugin_of(error)))


class Data(pickle.Unpickler):
    """Unpickles only plain data: classes of the model and of the plugin API, and members of their enumerations."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):  # Python before 3.11.4 writes a member so
            return _member
        if module in (__name__, "pathlib") or module.startswith(("workbench.model.", "workbench.api.")):
            member = getattr(importlib.import_module(module), name, None)
            if isinstance(member, type):
                return member
        raise pickle.UnpicklingError(f"{module}.{name} is no data")


def _member(enumeration: object, name: str) -> enum.Enum:
    if isinstance(enumeration, enum.EnumType):
        return cast(enum.Enum, enumeration[name])
    raise pickle.UnpicklingError(f"{name} of {enumeration!r} is no data")


def ended(why: str, file: str) -> Diagnostic:
    """The diagnostic for a source whose reader ended."""
    hint = "Causes are deep nesting, endless includes, macros that multiply, and very long loops. It was not read."
    return Diagnostic(f"this source cannot be read: {why}", hint, file=file)
