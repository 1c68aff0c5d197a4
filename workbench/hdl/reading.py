"""A design as its languages read it: one tree of instances, and each language's part of the sources."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from workbench.api.equivalence import Comparison, HdlSide
from workbench.hdl.blocks import Arm, SourceBlock
from workbench.hdl.instances import Instance, Key, uses_in
from workbench.hdl.own import is_own
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog.streams import FoundStreams
from workbench.model.diagnostic import Diagnostic
from workbench.model.scan import Branch, HdlBlock, HdlPort, HdlScan, StateRegister, Term

B = TypeVar("B", bound=SourceBlock)


@dataclass(frozen=True)
class Reading:
    """A design as its languages read it. `why_not` says why blocks are observed nowhere, by where they stand; `single`
    why some are not, by their paths. The files of `library` are not the application's own; `name_of` is what a file is
    called to people; `diagnostics` is all that is wrong."""

    top: Instance | None
    why_not: Mapping[Key, str]
    single: Mapping[str, str]
    library: Collection[Path]
    name_of: Callable[[Path], str]
    diagnostics: tuple[Diagnostic, ...]

    def paths(self) -> dict[Key, tuple[str, ...]]:
        """The places of each block below the top."""
        paths_of: dict[Key, list[str]] = {}
        for use in uses_in(self.top):
            paths_of.setdefault(use.source.key, []).append(use.path)
        return {key: tuple(paths) for key, paths in paths_of.items()}


@dataclass(frozen=True)
class Asked:
    """What a branch is taken for: the register's values, by their names, and the signals."""

    register: str = ""
    values: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Part(Generic[B]):
    """What one language reads of a design: its clocked blocks, its state registers, and what each of a block's branches
    asks for."""

    blocks: Sequence[B]
    registers: Sequence[StateRegister]
    asked: Callable[[B], Sequence[Asked]]


def scan(
    reading: Reading, parts: Sequence[Part[Any]], ports: tuple[HdlPort, ...], edges: FoundStreams | None = None
) -> HdlScan:
    """What a design holds that is the application's own. `ports` are its top's, `edges` its streams."""
    edges, top, paths = edges or FoundStreams(), reading.top, reading.paths()
    blocks = tuple(
        HdlBlock(
            f"{block.module}.{block.label}", block.module, block.kind, reading.name_of(block.path), block.line,
            block.end_line, block.clock, block.edge, tuple(map(_branch, block.arms, part.asked(block))),
            paths.get(block.key, ()), reading.why_not.get(block.key, ""),
        )
        for part in parts
        for block in part.blocks
        if is_own(block, reading.library)
    )  # fmt: skip
    own = {block.id for block in blocks}
    registers = {(one.block, one.name): one for part in parts for one in part.registers if one.block in own}
    return HdlScan(
        blocks, tuple((one.path, one.module) for one in top.walk()) if top is not None else (),
        (*reading.diagnostics, *edges.diagnostics), ports, clocks(top), resets(top), edges.streams, edges.fifos,
        tuple(registers.values()),
    )  # fmt: skip


def _branch(arm: Arm, asked: Asked) -> Branch:
    return Branch(
        arm.line, arm.kind, arm.label, arm.pragma_line, arm.indent, arm.end_line, arm.pragmas, asked.register,
        asked.values, asked.terms, arm.pragma_column,
    )  # fmt: skip


def comparison(original: HdlSide, copy: HdlSide, top: Instance | None, added: tuple[str, ...]) -> Comparison:
    """A design beside what was made of it, whose modules have the ports `added`."""
    return Comparison(original, copy, added, clocks=tuple(name for name, _ in clocks(top)), resets=resets(top))
