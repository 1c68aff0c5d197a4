"""How fast a simulation goes, while it runs."""

import struct
import time
from collections import deque
from pathlib import Path

from workbench.api import Diagnostic, Job, Platform, Severity, count_text, counted, time_text
from workbench.api.unstable import duration_text

_STANDS_S, _LOOKS = 20.0, 20
_STANDS = (
    "Causes are signals that change each other while no time passes, an endless loop, or long unrolled logic in which "
    "each change causes many others. The run goes on until simulation.wall_limit_s."
)


class Pace:
    """How far a run is, and how fast, as its job's progress."""

    def __init__(self, raw: Path, platform: Platform, job: Job) -> None:
        self._raw, self._platform, self._job = raw, platform, job
        self._looks: deque[tuple[float, int]] = deque(maxlen=_LOOKS)
        self._moved_s = time.monotonic()
        self._is_told = False

    def show(self, now_s: float) -> None:
        cycles, waiting = _progress(self._raw)
        if waiting or not self._looks or cycles != self._looks[-1][1]:
            self._moved_s = now_s
        self._looks.append((now_s, cycles))
        first_s, first = self._looks[0]
        text = _progress_text(self._raw, self._platform)
        if (stays_s := now_s - self._moved_s) > _STANDS_S:
            text += f", for {duration_text(stays_s)} in this cycle"
            self._tell()
        elif now_s > first_s:
            text += f", {count_text((cycles - first) / (now_s - first_s))} cycles/s"
        self._job.progress(None, text)

    def _tell(self) -> None:
        if not self._is_told:
            message = (
                f"the design has stayed in one cycle for {_STANDS_S:g} s: {_progress_text(self._raw, self._platform)}"
            )
            self._job.report(Diagnostic(message, _STANDS, Severity.WARNING))
        self._is_told = True


def _progress(raw: Path) -> tuple[int, bool]:
    try:
        cycles, waiting = struct.unpack("=qq", (raw / "progress.bin").read_bytes())
    except (OSError, struct.error):
        return 0, False
    return int(cycles), bool(waiting)


def _running_thread(raw: Path) -> int:
    """The number of the host's thread that had its turn, main 0."""
    try:
        return int(struct.unpack("=q", (raw / "host_progress.bin").read_bytes())[0])
    except (OSError, struct.error):
        return 0


def _progress_text(raw: Path, platform: Platform) -> str:
    assert platform.hardware is not None
    cycles = _progress(raw)[0]
    return f"{counted(cycles, 'cycle')}, {time_text(cycles / platform.hardware.clock_hz)} of virtual time"
