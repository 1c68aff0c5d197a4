"""Agents switched as a program starts: how long their frames are, and which statements they count
(`resources/hdl/agent/agent_settings.v`, `resources/streaming/agent_switch.hpp`). The numbers to write go to the program
in its environment."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rc_workbench_plugins.streaming.agents.host import HostAgent
from rc_workbench_plugins.streaming.agents.layout import Group, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.measures import (
    Assert,
    FrameLength,
    Measure,
    MeasureResult,
    operands,
    with_parts,
)
from rc_workbench_plugins.streaming.query.read import statements
from workbench.api import Diagnostic, WorkbenchError, time_text
from workbench.api.unstable import AgentSettings

_HINT = "Write a whole number of cycles of each clock, below 2^32, or of words."


def names(text: str) -> tuple[str, ...]:
    """What the statements of a text are called where some are chosen."""
    return tuple(dict.fromkeys(one.label or one.text for one in statements(text)[0]))


def _names_of(of: Measure | Assert) -> tuple[str, ...]:
    """What a statement is called: one of several edges has their names behind its label, and is one of the label's."""
    label = of.label.partition("[")[0] or of.text
    return (label, of.label) if of.label not in ("", label) else (label,)


def codes_for(agent: HardwareAgent, frame: str, only: Sequence[str]) -> tuple[int, ...]:
    """The numbers that give frames another length ("": none), and let these statements alone be counted (all, where
    none is named). WorkbenchError where an agent has no such frames."""
    codes: list[int] = []
    for group in agent.groups:
        if (length := _length(agent, group, frame)) is not None:
            codes += AgentSettings.length(group.number, length)
    return (*codes, *_counted([one.of for one in agent.monitors], only))


def _counted(counted: Sequence[Measure | Assert], only: Sequence[str]) -> Iterator[int]:
    """What lets `only` these be counted, with those that nobody asked for. WorkbenchError for too many."""
    if only and len(counted) > (most := (AgentSettings.CODES - AgentSettings.COUNTED) // 2):
        message = f"an agent counts {len(counted)} statements, but only {most} can be switched"
        raise WorkbenchError(Diagnostic(message, "Write fewer statements in the query file."))
    only_names = frozenset(only)
    for number, one in enumerate(counted if only else ()):
        yield AgentSettings.counted(number, not one.text or not only_names.isdisjoint(_names_of(one)))


def names_in(counted: Iterable[Measure | Assert]) -> tuple[str, ...]:
    """What those that were asked are called."""
    return tuple(dict.fromkeys(name for one in counted if one.text for name in _names_of(one)))


def length_of(frame: str) -> FrameLength:
    """WorkbenchError for a text that is no length."""
    try:
        return frame_of(frame)
    except ArgumentTypeError as error:
        raise WorkbenchError(Diagnostic(f"the length of a frame: {error}", _HINT)) from None


def _length(agent: HardwareAgent, group: Group, frame: str) -> int | None:
    if not frame:
        return None
    asked = length_of(frame)
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
    """An agent after its settings: the lengths of its groups' frames where they are others, and statements, by their
    numbers, that were not counted."""

    lengths: Mapping[int, int]
    left_out: frozenset[int]


def switched(codes: Sequence[int]) -> Switched:
    """The agent after these settings, one after the other."""
    length, lengths, left_out = 0, dict[int, int](), set[int]()
    for code in codes:
        if code < AgentSettings.LENGTH:
            length = length << 4 | code
        elif code < AgentSettings.COUNTED:
            lengths[code - AgentSettings.LENGTH], length = length, 0
        else:
            statement, counts = divmod(code - AgentSettings.COUNTED, 2)
            (left_out.discard if counts else left_out.add)(statement)
    return Switched(lengths, frozenset(left_out))


def as_switched(answered: Answers, agent: HardwareAgent, by: Switched) -> Answers:
    """The answers of what was counted, each with the length that its frames had."""
    group_of = {one.of: group for group in agent.groups for one in group.monitors}
    numbers = {one.of: one.number for one in agent.monitors}

    def length(one: Measure) -> tuple[FrameLength, str] | None:
        group = group_of[one]
        length = by.lengths.get(group.number)
        if length is None:
            return None
        if group.of_elements:
            return FrameLength(elements=length), f"{length:,} words"
        length_ps = length * agent.clocks[group.clock].period_ps
        return FrameLength(time_ps=round(length_ps)), time_text(float(length_ps) / 1e12)

    return _in_frames(answered, numbers, by.left_out, length)


def _in_frames(
    answered: Answers, numbers: Mapping[Measure | Assert, int], left_out: Collection[int],
    length: Callable[[Measure], tuple[FrameLength, str] | None],
) -> Answers:  # fmt: skip
    """Without statements of those `numbers`; the others with the `length` of their frames, and its words, where it was
    switched."""

    def result(one: MeasureResult) -> MeasureResult:
        if (switched_to := length(one.measure)) is None:
            return one
        frame, words = switched_to
        trust = f"{one.trust}, in frames of {words}, as set when the program started"
        measure = replace(one.measure, frame=frame)
        return replace(one, measure=measure, frames=with_parts(measure, one.frames), trust=trust)

    measures = (result(one) for one in answered.measures if numbers[one.measure] not in left_out)
    asserts = (one for one in answered.asserts if numbers[one.asserted] not in left_out)
    return replace(answered, measures=tuple(measures), asserts=tuple(asserts))


def host_codes(agent: HostAgent, frame: str, only: Sequence[str]) -> tuple[int, ...]:
    """As `codes_for`, of the agent on the processor: its frames of time are group 0, those of elements group 1."""
    codes: list[int] = []
    if frame:
        asked = length_of(frame)
        framed = [*agent.measures, *(side for one in agent.asserts for side in operands(one.condition))]
        if any(bool(one.frame.elements) == bool(asked.elements) for one in framed):
            codes += AgentSettings.length(int(bool(asked.elements)), asked.elements or asked.time_ps)
    return (*codes, *_counted((*agent.measures, *agent.asserts), only))


def host_as_switched(answered: Answers, agent: HostAgent, by: Switched) -> Answers:
    """The answers of what was counted, each with the length that its frames had."""
    counted: list[Measure | Assert] = [*agent.measures, *agent.asserts]
    numbers = {one: number for number, one in enumerate(counted)}

    def length(one: Measure) -> tuple[FrameLength, str] | None:
        length = by.lengths.get(int(bool(one.frame.elements)))
        if length is None:
            return None
        if one.frame.elements:
            return FrameLength(elements=length), f"{length:,} elements"
        return FrameLength(time_ps=length), time_text(length / 1e12)

    return _in_frames(answered, numbers, by.left_out, length)
