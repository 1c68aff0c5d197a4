"""A program under its supervisor (supervise.py): started, read within bounds, and ended with all that it began."""

import codecs
import hashlib
import os
import queue
import re
import select
import signal
import stat
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError
from workbench.system import interrupt

#: added to the environment of a tool whose messages are read: gcc and binutils write them in the user's language else
ENGLISH = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
KEPT_BYTES = 16 << 20
LONGEST_LINE = 4000
_LINES_WAITING = 10_000
_LAST_LINES = 10
_ENDING_S = 10.0
#: begins a program's supervisor; the arguments of its `main` follow
SUPERVISOR = (
    sys.executable, "-I", "-S", "-c",
    f"import sys; sys.path.append({str(Path(__file__).parent)!r}); from supervise import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])",
)  # fmt: skip
#: what terminals obey: colours and other control sequences, and characters that no text has
_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """A program's line as it can be shown: without control sequences, other control characters as U+FFFD."""
    return _CONTROL.sub("\ufffd", _SEQUENCE.sub("", text.rstrip("\r")))


class Output:
    """One output stream of a child, read to its end by a thread whatever it holds, in bounded memory.

    `hash` is of all bytes; `kept` holds the first of them; lines wait in a queue to be shown, long ones cut, and those
    that nobody takes in time left out.
    """

    def __init__(self, fd: int) -> None:
        self.hash = hashlib.sha256()
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._kept: list[bytes] = []
        self._lines: queue.Queue[str] = queue.Queue(_LINES_WAITING)
        self._fd = fd
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def kept(self) -> bytes:
        return b"".join(self._kept)

    @property
    def last_line(self) -> str:
        """The last line, as it can be shown; empty where there was none."""
        return printable(self._last_lines[-1]) if self._last_lines else ""

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def wait(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def lines(self) -> Iterator[str]:
        """The lines that wait, as they can be shown."""
        with suppress(queue.Empty):
            while True:
                yield printable(self._lines.get_nowait())

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        line, room = "", KEPT_BYTES
        with suppress(OSError):
            while data := os.read(self._fd, 65536):
                self.hash.update(data)
                if room > 0:
                    self._kept.append(data[:room])
                    room -= len(data)
                first, *rest = decoder.decode(data).split("\n")
                line += first[: LONGEST_LINE - len(line)]
                if not rest:
                    continue
                self._show(line)
                for complete in rest[-1 - _LAST_LINES : -1] if self._lines.full() else rest[:-1]:
                    self._show(complete[:LONGEST_LINE])
                line = rest[-1][:LONGEST_LINE]
        if line:
            self._show(line)

    def _show(self, line: str) -> None:
        self._last_lines.append(line)
        with suppress(queue.Full):  # a program that prints faster than anyone can read
            self._lines.put_nowait(line)


class Supervised:
    """A running program. WorkbenchError where it cannot be started. `stop` has to be called, however it ends."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        memory_bytes: int = 0,
    ) -> None:
        self._asked = False  # to end
        self._status, status = os.pipe()
        try:
            self._child: subprocess.Popen[bytes] = subprocess.Popen(
                [*SUPERVISOR, str(status), str(memory_bytes), *command],
                cwd=cwd, env={**os.environ, **(env or {})}, pass_fds=(*pass_fds, status), start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            os.close(self._status)
            raise WorkbenchError(_cannot_start(command[0], error.strerror or str(error))) from None
        finally:
            os.close(status)
        self._ended = -1  # what is readable when it has ended
        with suppress(OSError):  # a system that has no such thing
            self._ended = os.pidfd_open(self._child.pid)
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        self.stdout, self.stderr = Output(self._child.stdout.fileno()), Output(self._child.stderr.fileno())
        self.left = 0  # how many processes the program left behind, known when it has ended
        word, _, number = self._read_status().partition(" ")
        if word != "started":
            self.stop()
            raise WorkbenchError(
                _cannot_start(command[0], os.strerror(int(number)) if word == "failed" else "it ended")
            )

    def poll(self) -> int | None:
        """The exit code, -N where signal N ended the program; None while it runs."""
        return self._child.poll()

    @property
    def returncode(self) -> int:
        """How a program ended that has been stopped or seen to end."""
        code: int = self._child.returncode
        return code

    def wait(self, timeout_s: float) -> None:
        """Wait until the program has ended, at most so long: to the moment, where `subprocess` looks now and then."""
        if self._ended >= 0:
            waiting = select.poll()
            waiting.register(self._ended, select.POLLIN)
            waiting.poll(timeout_s * 1000)
            timeout_s = 0
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout_s)

    def ask_to_end(self) -> None:
        """Ask the program once to end (SIGTERM), and wait for nothing."""
        if not self._asked and self.poll() is None and self._child.stdin is not None:
            self._asked = True
            with suppress(OSError):
                os.write(self._child.stdin.fileno(), b"T")

    def written(self) -> Iterator[tuple[Path, int]]:
        """The files that its processes have open for writing just now, and how many bytes of a disk each takes."""
        for pid in _family(self._child.pid):
            folder = Path("/proc", str(pid), "fd")
            with suppress(OSError):  # it has ended meanwhile
                for fd in os.listdir(folder):
                    with suppress(OSError):
                        link, status = os.readlink(folder / fd), os.stat(folder / fd)
                        if stat.S_ISREG(status.st_mode) and os.lstat(folder / fd).st_mode & stat.S_IWUSR:
                            yield Path(link), status.st_blocks * 512

    def stop(self, grace_s: float = 0.0) -> None:
        """End the program and everything that it started; with a grace, ask it first. May be called again."""
        stdin = self._child.stdin
        assert stdin is not None
        if grace_s:
            self.ask_to_end()
            self.wait(grace_s)
        with suppress(OSError):
            stdin.close()
        self.wait(_ENDING_S)
        if self.poll() is None:
            self._child.kill()
            self._child.wait()
        for output in (self.stdout, self.stderr):
            output.wait(_ENDING_S)
        if self._status >= 0:
            word, _, number = self._read_status().partition(" ")
            self.left = int(number) if word == "left" else 0
            os.close(self._status)
            self._status = -1
        if self._ended >= 0:
            os.close(self._ended)
            self._ended = -1
        for stream, output in ((self._child.stdout, self.stdout), (self._child.stderr, self.stderr)):
            if stream and output.ended:
                stream.close()

    def _read_status(self) -> str:
        return os.read(self._status, 64).decode().strip()


def _family(pid: int) -> Iterator[int]:
    """A process, its children, theirs, and so on."""
    yield pid
    with suppress(OSError):  # it has ended meanwhile
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):  # a thread that has
                for child in Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split():
                    yield from _family(int(child))


@dataclass(frozen=True)
class ProcessResult:
    """How a program ended, -N where signal N ended it, and the first 16 MiB of both of its outputs."""

    returncode: int
    stdout: str
    stderr: str


def run_program(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    on_line: Callable[[str], None] = lambda line: None,
    on_output: Callable[[str], None] | None = None,
    check: Callable[[], None] = lambda: None,
    memory_bytes: int = 0,
    errors: str = "replace",
) -> ProcessResult:
    """Run a program to its end, with `env` added to this environment; `on_line` gets the lines of its standard error,
    `on_output` those of its standard output while it runs, and what `check` raises ends it. Each of its processes may
    map `memory_bytes`, where that is not 0. `errors` says what becomes of bytes that are no UTF-8, as `decode` has it.

    Whatever happens, nothing that it started is left. WorkbenchError where it cannot be started, or the time is over;
    Cancelled where a signal asks this process to end, in whichever thread this runs.
    """
    words = [str(word) for word in command]
    if interrupt.asked.is_set():
        raise Cancelled
    program = Supervised(words, cwd=cwd, env=env, memory_bytes=memory_bytes)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        while program.poll() is None:
            program.wait(0.05)
            for line in program.stderr.lines():
                on_line(line)
            if on_output is not None:
                for line in program.stdout.lines():
                    on_output(line)
            check()
            if interrupt.asked.is_set():
                raise Cancelled
            if deadline is not None and time.monotonic() > deadline:
                message = f"{_program(words)} was still running after {timeout_s:g} s and was ended"
                raise WorkbenchError(Diagnostic(message, "Give it less work, or look for an endless loop."))
    finally:
        program.stop()
    for line in program.stderr.lines():
        on_line(line)
    if on_output is not None:
        for line in program.stdout.lines():
            on_output(line)
    kept = (output.kept.decode(errors=errors) for output in (program.stdout, program.stderr))
    return ProcessResult(program.returncode, *kept)


class Detached:
    """A program of its own, that stays when the workbench ends: one that a person goes on using. WorkbenchError where
    it cannot be started."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        words = [str(word) for word in command]
        try:
            self._child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise WorkbenchError(_cannot_start(words[0], error.strerror or str(error))) from None

    @property
    def runs(self) -> bool:
        return self._child.poll() is None

    def end(self) -> None:
        """End it, where it turned out to be of no use."""
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGTERM)
        try:
            self._child.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()


def become(command: Sequence[str | Path]) -> NoReturn:
    """Let a program take this one's place."""
    try:
        os.execvp(command[0], [os.fspath(word) for word in command])
    except OSError as error:
        raise WorkbenchError(_cannot_start(str(command[0]), error.strerror or str(error))) from None


def _program(words: Sequence[str]) -> str:
    """What a command runs, behind what confines it."""
    at = words.index("--") + 1 if words[0] == "bwrap" and "--" in words else 0
    return Path(words[at]).name


def _cannot_start(program: str, why: str) -> Diagnostic:
    return Diagnostic(f"cannot start {program}: {why}", "Is it installed and on the PATH?")
