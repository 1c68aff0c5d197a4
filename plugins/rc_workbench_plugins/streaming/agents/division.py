"""Which agent counts which of a query's statements: the one that sees every end of an edge that a statement needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rc_workbench_plugins.streaming.agents.conditions import edges_along, ends_of
from rc_workbench_plugins.streaming.agents.fpga import fpga_answers
from rc_workbench_plugins.streaming.agents.hardware import hardware_agent
from rc_workbench_plugins.streaming.agents.host import FILE, HostAgent, host_agent, host_answers
from rc_workbench_plugins.streaming.agents.joints import AgentEdge
from rc_workbench_plugins.streaming.agents.layout import AgentClock, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.agents.switching import (
    as_switched,
    codes_for,
    host_as_switched,
    host_codes,
    names_in,
    switched,
)
from rc_workbench_plugins.streaming.query.measures import Assert, Measure, Query, Tap, about_states, of_virtual_queue
from workbench.api import Diagnostic, Severity
from workbench.api.instrument.board import setting_numbers, settings_of
from workbench.api.queries import Switching
from workbench.api.unstable import AgentSettings, StreamEdge, Topology, period_ps
from workbench.api.virtual_time import ClockFrame


@dataclass(frozen=True)
class Agents:
    """The agents of a run: the processor's, and those of FPGAs by card number. `diagnostics` name each statement, with
    its line, that none of them counts."""

    host: HostAgent | None = None
    fpgas: Mapping[int, HardwareAgent] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.host or self.fpgas)


NO_AGENTS = Agents()
HOST = "processor"


def agents_of(query: Query, topology: Topology, clock_hz: float, file: str = "") -> Agents:
    """The agents that a query needs; `clock_hz` is that of the FPGAs."""
    places = ("", *topology.fpgas)
    seen = {place: {edge.label: _seen(topology, edge, place) for edge in topology.edges} for place in places}
    of_place: dict[str | None, list[Measure | Assert]] = {None: [], **{place: [] for place in places}}
    for statement in query.statements:
        ends = tuple(ends_of(statement))
        if about_states(statement) or _overtakes(statement, topology):
            of_place[None].append(statement)
            continue
        counting = topology.fpgas if of_virtual_queue(statement) else places
        sees_all = (place for place in counting if all(tap in seen[place][label] for label, tap in ends))
        of_place[next(sees_all, None)].append(statement)
    problems = [_uncounted(statement, topology, file) for statement in of_place[None]]
    host, fpgas = None, dict[int, HardwareAgent]()
    if on_cores := of_place[""]:
        labels = {label for one in on_cores for label, _ in ends_of(one)}
        between = {label for one in on_cores for path in edges_along(one) for label in path if seen[""][label]}
        edges = {number: edge for number, edge in enumerate(topology.edges) if edge.label in labels | between}
        host = host_agent(_only(query, on_cores), edges)
    for card, fpga in enumerate(topology.fpgas):
        if not of_place[fpga]:
            continue
        there = [AgentEdge(edge, sees=seen[fpga][edge.label]) for edge in topology.edges]
        clocks = [AgentClock(period_ps(clock_hz))]
        agent = hardware_agent(_only(query, of_place[fpga]), there, clocks, file, f"stream_agent_{card}")
        problems += agent.diagnostics
        if agent.groups:
            fpgas[card] = agent
    return Agents(host, fpgas, tuple(problems))


def counted_by(agents: Agents, topology: Topology) -> dict[Measure | Assert, str]:
    """Where the agent is that counts a statement."""
    agent_of: dict[Measure | Assert, str] = {}
    if agents.host:
        agent_of |= dict.fromkeys((*agents.host.measures, *agents.host.asserts), HOST)
    for card, agent in agents.fpgas.items():
        agent_of |= {one.of: topology.titles[card] for group in agent.groups for one in group.monitors}
    return agent_of


def answers_in(
    agents: Agents, topology: Topology, raw: Path, clocks: Mapping[int, Sequence[ClockFrame]]
) -> dict[str, Answers]:
    """What each counted in a run, by where it is: "processor", "FPGA", or where there are several the name of one.
    `clocks` are those of cards that are not exactly what the platform says."""
    answers = {}
    text = (raw / SWITCHED).read_text("utf-8", "replace") if (raw / SWITCHED).is_file() else ""
    if agents.host:
        by = switched(settings_of(text, 0).get(AgentSettings.ON_PROCESSOR, ()))
        answers[HOST] = host_as_switched(host_answers(agents.host, raw / FILE), agents.host, by)
    for card, agent in agents.fpgas.items():
        by = switched(settings_of(text, card).get(AgentSettings.IN_FPGA, ()))
        read = fpga_answers(agent, raw, card, [clocks[card]] if card in clocks else None)
        answers[topology.titles[card]] = as_switched(read, agent, by)
    return answers


SWITCHED = "stream_switched.txt"  #: in a run's raw folder: what $RCW_AGENT was, if it was anything


def switching_of(agents: Agents, frame: str, only: Sequence[str]) -> Switching:
    """How the agents are switched as the program starts. WorkbenchError where they cannot be switched like that."""
    codes = [{AgentSettings.ON_PROCESSOR: host_codes(agents.host, frame, only)} if agents.host else {}]
    statements: list[Measure | Assert] = [*agents.host.measures, *agents.host.asserts] if agents.host else []
    for card in range(max(agents.fpgas, default=-1) + 1):
        codes += [{}] if card == len(codes) else []
        if agent := agents.fpgas.get(card):
            codes[card] = codes[card] | {AgentSettings.IN_FPGA: codes_for(agent, frame, only)}
            statements += [one.of for one in agent.monitors]
    numbers = setting_numbers(codes)
    return Switching(numbers, names_in(statements), any(map(AgentSettings.is_length, numbers)))


def _seen(topology: Topology, edge: StreamEdge, place: str) -> frozenset[Tap]:
    ends = ((edge.source, Tap.PUSH), (edge.sink, Tap.POP))
    return frozenset(tap for end, tap in ends if topology.fpga(end.block) == place)


def _only(query: Query, statements: Iterable[Measure | Assert]) -> Query:
    wanted = set(map(id, statements))
    measures = tuple(one for one in query.measures if id(one) in wanted)
    return replace(query, measures=measures, asserts=tuple(one for one in query.asserts if id(one) in wanted))


def _overtakes(statement: Measure | Assert, topology: Topology) -> bool:
    """Whether a path leads through a block whose threads give elements in another order."""
    paths = [[edge for edge in topology.edges if edge.label in path] for path in edges_along(statement)]
    ends = [({edge.sink.block for edge in path} & {edge.source.block for edge in path}) for path in paths]
    return any(topology.block_by_name[block].threads > 1 for blocks in ends for block in blocks)


def _uncounted(statement: Measure | Assert, topology: Topology, file: str) -> Diagnostic:
    name = statement.label or statement.text
    why = "it compares both sides of a bus, and each agent sees only one"
    if about_states(statement):
        why = "agents see queues, not the states of blocks"
    elif of_virtual_queue(statement):
        why = "an agent counts the elements along a path only if both ends are in its FPGA"
    elif _overtakes(statement, topology):
        why = "several threads of a block on its path change the order of elements"
    message = f"no agent counts '{name}': {why}"
    hint = "Ask after the run: workbench run --trace, then workbench query RUN QUERY_FILE."
    if about_states(statement):
        hint += " For states of blocks in an FPGA, use hardware.query."
    line, column = statement.line or None, statement.column or None
    return Diagnostic(message, hint, severity=Severity.WARNING, file=file or None, line=line, column=column)
