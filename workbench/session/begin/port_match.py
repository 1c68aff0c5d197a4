"""Matches the ports of a top module to those of a platform: by the platform's names, otherwise by typical names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.api import PortKind
from workbench.api.instrument.port_finder import RESET, RESET_LOW, FoundPort, describe, find_ports, of_style, told_by
from workbench.api.port_styles import PortStyle, Role, words
from workbench.api.ports import HardwarePort, Signal
from workbench.model.hardware import Hardware
from workbench.model.scan import HdlPort, HdlTop

_INTERRUPT = words("interrupt=irq,interrupt,intr", initiator=False)


@dataclass(frozen=True)
class Missing:
    """A signal (or interface) of the platform that the top lacks, with candidates."""

    what: str
    candidates: tuple[str, ...]
    of: str  # the kind of the candidates
    signals: int = 1  # the number of signals it stands for


@dataclass
class PortMatch:
    """The top's signals that match the platform's.

    `ports` has the top's names by the roles of each of the platform's ports, `shown` says in words what they are.
    `renames` is what the platform's signals are called here, where that is something else.
    """

    clock: str = ""
    reset: str = ""
    reset_low: bool = False
    ports: dict[str, dict[str, str]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    renames: dict[str, str] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        """The top's signals that the platform drives or reads."""
        return frozenset(name for signals in self.ports.values() for name in signals.values())

    @property
    def address_signals(self) -> tuple[str, ...]:
        pairs = (pair for signals in self.ports.values() for pair in signals.items())
        return tuple(dict.fromkeys(name for role, name in pairs if "addr" in role))

    def call(self, own: str, here: str) -> None:
        if own and here and own != here:
            self.renames[own] = here


def match_port(top: HdlTop, hardware: Hardware, kinds: Mapping[str, PortKind]) -> PortMatch:
    """Match the platform's clock, reset, ports and interrupt in the top module."""
    match = PortMatch()
    inputs = [p for p in top.ports if p.direction == "input" and p.bits == 1]
    clock, clocking = hardware.clocks[0], [name for name, _ in top.clocks]
    match.clock = _own_or_first_candidate(match, "clock", clock.pin, inputs, clocking)
    free_inputs = [p for p in inputs if p.name != match.clock]
    if clock.reset:
        resets = [p.name for p in free_inputs if RESET.fullmatch(p.name.lower())]
        match.reset = _own_or_first_candidate(
            match, "reset", clock.reset, free_inputs, resets if len(resets) == 1 else ()
        )
        active_low = dict(top.resets).get(match.reset, bool(RESET_LOW.fullmatch(match.reset.lower())))
        match.reset_low = match.reset != clock.reset and active_low
    match.call(clock.pin, match.clock)
    match.call(clock.reset, f"!{match.reset}" if match.reset_low else match.reset)
    free = {p.name: p for p in top.ports if p.name not in (*clocking, match.clock, match.reset)}
    ports = [port for port in hardware.ports if isinstance(port, HardwarePort) and port.signals()]
    direction_of = {p.name: p.direction for p in top.ports}
    match.shown = {port.name: "" for port in ports}  # in their order
    for port in sorted(ports, key=lambda port: not _as_named(port, direction_of)):
        _match(match, port, kinds, direction_of, free)
        for name in match.ports.get(port.name, {}).values():
            free.pop(name, None)
    if hardware.interrupt:
        outputs = [p for p in free.values() if p.direction == "output" and p.bits == 1]
        match.call(hardware.interrupt, interrupt_of(outputs))
    return match


def interrupt_of(outputs: Sequence[HdlPort]) -> str:
    """The only output whose name means an interrupt; "" if there is none."""
    return _only_named(_INTERRUPT, outputs)


def _own_or_first_candidate(
    match: PortMatch, signal: str, own: str, possible: Sequence[HdlPort], candidates: Iterable[str]
) -> str:
    """The platform's own name if the top has it, else the first candidate that the top has; adds to `missing` if there
    is none."""
    names = [p.name for p in possible]
    chosen = next((name for name in (own, *candidates) if name in names), "")
    if not chosen:
        match.missing.append(Missing(signal, tuple(names), "inputs of that width"))
    return chosen


def _as_named(port: HardwarePort, direction_of: Mapping[str, str]) -> bool:
    """Whether the top has all required signals of the port under the platform's names; any signal if all are
    optional."""
    signals = port.signals().values()
    needed = [signal for signal in signals if not signal.optional]
    fit = [signal for signal in signals if direction_of.get(signal.name) == signal.direction]
    return bool(fit) and all(signal in fit for signal in needed)


