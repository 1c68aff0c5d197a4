"""The log and crash reports, in the user's own state folder. Nothing is ever sent.

A working process keeps one file, named by its start and number: `*.running.log` while it runs, `*.log` after its end,
`*.crash.log` if the workbench failed. A crash below Python is written into the same file by faulthandler; the next
start finds it and reports it. Some modules are imported only if a file is kept.
"""

from __future__ import annotations

import atexit
import faulthandler
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from workbench import __version__
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.system.folders import state_dir

if TYPE_CHECKING:
    from logging import StreamHandler

KEPT = 20  # files of normal ends, and as many of crashes; older ones are deleted
MOST_CHARACTERS = 1_000_000  # of one file; then only crashes are added
MOST_CRASHES = 50  # of one process
RUNNING, CRASH = ".running.log", ".crash.log"
FATAL = b"Fatal Python error"  # the first words of faulthandler

#: Called for every crash, in its thread; the window adds itself.
watchers: list[Callable[[Diagnostic], None]] = []

_file: Path | None = None
_handler: StreamHandler[TextIO] | None = None
_left = MOST_CHARACTERS
_seen: dict[str, Diagnostic] = {}


def log_dir() -> Path:
    """The folder of logs and crash reports; on Linux `~/.local/state/rc-workbench/log`."""
    return state_dir() / "log"


def install() -> None:
    """Log and report every unexpected failure from now on, in all threads."""
    sys.excepthook = _failed
    threading.excepthook = lambda failed: _failed(failed.exc_type, failed.exc_value, failed.exc_traceback)


def start(command: Sequence[str]) -> Diagnostic | None:
    """Open this process's log file, if it is not open yet. Returns a report on an earlier process's crash that was not
    reported yet.

    Without a writable folder there is no log.
    """
    global _file, _handler, _left
    if _file is not None:
        return None
    try:
        folder = log_dir()
        folder.mkdir(parents=True, exist_ok=True)
        crashed = _settle(folder)
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{RUNNING}"
        stream = path.open("a", encoding="utf-8", buffering=1)
    except OSError:
        return None
    import logging

    logging.raiseExceptions = False  # a full disk is no reason to stop either
    _file, _handler, _left = path, logging.StreamHandler(stream), MOST_CHARACTERS
    _handler.addFilter(_fits)
    _handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.getLogger().addHandler(_handler)
    logging.getLogger().setLevel(logging.INFO)
    faulthandler.enable(stream, all_threads=True)
    atexit.register(end)
    note(f"{_about()}: {' '.join(command)}")
    return None if crashed is None else _diagnostic("the workbench crashed the last time", crashed, Severity.WARNING)


def end() -> None:
    """Close the log of a process that ends normally, and give it its final name."""
    global _file, _handler
    if _file is None or _handler is None:
        return
    import logging

    note("ended")
    atexit.unregister(end)
    faulthandler.disable()
    logging.getLogger().removeHandler(_handler)
    with suppress(OSError):  # a full disk keeps its last lines back
        _handler.stream.close()
    if _file.name.endswith(RUNNING):
        _renamed(_file, ".log")
    _file = _handler = None


def note(text: str) -> None:
    """Write a line to the log, if this process keeps one."""
    if _file is not None:
        import logging

        logging.getLogger("workbench").info("%s", text)


def crash(error: BaseException) -> Diagnostic:
    """Log a fault of the workbench or of a plugin once, and return a diagnostic with the log's place."""
    global _file
    report = "".join(traceback.format_exception(error))
    if report in _seen or len(_seen) >= MOST_CRASHES:
        return _seen.get(report) or next(reversed(_seen.values()))
    path = _file
    from workbench.api.faults import fault_text, plugin_of  # imported only after a fault

    plugin, fault = plugin_of(error), fault_text(error)
    message = f"{f'the plugin {plugin!r}' if plugin else 'the workbench'} failed here: {fault}"
    try:
        if path is None:
            folder = log_dir()
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{CRASH}"
        with path.open("a", encoding="utf-8") as file:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"{stamp} CRASH {_about()}, in thread {threading.current_thread().name}\n{report}")
        if path == _file:
            _file = path = _renamed(path, CRASH)
    except OSError:
        return Diagnostic(message, "No report could be written; nothing of yours was changed.")
    _seen[report] = _diagnostic(message, path, Severity.ERROR)
    return _seen[report]


def _failed(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if error is None or (issubclass(kind, KeyboardInterrupt | SystemExit) and not _is_plugins(error)):
        return
    count_before = len(_seen)
    report = crash(error)
    if len(_seen) > count_before:
        print(report.text(), file=sys.stderr)
    for watcher in watchers:
        watcher(report)


def _is_plugins(error: BaseException) -> bool:
    from workbench.api.faults import plugin_of

    return bool(plugin_of(error))


def _diagnostic(message: str, report: Path, severity: Severity) -> Diagnostic:
    hint = f"The report is {report}. It is kept on this machine only: send it along where you report the fault."
    return Diagnostic(message, hint, severity)


def _about() -> str:
    return f"RC Workbench {__version__}, Python {platform.python_version()}, {platform.platform()}"


def _fits(record: object) -> bool:
    global _left
    _left -= len(str(getattr(record, "msg", ""))) + len(str(getattr(record, "args", "")))
    return _left > 0


def _settle(folder: Path) -> Path | None:
    """Give the files of ended processes their final names, and delete old ones. Returns the newest crash."""
    crashed = None
    for path in sorted(folder.glob(f"*{RUNNING}")):
        number = path.name.removesuffix(RUNNING).rpartition("-")[2]
        if number.isdecimal() and not _alive(int(number)):
            fatal = FATAL in path.read_bytes()
            path = _renamed(path, CRASH if fatal else ".log")
            crashed = path if fatal else crashed
    crashes = sorted(folder.glob(f"*{CRASH}"))
    ended = sorted(p for p in folder.glob("*.log") if not p.name.endswith((RUNNING, CRASH)))
    for old in (*crashes[:-KEPT], *ended[:-KEPT]):
        old.unlink(missing_ok=True)
    return crashed


def _renamed(path: Path, ending: str) -> Path:
    target = path.with_name(path.name.removesuffix(RUNNING).removesuffix(CRASH) + ending)
    with suppress(OSError):
        path.rename(target)
        return target
    return path


def _alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
