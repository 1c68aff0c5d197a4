"""How long a frame is, as a person writes it, and where frames of time end."""

import re
from argparse import ArgumentTypeError

import numpy as np

from rc_workbench_plugins.streaming.query.measures import FrameLength, Measure
from rc_workbench_plugins.streaming.query.read import SIZES, TIMES
from workbench.api import Diagnostic, WorkbenchError
from workbench.api.stream_events import Times
from workbench.api.unstable import thousands

LONGEST = 1 << 62  # ps, or transfers
MOST_FRAMES = 100_000


def frame_of(text: str) -> FrameLength:
    """`10 ms`, `1000` for transfers, or `64 KiB` for those that have so many bytes."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(\S*)\s*", text)
    if match and not match[2] and match[1].isdecimal() and 0 < float(match[1]) < LONGEST:
        return FrameLength(elements=int(match[1]))
    if match and match[2] in TIMES and 0.5 < (time_ps := float(match[1]) * TIMES[match[2]]) < LONGEST:
        return FrameLength(time_ps=round(time_ps))
    if match and match[2] in SIZES and 1 <= (size := float(match[1]) * SIZES[match[2]]) < LONGEST and size == int(size):
        return FrameLength(size_bytes=int(size))
    raise ArgumentTypeError(f"'{text}' is not a time (10 ms), a number of transfers or a size (64 KiB)")


def time_bounds(measure: Measure, start_ps: int, end_ps: int) -> Times:
    """Where the frames of a measure begin that last a time, or the one frame does, and the last one ends."""
    length_ps = measure.frame.time_ps
    if not length_ps:
        return np.array([start_ps, end_ps], np.int64)
    few_enough(measure, (end_ps - start_ps) // length_ps)
    return np.append(np.arange(start_ps, max(end_ps, start_ps + 1), length_ps, dtype=np.int64), end_ps)


def few_enough(measure: Measure, frames: int) -> None:
    """Raises WorkbenchError where a measure has more frames than are listed."""
    if frames >= MOST_FRAMES:
        message = f"'{measure.text}' has {thousands(frames)} frames in this run, too many to list"
        hint = f"Use longer frames (fewer than {thousands(MOST_FRAMES)}), or 'trace' for every single value."
        raise WorkbenchError(Diagnostic(message, hint))
