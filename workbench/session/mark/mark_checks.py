"""Checks pragmas against each other and against the design: messages, targets, and unreachable states."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.model.blocks import Block, Side, as_target
from workbench.model.diagnostic import Diagnostic, Severity, did_you_mean
from workbench.model.pragma import CPU, MEM, Category, PlacedPragma, Pragma
from workbench.model.proposal import Proposal
from workbench.model.scan import ProjectScan
from workbench.model.targets import resolve_target

Propose = Callable[[ProjectScan], Sequence[Proposal]]
_SENDS = (Category.SEND, Category.WAIT_SEND)
_RECEIVES = (Category.RECV, Category.WAIT_RECV)
_MOST_NAMES = 6  # in a hint


@dataclass(frozen=True)
class _Mark:
    placed: PlacedPragma
    owner: str  # a block of the design, empty for the host
    replicas: int = 1

    @property
    def sends(self) -> bool:
        return self.placed.pragma.category in _SENDS


def mark_problems(scan: ProjectScan, propose: Propose = lambda scan: ()) -> tuple[Diagnostic, ...]:
    """Warnings, in the order of the sources; none if the design could not be elaborated. `propose` returns the proposed
    pragmas for sources."""
    if not scan.hdl.instances:
        return ()
    checks = _Checks(scan, propose)
    return (*checks.targets(), *checks.messages(), *checks.states())


class _Checks:
    def __init__(self, scan: ProjectScan, propose: Propose) -> None:
        self._scan, self._propose = scan, propose
        self._marks = [_Mark(p, "") for call in scan.host.calls for p in call.pragmas]
        self._marks += [_Mark(p, b.id, len(b.instances)) for b in scan.hdl.blocks for p in b.pragmas]

    @cached_property
    def _known(self) -> Sequence[Block]:
        """Every block and every instance of the design."""
        instances = [Block(path, Side.FPGA, path, "instance", path, ()) for path, _ in self._scan.hdl.instances]
        return instances + [
            Block(path, Side.FPGA, path.rpartition(".")[0], block.kind, path, ())
            for block in self._scan.hdl.blocks
            for path in block.instances
        ]

    def targets(self) -> Iterator[Diagnostic]:
        """Warnings about targets that do not exist."""
        exists: dict[str, bool] = {CPU: True, MEM: True}
        for mark in self._marks:
            for target in mark.placed.pragma.targets:
                if target not in exists:
                    exists[target] = bool(resolve_target(target, self._known))
                if not exists[target]:
                    message = f"there is no block or instance '{target}' in the design"
                    yield mark.placed.diagnostic(message, self._meant(target))

    def _meant(self, target: str) -> str:
        paths = dict.fromkeys(as_target(re.sub(r"\[\d+\]", "[*]", block.id)) for block in self._known)
        ends = {".".join(path.split(".")[-count:]): path for path in paths for count in (1, 2, 3)}
        near = did_you_mean(target, {*paths, *ends})
        nearest_paths = list(paths)[:_MOST_NAMES]
        more = ", ..." if len(paths) > len(nearest_paths) else ""
        return near or f"A target is {CPU}, {MEM}, or one of: {', '.join(nearest_paths)}{more}."

    def messages(self) -> Iterator[Diagnostic]:
        """Warnings about messages that are sent and never received, or the other way round."""
        reported: set[tuple[str, str, bool]] = set()
        talkers = [mark for mark in self._marks if mark.placed.pragma.category in (*_SENDS, *_RECEIVES)]
        host_speaks = any(mark.placed.pragma.messages for mark in talkers if not mark.owner)
        for mark in talkers:
            pragma = mark.placed.pragma
            if not set(pragma.targets) - {MEM} or (pragma.targets == (CPU,) and mark.owner and not host_speaks):
                continue  # memories have no pragmas, and a host without pragmas is unknown
            others = {m for other in talkers if other.sends != mark.sends and _may_be_partners(mark, other)
                      for m in other.placed.pragma.messages}  # fmt: skip
            for message in pragma.messages:
                is_matched = message in others or (mark.owner, message, mark.sends) in reported
                if not is_matched and not self._proposed_alone(mark, message):
                    reported.add((mark.owner, message, mark.sends))
                    yield mark.placed.diagnostic(*self._unmatched(mark, message, others))

    def _proposed_alone(self, mark: _Mark, message: str) -> bool:
        """Whether this pragma would be proposed for the sources without pragmas, and no partner with its message: the
        other side then has no branch for it."""
        pragma = mark.placed.pragma
        meaning = (pragma.category, pragma.targets, pragma.messages)
        same = (p for owner, p in self._proposed if owner == mark.owner)
        others = (p for owner, p in self._proposed if owner != mark.owner or mark.replicas > 1)
        return any((p.category, p.targets, p.messages) == meaning for p in same) and not any(
            message in p.messages and (p.category in _SENDS) != mark.sends for p in others
        )

    @cached_property
    def _proposed(self) -> Sequence[tuple[str, Pragma]]:
        """The proposals for these sources without their pragmas, each with its block."""
        host, hdl = self._scan.host, self._scan.hdl
        calls = tuple(replace(call, pragmas=()) for call in host.calls)
        blocks = tuple(replace(b, branches=tuple(replace(x, pragmas=()) for x in b.branches)) for b in hdl.blocks)
        bare = replace(self._scan, host=replace(host, calls=calls), hdl=replace(hdl, blocks=blocks))
        block_ids = {block.id for block in blocks}
        proposals = ((p.id.rpartition(":")[0], p.pragma) for p in self._propose(bare))
        return [(owner if owner in block_ids else "", pragma) for owner, pragma in proposals]

    def _unmatched(self, mark: _Mark, message: str, others: set[str]) -> tuple[str, str]:
        does, other, word = ("sends", "receives", "recv") if mark.sends else ("receives", "sends", "send")
        near = did_you_mean(message, others)
        target = "$CPU" if not mark.owner else mark.owner.replace("$", "")
        hint = near or f"Add one where the other side {other} it, such as NAME {word}(data, {target}, {message})."
        return f"no pragma {other} message '{message}', which '{mark.placed.pragma.name}' {does}", hint

    def states(self) -> Iterator[Diagnostic]:
        """Warnings about states that nothing assigns."""
        files = {block.id: block.file for block in self._scan.hdl.blocks}
        for register in self._scan.hdl.registers:
            for value in register.values:
                if value.line and not value.reached:
                    yield Diagnostic(
                        f"the state {value.name} can never be reached: nothing assigns it to '{register.name}'",
                        "Assign it where the state should begin, or remove it.",
                        Severity.WARNING,
                        files.get(register.block, register.file),
                        value.line,
                    )


def _may_be_partners(one: _Mark, other: _Mark) -> bool:
    """Whether another block, or one of the block's own replicas, may be the partner."""
    return one.owner != other.owner or one.replicas > 1
