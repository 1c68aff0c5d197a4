"""How long the window's thread works without looking at its events, in processor time, and on what."""

from __future__ import annotations

import faulthandler
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from PySide6.QtCore import QAbstractEventDispatcher

LONG_S = 0.1
_SAMPLE_S = 0.01
_LINE = re.compile(r'  File "(.+)", line (\d+) in (.+)')


class Turns:
    """Follows the turns of the event loop: from one look whether there is nothing more to do to the next. What a turn
    waits costs no processor time; the questions of a test are left out.

    Processor time of the one thread, so that a busy machine changes nothing; the stack is the one seen most often
    (of this project's own lines) asked for by a second thread every 10 ms while a turn is long.
    """

    def __init__(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.main_thread().ident or 0)
        self._start = self._paused_at = self._now()
        self._seen: Counter[str] = Counter()
        self.longest_ms, self.stack = 0.0, ""
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.aboutToBlock.connect(self._end)
        threading.Thread(target=self._watch, daemon=True).start()

    def _now(self) -> float:
        return time.clock_gettime(self._clock)

    def _end(self) -> None:
        took_ms = (self._now() - self._start) * 1000
        if took_ms > self.longest_ms:
            self.longest_ms = took_ms
            self.stack = self._seen.most_common(1)[0][0] if self._seen else ""
        self._seen = Counter()
        self._start = self._now()

    def pause(self) -> None:
        """A question begins, which is no work of the window's."""
        self._paused_at = self._now()

    def resume(self) -> None:
        self._start += self._now() - self._paused_at

    def take(self) -> tuple[float, str]:
        """The longest turn since the last time this was asked, in milliseconds, and where it was spent."""
        taken = self.longest_ms, self.stack
        self.longest_ms, self.stack = 0.0, ""
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
                if self._now() - self._start > LONG_S / 4:
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
