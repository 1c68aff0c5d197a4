"""How long a frame is, as a person writes it."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from rc_workbench_plugins.streaming.query.measures import Frame
from rc_workbench_plugins.streaming.query.read import TIMES


def frame_of(text: str) -> Frame:
    """`10 ms`, or `1000` for transfers."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(\S*)\s*", text)
    if found and not found[2] and found[1].isdecimal() and int(found[1]) > 0:
        return Frame(elements=int(found[1]))
    if found and found[2] in TIMES and (time_ps := round(float(found[1]) * TIMES[found[2]])) > 0:
        return Frame(time_ps=time_ps)
    raise ArgumentTypeError(f"'{text}' is neither a time, as 10 ms, nor a number of transfers")
