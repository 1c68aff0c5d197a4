"""What agents beside the counters of an ordinary design counted, as answers and tables of a run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rc_workbench_plugins.streaming.agents.design import Design
from rc_workbench_plugins.streaming.agents.kept import OF_DESIGN, table_of_answers
from rc_workbench_plugins.streaming.agents.packets import Answers, answers
from rc_workbench_plugins.streaming.agents.placed import placed
from rc_workbench_plugins.streaming.agents.switching import as_switched, switched
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult
from workbench.api import Diagnostic, HdlBuild, Severity, Table, WorkbenchError, counted
from workbench.api.queries import ReadAgents
from workbench.api.unstable import as_target
from workbench.api.virtual_time import ClockFrame

AGENT = "FPGA"


def _longer(results: Sequence[MeasureResult], clock: ClockFrame, period: Fraction) -> Iterator[Diagnostic]:
    """A warning where frames waited until those before were sent, and became one. The `clock` may be another than
    the platform says, by whose `period` (ps) frames have their length."""
    long = [frame for one in results for frame in one.frames if one.measure.frame.time_ps
            and (frame.end_ps - frame.start_ps) / clock.rate_ps > 1.5 * one.measure.frame.time_ps / period]  # fmt: skip
    if long:
        frames = counted(len(long), "frame")
        message = f"{frames} counted in the FPGA lasted longer than requested, since earlier frames were not sent yet"
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
    asserts += design.joined((*measures, *asserts))
    asked_for = tuple(one for one in measures if design.asked(one.measure))
    return Answers(asked_for, tuple(one for one in asserts if design.asked(one.asserted)), tuple(problems)), rows
