"""Agents of FPGAs in what is made of a topology: their queues and windows beside those of edges (`generate.py`)."""

from collections.abc import Mapping
from typing import Any

from rc_workbench_plugins.streaming.agents.layout import HardwareAgent

COMMANDS, REPORT_WORDS = 16, 1024  # that wait in the FPGA for its agent, and for the host (agent_card.hpp)
#: From one look at an agent's words to the next: at most, and where words come most often at first.
ROUND_PS, LONGEST_ROUND_PS, FIRST_ROUND_PS = 10**9, 16 * 10**9, 50 * 10**6


def parts_of_agent(card: int) -> list[dict[str, Any]]:
    """The queues of what the host tells a card's agent, and of what that sends: none of the application's edges."""
    text = "the agents on the processor and on the card"
    common = {"number": -1, "text": text, "type": "unsigned32", "bits": 32, "signed": 0, "words": 1, "card": card}
    named = (("command", "in", COMMANDS), ("report", "out", REPORT_WORDS))
    return [
        {**common, "label": name, "net": f"agent{card}_{name}", "way": way, "depth": depth}
        for name, way, depth in named
    ]


def collectors(crossing: list[dict[str, Any]], agents: Mapping[int, HardwareAgent]) -> list[dict[str, Any]]:
    """The cards of agents, the numbers of their windows, and how long a round of looks at them may last; the first one
    too."""
    windows = {part["net"]: part["window"] - 1 for part in crossing}
    return [
        {"net": net, "card": part["card"], "commands": windows[f"{net}_command"], "words": windows[f"{net}_report"],
         "first_round_ps": first_round_ps(agents[part["card"]]), "round_ps": longest_round_ps(agents[part["card"]])}
        for part in crossing if part["label"] == "report" for net in [part["net"].removesuffix("_report")]
    ]  # fmt: skip


def longest_round_ps(agent: HardwareAgent) -> int:
    """A time in which no more frames end than half of the queue of words holds; each look takes the bus."""
    if any(group.of_elements for group in agent.groups):
        return ROUND_PS
    frames_ps = [group.length * agent.clocks[group.clock].period_ps for group in agent.groups]
    fitting_ps = min(frames_ps, default=LONGEST_ROUND_PS) * (REPORT_WORDS // 2) / max(agent.most_words, 1)
    return min(max(int(fitting_ps), ROUND_PS), LONGEST_ROUND_PS)


def first_round_ps(agent: HardwareAgent) -> int:
    """As the longest, where that bounds the words; short where frames of some elements end as often as these come."""
    return FIRST_ROUND_PS if any(group.of_elements for group in agent.groups) else longest_round_ps(agent)


def instance_of_agent(card: int, agent: HardwareAgent, parts: list[dict[str, Any]], clock: str) -> dict[str, Any]:
    """A card's agent as a block beside the others. The mark of a stream's end is no element, but may have to wait as
    one."""
    net, nets = f"agent{card}", {part["label"]: part["net"] for part in parts if part["card"] == card}
    connections = [("clock_0", clock), ("reset_0", "stream_reset"), ("report_last", "")]
    for way, wire in (("command", f"{net}_command_out"), ("report", f"{net}_report_in")):
        connections += [(f"{way}_valid", f"{wire}_valid"), (f"{way}_ready", f"{wire}_ready"), (f"{way}_data", wire)]
    for number, label in enumerate(agent.labels):
        if agent.tapped[number]:
            into, out = f"{nets[label]}_in", f"{nets[label]}_out"
            connections += [
                (f"push_valid_{number}", f"{into}_valid && !({into}_ready && {into}_last)"),
                (f"push_ready_{number}", f"{into}_ready"),
                (f"pop_valid_{number}", f"{out}_valid && !{out}_last"),
                (f"pop_ready_{number}", f"{out}_ready"),
            ]
        if agent.data_bits[number]:
            connections.append((f"data_{number}", f"{nets[label]}_in"))
    lines = [f"assign {net}_report_in_last = 1'b0;"]
    return {"name": "what the project's query asks of the edges here", "net": net, "unit": agent.name,
            "parameters": "", "connections": connections, "lines": lines}  # fmt: skip
