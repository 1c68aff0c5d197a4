"""Blocks on clocks that the design derives from another: the clock that counts them, and notes on it.

A gated clock has its source's edges, or fewer: what runs on it stays in its state meanwhile. A divided one changes
with its source's edges. What a PLL makes is simulated at its input's rate, unless the project says how fast it is. All
of them are exact in cycles of the source there. On a board only what is timed with the source can be counted by it:
what a PLL or a divider makes leads a monitor of its own there.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.hdl.instances import DIVIDER, GATE, BlockUse, Instance, Origin, uses_in
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, OfProject, Severity, WorkbenchError, near
from workbench.model.hardware import Clock, Hardware
from workbench.model.text import listed

_OWN = "On a real machine they are counted in cycles of the derived clock."
_SAID = " To simulate it as fast as it is, add it to hardware.clocks: {{name: {}, frequency_hz: 200 MHz}}."
_NO_NAMES: Mapping[str, str] = {}
_CLOCK = re.compile(r"[a-z]?(cl(oc)?k|ck)\d*(in|i)?|(cl(oc)?k|ck)\w?")
_CHOOSES = {"en", "ena", "enable", "ce", "gate", "sel", "select", "stop", "req", "valid", "locked"}


def follow_derived(top: Instance, origin: Callable[[Instance, BlockUse], Origin]) -> None:
    """Give blocks without one the top's clock that theirs is made of, where that is clear."""
    uses = [(instance, use) for instance in top.walk() for use in instance.blocks]
    direct = {use.root_clock for _, use in uses if use.root_clock}
    for instance, use in uses:
        if use.root_clock or not use.source.clock:
            continue
        clock = origin(instance, use)
        source = _clock_of(clock, direct)
        if source:
            at = instance.blocks.index(use)
            net = clock.net or use.path
            instance.blocks[at] = replace(use, root_clock=source, clock_maker=clock.clock_maker, clock_net=net)


def _clock_of(origin: Origin, direct: Collection[str]) -> str:
    """Which of the inputs is the clock: the one that clocks blocks itself, that a PLL takes, or that is called so."""
    some = origin.inputs & set(direct) | {name for name in origin.inputs if _is_clock(name)}
    some = some or (origin.inputs if origin.maker else some)
    return next(iter(some)) if len(some) == 1 else ""


def _is_clock(name: str) -> bool:
    words = name.lower().split("_")
    return any(map(_CLOCK.fullmatch, words)) and not _CHOOSES.intersection(words)


def other_clock(use: BlockUse, clocks: Sequence[str]) -> str:
    """Why a block on none of the platform's clocks cannot be observed."""
    what = f"'{use.source.clock}', which is "
    what += "derived within the design" if not use.root_clock else "made of " if use.clock_maker else ""
    what += f"the top's '{use.root_clock}'" if use.root_clock else ""
    return f"it runs on {what}; only blocks on the platform's clocks ({', '.join(clocks)}) can be observed"


def has_own_clock(use: BlockUse) -> bool:
    """Whether a monitor on the clock that a block is counted by cannot count it on a board: only one on its own can."""
    return use.clock_maker not in ("", GATE)


def clock_name(use: BlockUse) -> str:
    """What the clock that a block runs on is called where the design makes it: as there, below the top. In what stands
    for a vendor's primitive its register has a prefix."""
    below, _, net = use.clock_net.rpartition(":")
    return f"{below.partition('.')[2]}{net.partition('.')[2]}".replace(".recap_", ".")


def made_name(use: BlockUse) -> str:
    """The same where a PLL makes it; '' where none does."""
    return "" if use.clock_maker in ("", GATE, DIVIDER) else clock_name(use)


def clocks_of_streams(top: Instance, hardware: HardwareSources, board: Hardware) -> dict[str, str]:
    """The clock by whose cycles a stream is counted, by the one that it runs on: an input of the top, or what a PLL
    makes, which is simulated at its input's rate unless the project says how fast it is."""
    names = {clock.pin: clock.name for clock in board.clocks}
    stated = {clock.name for clock in hardware.clocks}
    source_of_pll = {made_name(use): use.root_clock for use in uses_in(top)}
    on_board = {clock: source for clock, source in source_of_pll.items() if clock and source in names}
    return {**names, **{clock: clock if clock in stated else names[source] for clock, source in on_board.items()}}


def pll_nets(top: Instance | None) -> dict[str, str]:
    """The clocks of PLLs that blocks run on, each where it is below the top."""
    return {name: name for use in uses_in(top) if (name := made_name(use))}


def gives(instance: Instance, clocks: Collection[str]) -> bool:
    """Whether an instance makes one of the clocks, which are named below the top."""
    return any(name.startswith(f"{instance.path.partition('.')[2]}.") for name in clocks)


def made_clocks(
    top: Instance | None, hardware: HardwareSources, below: str = "", names: Mapping[str, str] = _NO_NAMES
) -> dict[str, Clock]:
    """The clocks of PLLs of which the project says how fast they are, by where they stand in what is simulated, whose
    part `below` the new top is the user's. `names` are the platform's clocks by the top's inputs. WorkbenchError for
    one that no PLL makes."""
    sources = {made_name(use): use.root_clock for use in uses_in(top)}
    sources.pop("", None)
    problems = []
    for number, clock in enumerate(hardware.clocks):
        if clock.name not in sources:
            hint = (
                near(clock.name, list(sources), "They make")
                if sources
                else "What divides or gates a clock is simulated."
            )
            message = f"no PLL makes a clock '{clock.name}' that blocks run on"
            problems.append(OfProject(message, hint, keys=("hardware", "clocks", number, "name")))
    if problems and top is not None:
        raise WorkbenchError(*problems)
    return {
        below + clock.name: Clock(
            name=clock.name, frequency_hz=clock.frequency_hz, derived_from=names.get(sources.get(clock.name, ""), "")
        )
        for clock in hardware.clocks
    }


def derived(
    top: Instance | None, name_of: Callable[[Path], str], library: Container[Path], hardware: HardwareSources
) -> Iterator[Diagnostic]:
    """A note for each kind of clock that is made of another, and that blocks outside of the library run on, but for
    those of which the project says how fast they are."""
    uses_of: dict[tuple[str, str, str], list[BlockUse]] = defaultdict(list)
    stated = {clock.name for clock in hardware.clocks}
    for use in uses_in(top):
        if use.clock_maker and use.source.path not in library and (name := made_name(use)) not in stated:
            uses_of[use.clock_maker, use.root_clock, name].append(use)
    for (maker, clock, stated_name), uses in uses_of.items():
        names = list(dict.fromkeys(f"{use.source.module}.{use.source.label}" for use in uses))
        first = uses[0].source
        yield Diagnostic(
            f"blocks on a clock that {maker} derives from '{clock}' count cycles of '{clock}': {listed(names)}",
            _OWN + (_SAID.format(stated_name) if stated_name else "") if has_own_clock(uses[0])
            else "While their clock is held, they stay in their state.",
            Severity.NOTE, name_of(first.path), first.line,
        )  # fmt: skip
