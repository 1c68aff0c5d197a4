"""Verilog that puts an agent beside a monitor of an ordinary design."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from rc_workbench_plugins.streaming.agents.layout import LINK_BITS, HardwareAgent
from workbench.api.instrument.monitor_text import agent_head, without_agent
from workbench.api.instrument.probes import LINKS

_STREAMS = (
    "command_valid", "command_ready", "command_data", "report_valid", "report_ready", "report_data",
)  # fmt: skip
_OF_STORE = ("clock", "clear", "counts", "held", "set", "entry", "word", "stored", *_STREAMS)


def library_text() -> str:
    """What every agent beside a monitor needs besides its own modules."""
    return files("workbench.resources").joinpath("hdl", "agent", "agent_store.v").read_text("utf-8")


def agent_text(
    agent: HardwareAgent, number: int, vector_bits: int, words: tuple[int, int], lows: Mapping[str, Sequence[int]],
    blocks: Mapping[str, tuple[int, int]], linked: int, far: Sequence[int],
) -> str:  # fmt: skip
    """The module beside the monitor of that number, with room for the first of so many `words`, the second kept for the
    last frames. It sees what agents of so many clocks tell: of its `far` places, from which bit on. Of the state
    vector, `lows` are the lowest bits of an edge's two ends, valid, ready and its words above it, and `blocks` the
    lowest bit and the width of blocks' states."""
    bits = (words[0] - 1).bit_length()
    head = agent_head(number, vector_bits, bits, linked)
    if not agent.groups and not agent.links:
        return head + without_agent(linked)
    ports = {"clock_0": "clock", "reset_0": "clear", "counts_0": "counts", "report_last": ""}
    for edge, label in enumerate(agent.labels):
        if agent.tapped[edge]:
            for way, low in zip(("push", "pop"), lows[label], strict=True):
                ports |= {
                    f"{way}_valid_{edge}": f"counts & state[{low}]",
                    f"{way}_ready_{edge}": f"counts & state[{low + 1}]",
                }
        if width := agent.data_bits[edge]:
            ports[f"data_{edge}"] = f"state[{lows[label][0] + 2} +: {width}]"
    for place, name in enumerate(agent.blocks):
        low, width = blocks[name]
        ports[f"state_{place}"] = f"state[{low} +: {width}]"
    ports |= {f"far_{place}": f"far[{low} +: {LINK_BITS}]" for place, low in enumerate(far)}
    ports |= {f"link_{place}": f"links[{LINK_BITS * place} +: {LINK_BITS}]" for place in range(len(agent.links))}
    ports |= dict(zip(_STREAMS, _STREAMS, strict=True))
    told = LINK_BITS * len(agent.links)
    rest = f"    assign links[{LINKS - 1}:{told}] = 0;\n" if linked and told < LINKS else ""
    return (
        head
        + f"""    wire command_valid, command_ready, report_valid, report_ready;
    wire [31:0] command_data, report_data;
    agent_store #(.ROOM_BITS({bits}), .RESERVE({words[1]})) store (
        {", ".join(f".{name}({name})" for name in _OF_STORE)}
    );
    {agent.name} agent (
        {", ".join(f".{name}({signal})" for name, signal in ports.items())}
    );
{rest}endmodule
"""
    )
