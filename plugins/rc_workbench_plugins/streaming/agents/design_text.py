"""Verilog that puts an agent beside a monitor of an ordinary design."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from rc_workbench_plugins.streaming.agents.layout import HardwareAgent
from workbench.api.instrument.monitor_text import agent_head

_STREAMS = (
    "command_valid", "command_ready", "command_data", "report_valid", "report_ready", "report_data",
)  # fmt: skip
_OF_STORE = ("clock", "clear", "counts", "held", "set", "entry", "word", "stored", *_STREAMS)


def library_text() -> str:
    """What every agent beside a monitor needs besides its own modules."""
    return files("workbench.resources").joinpath("hdl", "agent", "agent_store.v").read_text("utf-8")


def agent_text(
    agent: HardwareAgent, number: int, vector_bits: int, words: tuple[int, int], lows: Mapping[str, Sequence[int]],
    blocks: Mapping[str, tuple[int, int]],
) -> str:  # fmt: skip
    """The module beside the monitor of that number, with room for the first of so many `words`, the second kept for the
    last frames. Of the state vector, `lows` are the lowest bits of an edge's two ends, valid, ready and its words above
    it, and `blocks` the lowest bit and the width of blocks' states."""
    bits = (words[0] - 1).bit_length()
    head = agent_head(number, vector_bits, bits)
    if not agent.groups:
        return f"{head}    assign word = 0, stored = 0;\nendmodule\n"
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
    ports |= dict(zip(_STREAMS, _STREAMS, strict=True))
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
endmodule
"""
    )
