"""How long the window's thread works without looking at its events, in processor time, and on what."""

import faulthandler
import gc
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QAbstractEventDispatcher

LONG_S = 0.1
STACKS = 3
_SAMPLE_S = 0.01
_LINE = re.compile(r'  File "(.+)", line (\d+) in (.+)')


class Turn(NamedTuple):
    """Milliseconds of processor time and on the wall, and where they were spent."""

    worked_ms: float = 0.0
    passed_ms: float = 0.0
    stack: str = ""


class Turns:
    """Follows the turns of the event loop: from one look whether there is nothing more to do to the next. What a turn
    waits costs no processor time; the questions of a test are left out.

    Processor time of the one thread, so that a busy machine changes nothing, and beside it what the clock on the wall
    says of the same turn. The stacks are those seen most often (of this project's own lines), asked for by a second
    thread every 10 ms while a turn is long; before them how long Python looked for garbage, where it did.
    """

    def __init__(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.main_thread().ident or 0)
        self._start = self._paused_at = self._times()
        self._seen: Counter[str] = Counter()
        self._longest = Turn()
        self._garbage_s = 0.0  # of this turn, in which Python looked for garbage
        gc.callbacks.append(self._look_for_garbage)
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.aboutToBlock.connect(self._end)
        threading.Thread(target=self._watch, daemon=True).start()

    def _times(self) -> tuple[float, float]:
        """Seconds of the thread's processor time, and on the wall."""
        return time.clock_gettime(self._clock), time.perf_counter()

    def _since(self, then: tuple[float, float]) -> tuple[float, float]:
        worked_s, passed_s = self._times()
        return worked_s - then[0], passed_s - then[1]

    def _look_for_garbage(self, phase: str, _: object) -> None:
        if threading.current_thread() is threading.main_thread():
            self._garbage_s += time.thread_time() * (1 if phase == "stop" else -1)

    def _end(self) -> None:
        worked_s, passed_s = self._since(self._start)
        if worked_s * 1000 > self._longest.worked_ms:
            most = self._seen.most_common(STACKS)
            stack = "; ".join(f"{times / self._seen.total():.0%} {stack}" for stack, times in most)
            if self._garbage_s > _SAMPLE_S:
                stack = f"garbage {self._garbage_s * 1000:.0f} ms; {stack}"
            self._longest = Turn(worked_s * 1000, passed_s * 1000, stack)
        self._seen, self._garbage_s = Counter(), 0.0
        self._start = self._times()

    def pause(self) -> None:
        """A question begins, which is no work of the window's."""
        self._paused_at = self._times()

    def resume(self) -> None:
        worked_s, passed_s = self._since(self._paused_at)
        self._start = self._start[0] + worked_s, self._start[1] + passed_s

    def take(self) -> Turn:
        """The longest turn since the last time this was asked."""
        taken, self._longest = self._longest, Turn()
        return taken

    def _watch(self) -> None:
        """The main thread writes down its own stack when it is sent a signal. To ask for it from here, of Python
        (`dump_traceback`, all threads), is a race with threads that begin, which CPython 3.11 does not survive; and a
        frame held here would keep its painter alive beyond the paint event, which Qt does not."""
        main = threading.main_thread().ident or 0
        with tempfile.TemporaryFile() as file:
            faulthandler.register(signal.SIGUSR1, file=file, all_threads=False)
            while True:
                time.sleep(_SAMPLE_S)
                if self._since(self._start)[0] > LONG_S / 4:
                    file.seek(0)
                    file.truncate()
                    signal.pthread_kill(main, signal.SIGUSR1)
                    time.sleep(_SAMPLE_S / 2)
                    file.seek(0)
                    self._seen[own_lines(file.read().decode(errors="replace"))] += 1


def own_lines(stack: str) -> str:
    """The innermost lines of this project in a stack as faulthandler writes it."""
    lines = _LINE.findall(stack)
    return " < ".join(f"{Path(name).name}:{line} {what}" for name, line, what in lines if "workbench" in name[-200:])
