"""Drives a real window with real keys and a real mouse (xdotool), and waits for what should come of it.

    with Stage() as stage, stage.window(project) as driven:
        driven.key("ctrl+2")
        driven.wait("window.context.navigation.mode == 'analyse'")

Nothing here waits for a time: every wait is for a condition. It fails where the window did nothing for PATIENCE_S, or
used as much processor time without the condition: work on a busy machine takes as long as it takes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

TOOLS = ("Xvfb", "openbox", "xdotool")
PATIENCE_S = float(os.environ.get("DRIVEN_PATIENCE_S", 30.0))
_LOOK_AGAIN_S, _LOOK_SELDOM_S = 0.02, 0.3  # at first, and after a long wait: else the questions keep a window busy
_BUSY_SHARE = 0.3  # of the time: in less a process works, or waits for a processor, for the questions alone
_TICKS = os.sysconf("SC_CLK_TCK")


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


class Stage:
    """A screen with a window manager, on which windows are opened, each in a process of its own."""

    def __init__(self, *, warm: bool = True) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rcw-stage-")
        self._socket = Path(self._folder.name, "stage")
        script = Path(__file__).with_name("stage.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script), str(self._socket), *(["--warm"] if warm else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        said = self._process.stdout.readline().split()
        if said[:1] != ["ready"]:
            raise RuntimeError("the screen could not be started")
        self.display = said[1]

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._folder.cleanup()

    @contextmanager
    def window(
        self,
        *open_: Path,
        size: tuple[int, int] = (1600, 1000),
        theme: str = "light",
        preferences: Path | None = None,
        turns: bool = False,
    ) -> Iterator[Driven]:
        """A window on a project and its runs (or on nothing), with preferences of its own, in front and settled;
        with `turns` it knows how long its thread worked at a time (`turns.Turns`)."""
        with tempfile.TemporaryDirectory(prefix="rcw-driven-") as folder:
            kept = preferences or Path(folder, "preferences")
            environment = {"RCW_PREFERENCES": str(kept)}
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(self._socket))
            driven = Driven(connection, self.display)
            try:
                asked = {"open": [str(p) for p in open_], "size": size, "theme": theme, "turns": turns}
                driven.start(asked | {"environment": environment})
                yield driven
            finally:
                driven.kill()


class Patience:
    """How long to wait for a process: until it and its children rested for `patience_s`, or used that much processor
    time. Neither depends on what else the machine does."""

    def __init__(self, pid: int, patience_s: float) -> None:
        self._pid, self._patience_s, self._rested_s = pid, patience_s, 0.0
        self._seen_s = time.monotonic()
        self._used_s, self._active_s = processor_s(pid), active_s(pid)

    def is_over(self) -> bool:
        now_s = time.monotonic()
        if (passed_s := now_s - self._seen_s) < 0.5:
            return False
        active = active_s(self._pid)
        self._rested_s = self._rested_s + passed_s if 0 <= active - self._active_s < _BUSY_SHARE * passed_s else 0.0
        self._seen_s, self._active_s = now_s, active
        return self._rested_s > self._patience_s or processor_s(self._pid) - self._used_s > self._patience_s


def rest(seconds: float) -> None:
    """Let a pause pass after which the window does something by itself."""
    time.sleep(seconds)


def processor_s(pid: int) -> float:
    """Processor time of a process and its children so far; 0 where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(processor_s, _children(pid)))


def active_s(pid: int) -> float:
    """How long the threads of a process and its children ran, or waited for a processor, so far."""
    total_ns = 0
    with suppress(OSError):  # a process that ended
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # a thread that ended
                total_ns += sum(map(int, task.read_text().split()[:2]))
    return total_ns / 1e9 + sum(map(active_s, _children(pid)))


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # a process that ended
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, task.read_text().split())
    return found


