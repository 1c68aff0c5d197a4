"""How long a frame is, as a person writes it."""

import re
from argparse import ArgumentTypeError

from rc_workbench_plugins.streaming.query.measures import FrameLength
from rc_workbench_plugins.streaming.query.read import SIZES, TIMES

LONGEST = 1 << 62  # ps, or transfers


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
