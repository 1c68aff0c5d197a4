"""The catalogue of changes: what a person may do to an application or its platform, as data and as one line of text.

A change names its parts as reports do: a block by its id, a state by its name within the block, a clock, FIFO or stream
by its name, and calls by `FILE:LINE`, by the called function or by a pragma's label (all calls with that name).
`workbench.replay` finds these parts in a run and predicts the gain.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from workbench.model.diagnostic import Diagnostic, WorkbenchError, near

_POSITIVE = {"least": 0.0, "above": True}
_NOT_NEGATIVE = {"least": 0.0}
_FROM_ONE = {"least": 1}


def _described(description: str, **bounds: Any) -> Any:
    return field(metadata={"description": description, **bounds})


@dataclass(frozen=True)
class Change:
    """One change of the catalogue. `kind` is its first word, `summary` what it does."""

    kind: ClassVar[str] = ""
    summary: ClassVar[str] = ""

    def __str__(self) -> str:
        words = [self.kind]
        for each in fields(self):
            value = getattr(self, each.name)
            words.append(shlex.quote(f"{each.name}={','.join(value) if isinstance(value, tuple) else value}"))
        return " ".join(words)


@dataclass(frozen=True)
class ScaleState(Change):
    kind: ClassVar[str] = "state"
    summary: ClassVar[str] = "each visit to a state of an FPGA block takes `factor` times as long; 0 removes it"
    block: str = _described("the block's id")
    state: str = _described("the state's name")
    factor: float = _described("new time over old", **_NOT_NEGATIVE)


@dataclass(frozen=True)
class ScaleHost(Change):
    kind: ClassVar[str] = "host"
    summary: ClassVar[str] = "the host's own code in a state of a host block takes `factor` times as long"
    block: str = _described("the host block's id")
    state: str = _described("the state's name; `*` for all of the block's own code")
    factor: float = _described("new time over old", **_NOT_NEGATIVE)


@dataclass(frozen=True)
class ScaleCalls(Change):
    kind: ClassVar[str] = "calls"
    summary: ClassVar[str] = "each of these calls takes `factor` times as long; 0 removes it"
    calls: tuple[str, ...] = _described("the calls")
    factor: float = _described("new time over old", **_NOT_NEGATIVE)


@dataclass(frozen=True)
class Unite(Change):
    kind: ClassVar[str] = "unite"
    summary: ClassVar[str] = "every `count` of these calls in a row become one call with all their bytes"
    calls: tuple[str, ...] = _described("the calls")
    count: int = _described("how many become one", **_FROM_ONE)


@dataclass(frozen=True)
class Split(Change):
    kind: ClassVar[str] = "split"
    summary: ClassVar[str] = "each of these calls becomes `count` calls of equal parts"
    calls: tuple[str, ...] = _described("the calls")
    count: int = _described("how many one becomes", **_FROM_ONE)


@dataclass(frozen=True)
class Resize(Change):
    kind: ClassVar[str] = "resize"
    summary: ClassVar[str] = "each of these calls moves `bytes` bytes"
    calls: tuple[str, ...] = _described("the calls")
    bytes: int = _described("bytes in each call", **_FROM_ONE)


@dataclass(frozen=True)
class Retype(Change):
    kind: ClassVar[str] = "retype"
    summary: ClassVar[str] = "these calls use another transfer table of the platform"
    calls: tuple[str, ...] = _described("the calls")
    table: str = _described("the name of the transfer table")


@dataclass(frozen=True)
class Asynchronous(Change):
    kind: ClassVar[str] = "asynchronous"
    summary: ClassVar[str] = "these calls return at once; the host waits only while all `buffers` are in use"
    calls: tuple[str, ...] = _described("the calls")
    buffers: int = _described("number of transfers that may be under way", **_FROM_ONE)


@dataclass(frozen=True)
class Interrupt(Change):
    kind: ClassVar[str] = "interrupt"
    summary: ClassVar[str] = "the polls by these calls become a wait for an interrupt"
    calls: tuple[str, ...] = _described("the polling calls")


@dataclass(frozen=True)
class PollDelay(Change):
    kind: ClassVar[str] = "poll_delay"
    summary: ClassVar[str] = "the host waits `delay_s` before the first of each row of polls by these calls"
    calls: tuple[str, ...] = _described("the polling calls")
    delay_s: float = _described("seconds before the first poll", **_NOT_NEGATIVE)


@dataclass(frozen=True)
class Early(Change):
    kind: ClassVar[str] = "early"
    summary: ClassVar[str] = "these calls of the next round are made before the host waits for the FPGA in this one"
    calls: tuple[str, ...] = _described("the calls of a round that move, in their order")


@dataclass(frozen=True)
class FewerStarts(Change):
    kind: ClassVar[str] = "fewer_starts"
    summary: ClassVar[str] = "one start, and one wait for its end, serves `count` rounds"
    calls: tuple[str, ...] = _described("the calls that start the FPGA")
    count: int = _described("rounds for each start", **_FROM_ONE)


@dataclass(frozen=True)
class ControlInFpga(Change):
    kind: ClassVar[str] = "control_in_fpga"
    summary: ClassVar[str] = (
        "the FPGA goes from round to round by itself: the host starts the first and waits for the last"
    )
    calls: tuple[str, ...] = _described("the calls that start the FPGA, or set it, which is then done once")


@dataclass(frozen=True)
class Replicas(Change):
    kind: ClassVar[str] = "replicas"
    summary: ClassVar[str] = "a group of replicated blocks has `count` members"
    group: str = _described("the group's name")
    count: int = _described("how many", **_FROM_ONE)


@dataclass(frozen=True)
class OtherClock(Change):
    kind: ClassVar[str] = "clock"
    summary: ClassVar[str] = "a clock of the FPGA runs at `frequency_hz`"
    clock: str = _described("the clock's name")
    frequency_hz: float = _described("the new frequency", **_POSITIVE)


@dataclass(frozen=True)
class Depth(Change):
    kind: ClassVar[str] = "depth"
    summary: ClassVar[str] = "a FIFO, or an edge of a streaming application, holds `words` words"
    fifo: str = _described("its name")
    words: int = _described("how many it holds", **_FROM_ONE)


@dataclass(frozen=True)
class Width(Change):
    kind: ClassVar[str] = "width"
    summary: ClassVar[str] = "a stream is `factor` times as wide"
    stream: str = _described("its name")
    factor: float = _described("new width over old", **_POSITIVE)


@dataclass(frozen=True)
class OtherPlatform(Change):
    kind: ClassVar[str] = "platform"
    summary: ClassVar[str] = "the application runs on another platform with the same calls"
    platform: str = _described("the template's name or file")


#: All kinds of change, by their first word.
CHANGES: Mapping[str, type[Change]] = {
    one.kind: one
    for one in (
        ScaleState, ScaleHost, ScaleCalls, Unite, Split, Resize, Retype, Asynchronous, Interrupt, PollDelay, Early,
        FewerStarts, ControlInFpga, Replicas, OtherClock, Depth, Width, OtherPlatform,
    )
}  # fmt: skip


def read_change(text: str) -> Change:
    """The change that a line names, such as `unite calls=host/main.c:31 count=16`; lists are separated by commas.

    Raises WorkbenchError where it names none.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _wrong(text, f"{error}", "Close all quotation marks.") from None
    if not words or words[0] not in CHANGES:
        named = f"there is no change '{words[0]}'" if words else "no change is named"
        raise _wrong(text, named, near(words[0] if words else "", CHANGES, "Known"))
    kind = CHANGES[words[0]]
    try:
        return _change(text, kind, named_values(words[1:]))
    except ValueError as error:
        raise _wrong(text, f"{error}", usage(kind)) from None


