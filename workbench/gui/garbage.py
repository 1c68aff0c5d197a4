"""When Python looks through all its objects for garbage: in turns of the event loop of their own.

Such a look takes some 60 ms once every mode was shown, and Python begins it in the midst of whatever makes objects: the
turn that lays out a view would last as much longer.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

PAUSE_MS = 2_000
_ENOUGH = 10  # looks at younger objects since the last one at all: as often as Python would
_YOUNG, _MIDDLE = 700, 10  # as Python itself has them
_NEVER = 1 << 30


def look_between_turns(parent: QObject, busy: Callable[[], bool]) -> None:
    """From now on, for as long as the parent lives; not while it is `busy`, nor where nothing was made since."""
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    timer = QTimer(parent, interval=PAUSE_MS)
    timer.timeout.connect(lambda: _look(busy))
    timer.start()


def _look(busy: Callable[[], bool]) -> None:
    if gc.get_count()[2] > _ENOUGH and not busy():
        gc.collect()
