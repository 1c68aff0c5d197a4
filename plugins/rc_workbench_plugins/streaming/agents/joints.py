"""What an agent in hardware is joined of, whatever it counts: taps, frames, packets, clocks (`resources/hdl/agent`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rc_workbench_plugins.streaming.agents.layout import LINK_BITS, AgentClock, Monitor, Place
from rc_workbench_plugins.streaming.agents.netlist import Bits, Gate, Logic, Netlist, PartSelect, Signal, both
from rc_workbench_plugins.streaming.query.measures import Tap
from workbench.api import Diagnostic
from workbench.api.unstable import TYPE_BYTES, StreamEdge, ValueType

ON, OFF = Bits(1, 0), Bits(0, 0)


@dataclass(frozen=True)
class AgentEdge:
    """An edge, the number of its clock, and which of its ends are in the FPGA: the signals of these are told to the
    agent's module. Its elements are of the edge's type; those of a design's stream of the type `value`. One
    with a `far_ps` is on the clock of that period, which is another agent's."""

    edge: StreamEdge
    clock: int = 0
    sees: frozenset[Tap] = frozenset(Tap)
    value: ValueType | None = None
    far_ps: Fraction | None = None

    @property
    def element(self) -> ValueType:
        """What its elements are as numbers: of no bits where an agent cannot look at them."""
        own = ValueType(8 * TYPE_BYTES.get(self.edge.type, 0), self.edge.type.startswith("signed"))
        return self.value or own


@dataclass(frozen=True)
class AgentBlock:
    """A block whose states are asked about, the width of its state, and the number of its clock."""

    id: str
    bits: int
    clock: int = 0


@dataclass(frozen=True)
class GroupKey:
    """What monitors have in common whose frames end together: after `length` cycles, or so many of what the wire
    `element` tells."""

    clock: int
    length: int
    element: str = ""


