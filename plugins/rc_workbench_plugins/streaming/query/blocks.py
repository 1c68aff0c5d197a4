"""Which states of which blocks a query's names mean."""

import re
from collections.abc import Iterable, Sequence

from rc_workbench_plugins.streaming.query.measures import Within
from rc_workbench_plugins.streaming.query.read import NAME
from rc_workbench_plugins.streaming.query.targets import UnknownTarget
from workbench.api import UNCLASSIFIED, Block, near
from workbench.api.unstable import Topology, as_target


def inside(
    blocks: Sequence[Block] | None, topology: Topology, block: str, state: str | None, into: str | None
) -> list[Within]:
    """States of the blocks that a name means: an id or its end, also with starred indexes; an instance stands for its
    blocks, those that have the state. A state is named as the run names it; a category means all its states. Without
    `blocks` any name is taken as it is. UnknownTarget, whose point is 0 for the state, 1 for what follows it and 2 for
    the block."""
    if blocks is None:
        return [Within(block, known=False)]
    named = _blocks(blocks, topology, block)
    if state is None:
        return [Within(one.id) for one in named]
    withins = []
    for one in named:
        states = _states(one, state)
        after = _states(one, into) if into is not None else ()
        if states and (after or into is None):
            withins.append(Within(one.id, states, after))
    if not withins:
        point, wrong = (1, into) if any(_states(one, state) for one in named) else (0, state)
        known = dict.fromkeys(name for one in named for name in state_names(one))
        where = block if len(named) > 1 else as_target(named[0].id)
        raise UnknownTarget(f"{where} has no state '{wrong}'", near(str(wrong), known, "States"), point)
    return withins


def state_names(block: Block) -> list[str]:
    """What a block's states are called."""
    return list(dict.fromkeys(state.name for state in block.states))


def _blocks(blocks: Sequence[Block], topology: Topology, name: str) -> list[Block]:
    for wanted in dict.fromkeys((name, topology.within(name))):
        for ids in ([one.id for one in blocks], [one.group for one in blocks], [one.component for one in blocks]):
            of_ids = [(one, as_target(id_)) for one, id_ in zip(blocks, ids, strict=True)]
            exact = [one for one, id_ in of_ids if id_ == wanted]
            if found := exact or [one for one, id_ in of_ids if id_.endswith(f".{wanted}")]:
                return found
    named = (one.name for one in topology.blocks if f".{one.name}".endswith(f".{name}"))
    if found := [one for stream_block in named for one in run_blocks(topology, blocks, stream_block)]:
        return found
    raise UnknownTarget(f"there is no block '{name}'", near(name, block_names(blocks), "Blocks"), 2)


def run_blocks(topology: Topology, blocks: Iterable[Block], name: str) -> list[Block]:
    """The blocks of a run that one of an application is: its thread on the host, or those of its module in the FPGA."""
    thread, instance = topology.within(name).replace(".", "_"), rf"b\d+_{re.escape(name.replace('.', '_'))}"
    return [
        one
        for one in blocks
        if one.id == f"host.{thread}" or any(re.fullmatch(instance, part) for part in one.component.split("."))
    ]


def block_names(blocks: Iterable[Block]) -> list[str]:
    """The blocks' ids and those of replicas together, as statements name them, without what may be left out at their
    beginning, and whole."""
    ids = list(dict.fromkeys(as_target(id_) for one in blocks for id_ in (one.group, one.id)))
    ends = [id_.partition(".")[2] for id_ in ids]
    return list(dict.fromkeys([*(end for end in ends if end and ends.count(end) == 1), *ids]))


def drawn_blocks(blocks: Iterable[Block]) -> dict[str, list[Block]]:
    """The blocks that have states, by what statements call them: replicas together, by their starred name."""
    groups: dict[str, list[Block]] = {}
    for one in blocks:
        if len(one.states) > 1:
            groups.setdefault(as_target(one.group), []).append(one)
    return {name if len(found) > 1 else as_target(found[0].id): found for name, found in groups.items()}


def asked_of_block(block: Block, name: str) -> tuple[tuple[str, str], ...]:
    """What a click on a block can ask of its states: titles and statements."""
    states = [state for state in state_names(block) if state != UNCLASSIFIED]
    asked = []
    for state in states:
        where = f"of state {written(state)} of {written(name)}"
        lines = (f"measure share {where}", f"measure mean dwell {where}", f"measure visits {where}")
        asked.append((state, "\n".join(lines)))
    return (*asked, ("Transitions", f"measure transitions of {written(name)}"))


def share_of(state: str, block: str) -> str:
    """The statement that asks it."""
    return f"measure share of state {written(state)} of {written(block)}"


def written(name: str) -> str:
    """A name as statements have it: in quotes where it needs them."""
    return name if re.fullmatch(NAME, name) else f'"{name}"'


def _states(block: Block, name: str) -> tuple[int, ...]:
    named = tuple(state.index for state in block.states if state.name == name)
    return named or tuple(state.index for state in block.states if state.category == name)
