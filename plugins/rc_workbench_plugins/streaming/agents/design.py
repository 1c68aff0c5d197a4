"""Agents beside the counters of an ordinary design: one on each clock, which sees the streams, FIFOs and states that
are led up to the counters there (`workbench/api/instrument/monitor_text.py`)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from rc_workbench_plugins.streaming.agents.conditions import labels_of, valued_edges
from rc_workbench_plugins.streaming.agents.design_text import agent_text, library_text
from rc_workbench_plugins.streaming.agents.hardware import hardware_agent
from rc_workbench_plugins.streaming.agents.joints import AgentBlock, AgentEdge
from rc_workbench_plugins.streaming.agents.layout import LINK_BITS, AgentClock, HardwareAgent, Place
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.agents.switching import codes_for, names_in
from rc_workbench_plugins.streaming.agents.two_clocks import (
    Part,
    by_streams,
    counted_parts,
    joined,
    key_of,
    needed,
    parts_of,
)
from rc_workbench_plugins.streaming.query.measures import (
    Assert,
    AssertResult,
    Condition,
    Measure,
    MeasureResult,
    Metric,
    Query,
    Statistic,
)
from rc_workbench_plugins.streaming.query.resolve import ELSEWHERE, read_query
from rc_workbench_plugins.streaming.query.rtl import design_topology, is_queue
from workbench.api import Diagnostic, HdlBuild, Severity, WorkbenchError, counted
from workbench.api.builds import AgentQuery
from workbench.api.instrument.board import setting_numbers
from workbench.api.instrument.crossing import numbered
from workbench.api.instrument.probes import LINKS, state_bits
from workbench.api.instrument.stream_probe import stream_blocks
from workbench.api.queries import DesignAgents, Switching
from workbench.api.unstable import (
    AgentSettings,
    Fifo,
    MonitorWords,
    Stream,
    StreamEdge,
    Topology,
    ValueType,
    as_target,
    period_ps,
)

_TRACED = "Ask a traced run (workbench run --trace): all of its events are on the host's clock."
_TWO_CLOCKS = (
    "Write one statement for each clock. Or write 'measure latency at A -> B' from one clock to the other, or an "
    f"assertion that joins conditions of single clocks by & or |, or compares values of frames. {_TRACED}"
)
_SLACK = 8  # words that a FIFO may hold beyond the memory that shows its depth, as in a register behind it
_UNKNOWN = 255  # words that a FIFO of no known depth is taken to hold


@dataclass(frozen=True)
class OfClock:
    """The agent of a clock, beside the monitor of that number. Its memory keeps as much room as its last frames take,
    and one that is being sent."""

    number: int
    monitor: MonitorWords
    agent: HardwareAgent
    far: tuple[int, ...] = ()  # where its far places are among the bits that agents tell each other

    @property
    def room_words(self) -> int:
        return self.monitor.agent.words if self.monitor.agent else 0

    @property
    def reserve_words(self) -> int:
        return 2 * self.agent.most_words

    @property
    def needed_words(self) -> int:
        return self.reserve_words + self.agent.most_words if self.agent.groups else 0


class Design:
    """A design with its monitors, as a query asks about it."""

    def __init__(self, build: HdlBuild, asked: AgentQuery, clocks_hz: Mapping[str, float]) -> None:
        self.build, self._asked = build, asked
        self._clocks_hz = {**clocks_hz, **{one.name: one.frequency_hz for one in build.simulation.made.values()}}
        self.block_of_stream = stream_blocks(build.streams, build.blocks)
        plan = build.read_out
        self._monitors = [*enumerate(plan.monitors)] if plan else []
        self._clock_of = {
            number: monitor.clock for _, monitor in self._monitors if monitor.agent and monitor.clock in self._clocks_hz
            for number in self._counted(monitor)
        }  # fmt: skip

    def _counted(self, monitor: MonitorWords) -> Iterator[int]:
        """The numbers of the blocks whose states it sees."""
        yield from (number for counter in monitor.counters for number, _ in counter.watched)

    def _stream_clock(self, number: int) -> str:
        return self._clock_of.get(self.block_of_stream.get(number, -1), "")

    @cached_property
    def fifos(self) -> tuple[Fifo, ...]:
        """The FIFOs between two streams that the counters of one clock see."""
        clock = self._stream_clock
        return tuple(f for f in self.build.fifos if clock(f.input) and clock(f.input) == clock(f.output))

    @cached_property
    def _between_clocks(self) -> dict[str, tuple[str, str]]:
        """The streams that FIFOs take and give which the counters of two clocks see, by the FIFOs' labels."""
        clock, streams = self._stream_clock, self.build.streams
        return {
            as_target(f.id): (as_target(streams[f.input].id), as_target(streams[f.output].id))
            for f in self.build.fifos if clock(f.input) and clock(f.output) not in ("", clock(f.input))
        }  # fmt: skip

    @cached_property
    def value_types(self) -> dict[str, ValueType]:
        """Of streams and FIFOs whose words are led up, by their labels, the types of these."""
        streams, led = self.build.streams, dict[int, ValueType]()
        for _, monitor in self._monitors:
            led |= monitor.types
        types = {
            number: led[block] for number, block in self.block_of_stream.items()
            if streams[number].id in self._asked.valued and block in led
        }  # fmt: skip
        return {as_target(streams[number].id): value for number, value in types.items()} | {
            as_target(fifo.id): types[fifo.input] for fifo in self.fifos if fifo.input in types
        }

    @cached_property
    def _topology(self) -> Topology:
        top = self.build.streams[0].id.partition(".")[0] if self.build.streams else self.build.top
        return design_topology(top, self.build.streams, self.build.fifos)

    @cached_property
    def query(self) -> Query:
        """What is asked here; what is wrong in it is among its diagnostics."""
        return self.query_of(self._asked.own, self._asked.others)

    def query_of(self, own: Sequence[str], others: Sequence[str]) -> Query:
        """What is asked of FPGAs with these names."""
        fpgas = own, others
        query = read_query(self._asked.text, self._topology, self._asked.file, blocks=self.build.blocks, fpgas=fpgas)
        return by_streams(query, self._between_clocks)

    @property
    def misfits(self) -> tuple[Diagnostic, ...]:
        """Why statements fit no part of the design; a note of those that name another FPGA."""
        wrong = (problem for problem in self.query.diagnostics if problem.severity is Severity.ERROR)
        return tuple(replace(one, severity=Severity.NOTE) if one.hint == ELSEWHERE else one for one in wrong)

    def _held(self, fifo: Fifo) -> Measure:
        """How many words a FIFO holds, which is counted without being asked for."""
        bins = tuple(map(float, range((fifo.depth or _UNKNOWN) + _SLACK + 2)))
        return Measure("", "", Metric.OCCUPANCY, Statistic.HIST, (as_target(fifo.id),), bins=bins)

    @cached_property
    def _clock_of_edge(self) -> dict[str, str]:
        streams = {as_target(one.id): self._stream_clock(n) for n, one in enumerate(self.build.streams)}
        return streams | {as_target(fifo.id): self._stream_clock(fifo.input) for fifo in self.fifos}

    @cached_property
    def _clock_of_block(self) -> dict[str, str]:
        return {self.build.blocks[number].id: clock for number, clock in self._clock_of.items()}

    def _needed(self, of: Measure | Assert | Condition) -> dict[str, str]:
        """The clocks of what has to be known in the same cycle, each with the first of it; "" of what no counter
        sees."""
        clocks: dict[str, str] = {}
        for kind, name in needed(of):
            if kind == "edge":
                clocks.setdefault(self._clock_of_edge.get(name, ""), f"'{name}'")
            else:
                clocks.setdefault(self._clock_of_block.get(name, ""), f"the state of '{name}'")
        return clocks

    def _on_one_clock(self, of: Measure | Assert | Condition) -> str:
        """The clock on which a statement is counted; "" where it is none, or a counter does not see all of it."""
        clocks, whole = [*self._needed(of)], of if isinstance(of, Measure | Assert) else Assert("", "", of)
        seen = all(self._clock_of_edge.get(label) for label in labels_of(whole))
        return clocks[0] if seen and len(clocks) == 1 else ""

    @cached_property
    def _joined(self) -> dict[Assert, Part]:
        """The assertions that are counted in parts, each on one clock."""
        parts = {
            one: parts_of(one, lambda part: bool(self._on_one_clock(part)))
            for one in self.query.asserts if not self._on_one_clock(one)
        }  # fmt: skip
        return {one: part for one, part in parts.items() if part is not None}

    @cached_property
    def _parts(self) -> frozenset[Measure | Assert]:
        """What is counted for assertions over several clocks alone."""
        return frozenset(key_of(part) for of in self._joined.values() for part in counted_parts(of))

    def asked(self, of: Measure | Assert) -> bool:
        """Whether someone asked for what an agent counts, and for no more than that."""
        return bool(of.text) and key_of(of) not in self._parts

    def joined(self, results: Sequence[MeasureResult | AssertResult]) -> Iterator[AssertResult]:
        """The answers to assertions over several clocks, by those to their parts."""
        by_part = {key_of(one.measure if isinstance(one, MeasureResult) else one.asserted): one for one in results}
        for whole, part in self._joined.items():
            if answer := joined(whole, part, by_part):
                yield answer

    @cached_property
    def agents(self) -> tuple[OfClock, ...]:
        """Each agent tells those of other clocks what passes the places that they ask about."""
        first = self._agents({})
        links: dict[str, dict[Place, int]] = {}
        for place in (place for one in first for place in one.agent.far):
            of_clock = links.setdefault(self._clock_of_edge[place[0]], {})
            of_clock.setdefault(place, len(of_clock))
        for clock, places in links.items():
            if len(places) > (most := LINKS // LINK_BITS):
                message = f"agents on other clocks ask about {len(places)} places on clock {clock}, more than {most}"
                raise WorkbenchError(
                    Diagnostic(message, "Ask about fewer places across two clocks.", file=self._asked.file or None)
                )
        if not links:
            return first
        numbers = {one.monitor.clock: one.number for one in first}
        lows = {
            place: numbers[clock] * LINKS + number * LINK_BITS
            for clock, places in links.items() for place, number in places.items()
        }  # fmt: skip
        return tuple(replace(one, far=tuple(lows[place] for place in one.agent.far)) for one in self._agents(links))

    def _agents(self, links: Mapping[str, Mapping[Place, int]]) -> tuple[OfClock, ...]:
        topology, result = self._topology, []
        clock_of_edge, clock_of_block = self._clock_of_edge, self._clock_of_block
        for number, monitor in self._monitors:
            if not (monitor.agent and monitor.clock in self._clocks_hz):
                continue
            clock = monitor.clock

            def far_ps(label: str, clock: str = clock) -> Fraction | None:
                other = clock_of_edge[label]
                return period_ps(self._clocks_hz[other]) if other != clock else None

            edges = [
                AgentEdge(_deep(edge), value=self.value_types.get(edge.label), far_ps=far_ps(edge.label))
                for edge in topology.edges
                if clock_of_edge.get(edge.label) == clock or (monitor.agent.linked and clock_of_edge.get(edge.label))
            ]
            blocks = [
                AgentBlock(block.id, state_bits(len(block.states)))
                for block in self.build.blocks if clock_of_block.get(block.id) == clock
            ]  # fmt: skip

            def here(of: Measure | Assert, clock: str = clock) -> bool:
                return self._on_one_clock(of) == clock

            parts = [part for of in self._joined.values() for part in counted_parts(of)]
            measures = [one for one in (*self.query.measures, *parts) if isinstance(one, Measure) and here(one)]
            if self._asked.fifos:
                measures += [self._held(fifo) for fifo in self.fifos if self._stream_clock(fifo.input) == clock]
            asserts = [one for one in (*self.query.asserts, *parts) if isinstance(one, Assert) and here(one)]
            here_asked = replace(
                self.query, measures=tuple(dict.fromkeys(measures)), asserts=tuple(dict.fromkeys(asserts))
            )
            clocks = [AgentClock(period_ps(self._clocks_hz[clock]), number)]
            name = numbered("recap_questions", number)
            told = tuple(links.get(clock, {}))
            agent = hardware_agent(here_asked, edges, clocks, self._asked.file, name, blocks, told)
            result.append(OfClock(number, monitor, agent))
        return tuple(result)

    def answers_of(self, fpga: str, answered: Answers) -> Answers:
        """The answers, without those of statements that name another of the FPGAs that have this design."""
        query = self.query_of([fpga], [*(name for name in self._asked.own if name != fpga), *self._asked.others])
        places = {(one.line, one.column) for one in query.statements}
        return replace(
            answered,
            measures=tuple(one for one in answered.measures if (one.measure.line, one.measure.column) in places),
            asserts=tuple(one for one in answered.asserts if (one.asserted.line, one.asserted.column) in places),
        )

    def _without_agent(self, one: Measure | Assert) -> tuple[str, str]:
        """Why no agent sees all that a statement is about, and what helps."""
        ends = {as_target(stream.id): [n] for n, stream in enumerate(self.build.streams)}
        ends |= {as_target(fifo.id): [fifo.input, fifo.output] for fifo in self.build.fifos}
        blocks = {name: [self.block_of_stream.get(n, -1) for n in streams] for name, streams in ends.items()}
        blocks |= {block.id: [number] for number, block in enumerate(self.build.blocks)}
        derived = {n: monitor.clock for _, monitor in self._monitors if monitor.made_of for n in self._counted(monitor)}
        for name in (*labels_of(one), *(name for _, name in needed(one))):
            unseen = [number for number in blocks.get(name, ()) if number not in self._clock_of]
            if clock := next((derived[number] for number in unseen if number in derived), ""):
                hint = f"If a PLL makes it, add it to hardware.clocks: {{name: {clock}, frequency_hz: 200 MHz}}."
                return f"'{name}' is on the clock {clock}, whose frequency is not stated", hint
        return "it asks about a block or a stream without a counter", _TRACED

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        counts = {one.of for of_clock in self.agents for one in of_clock.agent.monitors}
        told = [problem for one in self.agents for problem in one.agent.diagnostics]
        lines = {(one.line, one.column) for one in told}
        for one in self.query.statements:
            parts = [*counted_parts(self._joined[one])] if isinstance(one, Assert) and one in self._joined else [one]
            if not counts.issuperset(parts) and (one.line, one.column) not in lines:
                clocks = self._needed(one)
                why, hint = self._without_agent(one)
                if "" not in clocks and len(clocks) > 1:
                    (first, what), (second, other) = [*clocks.items()][:2]
                    why = f"no cycle has both {what} (clock {first}) and {other} (clock {second})"
                    hint = _TWO_CLOCKS
                message, place = f"no agent counts '{one.label or one.text}': {why}", (one.line, one.column)
                told.append(Diagnostic(message, hint, Severity.WARNING, self._asked.file, *place))
        return (*(one for one in self.query.diagnostics if one.severity is not Severity.ERROR), *told)


def _deep(edge: StreamEdge) -> StreamEdge:
    """An edge whose FIFO may hold a little more than its depth."""
    return replace(edge, depth=edge.depth + _SLACK) if is_queue(edge) else edge


def switches(builds: Sequence[HdlBuild], clocks_hz: Mapping[str, float], frame: str, only: Sequence[str]) -> Switching:
    """How the agents of FPGAs are switched as a program starts. WorkbenchError where they cannot be switched like
    that."""
    designs = [Design(build, build.agent, clocks_hz) if build.agent else None for build in builds]
    codes: list[Mapping[int, tuple[int, ...]]] = [
        {one.number: codes_for(one.agent, frame, only) for one in design.agents} if design else {} for design in designs
    ]
    for design, of_fpga in zip(designs, codes, strict=True):
        for one in design.agents if design else ():
            if missing := set(of_fpga[one.number]) - one.monitor.settings.keys():
                small = "hardware.read_out is too small to switch the agent"
                large = "the query has more statements than the agent can switch"
                message = f"{large if one.monitor.settings else small} ({counted(len(missing), 'setting')} missing)"
                hint = "Ask for less." if one.monitor.settings else "Reserve eight words in hardware.read_out."
                raise WorkbenchError(Diagnostic(message, hint))
    numbers = setting_numbers(codes)
    counted_here = (one.of for design in designs if design for own in design.agents for one in own.agent.monitors)
    return Switching(numbers, names_in(counted_here), any(map(AgentSettings.is_length, numbers)))


def valued(text: str, streams: Sequence[Stream], fifos: Sequence[Fifo], own: Sequence[str]) -> tuple[str, ...]:
    """The ids of the streams whose words' values are asked about, as far as the statements can be read."""
    query = read_query(text, design_topology("", streams, fifos), fpgas=(own, ()))
    labels = {label for one in query.statements for label in valued_edges(one)}
    of_fifos = {fifo.input for fifo in fifos if as_target(fifo.id) in labels}
    return tuple(one.id for number, one in enumerate(streams) if number in of_fifos or as_target(one.id) in labels)


def _text(design: Design) -> str:
    """Verilog of all agents, under names that the application's own agents do not have."""
    signals = {as_target(one.id): (n, n) for n, one in enumerate(design.build.streams)}
    signals |= {as_target(fifo.id): (fifo.input, fifo.output) for fifo in design.fifos}
    taps = design.build.simulation.taps
    of_blocks = {block.id: taps[n] for n, block in enumerate(design.build.blocks) if n < len(taps)}
    lows = {label: tuple(taps[design.block_of_stream[n]][0] for n in ends if n in design.block_of_stream)
            for label, ends in signals.items()}  # fmt: skip
    vector, texts, modules = design.build.simulation.tap_bits, [], dict[str, str]()
    for one in design.agents:
        modules |= one.agent.verilog
        sizes = one.room_words, one.reserve_words
        linked = one.monitor.agent.linked if one.monitor.agent else 0
        texts.append(agent_text(one.agent, one.number, vector, sizes, lows, of_blocks, linked, one.far))
    return re.sub(r"\bagent_", "recap_agent_", "\n".join([*modules.values(), library_text(), *texts]))


def agents(build: HdlBuild, asked: AgentQuery, clocks_hz: Mapping[str, float]) -> DesignAgents:
    """The agents that count what is asked. WorkbenchError with what is wrong in it."""
    design = Design(build, asked, clocks_hz)
    for one in design.agents:
        if one.needed_words > one.room_words:
            most = counted(one.agent.most_words, "word")
            message = f"the query needs {most} for each frame, more than hardware.query_words allows"
            hint = f"Write hardware.query_words: {1 << (one.needed_words - 1).bit_length()}, or ask for less."
            raise WorkbenchError(Diagnostic(message, hint, file=asked.file or None))
    sizes = {one.number: (len(one.agent.groups), len(one.agent.monitors)) for one in design.agents}
    return DesignAgents(_text(design), sizes, design.problems, design.misfits)
