"""Recognises a top module's interfaces by its ports' names, directions and widths.

The styles are data (`workbench.api.port_styles`), and come with the kinds of ports. A name's end says the role, what
stands before it is the port's own name, and the direction says whether the design is the one who asks or who answers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import yaml

from workbench.api.descriptors import PortKind
from workbench.api.port_styles import OTHERS, PortStyle, Role
from workbench.model.scan import HdlPort

_AFFIX = re.compile(r"^(?:[io]_)?(.+?)(?:_(?:i|o|in|out))?$")
_INDEX = re.compile(r"\[(\d+)\]")
_BUNDLE = re.compile(r"(^|_)(req|rsp|resp)$")  # of two structs that are one interface, one for each direction
_CLOCK = re.compile(r"(.*_)?([a-z]{0,2}clk|clock)(_?\w+)?|clk.*|.*clk")
_DATA_ENDINGS = ("data", "dat_w", "dat_i")  # of the roles whose signals hold a port's words
RESET = re.compile(r"(.*_)?[a-z]{0,2}(rst|reset)(_?(n|ni|b|l|i|p|low|high))?(_?\d+)?|(rst|reset)_.*|.*_(rst|reset)_.*")
RESET_LOW = re.compile(r".*(rst|reset)_?(n|ni|b|l|low)(_?\d+)?")
_DATA = re.compile(r"(.*_)?(w|r|in|out)?(data|dat|last|sof|eof|sop|eop|keep|strb|user|id|dest|error|channel|d)\d*")


@dataclass(frozen=True)
class FoundPort:
    """An interface. `signals` are the top's names by role; `payload` what else goes with a stream's valid.

    `name` is the part that its signals' names share, in lower case; empty where they have no other than their roles.
    `kind` is the kind of port that drives it, or empty. `count` above 1: each signal holds as many interfaces side by
    side. `ask` are signals of that name which no role fits.
    """

    style: str
    title: str
    kind: str
    name: str
    side: str  # what the design is in it, in the style's own words
    signals: tuple[tuple[str, str], ...]
    payload: tuple[str, ...] = ()
    count: int = 1
    clock: str = ""
    ask: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*(name for _, name in self.signals), *self.payload))


@dataclass(frozen=True)
class FoundPorts:
    """`clocks` and `resets` are inputs by name; `rest` are the ports that belong to nothing found."""

    ports: tuple[FoundPort, ...]
    clocks: tuple[str, ...]
    resets: tuple[str, ...]
    rest: tuple[str, ...]


def find_ports(ports: Sequence[HdlPort], kinds: Iterable[PortKind], clocks: Iterable[str] = ()) -> FoundPorts:
    """Find the interfaces among a top's ports. `clocks` are inputs that are known to clock something."""
    drives = {(kind.style, kind.initiator): kind.name for kind in kinds if kind.style}
    styles = sorted(dict.fromkeys([*(style for style, _ in drives), *OTHERS]), key=_rank)
    known = list(dict.fromkeys(clocks))
    named = [p for p in ports if p.direction == "input" and p.bits == 1]
    known += [p.name for p in named if p.name not in known and _CLOCK.fullmatch(plain_name(p))]
    resets = [p.name for p in named if p.name not in known and RESET.fullmatch(p.name.lower())]
    left = {p.name: p for p in ports if p.name not in known and p.name not in resets and p.direction != "inout"}
    ports_found: list[FoundPort] = []
    for style in styles:
        for port, initiator in of_style(style, tuple(left.values())):
            ports_found.append(replace(port, kind=drives.get((style, initiator), "")))
            for name in port.names:
                left.pop(name, None)
    plain = {name: plain_name(port) for name, port in left.items()}
    asked: dict[str, list[str]] = {}
    for name, words in plain.items():
        owners = [port.name for port in ports_found if port.name and words.startswith(port.name + "_")]
        if owners:
            asked.setdefault(max(owners, key=len), []).append(name)
    whole = tuple(
        replace(port, clock=_clock_of(port.name, known), ask=tuple(asked.get(port.name, ()))) for port in ports_found
    )
    rest = tuple(name for name in left if not any(name in names for names in asked.values()))
    return FoundPorts(whole, tuple(known), tuple(resets), rest)


def _rank(style: PortStyle) -> tuple[bool, int]:
    """What is more distinctive is offered the signals first: of everyday words, what asks for more of them."""
    return style.everyday, -min(len(needs) for needs in style.needs) if style.everyday else 0


def is_clock(name: str) -> bool:
    return _CLOCK.fullmatch(name.lower()) is not None


def is_reset(name: str) -> bool:
    return RESET.fullmatch(name.lower()) is not None


def plain_name(port: HdlPort) -> str:
    """The name in lower case with its fields and indices as words, without what only tells a direction."""
    base, _, fields = port.name.lower().partition(".")
    base = _INDEX.sub(r"_\1", base)
    match = _AFFIX.match(base)
    base = match[1] if match else base
    inner = _INDEX.sub(r"_\1", fields).replace(".", "_")
    return f"{_BUNDLE.sub('', base)}_{inner}".strip("_") if inner else base


