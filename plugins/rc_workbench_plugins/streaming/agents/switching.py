"""Agents beside a design's counters, switched as a program starts: how long their frames are, and which statements they
count (`resources/hdl/agent/agent_store.v`). The numbers to write go to the program in its environment."""

from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rc_workbench_plugins.streaming.agents.layout import Group, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.measures import Assert, FrameLength, Measure, MeasureResult
from workbench.api import Diagnostic, WorkbenchError, near, time_text
from workbench.api.unstable import AgentSettings

_HINT = "A frame is a whole number of cycles of each clock, below 2^32, or of words."


def name_of(statement: Measure | Assert) -> str:
    """What a statement is called where some are chosen."""
    return statement.label or statement.text


def codes_for(agent: HardwareAgent, frame: str, only: Sequence[str]) -> tuple[int, ...]:
    """The numbers that give frames another length ("": none), and let these statements alone be counted (all, where
    none is named). WorkbenchError where an agent has no such frames."""
    codes: list[int] = []
    for group in agent.groups:
        if (length := _length(agent, group, frame)) is not None:
            codes += AgentSettings.length(group.number, length)
    codes += [
        AgentSettings.counted(one.number, not one.of.text or name_of(one.of) in only) for one in agent.monitors if only
    ]  # fmt: skip
    return tuple(codes)


def check_names(agents: Sequence[HardwareAgent], only: Sequence[str]) -> None:
    """WorkbenchError for a name that no counted statement has."""
    known = [name_of(one.of) for agent in agents for one in agent.monitors if one.of.text]
    for name in only:
        if name not in known:
            raise WorkbenchError(Diagnostic(f"no agent counts a statement '{name}'", near(name, known, "Counted")))


def _length(agent: HardwareAgent, group: Group, frame: str) -> int | None:
    if not frame:
        return None
    try:
        asked = frame_of(frame)
    except ArgumentTypeError as error:
        raise WorkbenchError(Diagnostic(f"the length of a frame: {error}", _HINT)) from None
    if asked.elements and group.of_elements:
        length = Fraction(asked.elements)
    elif asked.time_ps and not group.of_elements:
        length = asked.time_ps / agent.clocks[group.clock].period_ps
    else:
        return None
    if length.denominator != 1 or not 1 <= length < 1 << 32:
        raise WorkbenchError(Diagnostic(f"a frame of {frame} cannot be counted", _HINT))
    return int(length)


@dataclass(frozen=True)
class Switched:
    """What numbers left of an agent: lengths of its groups' frames where they are others, and statements, by their
    numbers, that were not counted."""

    lengths: Mapping[int, int]
    left_out: frozenset[int]


def switched(codes: Sequence[int]) -> Switched:
    """The settings as words for the agent's memory, one after the other."""
    length, lengths, left_out = 0, dict[int, int](), set[int]()
    for code in codes:
        if code < AgentSettings.LENGTH:
            length = (length << 4 | code) & 0xFFFFFFFF
        elif code < AgentSettings.COUNTED:
            lengths[code - AgentSettings.LENGTH] = length
        else:
            statement, counts = divmod(code - AgentSettings.COUNTED, 2)
            (left_out.discard if counts else left_out.add)(statement)
    return Switched(lengths, frozenset(left_out))


def as_switched(answered: Answers, agent: HardwareAgent, by: Switched) -> Answers:
    """The answers of what was counted, each with the length that its frames had."""
    group_of = {one.of: group for group in agent.groups for one in group.monitors}
    numbers = {one.of: one.number for one in agent.monitors}

    def result(one: MeasureResult) -> MeasureResult:
        group = group_of[one.measure]
        length = by.lengths.get(group.number)
        if length is None:
            return one
        period_ps = agent.clocks[group.clock].period_ps
        frame = FrameLength(elements=length) if group.of_elements else FrameLength(time_ps=round(length * period_ps))
        words = f"{length:,} words" if group.of_elements else time_text(float(length * period_ps) / 1e12)
        trust = f"{one.trust}, in frames of {words}, as the program was started"
        return replace(one, measure=replace(one.measure, frame=frame), trust=trust)

    measures = (result(one) for one in answered.measures if numbers[one.measure] not in by.left_out)
    asserts = (one for one in answered.asserts if numbers[one.asserted] not in by.left_out)
    return replace(answered, measures=tuple(measures), asserts=tuple(asserts))
