"""The top's inputs that clock and reset the blocks of a design."""

import re
from collections import Counter

from workbench.hdl.instances import Instance, uses_in

_RESET = re.compile(r".*(rst|reset).*", re.IGNORECASE)


def clocks(top: Instance | None) -> tuple[tuple[str, int], ...]:
    """The top's ports that clock blocks, the most used first, and how many blocks each."""
    return tuple(Counter(use.root_clock for use in uses_in(top) if use.root_clock).most_common())


def resets(top: Instance | None) -> tuple[tuple[str, bool], ...]:
    """The top's ports that reset clocked blocks, the most used first, and whether low means reset, as they use it."""
    uses_of = Counter(use.reset for use in uses_in(top) if use.reset and _RESET.fullmatch(use.reset[0]))
    most: dict[str, bool] = {}
    for (name, low), _ in uses_of.most_common():
        most.setdefault(name, low)
    return tuple(most.items())