def of_style(style: PortStyle, ports: Sequence[HdlPort]) -> list[tuple[FoundPort, bool]]:
    """The interfaces of one style, and whether the design is the initiator. The longest names come first: `a_b` takes
    its signals before `a` takes all of `a_*`."""
    groups: dict[tuple[str, bool], dict[str, HdlPort]] = {}
    for port in ports:
        words = plain_name(port)
        for initiator in (False, True):  # the design's side
            sent = port.direction == "output"
            roles = [role for role in style.roles if sent == (role.initiator == initiator)]
            if role_and_name := _role(words, roles, style.inner, style.glued):
                role, name = role_and_name
                groups.setdefault((name, initiator), {}).setdefault(role.name, port)
    interfaces: list[tuple[FoundPort, bool]] = []
    taken: set[str] = set()
    for (name, initiator), signals in sorted(groups.items(), key=lambda item: -len(item[0][0])):
        mine = {role: port for role, port in signals.items() if port.name not in taken}
        count = _count(style, mine)
        if not count or style.answers & (groups.get((name, not initiator), {}).keys() - mine.keys()):
            continue
        payload = _payload(style, name, initiator, mine, ports, taken)
        pairs = tuple((role.name, mine[role.name].name) for role in style.roles if role.name in mine)
        one = FoundPort(style.name, style.title, "", name, style.sides[initiator], pairs, payload, count)
        interfaces.append((one, initiator))
        taken |= one.names
    return interfaces


def told_by(port: HdlPort, roles: Sequence[Role]) -> bool:
    """Whether its name tells one of the roles, whatever stands before."""
    return _role(plain_name(port), roles) is not None


def _role(words: str, roles: Sequence[Role], inner: bool = False, glued: bool = False) -> tuple[Role, str] | None:
    """The role that a name tells, by its longest end, and the port's own name: what is left."""
    ends = sorted(((end, role) for role in roles for end in role.ends), key=lambda pair: -len(pair[0]))
    for end, role in ends:
        if words == end or (words.endswith(end) and (words[-len(end) - 1] == "_" or words[-len(end) - 1].isdigit())):
            return role, words[: -len(end)].rstrip("_")
    name = r"_(.+)" if inner else r"_?([ab]|\d+)"  # of everyday words only `addr_a`, `addra`, `addr_0`, `addr0`
    letters = "[a-z]{1,3}" if glued else ""
    for end, role in ends:
        if end not in words:
            continue
        if match := re.fullmatch(rf"((?:.*_)?){end}{name}", words) or re.fullmatch(
            rf"((?:.*_)?{letters}){end}()", words
        ):
            return role, match[1] + match[2]
    return None


def _count(style: PortStyle, signals: Mapping[str, HdlPort]) -> int:
    """How many interfaces the signals are, 0 where they are none of this style."""
    needed = [needs for needs in style.needs if needs <= signals.keys()]
    if not needed or style.without & signals.keys():
        return 0
    one_bit = {role.name for role in style.roles if role.bits == 1}
    widths = {signals[role].bits for needs in needed for role in needs if role in one_bit}
    return min(widths, default=1) if len(widths) <= 1 else 0


def _payload(
    style: PortStyle, name: str, initiator: bool, signals: Mapping[str, HdlPort], ports: Sequence[HdlPort],
    taken: set[str],
) -> tuple[str, ...]:  # fmt: skip
    if not style.payload:
        return ()
    mine = {port.name for port in signals.values()} | taken
    direction = "output" if initiator else "input"
    others = {
        p.name: plain_name(p) for p in ports
        if p.direction == direction and p.name not in mine and not RESET.fullmatch(p.name.lower())
    }  # fmt: skip
    if name:  # what has a valid of its own under a longer name goes with that
        valid = [role for role in style.roles if role.initiator]
        named = (_role(words, valid) for words in others.values())
        longer = tuple(f"{one[1]}_" for one in named if one and one[1].startswith(f"{name}_"))
        return tuple(p for p, words in others.items() if words.startswith(f"{name}_") and not words.startswith(longer))
    return tuple(p for p, words in others.items() if _DATA.fullmatch(words))


def _clock_of(name: str, clocks: Sequence[str]) -> str:
    """The clock whose name begins as the port's does, else the first."""

    def shared(clock: str) -> int:
        length = 0
        for one, other in zip(name, clock.lower(), strict=False):
            if one != other:
                break
            length += 1
        return length

    return max(clocks, key=shared, default="")


def describe(port: FoundPort) -> str:
    """What it is, for people."""
    several = f", {port.count} side by side" if port.count > 1 else ""
    what = f"{port.title} {port.side}{several}"
    return f"{port.name} ({what})" if port.name else what


def template_entry(port: FoundPort, kinds: Mapping[str, PortKind], top: Sequence[HdlPort]) -> str:
    """The interface as an entry of a template's `ports`, in YAML; empty where `port_entry` has none."""
    entry = port_entry(port, kinds, top)
    return yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=1000).strip() if entry else ""


def port_entry(port: FoundPort, kinds: Mapping[str, PortKind], top: Sequence[HdlPort]) -> dict[str, object]:
    """The interface among the ports of `top` as an entry of a template's `ports`; empty where no kind of port drives
    it, or names do not say all that its kind asks for."""
    if port.kind not in kinds or port.count > 1 or any("." in name or "[" in name for _, name in port.signals):
        return {}
    schema = kinds[port.kind].port()
    fields = schema.fields_of(dict(port.signals))
    sizes = dict(_sizes(dict(port.signals), {one.name: one.bits for one in top}, schema.model_fields))
    return {"name": port.name or port.kind, "kind": port.kind, **fields, **sizes} if fields else {}


def _sizes(
    signals: Mapping[str, str], widths: Mapping[str, int], fields: Mapping[str, object]
) -> Iterator[tuple[str, int]]:
    """The widths of a port's words and addresses that differ from the defaults of its kind."""
    data = next((widths[name] for role, name in signals.items() if role.endswith(_DATA_ENDINGS) and name in widths), 0)
    address = next((widths[name] for role, name in signals.items() if "addr" in role and name in widths), 0)
    for name, bits in (("word_bits", data), ("address_bits", address)):
        if name in fields and bits > 1 and getattr(fields[name], "default", None) != bits:
            yield name, bits
