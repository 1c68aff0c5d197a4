"""What a process has started, while any of it may end at any moment."""

from __future__ import annotations

import psutil


def running_children(process: int | None = None) -> dict[psutil.Process, str]:
    """The children of a process (or of this one), theirs and so on, that have not ended, each with its name."""
    names = {}
    for child in psutil.Process(process).children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                names[child] = child.name()
        except psutil.NoSuchProcess:  # it has ended meanwhile
            pass
    return names
