"""How a clock's cycles are put on the host's clock: a platform says it, a run keeps it."""

from enum import StrEnum


class Alignment(StrEnum):
    START = "start"  # cycle 0 begins with the run
    READ_OUT = "read_out"  # the cycle in which its counters were frozen is when the host did it
