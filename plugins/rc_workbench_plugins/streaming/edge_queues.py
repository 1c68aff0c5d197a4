"""The queues that an edge has where it is run: their numbers, and what they hold."""

from workbench.api.unstable import StreamEdge, Streaming, Topology


def depths(topology: Topology, edge: StreamEdge, section: Streaming) -> tuple[int, int]:
    """What an edge's queues hold, on the processor and on an FPGA."""
    leaves = bool(topology.fpga(edge.source.block))
    return rooms(edge.depth, section.bulk_elements, topology.crosses(edge), leaves)


def rooms(depth: int, bulk: int, crosses: bool, leaves: bool) -> tuple[int, int]:
    """What the queues of an edge of that depth hold, on the processor and on an FPGA, where transfers carry `bulk`
    elements. Where it crosses a bus, the one on the FPGA holds a transfer at least, and the end; where it `leaves` an
    FPGA, the one on the processor two."""
    if not crosses:
        return depth, depth
    return max(depth, 2 * bulk) if leaves else depth, max(depth, bulk) + 1


def capacity(topology: Topology, edge: StreamEdge, section: Streaming) -> int:
    """What an edge holds in all: where it crosses a bus, a queue on the processor and on each FPGA, and what is on its
    way."""
    if not topology.crosses(edge):
        return edge.depth
    on_host, on_fpga = depths(topology, edge, section)
    buses = sum(1 for end in (edge.source, edge.sink) if topology.fpga(end.block))
    return on_host + buses * (on_fpga + section.bulk_elements)


def arrival(topology: Topology, number: int) -> int:
    """What the queue is numbered in which the edge of that number arrives from another FPGA."""
    return len(topology.edges) + number
