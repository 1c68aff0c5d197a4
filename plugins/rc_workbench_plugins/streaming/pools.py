"""Blocks on processor cores that several threads run: each takes from the block's queues what is there first."""

from collections.abc import Mapping
from dataclasses import replace

from rc_workbench_plugins.streaming.x_language import BlockInstance
from workbench.api.unstable import MOST_THREADS, At, BlockKind, Topology, did_you_mean

THREADS = "threads"  #: of a block, in its configuration


def threads_of(block: BlockInstance, kind: BlockKind) -> int:
    """How many threads run a block by its configuration; 0 where that is not a number of threads. A kind may have a
    configuration of that name of its own."""
    threads = 1 if any(config.name == THREADS for config in kind.config) else block.config.get(THREADS, 1)
    return threads if isinstance(threads, int) and 1 <= threads <= MOST_THREADS else 0


def with_threads(topology: Topology, given: Mapping[str, tuple[int, At]]) -> tuple[Topology, list[tuple[At, str, str]]]:
    """The application with the threads that a project's section gives its blocks, and what is wrong: where, what, and
    what would be right."""
    threads, wrong = {block.name: (block.threads, block.at) for block in topology.blocks}, []
    for written, (count, at) in given.items():
        name = next((one for one in (written, f"{topology.name}.{written}") if one in threads), "")
        if name:
            threads[name] = (count, at)
        else:
            hint = did_you_mean(written, map(topology.within, threads))
            wrong.append((at, f"there is no block '{written}' to give threads to", hint))
    for name, (count, at) in threads.items():
        if not count:
            hint = f"Write a whole number from 1 to {MOST_THREADS}."
            wrong.append((at, f"'{topology.within(name)}' needs a number of threads", hint))
        if count > 1 and topology.fpga(name):
            hint = "Map it to processor cores, or give it one thread."
            wrong.append((at, f"'{topology.within(name)}' is in an FPGA and cannot have several threads", hint))
    blocks = (
        replace(block, threads=count, threads_at=at) for block in topology.blocks for count, at in [threads[block.name]]
    )
    return replace(topology, blocks=tuple(blocks)), wrong
