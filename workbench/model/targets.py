"""Which blocks a pragma's target names: hierarchical, by suffix, with `[*]` or no index for all replicas."""

import re
from collections.abc import Sequence

from workbench.model.blocks import Block, Side, fpga_of, rank_of
from workbench.model.pragma import CPU

_PART = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)\Z")


def resolve_target(target: str, blocks: Sequence[Block], source: Block | None = None) -> tuple[Block, ...]:
    """The blocks that `target` names, in the run's order; none where it names no block (or memory, `$MEM`).

    `$CPU` is every host block that calls the card. A name is matched against the end of a block's id, or of a component
    that holds it: `core`, `core[*]` and `top.core[*].ctrl` all mean every replica, `core[3]` one. Where a name fits
    blocks within the component of `source` as well as others, those nearest to `source` are meant; if it fits some in
    its FPGA and some in others, those in its own.
    """
    if target == CPU:
        return tuple(
            b for b in blocks if b.side is Side.HOST and (source is None or rank_of(b.id) == rank_of(source.id))
        )
    wanted = _parts(target)
    if not wanted:
        return ()
    others = [b for b in blocks if source is None or b.id != source.id]
    exact = tuple(b for b in others if b.id == target)
    matches = exact or tuple(b for b in others if _ends_with(_parts(b.id), wanted))
    matches = matches or tuple(b for b in others if _ends_with(_parts(b.component), wanted))
    matches = matches or tuple(b for b in others if _stands_within(_parts(b.component), wanted))
    if source is None or len(matches) < 2 or "*" in target:
        return matches
    matches = tuple(b for b in matches if rank_of(b.id) == rank_of(source.id)) or matches
    matches = tuple(b for b in matches if fpga_of(b.id) == fpga_of(source.id)) or matches
    depth = {b.id: shared_parts(b.component, source.component) for b in matches}
    nearest = max(depth.values())
    replicated = any(_in_replica(b, source) for b in matches)
    return tuple(b for b in matches if depth[b.id] == nearest) if replicated else matches


def _parts(name: str) -> list[tuple[str, str]]:
    """`a.core[3].ctrl` as (name, indexes) of each part; empty where it is no hierarchical name."""
    matches = [_PART.match(part) for part in re.split(r"[.:]", name)]
    return [(m[1], m[2]) for m in matches if m] if all(matches) else []


def _ends_with(parts: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> bool:
    if len(wanted) > len(parts):
        return False
    tail = parts[len(parts) - len(wanted) :]
    return all(
        name == other and (not index or "*" in index or index == other_index)
        for (name, index), (other, other_index) in zip(wanted, tail, strict=True)
    )


def _stands_within(parts: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> bool:
    """Whether a component further up is the one wanted."""
    return any(_ends_with(parts[:end], wanted) for end in range(len(wanted), len(parts)))


def shared_parts(a: str, b: str) -> int:
    """How many parts of two paths, from the top, are the same."""
    count = 0
    for x, y in zip(a.split("."), b.split("."), strict=False):
        if x != y:
            break
        count += 1
    return count


def _in_replica(block: Block, source: Block) -> bool:
    """Whether block is in an indexed instance that also holds source (its own replica, not a sibling)."""
    shared = ".".join(block.component.split(".")[: shared_parts(block.component, source.component)])
    return "[" in shared
