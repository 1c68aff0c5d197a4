"""A signal that asks this process to end: all its jobs are cancelled, whichever thread they run in."""

import os
import threading
from contextlib import suppress

WITHIN_S = 1.5  # for what is under way to end in order
CANCELLED_CODE = 130

asked = threading.Event()


def end_at_last() -> None:
    """End this process in `WITHIN_S`, if it does not end before: all programs that it started end with it
    (supervise.py)."""
    timer = threading.Timer(WITHIN_S, _end)
    timer.daemon = True
    timer.start()


def _end() -> None:
    with suppress(OSError):
        os.write(2, b"Cancelled.\n")
    os._exit(CANCELLED_CODE)
