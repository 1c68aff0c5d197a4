"""Parses the changes of a rule's suggestions in a rule file.

A line is a change as in `workbench whatif --change`, with a pick instead of calls, an expression over metrics for each
number, and a text metric for each name. `scale` stands for `state`, `host` or `calls`, depending on the picked states.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from workbench.api.metrics import Metrics
from workbench.model.changes import CHANGES, check_names, named_values
from workbench.model.diagnostic import near
from workbench.model.expression import Expression

SCALE = "scale"
#: Kinds that name blocks and states; rules write `scale` instead.
_BY_SCALE = ("state", "host")


@dataclass(frozen=True)
class Pick:
    """The title of a pick, and the reason given if a run has none."""

    title: str
    none: str


CALL_PICKS: Mapping[str, Pick] = {
    "selected": Pick("the selected calls", "no call is selected"),
    "each": Pick("a change for each of the selected calls", "no call is selected"),
    "longest": Pick("the selected call that takes longest", "no call is selected"),
    "together": Pick(
        "selected calls that follow one another: a change for each group",
        "no two of these calls follow one another in one direction, without another call between",
    ),
    "with_data": Pick(
        "selected calls that follow one another, and the data sent right beside them: a change for each group",
        "no data are sent right before or after these calls, and no two of them follow one another",
    ),
    "starts": Pick(
        "the calls that start the FPGA: control messages right before a wait, or the last data before it",
        "no call is known to start the FPGA",
    ),
    "selected_starts": Pick(
        "those of the selected calls that start the FPGA", "none of these calls is known to start the FPGA"
    ),
    "settings": Pick(
        "the selected messages that are sent in most rounds and do not start the FPGA",
        "none of these messages is sent in most rounds but for those that start the FPGA",
    ),
    "next_data": Pick(
        "the data that are sent in a round before the FPGA is started",
        "no data are sent in each round before the FPGA is started: there are none, or they are early already",
    ),
    "before_reads": Pick(
        "selected messages that come right before a read of data",
        "none of these messages comes right before a read of data",
    ),
    "asynchronous": Pick(
        "selected calls of a kind (send, receive) of which the platform has one that returns before its transfer ends",
        "the platform has no such call that returns before its transfer ends",
    ),
    "other_polls": Pick(
        "the calls that ask whether the FPGA is ready, but for the one that asks most often", "one call asks for all"
    ),
}
STATE_PICKS: Mapping[str, Pick] = {
    "selected": Pick("the selected states", "no state is selected"),
    "work": Pick("the work of the block that the finding is on", "no work of this block is marked"),
    "culprit": Pick(
        "the work of who is late; seen from the host, of the busiest block that is waited for",
        "no work of the block that is late is marked",
    ),
}

Complain = Callable[[str, str], None]
Parse = Callable[[str], Expression | None]


@dataclass(frozen=True)
class RuleChange:
    """One line of a suggestion's `changes`. `pick` names a pick; for `scale work_of=` it names a text metric."""

    kind: str
    pick: str = ""
    numbers: Mapping[str, Expression] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    work_of: bool = False


def read_rule_change(line: str, metrics: Metrics, parse: Parse, complain: Complain) -> RuleChange | None:
    """The change in a line of a rule file. Errors are passed to `complain` with a hint."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        complain(f"change '{line}': {error}", "Close all quotation marks.")
        return None
    kind = words[0] if words else ""
    kinds = sorted({SCALE, *CHANGES} - set(_BY_SCALE))
    if kind in _BY_SCALE:
        complain(f"a rule scales states by '{SCALE}', not '{kind}'", _usage(SCALE))
        return None
    if kind not in kinds:
        complain(f"there is no change '{kind}'", near(kind, kinds, "Known"))
        return None
    try:
        arguments = named_values(words[1:])
        check_names(kind, arguments, _names_of_values(kind, arguments))
    except ValueError as error:
        complain(f"{error}", _usage(kind))
        return None
    return _checked(kind, arguments, metrics, parse, complain)


def _checked(
    kind: str, arguments: Mapping[str, str], metrics: Metrics, parse: Parse, complain: Complain
) -> RuleChange | None:
    pick, by_work, good = "", "work_of" in arguments, True
    numbers, texts = {}, {}
    for name, value in arguments.items():
        if name in ("calls", "states"):
            pick, picks = value, CALL_PICKS if name == "calls" else STATE_PICKS
            if value not in picks:
                complain(f"'{value}' is not a pick for {name}", near(value, picks, "Picks are"))
                good = False
        elif name == "factor" or _type_of(kind, name) in ("int", "float"):
            expression = parse(value)
            good &= expression is not None
            if expression is not None:
                numbers[name] = expression
        elif value not in metrics or metrics[value].unit != "text":
            of_text = [one for one, metric in metrics.items() if metric.unit == "text"]
            complain(f"'{value}' is not a text metric", near(value, of_text, "These are"))
            good = False
        elif name == "work_of":
            pick = value
        else:
            texts[name] = value
    return RuleChange(kind, pick, numbers, texts, by_work) if good else None


def _names_of_values(kind: str, arguments: Mapping[str, str]) -> Sequence[str]:
    if kind == SCALE:
        return ("work_of" if "work_of" in arguments else "states", "factor")
    return [each.name for each in fields(CHANGES[kind])]


def _usage(kind: str) -> str:
    if kind == SCALE:
        return f"Write `{SCALE} states=PICK factor=EXPRESSION`, or `work_of=TEXT_METRIC` for the states."
    placeholder = {"str": "TEXT_METRIC", "int": "EXPRESSION", "float": "EXPRESSION"}
    parts = (f"{each.name}={placeholder.get(str(each.type), 'PICK')}" for each in fields(CHANGES[kind]))
    return f"Write `{' '.join([kind, *parts])}`."


def _type_of(kind: str, name: str) -> str:
    return "" if kind == SCALE else next(str(each.type) for each in fields(CHANGES[kind]) if each.name == name)
