"""How long a frame is, as a person writes it."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from rc_workbench_plugins.streaming.query.measures import Frame
from rc_workbench_plugins.streaming.query.read import TIMES

LONGEST = 1 << 62  # ps, or transfers


def frame_of(text: str) -> Frame:
    """`10 ms`, or `1000` for transfers."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(\S*)\s*", text)
    if found and not found[2] and found[1].isdecimal() and 0 < float(found[1]) < LONGEST:
        return Frame(elements=int(found[1]))
    if found and found[2] in TIMES and 0.5 < (time_ps := float(found[1]) * TIMES[found[2]]) < LONGEST:
        return Frame(time_ps=round(time_ps))
    raise ArgumentTypeError(f"'{text}' is neither a time, as 10 ms, nor a number of transfers")