class Driven:
    """One window. `ask` and `wait` take Python expressions over `window`, worked out in the window's own thread."""

    def __init__(self, connection: socket.socket, display: str) -> None:
        self._lines = connection.makefile("rw", encoding="utf-8")
        self._connection = connection
        self._environment = {**os.environ, "DISPLAY": display}
        self.pid = 0
        self.faults: list[str] = []

    def start(self, asked: dict[str, Any]) -> None:
        self._connection.settimeout(20 * PATIENCE_S)  # a turn of the window's, on a machine that others use
        self.pid = self._exchange(asked)["pid"]
        self.wait("window.isActiveWindow()")
        self.settle()

    def kill(self) -> None:
        """End the window at once, as a power cut would."""
        if self.alive:
            os.kill(self.pid, signal.SIGKILL)
        self.wait_for(lambda: not self.alive, "the window's end")
        self._connection.close()

    @property
    def alive(self) -> bool:
        return bool(self.pid) and Path(f"/proc/{self.pid}").exists()

    # ---- what the window knows

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            self._lines.write(json.dumps(message) + "\n")
            self._lines.flush()
            answer: dict[str, Any] = json.loads(self._lines.readline() or '{"error": "the window has gone"}')
        except ConnectionError:
            raise RuntimeError("the window has gone") from None
        self.faults += answer.get("faults", ())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def ask(self, expression: str) -> Any:
        return self._exchange({"ask": expression})["value"]

    def do(self, statement: str) -> None:
        """Run statements in the window's process, for what is no matter of keys and mouse."""
        self._exchange({"statement": statement})

    def wait(self, expression: str, what: str = "", patience_s: float | None = None) -> Any:
        """Wait until the expression is true; gives its value."""
        try:
            return self.wait_for(lambda: self.ask(expression), what or expression, patience_s)
        except AssertionError as failed:
            shown = self.ask("[n.message for n in window.context.notices]")
            raise AssertionError(f"{failed} Notices: {shown}") from None

    def wait_for(self, condition: Any, what: str, patience_s: float | None = None) -> Any:
        patience, pause_s = Patience(self.pid, patience_s or PATIENCE_S), _LOOK_AGAIN_S
        while not (value := condition()):
            if patience.is_over():
                raise AssertionError(f"waited in vain for: {what}. {' '.join(self.faults)}")
            time.sleep(pause_s)
            pause_s = min(1.1 * pause_s, _LOOK_SELDOM_S)
        return value

    def settle(self) -> None:
        """Wait until nothing is read or worked out in the background, and what came of it was taken in."""
        quiet = "not window.busy"
        self.wait_for(lambda: all(self.ask(quiet) for _ in range(3)), "a quiet window")

    # ---- keys and mouse

    def xdo(self, *arguments: object) -> None:
        subprocess.run(["xdotool", *map(str, arguments)], check=True, env=self._environment)

    def key(self, *names: str) -> None:
        """Press keys, as xdotool names them: "ctrl+s", "F8", "Escape". They are on their way when this returns: wait
        for what should come of them."""
        self.xdo("key", "--clearmodifiers", *names)

    def type(self, text: str) -> None:
        self.xdo("type", "--clearmodifiers", "--delay", 5, text)

    def place(self, widget: str, x: float | None = None, y: float | None = None) -> tuple[int, int]:
        """Where on the screen a point of a widget is; from its far edge where negative, its middle where left out."""
        left, top = self.ask(f"place({widget}, {x}, {y})")
        return left, top

    def click(
        self, widget: str = "window", x: float | None = None, y: float | None = None, *, button: int = 1, times: int = 1
    ) -> None:
        self.xdo("mousemove", *self.place(widget, x, y), "click", "--repeat", times, "--delay", 20, button)

    def drag(self, widget: str, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        (x0, y0), (x1, y1) = self.place(widget, *start), self.place(widget, *end)
        self.xdo("mousemove", x0, y0, "mousedown", 1)
        for step in range(1, steps + 1):
            self.xdo("mousemove", "--sync", x0 + (x1 - x0) * step // steps, y0 + (y1 - y0) * step // steps)
        self.xdo("mouseup", 1)

    def resize(self, size: Sequence[int]) -> None:
        self.do(f"window.resize{tuple(size)}")
        self.wait(f"(window.width(), window.height()) == {tuple(size)}")
        self.settle()

    def picture(self, path: Path, beside: str = "None") -> Path:
        """The whole screen's part under the window, floating things and all, and under a window beside it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.ask(f"picture({str(path)!r}, {beside})")
        return path
