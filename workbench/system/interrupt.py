"""A signal that asks this process to end: all its jobs are cancelled, whichever thread they run in."""

import os
import signal
import threading
import time
from collections.abc import Collection
from contextlib import suppress

WITHIN_S = 1.5  # for what is under way to end in order
CANCELLED_CODE = 130

asked = threading.Event()


def end_after(signals: Collection[int]) -> None:
    """From now on, the first of these signals ends this process in `WITHIN_S`, if it does not end before: all programs
    that it started end with it (supervise.py).

    A thread waits for the numbers of signals, which the interpreter writes into a pipe. A handler would not do: it runs
    in the main thread, which may wait, or hold the very lock (as of `threading`) that the handler needs.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_wait_for, args=(reading, frozenset(signals)), daemon=True).start()


def _wait_for(reading: int, signals: frozenset[int]) -> None:
    while signals.isdisjoint(os.read(reading, 64)):
        pass
    time.sleep(WITHIN_S)
    with suppress(OSError):
        os.write(2, b"Cancelled.\n")
    os._exit(CANCELLED_CODE)