class Joints:
    """Wires of edge i are called e<i>_..., of clock i c<i>_..., of group i g<i>_...; a stream's have one name with the
    endings valid, ready, last and data."""

    def __init__(
        self, edges: dict[str, AgentEdge], clocks: Sequence[AgentClock], name: str, blocks: Sequence[AgentBlock] = ()
    ) -> None:
        self._blocks = {block.id: block for block in blocks}
        self.edges, self._clocks, self.net = edges, clocks, Netlist(name)
        self._labels = list(edges)
        self._diagnostics: list[Diagnostic] = []
        self._far: list[Place] = []
        self._watched: list[str] = []  # ids of blocks, in the order of the agent's ports
        self._names: dict[object, str] = {}  # names of what stands once for all that ask for it
        self._data: dict[str, int] = {}
        self._groups: dict[GroupKey, list[Monitor]] = {}
        self._numbers: dict[GroupKey, int] = {}
        self._chains: dict[GroupKey, list[tuple[str, int]]] = {}  # of each group: monitors and their words
        self._memories: dict[GroupKey, list[str]] = {}
        inside = (edge.edge.depth + 1 for edge in edges.values() if len(edge.sees) == len(Tap))
        self._occupancy_bits = max(inside, default=1).bit_length()

    def _wire(self, name: str, logic: Logic) -> str:
        return self.net.assign(name, logic)

    def _clocked(self, key: GroupKey) -> dict[str, Signal]:
        return {"clock": f"clock_{key.clock}", "reset": f"c{key.clock}_reset"}

    def _ticks(self, clock: int) -> Logic:
        """Whether the cycle in the taps' second stage is there."""
        return f"c{clock}_counts_2" if self._clocks[clock].monitored else True

    def _enabled(self, clock: int, number: int) -> str:
        """Whether the statement of that number is counted."""
        return f"c{clock}_enabled[{number}]"

    def _frame_wire(self, key: GroupKey, name: str) -> str:
        return f"g{self._numbers[key]}_{name}"

    def _taps(self) -> None:
        for number, label in enumerate(self._labels):
            if ("tap", label) not in self._names:
                continue
            at, clock, bits = f"e{number}", self.edges[label].clock, self._data.get(label, 0)
            signals = [f"{way}_{sign}_{number}" for way in ("push", "pop") for sign in ("valid", "ready")]
            self.net.inputs |= dict.fromkeys(signals, 0) | ({f"data_{number}": bits} if bits else {})
            names = ("push_1", "pop_1", "push", "pop", "blocked", "waiting")
            single = {name: self.net.wire(f"{at}_{name}") for name in names}
            self.net.add(
                "agent_tap", f"{at}_tap", {"OCCUPANCY_BITS": self._occupancy_bits, "DATA_BITS": bits or 1},
                clock=f"clock_{clock}", reset=f"reset_{clock}", **{name.rpartition("_")[0]: name for name in signals},
                data=f"data_{number}" if bits else Bits(0, 1), **single,
                value=self.net.wire(f"{at}_value", bits or 1),
                occupancy=self.net.wire(f"{at}_occupancy", self._occupancy_bits),
            )  # fmt: skip

    def _tap_name(self, label: str) -> str:
        return f"e{self._labels.index(label)}"

    def _link(self, place: Place, number: int) -> None:
        """Tells agents on other clocks what passes a place."""
        label, tap = place
        at, way = self._tap_name(label), "push" if tap is Tap.PUSH else "pop"
        edge = self._labels.index(label)
        passes = self._wire(f"{at}_{way}_link", Gate("and", (f"{way}_valid_{edge}", f"{way}_ready_{edge}")))
        self.net.outputs[f"link_{number}"] = LINK_BITS
        self.net.add("agent_link", f"link_of_{number}", {"BITS": LINK_BITS}, clock=f"clock_{self.edges[label].clock}",
                     passes=passes, gray=f"link_{number}")  # fmt: skip

    def _states(self) -> None:
        """Connections of each block's state to the agent."""
        for number, name in enumerate(self._watched):
            self.net.inputs[f"state_{number}"] = self._blocks[name].bits

    def _stream(self, at: str) -> dict[str, Signal]:
        """The wires of a stream of packets."""
        wires = {name: self.net.wire(f"{at}_{name}") for name in ("valid", "ready", "last")}
        return {**wires, "data": self.net.wire(f"{at}_data", 32)}

    def _control(self, clock: int) -> None:
        net, at, monitored = self.net, f"c{clock}", self._clocks[clock].monitored
        net.inputs |= {f"counts_{clock}": 0} if monitored else {}
        report_wires = {f"report_{name}": wire for name, wire in self._stream(f"{at}_told").items()}
        net.add(
            "agent_control", f"{at}_control", {"CLOCK_NUMBER": Bits(clock, 16), "PAUSES": int(monitored)},
            clock=f"clock_{clock}", reset=f"reset_{clock}", counts=f"counts_{clock}" if monitored else ON,
            counts_1=net.wire(f"{at}_counts_1"), counts_2=net.wire(f"{at}_counts_2"), next=net.wire(f"{at}_next", 48),
            command_valid=net.wire(f"{at}_asked"), command_ready=net.wire(f"{at}_takes"),
            command_data=net.wire(f"{at}_command", 32), cycle=net.wire(f"{at}_cycle", 48),
            finish=net.wire(f"{at}_finish"), set_length=net.wire(f"{at}_sets"),
            new_length=net.wire(f"{at}_length", 32), set=net.wire(f"{at}_set"), code=net.wire(f"{at}_code", 8),
            reset_1=net.wire(f"{at}_reset_1"), reset_2=net.wire(f"{at}_reset"), **report_wires,
        )  # fmt: skip
        groups, statements = max(1, len(self._groups)), max(1, sum(map(len, self._groups.values())))
        lengths = sum(key.length << 32 * number for key, number in self._numbers.items())
        monitor = self._clocks[clock].monitor
        net.add(
            "agent_settings", f"{at}_settings",
            {"GROUPS": groups, "STATEMENTS": statements, "LENGTHS": Bits(lengths, 32 * groups),
             **({} if monitor is None else {"MONITOR": monitor})},
            clock=f"clock_{clock}", reset=OFF if monitored else f"{at}_reset", set=f"{at}_set", code=f"{at}_code",
            lengths=net.wire(f"{at}_lengths", 32 * groups), enabled=net.wire(f"{at}_enabled", statements),
        )  # fmt: skip

    def _frames(self, key: GroupKey) -> str:
        net, group, at = self.net, self._numbers[key], f"g{self._numbers[key]}"
        clock = key.clock
        stamps = {"number": 32, "start": 48, "stop": 48}
        wires = {name: net.wire(f"{at}_{name}", width) for name, width in stamps.items()}
        ended, free = net.wire(f"{at}_end"), net.wire(f"{at}_free")
        enabled = tuple(self._enabled(clock, one.number) for one in self._groups[key])
        may_end = self._wire(f"{at}_may_end", both(free, Gate("or", enabled)))
        net.add(
            "agent_frame", f"{at}_frame", {"ELEMENTS": int(bool(key.element))}, **self._clocked(key),
            counts=f"c{clock}_counts_2", element=key.element or OFF, finish=f"c{clock}_finish",
            set_length=f"c{clock}_sets", length=PartSelect(f"c{clock}_lengths", 32 * group, 32 * group + 31),
            new_length=f"c{clock}_length", free=may_end, next=f"c{clock}_next", frame_end=ended, **wires,
            since=net.wire(f"{at}_since", 32),
        )  # fmt: skip
        chain, memories = self._chains.get(key, []), self._memories.get(key, [])
        ahead: list[Signal] = [f"{monitor}_chain" for monitor, _ in chain]
        ends = [*ahead, Bits(0, 32)][1:]
        for (monitor, _), after in zip(chain, ends, strict=True):
            net.joins[f"{monitor}_in"] = after
        lines = max(1, len(memories))
        report = {f"report_{name}": wire for name, wire in self._stream(f"{at}_told").items()}
        net.add(
            "agent_report", f"{at}_report",
            {"GROUP_NUMBER": Bits(group, 16), "CHAIN_WORDS": sum(words for _, words in chain),
             "MEMORIES": len(memories), "LINES": lines},
            **self._clocked(key), frame_end=ended, **wires, free=free, shift=net.wire(f"{at}_shift"),
            chain=ahead[0] if ahead else Bits(0, 32), selected=net.wire(f"{at}_selected", lines),
            take=net.wire(f"{at}_take"), ready=net.wire(f"{at}_ready", lines), last=net.wire(f"{at}_last", lines),
            word=f"{at}_word_{len(memories) - 1}" if memories else Bits(0, 32), **report,
        )  # fmt: skip
        if not memories:
            net.assigns |= {PartSelect(f"{at}_ready", 0): False, PartSelect(f"{at}_last", 0): False}
        return f"{at}_told"

    def _commands(self, used: Sequence[int]) -> None:
        """Every clock takes each command, or none does."""
        net = self.net
        takes = []
        for clock in used:
            if clock == 0:
                takes.append("c0_takes")
                net.joins["c0_asked"] = "commanded"
                net.joins["c0_command"] = "command_data"
                continue
            at = f"c{clock}_commands"
            out = self._stream(f"c{clock}_sent")
            net.add(
                "agent_cross", at, {"ROOM_BITS": 3}, in_clock="clock_0", in_reset="reset_0", in_valid="commanded",
                in_ready=net.wire(f"{at}_take"), in_last=ON, in_data="command_data", out_clock=f"clock_{clock}",
                out_reset=f"reset_{clock}", out_valid=f"c{clock}_asked", out_ready=f"c{clock}_takes",
                out_last=out["last"], out_data=f"c{clock}_command",
            )  # fmt: skip
            takes.append(f"{at}_take")
        net.assigns["command_ready"] = both(*takes)
        net.assign("commanded", both("command_valid", *takes))

    def _merged(self, streams: Sequence[str], clock: int) -> str:
        merged, *others = streams
        for other in others:
            at = f"{merged}_{other}"
            ends = {
                f"{end}_{name}": f"{stream}_{name}"
                for end, stream in (("a", merged), ("b", other))
                for name in ("valid", "ready", "last", "data")
            }
            self.net.add("agent_merge", f"{at}_merge", {}, clock=f"clock_{clock}", reset=f"reset_{clock}", **ends,
                         **self._stream(at))  # fmt: skip
            merged = at
        return merged

    def _crossed(self, stream: str, clock: int) -> str:
        at = f"x{clock}"
        into = {f"in_{name}": f"{stream}_{name}" for name in ("valid", "ready", "last", "data")}
        out = {f"out_{name}": wire for name, wire in self._stream(at).items()}
        self.net.add("agent_cross", f"{at}_cross", {"ROOM_BITS": 4}, in_clock=f"clock_{clock}",
                     in_reset=f"reset_{clock}", out_clock="clock_0", out_reset="reset_0", **into, **out)  # fmt: skip
        return at
