"""Finds the FPGA blocks that somebody waits for: only their work limits the run when something else becomes faster.

An arbiter or a refresh timer may work all the time without anyone waiting for its end; such work bounds nothing.
"""

from collections.abc import Iterable, Iterator, Sequence

from workbench.api.results import BlockMetrics, StateMetrics
from workbench.model.blocks import Side
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import CPU, MEM, WAITS, Category
from workbench.model.targets import resolve_target

#: From this share of the run on a block counts as working all the time.
ALWAYS = 0.99
#: A wait for a shared resource says who else uses it, not that its work has to end.
_SHARED = frozenset({"contention"})


def waited_for(blocks: Sequence[BlockMetrics]) -> frozenset[str]:
    """Ids of the working blocks that the host waits for, directly or through other working blocks. A block without
    work, such as a port or a control block, stands for the blocks that it names and those that wait for it.

    A target that names several blocks means one of them: the group of replicas that works least. If the host's waits
    name no block, it is one of the blocks that wait for the host or that its messages name.
    """
    ids: set[str] = set()
    looked_at: set[str] = set()
    hosts = [b for b in blocks if b.block.side is Side.HOST]
    asking = [(host, wait) for host in hosts for wait in _waits(host)]
    groups = [_least_busy(_fpga_targets(host, wait, blocks)) for host, wait in asking]
    if not any(groups):
        dealt_with = {b.block.id for host in hosts for s in host.states for b in _fpga_targets(host, s, blocks)}
        serving = [b for b in blocks if b.block.id in dealt_with or (hosts and CPU in _targets_of_waits(b))]
        groups = [_least_busy([b for b in serving if b.block.side is Side.FPGA and _works(b)])]
    ahead = [b for group in groups for b in group]
    while ahead:
        block = ahead.pop()
        if block.block.id in looked_at:
            continue
        looked_at.add(block.block.id)
        if _works(block):
            ids.add(block.block.id)
        else:
            around = _dealt_with(block, blocks)
            ahead += _least_busy(around) if any(map(_works, around)) else around
        for wait in _waits(block):
            ahead += _least_busy(_fpga_targets(block, wait, blocks))
    return frozenset(ids)


def somebody_waits_for(block: BlockMetrics, blocks: Sequence[BlockMetrics]) -> bool:
    """Whether another block, or the host, waited for a block or its replicas, or for a name that does not exist."""
    others = [b for b in blocks if b.block.group != block.block.group]
    alike = {b.block.id for b in blocks if b.block.group == block.block.group}
    return any(
        _names_nobody(other, wait, blocks) or any(b.block.id in alike for b in _fpga_targets(other, wait, blocks))
        for other in others
        for wait in _waits(other)
    )


def _names_nobody(block: BlockMetrics, wait: StateMetrics, blocks: Sequence[BlockMetrics]) -> bool:
    """Whether a wait may be for any block: it names none, or only blocks that the design does not have."""
    all_blocks = [b.block for b in blocks]
    targets = [t for t in wait.state.targets if t not in (CPU, MEM)]
    return not wait.state.targets or (
        bool(targets) and not any(resolve_target(t, all_blocks, block.block) for t in targets)
    )


def _waits(block: BlockMetrics) -> list[StateMetrics]:
    return [s for s in block.states if s.state.category in WAITS and s.time_s > 0]


def _targets_of_waits(block: BlockMetrics) -> set[str]:
    return {target for wait in _waits(block) for target in wait.state.targets}


def _fpga_targets(block: BlockMetrics, wait: StateMetrics, blocks: Sequence[BlockMetrics]) -> list[BlockMetrics]:
    """The FPGA blocks that a state of `block` names."""
    reasons = set(wait.state.reasons)
    if reasons and reasons <= _SHARED:
        return []
    all_blocks = [b.block for b in blocks]
    ids = {
        target_block.id
        for target in wait.state.targets
        for target_block in resolve_target(target, all_blocks, block.block)
    }
    return [b for b in blocks if b.block.id in ids and b.block.side is Side.FPGA]


def _dealt_with(block: BlockMetrics, blocks: Sequence[BlockMetrics]) -> list[BlockMetrics]:
    """The FPGA blocks that any state of a block names, and those whose waits name it."""
    ids = {other.block.id for state in block.states for other in _fpga_targets(block, state, blocks)}
    for other in (b for b in blocks if b.block.side is Side.FPGA):
        if any(b.block.id == block.block.id for wait in _waits(other) for b in _fpga_targets(other, wait, blocks)):
            ids.add(other.block.id)
    return [b for b in blocks if b.block.id in ids]


def _least_busy(named: Iterable[BlockMetrics]) -> list[BlockMetrics]:
    """The group of replicas that works least; a group without work only if none works."""
    groups: dict[str, list[BlockMetrics]] = {}
    for block in named:
        groups.setdefault(block.block.group, []).append(block)
    working = [group for group in groups.values() if any(map(_works, group))]
    return min(working or groups.values(), key=lambda group: max(map(_work_s, group)), default=[])


def _work_s(block: BlockMetrics) -> float:
    return block.time_of(Category.WORK)


def _works(block: BlockMetrics) -> bool:
    return _work_s(block) > 0


def free_running(blocks: Sequence[BlockMetrics], needed: frozenset[str]) -> Iterator[Diagnostic]:
    """Warnings about blocks marked as working all the time for which nobody waits."""
    for group in dict.fromkeys(b.block.group for b in blocks if b.block.side is Side.FPGA):
        first = next(b for b in blocks if b.block.group == group)
        if first.block.id in needed or first.share_of(Category.WORK) < ALWAYS:
            continue
        place = max(first.states, key=lambda s: (s.state.category is Category.WORK, s.time_s)).state
        yield Diagnostic(
            f"'{group}' is marked as working all the time, and nothing waits for it: its work limits no speedup",
            "Leave a free-running block, such as an arbiter or a timer, without a pragma. If a wait is for its work, "
            "name it as that wait's target.",
            Severity.WARNING,
            place.file or first.block.file or None,
            place.line or first.block.line or None,
        )