def _match(
    match: PortMatch, port: HardwarePort, kinds: Mapping[str, PortKind], direction_of: Mapping[str, str],
    free: Mapping[str, HdlPort],
) -> None:  # fmt: skip
    signals, kind = port.signals(), kinds.get(port.kind)
    style, initiator = (kind.style, kind.initiator) if kind else (None, False)
    possible = [one for one, asks in of_style(style, [*free.values()]) if asks == initiator] if style else []
    order = list(free)  # the port's own name first, then as the top declares them
    nearest = min(
        possible, key=lambda one: (port.name.lower() not in one.name, min(map(order.index, one.names))), default=None
    )
    if _as_named(port, direction_of):
        here = {role: signal.name for role, signal in signals.items() if signal.name in direction_of}
        partial_match = next((describe(one) for one in possible if one.names & set(here.values())), "")
        match.ports[port.name] = here
        match.shown[port.name] = partial_match or ", ".join(dict.fromkeys(here.values()))
        return
    here = _as_found(match, port, style, nearest) if nearest and style else {}
    free_ports = [one for name, one in free.items() if name not in here.values()]
    needed = {
        role: signal
        for role, signal in signals.items()
        if not signal.optional and role not in here and signal.instead not in here
    }
    others = () if here else tuple(describe(one) for one in find_ports(free_ports, kinds.values()).ports)
    guessed = PortMatch()
    if style and (nearest or not style.inner):
        guessed.ports[port.name] = dict(_one_by_one(guessed, needed, style, free_ports))
    if not nearest and (style is None or style.inner or (others and len(guessed.missing) > len(guessed.names))):
        missing_item = f"interface for the port '{port.name}' of kind {port.kind}"
        match.missing.append(Missing(missing_item, others, "interfaces", len(needed)))
        return
    match.missing += guessed.missing
    match.renames |= guessed.renames
    match.ports[port.name] = here | guessed.ports.get(port.name, {})
    match.shown[port.name] = describe(nearest) if nearest else ", ".join(sorted(guessed.names))


def _as_found(match: PortMatch, port: HardwarePort, style: PortStyle, interface: FoundPort) -> dict[str, str]:
    """The signals of a found interface by the port's roles; named by the port's prefix if the names allow it."""
    signals = port.signals()
    roles = {role.name: role for role in style.roles}
    every = [(role, name) for role_named, name in interface.signals for role in (role_named, *roles[role_named].also)]
    here = {role: name for role, name in every if role in signals}
    for role in [signal.instead for role, signal in signals.items() if role in here and signal.instead in here]:
        del here[
            role
        ]  # beside the signal that it replaces it may have another meaning, such as an enable of the design
    prefix = getattr(port, "prefix", "")
    role, name = next(iter(here.items()))
    begin = name.removesuffix(role)
    if prefix and all(name == begin + role for role, name in here.items()):
        match.call(prefix, begin)
    else:
        for role, name in here.items():
            match.call(signals[role].name, name)
    return here


def _one_by_one(
    match: PortMatch, signals: Mapping[str, Signal], style: PortStyle, free: Sequence[HdlPort]
) -> Iterator[tuple[str, str]]:
    """Match each signal of a port separately, if their names have nothing in common."""
    by_own: dict[str, list[str]] = {}
    for role, signal in signals.items():
        by_own.setdefault(signal.name, []).append(role)
    used_names: set[str] = set()
    for own, mine in by_own.items():
        signal = signals[mine[0]]
        roles = [role for role in style.roles if {role.name, *role.also} & set(mine)]
        fit = [
            p for p in free
            if p.direction == signal.direction and p.name not in used_names
            and (p.bits == signal.bits if signal.bits else p.bits > 1)
        ]  # fmt: skip
        here = own if any(p.name == own for p in fit) else _only_named(roles, fit)
        if not here and (signal.bits or 1) > 1 and len(fit) == 1:
            here = fit[0].name  # the only one of a word's width
        if here:
            used_names.add(here)
            match.call(own, here)
            yield from ((role, here) for role in mine)
        else:
            role_names = " or ".join(role.replace("_", " ") for role in mine)
            names = tuple(p.name for p in fit)
            match.missing.append(Missing(role_names, names, f"{signal.direction}s of that width"))


def _only_named(roles: Sequence[Role], possible: Sequence[HdlPort]) -> str:
    """The only signal whose name means one of these roles; "" otherwise."""
    names = [p.name for p in possible if told_by(p, roles)]
    return names[0] if len(names) == 1 else ""
