"""A screen of its own with a window manager, and real windows on it, one process each; run by `driver.Stage`.

    python tests/driven/stage.py SOCKET [--warm]

Starts Xvfb and openbox, says "ready" and the display on standard output, and then makes a window's process for each
connection to SOCKET (`window_process.serve`) until standard input closes. With `--warm` the program's modules are
read once here, so that each process starts at once; without it every window starts cold, as a person's does.
"""

import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

SCREEN = "3300x2100x24"
sys.path[:0] = [str(Path(__file__).parent), *map(str, list(Path(__file__).parents)[1:3])]


def start_display() -> tuple[str, list[subprocess.Popen[bytes]]]:
    """An X server that chose a free number itself, and a window manager that is at work."""
    reading, writing = os.pipe()
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset"],
        pass_fds=[writing], stdin=quiet, stdout=quiet, stderr=quiet,
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as told:
        display = f":{told.readline().strip()}"
    os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    manager = subprocess.Popen(
        ["openbox", "--sm-disable", "--startup", "echo at work"], stdin=quiet, stdout=subprocess.PIPE, stderr=quiet
    )
    assert manager.stdout is not None
    manager.stdout.readline()
    return display, [manager, server]


def warm_up() -> None:
    """Read what every window needs, also what it reads when it opens a project. No QApplication is made: that cannot
    be shared by processes."""
    import importlib
    import pkgutil

    import rc_workbench_plugins

    import workbench.hdl
    from workbench.gui.modes import MODES
    from workbench.session.program.plugins import load_plugins

    for module in ("window_process", "probes", "workbench.gui.frame.main_window", "pyslang", "clang.cindex"):
        importlib.import_module(module)
    for package in (rc_workbench_plugins, workbench.hdl):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    for mode in MODES.values():
        mode.view()
    load_plugins()


def main() -> None:
    display, helpers = start_display()
    if "--warm" in sys.argv:
        warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended windows leave nothing behind
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    print("ready", display, flush=True)
    while True:
        told, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in told:
            break
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            from window_process import serve

            serve(connection)
        connection.close()
    for helper in helpers:
        helper.terminate()
        helper.wait()


if __name__ == "__main__":
    main()
