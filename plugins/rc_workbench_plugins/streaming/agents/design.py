"""Agents beside the counters of an ordinary design: one on each clock, which sees the streams, FIFOs and states that
are led up to the counters there (`workbench/api/instrument/monitor_text.py`)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from rc_workbench_plugins.streaming.agents.conditions import labels_of, valued_edges, withins_of
from rc_workbench_plugins.streaming.agents.design_text import agent_text, library_text
from rc_workbench_plugins.streaming.agents.hardware import hardware_agent
from rc_workbench_plugins.streaming.agents.joints import AgentBlock, AgentEdge
from rc_workbench_plugins.streaming.agents.kept import OF_DESIGN, table_of_answers
from rc_workbench_plugins.streaming.agents.layout import AgentClock, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import Answers, answers
from rc_workbench_plugins.streaming.agents.placed import placed
from rc_workbench_plugins.streaming.agents.switching import as_switched, codes_for, names_in, switched
from rc_workbench_plugins.streaming.query.measures import (
    Assert,
    AssertResult,
    Measure,
    MeasureResult,
    Metric,
    Query,
    Statistic,
)
from rc_workbench_plugins.streaming.query.resolve import ELSEWHERE, read_query
from rc_workbench_plugins.streaming.query.rtl import design_topology, is_queue
from workbench.api import Diagnostic, HdlBuild, Severity, Table, WorkbenchError, counted, listed
from workbench.api.builds import AgentQuery
from workbench.api.instrument.board import setting_numbers
from workbench.api.instrument.crossing import numbered
from workbench.api.instrument.probes import state_bits
from workbench.api.instrument.stream_probe import stream_blocks, value_bits
from workbench.api.queries import DesignAgents, ReadAgents, Switching
from workbench.api.unstable import AgentSettings, Fifo, MonitorWords, Stream, StreamEdge, Topology, as_target, period_ps
from workbench.api.virtual_time import ClockFrame

AGENT = "FPGA"
_TRACED = "Ask a traced run, whose events are all on the host's clock."
_SLACK = 8  # words that a FIFO may hold beyond the memory that shows its depth, as in a register behind it
_UNKNOWN = 255  # words that a FIFO of no known depth is taken to hold


@dataclass(frozen=True)
class OfClock:
    """The agent of a clock, beside the monitor of that number. Its memory keeps as much room as its last frames take,
    and one that is being sent."""

    number: int
    monitor: MonitorWords
    agent: HardwareAgent

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
        self.build, self._asked, self._clocks_hz = build, asked, clocks_hz
        self.block_of_stream = stream_blocks(build.streams, build.blocks)
        plan = build.read_out
        self._monitors = [*enumerate(plan.monitors)] if plan else []
        self._clock_of = {
            number: monitor.clock for _, monitor in self._monitors if monitor.agent and monitor.clock in clocks_hz
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
    def value_bits(self) -> dict[str, int]:
        """Of streams and FIFOs whose words are led up, by their labels, how many bits these have."""
        streams = self.build.streams
        bits = {
            number: value_bits(streams[number], self.build.blocks[block])
            for number, block in self.block_of_stream.items() if streams[number].id in self._asked.valued
        }  # fmt: skip
        return {as_target(streams[number].id): width for number, width in bits.items()} | {
            as_target(fifo.id): bits[fifo.input] for fifo in self.fifos if fifo.input in bits
        }

    @cached_property
    def _topology(self) -> Topology:
        top = self.build.streams[0].id.partition(".")[0] if self.build.streams else self.build.top
        return design_topology(top, self.build.streams, self.fifos)

    @cached_property
    def query(self) -> Query:
        """What is asked here; what is wrong in it is among its diagnostics."""
        return self.query_of(self._asked.own, self._asked.others)

    def query_of(self, own: Sequence[str], others: Sequence[str]) -> Query:
        """What is asked of FPGAs with these names."""
        topology = self._topology
        kept = {as_target(one.id) for n, one in enumerate(self.build.streams) if self._stream_clock(n)}
        kept |= {as_target(fifo.id) for fifo in self.fifos}
        topology = replace(topology, edges=tuple(edge for edge in topology.edges if edge.label in kept))
        return read_query(self._asked.text, topology, self._asked.file, blocks=self.build.blocks, fpgas=(own, others))

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

    def _clocks(self, of: Measure | Assert) -> set[str]:
        """The clocks of all that a statement asks about; "" of what no counter sees."""
        clocks = {self._clock_of_edge.get(label, "") for label in labels_of(of)}
        return clocks | {self._clock_of_block.get(one.block, "") for one in withins_of(of)}

    @cached_property
    def agents(self) -> tuple[OfClock, ...]:
        topology, result = self._topology, []
        clock_of_edge, clock_of_block = self._clock_of_edge, self._clock_of_block
        for number, monitor in self._monitors:
            if not (monitor.agent and monitor.clock in self._clocks_hz):
                continue
            clock = monitor.clock
            edges = [
                AgentEdge(_deep(edge), value_bits=self.value_bits.get(edge.label, 0))
                for edge in topology.edges if clock_of_edge.get(edge.label) == clock
            ]  # fmt: skip
            blocks = [
                AgentBlock(block.id, state_bits(len(block.states)))
                for block in self.build.blocks if clock_of_block.get(block.id) == clock
            ]  # fmt: skip

            def here(of: Measure | Assert, clock: str = clock) -> bool:
                return self._clocks(of) == {clock}

            measures = [one for one in self.query.measures if here(one)]
            if self._asked.fifos:
                measures += [self._held(fifo) for fifo in self.fifos if self._stream_clock(fifo.input) == clock]
            asserts = tuple(one for one in self.query.asserts if here(one))
            here_asked = replace(self.query, measures=tuple(measures), asserts=asserts)
            clocks = [AgentClock(period_ps(self._clocks_hz[clock]), number)]
            name = numbered("recap_questions", number)
            agent = hardware_agent(here_asked, edges, clocks, self._asked.file, name, blocks)
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

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        counts = {one.of for of_clock in self.agents for one in of_clock.agent.monitors}
        told = [problem for one in self.agents for problem in one.agent.diagnostics]
        lines = {(one.line, one.column) for one in told}
        for one in self.query.statements:
            if one not in counts and (one.line, one.column) not in lines:
                clocks = self._clocks(one)
                why = "it asks about a block or a stream without a counter"
                if "" not in clocks:
                    why = f"it asks about the clocks {listed(sorted(clocks))}, each of which has an agent of its own"
                message, place = f"no agent counts '{one.label or one.text}': {why}", (one.line, one.column)
                told.append(Diagnostic(message, _TRACED, Severity.WARNING, self._asked.file, *place))
        return (*(one for one in self.query.diagnostics if one.severity is not Severity.ERROR), *told)


def _deep(edge: StreamEdge) -> StreamEdge:
    """An edge whose FIFO may hold a little more than its depth."""
    return replace(edge, depth=edge.depth + _SLACK) if is_queue(edge) else edge


def _longer(results: Sequence[MeasureResult], clock: ClockFrame, period: Fraction) -> Iterator[Diagnostic]:
    """A warning where frames waited until those before were sent, and became one. The `clock` may be another than
    the platform says, by whose `period` (ps) frames have their length."""
    long = [frame for one in results for frame in one.frames if one.measure.frame.time_ps
            and (frame.end_ps - frame.start_ps) / clock.rate_ps > 1.5 * one.measure.frame.time_ps / period]  # fmt: skip
    if long:
        frames = counted(len(long), "frame")
        message = (
            f"{frames} counted in the FPGA lasted longer than requested: earlier ones filled its memory, or its way"
        )
        hint = "They are complete. Use longer frames, or raise hardware.query_words."
        yield Diagnostic(message, hint, severity=Severity.WARNING)


def _fifo_rows(build: HdlBuild, held: Sequence[MeasureResult], clock: ClockFrame) -> Iterator[tuple[int, int, int]]:
    """Rows of table `occupancy`; none of a FIFO that held more than it can, which did not give what it took."""
    numbers = {as_target(fifo.id): number for number, fifo in enumerate(build.fifos)}
    for one in held:
        below, *counts, above = (
            sum(bins) for bins in zip(*(frame.histogram or () for frame in one.frames), strict=True)
        )
        if not below and not above:
            cycles = [round(lasting_ps / clock.rate_ps) for lasting_ps in counts]
            yield from ((numbers[one.measure.edges[0]], words, n) for words, n in enumerate(cycles) if n)


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
                what = "the query asks for too much" if one.monitor.settings else small
                message, hint = f"{what} ({len(missing)} settings)", "Reserve eight words of the port for it."
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
        texts.append(agent_text(one.agent, one.number, vector, sizes, lows, of_blocks))
    return "\n".join([*modules.values(), library_text(), *texts]).replace("agent_", "recap_agent_")


def agents(build: HdlBuild, asked: AgentQuery, clocks_hz: Mapping[str, float]) -> DesignAgents:
    """The agents that count what is asked. WorkbenchError with what is wrong in it."""
    design = Design(build, asked, clocks_hz)
    for one in design.agents:
        if one.needed_words > one.room_words:
            most = counted(one.agent.most_words, "word")
            message = f"the query takes {most} a frame, more than hardware.query_words allows"
            hint = f"Write hardware.query_words: {1 << (one.needed_words - 1).bit_length()}, or ask for less."
            raise WorkbenchError(Diagnostic(message, hint, file=asked.file or None))
    sizes = {one.number: (len(one.agent.groups), len(one.agent.monitors)) for one in design.agents}
    return DesignAgents(_text(design), sizes, design.problems, design.misfits)


def counted_in(
    fpgas: Sequence[ReadAgents], clocks_hz: Mapping[str, float]
) -> tuple[dict[str, Table], tuple[Diagnostic, ...]]:
    """The tables of what the agents of FPGAs counted, by the words that were read out."""
    of_fpgas: dict[str, Answers] = {}
    problems: list[Diagnostic] = []
    rows: list[tuple[int, int, int]] = []
    fifos = False
    for one in fpgas:
        asked = one.build.agent
        if asked is None:
            continue
        design = Design(one.build, asked, clocks_hz)
        answered, implied = _answers(one, design)
        problems += answered.diagnostics
        fifos |= asked.fifos
        rows += ((one.first_fifo + fifo, held, cycles) for fifo, held, cycles in implied)
        if asked.text.strip():
            name = one.place.strip(":.")
            if (fpga := re.split("[:.]", name)[-1]) in asked.own:
                answered = design.answers_of(fpga, answered)
            of_fpgas[name or AGENT] = placed(answered, one.place, name) if name else answered
    tables = table_of_answers(of_fpgas, name=OF_DESIGN)
    if fifos:
        columns = np.array(sorted(rows), np.int64).reshape(-1, 3).T
        kinds = (("fifo", "i4"), ("words", "i4"), ("cycles", "i8"))
        tables["occupancy"] = {name: c.astype(kind) for (name, kind), c in zip(kinds, columns, strict=True)}
    return tables, tuple(problems)


def _answers(read: ReadAgents, design: Design) -> tuple[Answers, list[tuple[int, int, int]]]:
    """What an FPGA's agents answered, and rows of table `occupancy`."""
    measures: list[MeasureResult] = []
    asserts: list[AssertResult] = []
    problems, rows = [*design.problems], list[tuple[int, int, int]]()
    for one in design.agents:
        own, where = one.monitor.of(read.words), one.monitor.agent
        clock = read.frames.get(one.monitor.clock)
        if not where or not one.agent.groups or clock is None or not own.any():
            continue
        sent = own[where.base : where.base + min(int(own[where.count]), where.words)]
        try:
            of_clock = answers(one.agent, sent, [[clock]])
        except WorkbenchError as error:  # a damaged record: the counters' own words are kept
            problems += [replace(problem, severity=Severity.WARNING) for problem in error.diagnostics]
            continue
        of_clock = as_switched(of_clock, one.agent, switched(read.switched.get(one.number, ())))
        implied = [result for result in of_clock.measures if not result.measure.text]
        measures += [result for result in of_clock.measures if result.measure.text]
        asserts += of_clock.asserts
        rows += _fifo_rows(read.build, implied, clock)
        problems += (*of_clock.diagnostics, *_longer(of_clock.measures, clock, one.agent.clocks[0].period_ps))
    return Answers(tuple(measures), tuple(asserts), tuple(problems)), rows
