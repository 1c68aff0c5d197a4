"""Programs under a supervisor: nothing outlives them, whoever is killed, and all that they print is read in bounds."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil
import pytest

from workbench.api.job import Job
from workbench.model.diagnostic import Cancelled, WorkbenchError
from workbench.system.confine import read_only
from workbench.system.process import LONGEST_LINE, SUPERVISOR, Supervised, printable, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")
_NUMBERS = count(1)


@pytest.fixture
def seconds() -> Iterator[str]:
    """How long a test's programs sleep: long, and a number of its own to know them by."""
    number = f"9{os.getpid()}.{next(_NUMBERS)}"
    yield number
    assert not sleeping(number)


def sleeping(seconds: str) -> list[psutil.Process]:
    processes = psutil.process_iter(["cmdline", "status"])
    return [p for p in processes if seconds in (p.info["cmdline"] or []) and p.info["status"] != psutil.STATUS_ZOMBIE]


def none_left(seconds: str, patience_s: float = 20.0) -> bool:
    deadline = time.monotonic() + patience_s
    while sleeping(seconds) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not sleeping(seconds)


def daemon(seconds: str) -> str:
    """Shell text that leaves a process in a session of its own behind, an orphan that holds every stream open."""
    return f"setsid sh -c 'sleep {seconds} & sleep {seconds}; true' & "


def ended(program: Supervised, patience_s: float = 20.0) -> int:
    program.wait(patience_s)
    program.stop()
    return program.returncode


def test_what_a_program_leaves_behind_ends_with_it(seconds: str) -> None:
    program = Supervised(["sh", "-c", daemon(seconds) + "echo done >&2; exit 3"])
    assert ended(program) == 3
    assert program.stderr.last_line == "done"
    assert program.left >= 1
    assert not sleeping(seconds)


@pytest.mark.parametrize("how", ["limit", "cancel"])
def test_a_program_that_never_ends_is_ended_with_all_that_it_started(seconds: str, how: str) -> None:
    job = Job()
    command = ["sh", "-c", daemon(seconds) + f"trap '' TERM INT HUP; echo up >&2; sleep {seconds}"]
    if how == "limit":
        with pytest.raises(WorkbenchError, match=r"was still running after 0\.5 s"):
            job.run(command, timeout_s=0.5)
    else:
        with pytest.raises(Cancelled):
            job.run(command, on_line=lambda line: job.cancel())
    assert not sleeping(seconds)


def test_what_is_told_is_the_programs_name_and_not_that_of_what_confines_it() -> None:
    with pytest.raises(WorkbenchError, match="error: sleep was still running"):
        run_program([*read_only(), "sleep", "9"], timeout_s=0.2)


@pytest.mark.usefixtures("hang_up_is_heard")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_nothing_outlives_a_workbench_that_is_killed(seconds: str, number: int) -> None:
    code = "import sys, time; from workbench.system.process import Supervised; " \
        "program = Supervised(['sh', '-c', sys.argv[1]]); time.sleep(float(sys.argv[2]))"  # fmt: skip
    script = daemon(seconds) + f"sleep {seconds}"
    workbench = subprocess.Popen([sys.executable, "-c", code, script, seconds])
    deadline = time.monotonic() + 20
    while len(sleeping(seconds)) < 4 and time.monotonic() < deadline:  # itself, and three that sleep
        time.sleep(0.02)
    workbench.send_signal(number)
    workbench.wait()
    assert none_left(seconds)


