"""Proposes pragmas for a project: from state registers, handshakes, the platform's ports and its host API.

The user accepts or rejects every proposal; none is written without request. The rules use the results of the languages'
scans (`Branch`, `StateRegister`, `Term`), and are the same for all languages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.api.port_styles import PortStyle
from workbench.model.blocks import as_target, fpga_of
from workbench.model.pragma import CPU, MEM, Category, Pragma
from workbench.model.proposal import Proposal
from workbench.model.scan import Branch, CallSite, HdlBlock, ProjectScan, StateRegister, Term
from workbench.model.targets import shared_parts
from workbench.session.mark.handshakes import Asks, HandshakeWords

if TYPE_CHECKING:
    from workbench.model.platform import Platform

TO_FPGA, TO_HOST = "to_fpga", "to_host"  # messages of the host without a name from a pragma
_WAITING = {"idle", "wait", "waiting", "stall", "stalled", "pause", "paused", "sleep", "poll", "pending"}
_BEGINNING = {"init", "initialize", "reset", "rst", "clear", "setup", "config", "configure"}
_ENDING = {"done", "finish", "finished", "end", "stop", "halt", "halted", "trap", "error", "fail", "failed"}
#: The name of a block without one, within its instance.
_UNNAMED = re.compile(r"\.line_\d+$")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SENDS = (Category.SEND, Category.WAIT_SEND)


@dataclass(frozen=True)
class _Meaning:
    """The proposed meaning of a branch, and the reason."""

    category: Category
    why: str
    reason: str = ""
    target: str = ""
    message: str = ""


@dataclass(frozen=True)
class Outside:
    """The environment of a design, by signals of its top: those of ports to `memory`, the `roles` of all ports'
    signals, and, for `links` to other FPGAs, the tops at their other ends as targets with the names of their words."""

    memory: Collection[str]
    roles: Mapping[str, str]
    links: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def proposals(
    scan: ProjectScan, platform: Platform, around: Mapping[str, Outside], styles: Iterable[PortStyle] = ()
) -> tuple[Proposal, ...]:
    """The proposals by file and line. `around` is the environment of each FPGA's design, by the FPGA's name prefix;
    `styles` are those of the ports that plugins bring."""
    unsorted = _Proposing(scan, platform, around, HandshakeWords(styles)).all()
    return tuple(sorted(unsorted, key=lambda p: (p.file, p.line, p.column)))


class _Proposing:
    def __init__(
        self, scan: ProjectScan, platform: Platform, around: Mapping[str, Outside], words: HandshakeWords
    ) -> None:
        self._scan, self._platform, self._words, self._around = scan, platform, words, around
        self._paths = {path for path, _ in scan.hdl.instances}
        self._host_marks = [p.pragma for call in scan.host.calls for p in call.pragmas]
        self._with_host = [p.pragma for block in scan.hdl.blocks for p in block.pragmas if CPU in p.pragma.targets]
        self._registers_of: dict[str, list[StateRegister]] = {}
        for register in scan.hdl.registers:
            self._registers_of.setdefault(register.block, []).append(register)

    def all(self) -> Iterator[Proposal]:
        blocks = (block for block in self._scan.hdl.blocks if not block.why_not)
        of_hdl = [proposal for block in blocks for proposal in self._of_block(block)]
        yield from of_hdl
        yield from self._of_calls(of_hdl)

    # ---- hardware

    def _of_block(self, block: HdlBlock) -> Iterator[Proposal]:
        names = {p.pragma.name for p in block.pragmas}
        registers = self._registers(block)
        arms = {branch: register for register, branches in registers for branch in branches}
        meanings: list[tuple[Branch, _Meaning | None]] = [(branch, self._state(block, branch)) for branch in arms]
        for branch in block.branches:
            if branch not in arms and branch.pragma_line and branch.kind != "else":  # it may do anything
                meanings.append(
                    (branch, self._handshake(block, branch.terms, in_state=any(_contains(arm, branch) for arm in arms)))
                )
        cases = [branch for branch in arms if branch.kind == "case"]
        for branch, meaning in meanings:
            if meaning is None or any(_contains(branch, other) for other in cases if other != branch):
                continue  # its meaning is unknown, or its time belongs to inner branches
            if branch.pragmas or _beside_marked(branch, block) or _asked_in_state(branch, block, arms):
                continue
            register = arms.get(branch)
            stem = "_or_".join(branch.values) if register else _action(meaning)
            group = f"{block.component}.{register.name}" if register else block.id
            yield self._proposal(block, branch, _new_name(stem, names), meaning, group)
        if registers and not arms:
            yield from self._by_conditions(block, registers[0][0], names)

    def _registers(self, block: HdlBlock) -> list[tuple[StateRegister, list[Branch]]]:
        """The registers that show the block's states, each with its branches: the one with the most values, and others
        whose branches lie within its branches, around them, or where there are none. (Only one of several parallel
        registers can show the block's state.)"""
        registers_of_block = self._registers_of.get(block.id, [])
        registers: list[tuple[StateRegister, list[Branch]]] = []
        for register in sorted(registers_of_block, key=lambda register: -len(register.values)):
            arms = [b for b in block.branches if b.register == register.name and b.pragma_line]
            arms = [b for b in arms if b.kind == "case"] or arms
            if not registers or (arms and all(_apart(block, arms, others) for _, others in registers)):
                registers.append((register, arms))
        return registers

    def _by_conditions(self, block: HdlBlock, register: StateRegister, names: set[str]) -> Iterator[Proposal]:
        """Proposals for the states of a register without branches of its own: conditions at the start of the whole
        block."""
        body = next((b for b in block.branches if b.kind == "body" and b.pragma_line), None)
        if body is None or body.pragmas:
            return
        for value in register.values:
            reason = f"the state register {register.name} is {value.name}"
            meaning = self._done_in(block, value.name, reason, [value.asks])
            if meaning is not None:
                name = _new_name(value.name, names)
                yield self._proposal(block, body, name, meaning, f"{block.component}.{register.name}", value.condition)

    def _state(self, block: HdlBlock, branch: Branch) -> _Meaning | None:
        """The proposal for a state, from the signals in its conditions."""
        reason = f"the state register {branch.register} is {' or '.join(branch.values)}"
        within = [b.terms for b in block.branches if branch.line < b.line <= b.end_line <= branch.end_line]
        return self._done_in(block, branch.values[0], reason, within)

    def _done_in(
        self, block: HdlBlock, name: str, state: str, terms_of_branches: Sequence[Sequence[Term]]
    ) -> _Meaning | None:
        """The meaning of a state whose branches use these signals: a wait, if its name says so and a handshake shows
        the partner; work, if no signal comes from elsewhere. A name alone is not enough."""
        words = _words_of(name)
        if words & _WAITING:
            for meaning in filter(None, (self._handshake(block, terms, in_state=True) for terms in terms_of_branches)):
                sends = meaning.category in _SENDS
                category = Category.WAIT_SEND if sends else Category.WAIT_RECV
                reason = "late_receiver" if sends else "late_sender"
                return _Meaning(
                    category, f"{state}, and it waits ({meaning.why})", reason, meaning.target, meaning.message
                )
        own_instance = self._instance_of(block)
        outside = any(
            term.driver != own_instance and (term.driver or term.port) for terms in terms_of_branches for term in terms
        )
        quiet = words & (_WAITING | _BEGINNING | _ENDING)
        return (
            None if quiet or outside else _Meaning(Category.WORK, f"{state}, and it requests nothing from other blocks")
        )

    def _handshake(self, block: HdlBlock, terms: Sequence[Term], *, in_state: bool) -> _Meaning | None:
        """The transfer or wait that handshake signals with another instance show. The other side's readiness to take
        shows nothing, unless this side offers in the same condition, or leaves its state (`in_state`) on it."""
        own_instance = self._instance_of(block)
        around = (
            self._around[fpga_of(own_instance)]
            if fpga_of(own_instance) in self._around
            else next(iter(self._around.values()))
        )
        every = [a for term in terms if (a := self._asks(term, around))]
        from_others = [a for a in every if a.term.driver != own_instance]
        if not from_others or not block.instances:
            return None
        offers = in_state or any(a.side == "valid" and a.on for a in every if a.term.driver == own_instance)
        asks = next((a for a in from_others if not a.on), from_others[0])
        gives = asks.side == "ready"  # the other side takes
        if gives and asks.level and not offers and not (asks.buffer and not asks.on):
            return None
        target = _partner(asks.term, own_instance, around)
        if asks.term.port in around.links:
            message = around.links[asks.term.port][1]
        elif target == CPU:
            message = self._host_message(block, to_fpga=not gives)
        elif target == MEM:
            message = asks.stem or "memory"
        else:
            message = self._stream_name(asks.term) or self._given_as(asks) or asks.stem or "m1"
        message = re.sub(r"[^\w|]+", "_", message)
        signals = " and ".join(dict.fromkeys(f"{'' if term.high else '!'}{term.signal}" for term in terms))
        if asks.on:
            category, reason = (Category.SEND if gives else Category.RECV), "data"
            why = f"{signals}: {'the other side takes' if gives else 'something is offered'}"
        else:
            category = Category.WAIT_SEND if gives else Category.WAIT_RECV
            late = "late_receiver" if gives else "late_sender"
            buffer = "buffer_full" if gives else "buffer_empty"
            reason = buffer if asks.buffer else late
            why = f"{signals}: {'there is no room' if gives else 'nothing is there'}"
        return _Meaning(category, why, reason, target, message)

    def _given_as(self, asks: Asks) -> str:
        """The message's name: the name of the giver's port, for both sides."""
        giver_port = self._words.asks(replace(asks.term, signal=asks.term.given_as)) if asks.side == "valid" else None
        return giver_port.stem if giver_port is not None else ""

    def _instance_of(self, block: HdlBlock) -> str:
        """The instance of a block's first replica, without generates around the block."""
        path = block.instances[0] if block.instances else ""
        while path and path not in self._paths:
            path = path.rpartition(".")[0]
        return path or (block.instances[0].rpartition(".")[0] if block.instances else "")

    def _asks(self, term: Term, around: Outside) -> Asks | None:
        """The handshake meaning of a signal: by its role for signals of the platform's ports, otherwise by its name."""
        role = around.roles.get(term.port) if term.port else None
        if role:
            by_role = Term(role.removesuffix("_enable"), term.high, term.driver, term.port, term.stream)
            if asks := self._words.asks(by_role):
                return replace(asks, term=term, level=asks.level and not role.endswith("_enable"))
        return self._words.asks(term)

    def _stream_name(self, term: Term) -> str:
        streams = self._scan.hdl.streams
        return streams[term.stream].id.rpartition(".")[2] if 0 <= term.stream < len(streams) else ""

    def _host_message(self, block: HdlBlock, *, to_fpga: bool) -> str:
        """The message between host and FPGA: those that the host's pragmas name, or those of the FPGA's, or the default
        for both sides. Several remain alternatives."""
        gives, takes = (Category.SEND, Category.WAIT_SEND), (Category.RECV, Category.WAIT_RECV)
        by_host, in_fpga = (gives, takes) if to_fpga else (takes, gives)
        known_messages = [m for pragma in self._host_marks if pragma.category in by_host for m in pragma.messages]
        known_messages += [m for pragma in self._with_host if pragma.category in in_fpga for m in pragma.messages]
        return "|".join(dict.fromkeys(known_messages)) or (TO_FPGA if to_fpga else TO_HOST)

    def _proposal(
        self, block: HdlBlock, branch: Branch, name: str, meaning: _Meaning, group: str, condition: str | None = None
    ) -> Proposal:
        return Proposal(
            f"{block.id}:{name}", group, block.file, branch.pragma_line, branch.indent,
            _pragma(name, meaning, condition), meaning.why, branch.pragma_column,
        )  # fmt: skip

    # ---- host

    def _of_calls(self, hardware: Sequence[Proposal]) -> Iterator[Proposal]:
        """Proposals for the host's calls: those that move data name the blocks that communicate with the host."""
        marks = [(block, p.pragma) for block in self._scan.hdl.blocks for p in block.pragmas]
        blocks = {block.id: block for block in self._scan.hdl.blocks}
        marks += [(blocks[p.id.rpartition(":")[0]], p.pragma) for p in hardware]
        names = {pragma.name for pragma in self._host_marks}
        tops = dict.fromkeys(
            next((as_target(path) for path, _ in self._scan.hdl.instances if path.startswith(place)), "top")
            for place in self._around
        )
        calls_of_line: dict[tuple[str, int], list[CallSite]] = {}
        for call in self._scan.host.calls:
            calls_of_line.setdefault((call.file, call.pragma_line or call.line), []).append(call)
        for place, calls in calls_of_line.items():
            call = calls[0]
            if len(calls) > 1 or call.pragmas or "|" in call.kind:
                continue  # a pragma before a line applies to its first call only, and to all kinds of that call
            meaning = self._call(call, marks, "|".join(tops))
            stem = re.sub(r"\W+", "_", call.callee.split("::")[-1]).strip("_") or "call"
            pragma = _pragma(_new_name(stem, names), meaning, call.waits_when or None)
            identity = f"{call.file}:{call.line}:{call.column}"
            yield Proposal(identity, call.file, call.file, place[1], call.indent, pragma, meaning.why)

    def _call(self, call: CallSite, marks: Sequence[tuple[HdlBlock, Pragma]], top: str) -> _Meaning:
        entries = self._platform.host.entries
        reason = next((e.reason for e in entries if e.kind == call.kind and call.callee in e.prototype), "")
        why = f"a call of {call.callee}, which the platform's template says is for: {call.kind}"
        if call.kind not in ("send", "receive", "wait", "interrupt"):
            default = {"release": "finalize", "acquire": "initialize", "configure": "initialize"}
            return _Meaning(Category.OVERHEAD, why, reason or default.get(call.kind, ""))
        waits = call.waits_when is not None
        if waits:
            why = f"the program calls {call.callee} in a loop until its answer changes: it waits for the FPGA"
            reason = "late_sender|poll"
        gives = call.kind == "send"
        theirs = (Category.RECV, Category.WAIT_RECV) if gives else (Category.SEND, Category.WAIT_SEND)
        partners = [(b, p) for b, p in marks if CPU in p.targets and p.category in theirs]
        targets = dict.fromkeys(_of_host(b) for b, _ in partners if b.instances)
        messages = dict.fromkeys(m for _, p in partners for m in p.messages)
        receives = call.kind == "receive" and not waits
        category = Category.SEND if gives else Category.RECV if receives else Category.WAIT_RECV
        default_reason = "late_sender" if category is Category.WAIT_RECV else "data"
        message = "|".join(messages) or (TO_FPGA if gives else TO_HOST)
        return _Meaning(category, why, reason or default_reason, "|".join(targets) or top, message)


def _pragma(name: str, meaning: _Meaning, condition: str | None = None) -> Pragma:
    reasons, targets, messages = (
        tuple(text.split("|")) if text else () for text in (meaning.reason, meaning.target, meaning.message)
    )
    return Pragma(name, meaning.category, reasons, targets, messages, condition)


def outside(platform: Platform, links: Mapping[str, tuple[str, str]]) -> Outside:
    """The environment of a design on the platform. `links` are those to other FPGAs, by their ports' names."""
    from workbench.api.ports import HardwarePort

    memory: set[str] = set()
    roles: dict[str, str] = {}
    linked: dict[str, tuple[str, str]] = {}
    for port in platform.hardware.ports if platform.hardware else ():
        if isinstance(port, HardwarePort):
            names = {signal.name: role for role, signal in port.signals().items() if signal.name}
            roles |= names
            if port.name in links:
                linked |= dict.fromkeys(names, links[port.name])
            elif not port.takes_transfers:
                memory |= set(names)
    return Outside(memory, roles, linked)


def _contains(outer: Branch, inner: Branch) -> bool:
    """Whether the outer branch contains the inner one, by their lines; an else on the last line of the branch before is
    not inside it."""
    beside = inner.kind in ("else", "elsif") and outer.kind in ("if", "elsif") and inner.line == outer.end_line
    return outer.line <= inner.line and inner.end_line <= outer.end_line and not beside


def _beside_marked(branch: Branch, block: HdlBlock) -> bool:
    """Whether a branch around it, or within it, has pragmas."""
    marked = [b for b in block.branches if b.pragmas and b is not branch and b.kind != "body"]
    return any(_contains(other, branch) or _contains(branch, other) for other in marked)


def _asked_in_state(branch: Branch, block: HdlBlock, arms: Collection[Branch]) -> bool:
    """Whether a branch beside the block's states has the condition of a branch in a state, or a stronger one than a
    marked branch; the other branch then stands for these cycles."""

    def in_state(one: Branch) -> bool:
        return any(_contains(arm, one) for arm in arms)

    others = [b for b in block.branches if b is not branch and b.terms]
    marked = any(b.pragmas and set(b.terms) <= set(branch.terms) for b in others)
    return not in_state(branch) and (marked or any(b.terms == branch.terms and in_state(b) for b in others))


def _apart(block: HdlBlock, one: Sequence[Branch], other: Sequence[Branch]) -> bool:
    """Whether the branches of two registers are never taken together: those of one are within the other's, or both are
    in different arms of one if."""

    def within(inner: Sequence[Branch], outer: Sequence[Branch]) -> bool:
        return bool(outer) and all(any(_contains(around, branch) for around in outer) for branch in inner)

    arms = [b for b in block.branches if b.kind in ("if", "elsif", "else")]
    pairs = [(a, b) for a in arms for b in arms if b.kind != "if" and a.end_line <= b.line <= a.end_line + 1 and a != b]
    either = any(within(x, [a]) and within(y, [b]) for a, b in pairs for x, y in ((one, other), (other, one)))
    return either or within(one, other) or within(other, one)


def _partner(term: Term, own: str, around: Outside) -> str:
    """The signal's origin as a pragma's target."""
    if term.driver:
        return _target(term.driver, own)
    if term.port in around.links:
        return around.links[term.port][0]
    return MEM if term.port in around.memory else CPU


def _of_host(block: HdlBlock) -> str:
    """A block as a target of the host's pragmas; a block in several FPGAs stands for that of any of them."""
    several = len(set(map(fpga_of, block.instances))) > 1
    return _target(block.instances[0], block.instances[0] if several else "")


def _target(path: str, own: str) -> str:
    """An instance or block as a target: by its name alone within the same replica, otherwise for every replica; without
    the FPGA's name within the same FPGA. A block without a name is its instance, since pragmas move the line that it is
    named by."""
    path = _UNNAMED.sub("", path)
    if (place := fpga_of(path)) and place == fpga_of(own):
        path, own = path.removeprefix(place), own.removeprefix(place)
    within = any("[" in part for part in path.split(".")[: shared_parts(path, own)])
    return as_target(re.sub(r"\[\d+\]", "" if within else "[*]", path))


def _words_of(name: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(name)}


def _action(meaning: _Meaning) -> str:
    verb = {
        Category.SEND: "give", Category.RECV: "take", Category.WAIT_SEND: "wait", Category.WAIT_RECV: "wait",
    }[meaning.category]  # fmt: skip
    return f"{verb}_{meaning.message.partition('|')[0]}" if meaning.message else verb


def _new_name(stem: str, used_names: set[str]) -> str:
    """A state name that the block does not use yet."""
    stem = stem if stem[:1].isalpha() or stem[:1] == "_" else f"state_{stem}"
    name, number = stem, 2
    while name in used_names:
        name, number = f"{stem}_{number}", number + 1
    used_names.add(name)
    return name
