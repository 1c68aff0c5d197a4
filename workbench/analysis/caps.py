"""What utilisation still allows: the cap beside every ideal speedup.

An ideal speedup assumes that nothing else stands in the way. The paper shows how far off that can be: 11.63 times for
one bottleneck of a run in which the FPGA works 54.1 % of the time, "thus limiting speedup to at most 1/0.541 = 1.85x"
(ReCAP 2011, section 6.1). The cap is the best that mending one side can do while the other side stays as it is:

- A finding on the host: the busiest FPGA block must still do its work, so cap = 1 / (its share of the run at work).
- A finding on the FPGA: the host must still do all that is not waiting for the FPGA, so cap = T / (T - its waiting
  time); and any other FPGA block outside the finding's own replicas must still do its work.

None means that the run tells of no other side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from workbench.analysis.results import BlockMetrics
from workbench.model.blocks import Side
from workbench.model.pragma import WAITS, Category


def cap_of(block: BlockMetrics, blocks: Sequence[BlockMetrics]) -> float | None:
    """The utilisation cap of a finding on `block` (and its replicas)."""
    if block.block.side is Side.HOST:
        busiest = work_share(b for b in blocks if b.block.side is Side.FPGA)
        return 1 / busiest if busiest else None
    caps = []
    if any(b.block.side is Side.HOST for b in blocks):
        left = 1 - host_wait_share(blocks)
        caps.append(1 / left if left > 0 else math.inf)
    others = work_share(b for b in blocks if b.block.side is Side.FPGA and b.block.group != block.block.group)
    if others:
        caps.append(1 / others)
    return min(caps, default=None)


def work_share(blocks: Iterable[BlockMetrics]) -> float:
    """The share of the run that the busiest of these blocks works."""
    return max((b.share_of(Category.WORK) for b in blocks), default=0.0)


def host_wait_share(blocks: Iterable[BlockMetrics]) -> float:
    """The share of the run that the host waits for the FPGA: of the thread that waits least among those that wait."""
    shares = [b.share_of(*WAITS) for b in blocks if b.block.side is Side.HOST]
    return min((share for share in shares if share > 0), default=0.0)