def test_a_workbench_that_is_killed_while_a_program_starts_leaves_nothing(seconds: str) -> None:
    heard, said = os.pipe()
    os.close(heard)  # nobody will hear that the program has started
    script = f"{daemon(seconds)} echo up; sleep {seconds}"
    supervisor = subprocess.Popen(
        [*SUPERVISOR, str(said), "0", "sh", "-c", script],
        pass_fds=[said], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(said)
    assert supervisor.stdin
    assert supervisor.stdout
    assert supervisor.stdout.readline() == b"up\n"
    assert supervisor.poll() is None  # it still watches over the program, until its lifeline ends
    supervisor.stdin.close()
    assert supervisor.wait(20) == 128 + signal.SIGKILL
    assert not sleeping(seconds)


def test_a_child_that_reads_sources_ends_with_its_workbench(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.h"
    os.mkfifo(pipe)
    code = "import sys; from workbench.session.open.reader_child import in_child; " \
        "in_child(lambda: open(sys.argv[1]).read(), idle_s=1000.0)"  # fmt: skip
    workbench = subprocess.Popen([sys.executable, "-c", code, str(pipe)])
    process = psutil.Process(workbench.pid)
    deadline = time.monotonic() + 20
    while not process.children() and time.monotonic() < deadline:
        time.sleep(0.02)
    (child,) = process.children()
    workbench.kill()
    workbench.wait()
    assert psutil.wait_procs([child], timeout=20)[1] == []


def test_a_supervisor_that_is_killed_takes_its_program_along(seconds: str) -> None:
    before = set(psutil.Process().children())  # a display, for other tests
    program = Supervised(["sleep", seconds])
    (supervisor,) = set(psutil.Process().children()) - before
    assert len(sleeping(seconds)) == 2
    supervisor.kill()
    assert none_left(seconds)
    assert ended(program) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -SEGV $$", -11), ("kill -KILL $$", -9), ("kill $$", -15)]
)
def test_a_program_ends_as_it_ends(script: str, code: int) -> None:
    assert ended(Supervised(["sh", "-c", script])) == code


def test_a_program_may_map_as_much_as_it_is_given() -> None:
    command = [sys.executable, "-c", "print(len(bytearray(1 << 30)))"]
    assert run_program(command, memory_bytes=3 << 30).stdout.strip() == str(1 << 30)
    done = run_program(command, memory_bytes=1 << 30)
    assert done.returncode == 1
    assert "MemoryError" in done.stderr


def test_a_program_that_is_not_there_is_told(tmp_path: object) -> None:
    with pytest.raises(WorkbenchError, match="cannot start /no/such/program: No such file or directory"):
        Supervised(["/no/such/program"])


def test_a_program_may_say_its_last_words_when_it_is_asked_to_end() -> None:
    program = Supervised(["sh", "-c", "trap 'echo last words >&2; exit 5' TERM; echo up; while :; do sleep 0.02; done"])
    while not list(program.stdout.lines()):
        time.sleep(0.01)
    program.stop(grace_s=20)
    assert (program.returncode, program.stderr.last_line) == (5, "last words")


def test_output_without_end_is_read_in_bounded_memory() -> None:
    code = """
import resource, sys
from workbench.api.job import Job
lines = []
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = Job().run(["sh", "-c", "head -c 314572800 /dev/zero | tr '\\\\0' x >&2"], on_line=lines.append)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(result.stderr), [len(line) for line in lines], (after - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kept, lines, more_mb = done.stdout.split()
    assert (int(kept), lines) == (16 << 20, f"[{LONGEST_LINE}]")
    assert int(more_mb) < 100


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m and \x1b]0;a title\x07plain", "red and plain"),
        ("\x1b]52;c;cm0gLXJm\x1b\\copied", "copied"),
        ("back\b\b\bspace\x9b2J", "back\ufffd\ufffd\ufffdspace\ufffd2J"),
        ("a tab\tstays, so does é", "a tab\tstays, so does é"),
        ("windows\r", "windows"),
    ],
)
def test_what_terminals_obey_never_reaches_one(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_are_shown_as_they_were_printed() -> None:
    program = Supervised(["sh", "-c", r"printf 'one\n\033[31mtwo\033[0m\n\n\303\251'; printf 'not utf-8 \377\n' >&2"])
    assert ended(program) == 0
    assert list(program.stdout.lines()) == ["one", "two", "", "é"]
    assert list(program.stderr.lines()) == ["not utf-8 \ufffd"]


def test_what_a_program_and_its_children_have_open_for_writing_is_seen(tmp_path: Path) -> None:
    script = "exec 3< read; (exec 4> log; head -c 300000 /dev/zero >&4; echo ready; sleep 30) & wait"
    (tmp_path / "read").write_text("words")
    program = Supervised(["sh", "-c", script], cwd=tmp_path)
    try:
        while not list(program.stdout.lines()):
            program.wait(0.02)
        assert dict(program.written()) == {tmp_path / "log": (300_000 + 4095) // 4096 * 4096}
    finally:
        program.stop()