def named_values(words: Iterable[str]) -> dict[str, str]:
    """NAME=VALUE words as values by name. Raises ValueError with what is wrong with one."""
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value or name in values:
            raise ValueError(f"'{word}' is not NAME=VALUE, or is given twice")
        values[name] = value
    return values


def check_names(kind: str, given: Iterable[str], wanted: Collection[str]) -> None:
    """Raises ValueError where a change of this kind is not given exactly the wanted names."""
    given = list(given)
    if strange := [name for name in given if name not in wanted]:
        raise ValueError(f"a change '{kind}' has no '{strange[0]}'")
    if missing := [name for name in wanted if name not in given]:
        raise ValueError(f"a change '{kind}' needs {' and '.join(missing)}")


def change_of(values: Mapping[str, Any]) -> Change:
    """The change of what `as_json` gives, or of texts. Raises WorkbenchError."""
    text = " ".join(f"{name}={value}" for name, value in values.items())
    named = str(values.get("kind"))
    if named not in CHANGES:
        raise _wrong(text, f"there is no change '{named}'", near(named, CHANGES, "Known"))
    kind = CHANGES[named]
    try:
        return _change(text, kind, {name: value for name, value in values.items() if name != "kind"})
    except ValueError as error:
        raise _wrong(text, f"{error}", usage(kind)) from None


def _change(text: str, kind: type[Change], values: Mapping[str, Any]) -> Change:
    check_names(kind.kind, values, [each.name for each in fields(kind)])
    return kind(**{each.name: _value(text, kind, each, values[each.name]) for each in fields(kind)})


def as_json(change: Change) -> dict[str, object]:
    """Its kind and fields, for JSON; `change_of` reads it."""
    return {"kind": change.kind} | {
        each.name: list(value) if isinstance(value := getattr(change, each.name), tuple) else value
        for each in fields(change)
    }


def usage(kind: type[Change]) -> str:
    """How a kind of change is written, in one sentence."""
    return f"Write `{' '.join([kind.kind, *(f'{each.name}={each.name.upper()}' for each in fields(kind))])}`."


def _value(text: str, kind: type[Change], each: Any, value: Any) -> Any:
    if each.type == "tuple[str, ...]":
        parts = tuple(part for part in (value.split(",") if isinstance(value, str) else map(str, value)) if part)
        if parts:
            return parts
        raise _wrong(text, f"{each.name} names nothing", usage(kind))
    if each.type == "str":
        return str(value)
    least, above = each.metadata["least"], each.metadata.get("above", False)
    try:
        number = (int if each.type == "int" else float)(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is not None and (least < number or (number == least and not above)) and number < 1e18:
        return number
    whole = "a whole number" if each.type == "int" else "a number"
    raise _wrong(
        text, f"'{value}' is not a valid {each.name}", f"It is {whole} {'above' if above else 'of at least'} {least}."
    )


def _wrong(text: str, message: str, hint: str) -> WorkbenchError:
    return WorkbenchError(Diagnostic(f"change '{text}': {message}", hint))
