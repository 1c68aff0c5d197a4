"""What a run says of a design's assertions and branches: plain data for the report and the window."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class AssertionResult:
    """An assertion of the design: in how many cycles it was evaluated and `held`, or `failed`, over all blocks that
    watch it, and how often it failed in `each`. `first_cycle` (of its clock, from 0) and `first_s` are when it failed
    first, in the block `first_in`; none where it did not.

    What is strong has failed once more in each block where it was open at the end of the run. `open_cycle` and `open_s`
    are when the oldest check began that was, in the block `open_in`."""

    name: str
    file: str
    line: int
    severity: str
    says: str
    held: int
    failed: int
    each: Mapping[str, int]
    first_cycle: int | None = None
    first_s: float | None = None
    first_in: str = ""
    open_cycle: int | None = None
    open_s: float | None = None
    open_in: str = ""


@dataclass(frozen=True)
class ArmCount:
    """A branch, and in how many cycles it was taken."""

    name: str
    line: int
    count: int


@dataclass(frozen=True)
class DecisionResult:
    """An if or a case of the design, and its branches, over all blocks that count it."""

    name: str
    file: str
    line: int
    arms: tuple[ArmCount, ...]
    blocks: tuple[str, ...]
