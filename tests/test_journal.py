"""The log and the crash reports: what the workbench itself does wrong is written down, told, and never sent."""

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from workbench.session.program import journal

#: Any way out of the machine ends the process at once with code 99, whoever opens it: sockets that are no pair of this
#: machine's own, names looked up, connections, sending.
NO_NETWORK = """
import os, socket, sys
def forbid(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg",
                 "socket.bind") or (event == "socket.__new__" and arguments[1] != socket.AF_UNIX):
        os._exit(99)
sys.addaudithook(forbid)
"""
COMMAND = """
import sys
from workbench.cli.main import main
sys.argv = ["workbench", *sys.argv[1:]]
"""


@pytest.fixture
def logs(own_preferences: Path) -> Path:
    return own_preferences / "state" / "log"


def test_logs_are_kept_in_the_users_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RCW_PREFERENCES")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert journal.log_dir() == tmp_path / "rc-workbench" / "log"


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own, with every way to the network closed."""
    text = NO_NETWORK + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)


def names(logs: Path) -> list[str]:
    """The kinds of files that are kept: log, crash.log, running.log."""
    return sorted(path.name.partition(".")[2] for path in logs.iterdir())


def test_the_ways_out_are_closed_in_these_tests() -> None:
    ways = ("socket.create_connection(('127.0.0.1', 9))", "socket.gethostbyname('localhost')",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)")  # fmt: skip
    for way in ways:
        assert python(f"import socket; {way}").returncode == 99


def test_a_command_leaves_a_log_and_no_crash(logs: Path) -> None:
    done = python(COMMAND + "sys.exit(main())", "predict", "ratss", "pdf2d", "--json")
    assert done.returncode == 0, done.stderr
    assert names(logs) == ["log"]
    text = next(logs.iterdir()).read_text()
    assert "workbench predict ratss pdf2d --json" in text
    assert text.rstrip().endswith("ended")


def test_a_quick_command_leaves_nothing(logs: Path) -> None:
    assert python(COMMAND + "sys.exit(main())", "rules", "list").returncode == 0
    assert not logs.exists()


@pytest.mark.parametrize("command", [["rules", "list"], ["predict", "ratss", "pdf2d", "--json"]])
def test_a_fault_of_the_workbench_is_written_down_and_its_place_told(logs: Path, command: list[str]) -> None:
    broken = """
    import workbench.cli.rules, workbench.cli.predict
    def fail(arguments, workbench): raise TypeError("an 'IconButton' object is not callable")
    workbench.cli.rules.run_list = workbench.cli.predict.run_predict = fail
    sys.exit(main())
    """
    done = python(COMMAND + textwrap.dedent(broken), *command)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (report,) = logs.glob("*.crash.log")
    assert str(report) in done.stderr
    if "--json" in command:
        assert str(report) in json.loads(done.stdout)["diagnostics"][0]["hint"]
    else:
        assert done.stdout == ""
    text = report.read_text()
    for part in ("RC Workbench", "Python", "in thread MainThread", "in fail", "TypeError: an 'IconButton'"):
        assert part in text


def test_a_fault_in_a_thread_is_told_too(logs: Path) -> None:
    done = python("""
    import threading
    from workbench.session.program import journal
    def lose(): raise ValueError("lost in a thread")
    journal.install()
    thread = threading.Thread(target=lose, name="collector")
    thread.start()
    thread.join()
    """)
    (report,) = logs.glob("*.crash.log")
    assert str(report) in done.stderr
    assert "in thread collector" in report.read_text()
    assert "ValueError: lost in a thread" in report.read_text()


def test_a_fault_in_the_window_is_written_down_and_shown_among_the_notices(logs: Path) -> None:
    done = python("""
    import os
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QTimer, qWarning
    from workbench.gui import app
    from workbench.session.program import journal
    journal.install()
    make = app.make_window
    def fail():
        qWarning("a warning of Qt's")
        raise TypeError("an 'IconButton' object is not callable")
    def make_window(*arguments):
        application, window = make(*arguments)
        def told():
            print(*(notice.text() for notice in window.context.notices))
            application.quit()
        window.context.notices.changed.connect(told)
        QTimer.singleShot(0, fail)
        return application, window
    app.make_window = make_window
    sys.exit(app.run_window())
    """)
    assert done.returncode == 0, done.stderr
    (report,) = logs.iterdir()
    assert "the workbench failed here: TypeError: an 'IconButton' object is not callable" in done.stdout
    assert str(report) in done.stdout
    assert "in fail" in report.read_text()
    assert "a warning of Qt's" in report.read_text()
    assert "a warning of Qt's" not in done.stderr


@pytest.mark.usefixtures("hang_up_is_heard")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_idle_window(logs: Path, number: signal.Signals) -> None:
    code = """
    import os
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from workbench.gui import app
    make = app.make_window
    def make_window(*arguments):
        application, window = make(*arguments)
        window.context.background.idle_changed.connect(
            lambda: window.busy or print("idle", flush=True))
        return application, window
    app.make_window = make_window
    sys.exit(app.run_window())
    """
    text = NO_NETWORK + textwrap.dedent(code)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as window:
        assert window.stdout is not None
        assert window.stdout.readline() == "idle\n"
        window.send_signal(number)
        assert window.wait(60) == 0
    assert names(logs) == ["log"]


def test_a_crash_below_python_is_found_and_told_by_the_next_start(logs: Path) -> None:
    done = python("""
    import ctypes
    from workbench.session.program import journal
    journal.start(["workbench", "open"])
    ctypes.string_at(0)
    """)
    assert done.returncode == -signal.SIGSEGV
    assert names(logs) == ["running.log"]
    crashed = journal.start(["workbench", "open"])
    journal.end()
    assert crashed is not None
    (report,) = logs.glob("*.crash.log")
    assert str(report) in crashed.hint
    assert "Segmentation fault" in report.read_text()
    assert "string_at" in report.read_text(), "where it was, in Python's terms"
    assert journal.start(["workbench", "open"]) is None, "told once"
    journal.end()


def test_a_process_that_was_killed_is_no_crash(logs: Path) -> None:
    code = "import os; from workbench.session.program import journal; journal.start(['x']); os.kill(os.getpid(), 9)"
    assert python(code).returncode == -signal.SIGKILL
    assert names(logs) == ["running.log"]
    assert journal.start(["workbench"]) is None
    journal.end()
    assert names(logs) == ["log", "log"]


def test_the_same_fault_again_and_again_is_one_report(logs: Path) -> None:
    journal.start(["workbench"])
    error = RuntimeError("in every frame")
    said = {journal.crash(error) for _ in range(1000)}
    journal.end()
    assert len(said) == 1
    (report,) = logs.iterdir()
    assert report.read_text().count("in every frame") == 1


def test_old_logs_go_and_long_ones_end(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs.mkdir(parents=True)
    for day in range(10, 10 + journal.KEPT + 5):
        for ending in (".log", journal.CRASH):
            (logs / f"202601{day}-000000-1{ending}").touch()
    monkeypatch.setattr(journal, "MOST_CHARACTERS", 2000)
    journal.start(["workbench"])
    for _ in range(1000):
        journal.note("a line that is often told")
    journal.end()
    assert names(logs).count("crash.log") == journal.KEPT
    assert names(logs).count("log") == journal.KEPT + 1
    assert (logs / "20260110-000000-1.log").exists() is False
    assert max(path.stat().st_size for path in logs.iterdir()) < 10_000


def test_where_no_folder_can_be_made_the_work_goes_on(logs: Path) -> None:
    logs.parent.parent.mkdir(parents=True, exist_ok=True)
    logs.parent.write_text("a file in the way")
    assert journal.start(["workbench"]) is None
    journal.note("nowhere")
    assert "No report could be written" in journal.crash(RuntimeError("nowhere, too")).hint
