"""Whether what was made of a design to observe it behaves as the design: what is compared, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from workbench.model.application import VhdlStandard
from workbench.model.diagnostic import Diagnostic


@dataclass(frozen=True)
class HdlSide:
    """A design as tools read it: sources in order, all paths absolute. `defines` are macros, `parameters` values of the
    top's parameters or generics; of VHDL, `libraries` has each source's, and `vhdl_standard` is what they are in."""

    sources: tuple[Path, ...]
    top: str
    include_dirs: tuple[Path, ...] = ()
    defines: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    vhdl_standard: VhdlStandard = "2008"


@dataclass(frozen=True)
class Comparison:
    """A design and what was made of it, without the monitors around. `added` are ports that modules of the second have
    and those of the first have not: they are cut. `clocks` are the top's inputs that clock blocks, the most used first;
    `resets` those that reset some, and whether low means reset. `units` are what the user calls modules that have
    other names, with a word in parentheses to tell one of several from the others. Nets whose names begin
    with `hidden` are not the same in both."""

    original: HdlSide
    made: HdlSide
    added: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    clocks: tuple[str, ...] = ()
    resets: tuple[tuple[str, bool], ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    hidden: str = ""


class How(StrEnum):
    """How it is known of a module that it behaves as before, or that it does not."""

    PROVED = "proved"
    SIMULATED = "simulated"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Verdict:
    """What came of one module, with the values of its parameters where it has any. `why` says why it was not proved.
    `cycles` were simulated, in the whole design; the first cycle in which it differs is `cycle`, None where none did;
    `signals` are those that differ."""

    module: str
    how: How
    why: str = ""
    cycles: int = 0
    cycle: int | None = None
    signals: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return self.how in (How.PROVED, How.SIMULATED)


@dataclass(frozen=True)
class Limits:
    """What a proof of one module may take (`prove_s`, `memory_bytes`), and a simulation (`cycles`, or `simulate_s`);
    without any cycles nothing is simulated."""

    prove_s: float = 60.0
    memory_bytes: int = 2 << 30
    cycles: int = 100_000
    simulate_s: float = 60.0


@dataclass(frozen=True)
class Proof:
    """The verdicts, of the top first, and what there is to tell besides."""

    verdicts: tuple[Verdict, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def holds(self) -> bool:
        return all(one.holds for one in self.verdicts)

    @property
    def proved(self) -> bool:
        """Whether every module is proved: of what was only simulated, nothing is."""
        return all(one.how is How.PROVED for one in self.verdicts)
