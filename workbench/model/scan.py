"""What reading the sources finds, before anything is built: calls, blocks, branches, pragmas."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.model.application import VhdlStandard
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import PlacedPragma
from workbench.model.streams import Fifo, Stream


@dataclass(frozen=True)
class CallSite:
    """A call of a platform's API in the host's sources.

    `entry` names the template's prototype(s) of that callee (one callee may have several conditional entries).
    `waits_when`: the call only waits for the FPGA (a loop reads one address until the answer changes). Empty: always;
    else where this condition, in the host's language, holds; None: never.
    `pragmas` are those that are before it. `indent` is the column (from 1) at which a pragma would be inserted,
    on a new line before `line`.
    """

    file: str
    line: int
    column: int
    callee: str
    kind: str
    entry: str
    function: str = ""
    pragmas: tuple[PlacedPragma, ...] = ()
    pragma_line: int = 0
    indent: int = 1
    waits_when: str | None = None


@dataclass(frozen=True)
class Term:
    """A signal of one bit that must be `high`, or else low, for a branch to be taken.

    `driver` is the instance whose logic drives it, in the block's first instance (in the block's own instance the other
    block that alone assigns it); empty outside of the design, where `port` is the top's port. `stream` is the stream
    (index in `HdlScan.streams`) whose valid or ready it is; -1: none. `given_as` is the driver's
    output port, where that is known.
    """

    signal: str
    high: bool
    driver: str = ""
    port: str = ""
    stream: int = -1
    given_as: str = ""


@dataclass(frozen=True)
class Branch:
    """A branch of a block (an if or else arm, a case item, the whole body).

    `pragma_line` is the line before which a pragma would be inserted, `indent` its column from 1; where the branch's
    statement is behind what opens it, that line is parted at `pragma_column` (characters, from 1). It is taken only
    where the state register of that name has one of the `values`, by their names, and all `terms` hold, as far as its
    own condition shows.
    """

    line: int
    kind: str
    label: str = ""
    pragma_line: int = 0
    indent: int = 1
    end_line: int = 0
    pragmas: tuple[PlacedPragma, ...] = ()
    register: str = ""
    values: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    pragma_column: int = 0


@dataclass(frozen=True)
class StateValue:
    """A value of a state register, as the design calls it; `condition` asks for it in the design's language.

    `line` is the first branch that is taken for it (0: none is). Not `reached`: nothing ever assigns it. `asks` are the
    signals of one bit that conditions within its branches ask for, in whichever process.
    """

    name: str
    condition: str
    line: int = 0
    reached: bool = True
    asks: tuple[Term, ...] = ()


@dataclass(frozen=True)
class StateRegister:
    """A register that is compared with one constant after another, and is assigned constants: in `block` of a module
    or entity, by the block's id. `file` and `line` are where it is declared."""

    name: str
    component: str
    block: str
    file: str
    line: int
    values: tuple[StateValue, ...]


@dataclass(frozen=True)
class HdlBlock:
    """A clocked always block or process as it is in the source (one, however often it is instantiated).

    `component` is the module or entity; `id` is `module.label` or `module.line_N`.
    `instances` are the elaborated block ids (`pdf2d_top.core[3].ctrl`), empty when nothing instantiates it.
    """

    id: str
    component: str
    kind: str
    file: str
    line: int
    end_line: int
    clock: str
    edge: str
    branches: tuple[Branch, ...] = ()
    instances: tuple[str, ...] = ()
    why_not: str = ""  # empty, or why this block cannot be observed

    @property
    def pragmas(self) -> tuple[PlacedPragma, ...]:
        return tuple(p for b in self.branches for p in b.pragmas)


@dataclass(frozen=True)
class HostScan:
    """The calls that were found in a host program's sources, and what is wrong with these."""

    calls: tuple[CallSite, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class HdlPort:
    """A port of a top, or one part of it: `name` is then `port.field` or `port[0].field`, and `port` the whole's name.

    `lsb` is the part's lowest bit in the whole. `used`: the design reads it somewhere (outputs always). `file` and
    `line` are where it is declared.
    """

    name: str
    direction: str  # input, output, inout
    bits: int
    port: str = ""
    lsb: int = 0
    used: bool = True
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class HdlScan:
    """`instances` maps every elaborated instance path to its module name, the top first.

    `ports`, `clocks` and `resets` are the top's, as `HdlTop` says; `streams`, `fifos` and state `registers` are in
    the whole design. Of FPGAs with designs of their own `fpgas` are what was read of each, with what names in it begin
    with; all else is then of all of them, but for the top's, which are the first one's.
    """

    blocks: tuple[HdlBlock, ...]
    instances: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    ports: tuple[HdlPort, ...] = ()
    clocks: tuple[tuple[str, int], ...] = ()
    resets: tuple[tuple[str, bool], ...] = ()
    streams: tuple[Stream, ...] = ()
    fifos: tuple[Fifo, ...] = ()
    registers: tuple[StateRegister, ...] = ()
    fpgas: tuple[tuple[str, HdlScan], ...] = ()

    @property
    def each(self) -> tuple[tuple[str, HdlScan], ...]:
        """What was read of each FPGA's design, with what names in it begin with."""
        return self.fpgas or (("", self),)

    def fpgas_with(self, block: HdlBlock) -> tuple[str, ...]:
        """The FPGAs in whose designs a block is, where several have designs of their own."""
        place = block.id, block.file, block.line
        holds = (fpga for fpga, one in self.fpgas if any((b.id, b.file, b.line) == place for b in one.blocks))
        return tuple(fpga.rstrip(":") for fpga in holds)


@dataclass(frozen=True)
class HdlTop:
    """A module that may be a design's top, elaborated with its parameters' own values.

    `sources` are the files that it reaches, each after those it needs; `clocks` counts the clocked blocks that each of
    its ports drives, `resets` says whether low means reset, as the blocks ask for it; `numbers` are the whole numbers
    that are in those files; `vhdl_standard` is the one that GHDL takes them in. Errors among `diagnostics` mean that
    it cannot be built as it is. `unknown_macros` are those that it uses as values and nothing
    defines. `made` are files (name, text) of `sources` that are not there: a module around a top
    whose own ports no platform could drive.
    """

    name: str
    file: str
    line: int
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...] = ()
    ports: tuple[HdlPort, ...] = ()
    parameters: tuple[tuple[str, int | float | str], ...] = ()
    clocks: tuple[tuple[str, int], ...] = ()
    resets: tuple[tuple[str, bool], ...] = ()
    numbers: tuple[int, ...] = ()
    vhdl_standard: VhdlStandard = "2008"
    diagnostics: tuple[Diagnostic, ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    unknown_macros: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostFile:
    """A host source by itself: what it defines and mentions.

    `entry`: the program begins in it. `header`: others include it, and no compiler is given it. A method has the name
    of its class among `functions`, by which others use it.
    """

    file: str
    entry: bool
    functions: tuple[str, ...]
    words: frozenset[str]
    includes: tuple[str, ...]
    numbers: tuple[int, ...]
    header: bool = False


@dataclass(frozen=True)
class Definition:
    """Where a name is defined, and as what: "function", "macro", "module", "net", "file". Line and column (in bytes)
    count from 1; the file is a whole path."""

    file: str
    line: int
    column: int
    name: str
    what: str


@dataclass(frozen=True)
class ProjectScan:
    """`marks` is what is wrong with pragmas that are right by themselves."""

    host: HostScan
    hdl: HdlScan
    marks: tuple[Diagnostic, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.host.diagnostics + self.hdl.diagnostics + self.marks


@dataclass(frozen=True)
class ApiFunction:
    """A function that a header declares: its prototype as an entry of a template has it, and its line. `choices` are
    the values of its parameters that are enumerations: (parameter, their names). `inline`: the header defines it.
    `private`: no program calls it, but functions that the header defines."""

    prototype: str
    line: int
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()
    inline: bool = False
    private: bool = False


@dataclass(frozen=True)
class ApiHeader:
    """What a header declares itself; `diagnostics` say what of it was not understood."""

    functions: tuple[ApiFunction, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class WrongExpression:
    """What does not compile in a template: the entry's number (None: of host.transfers) and its field. `certain` where
    it is wrong whatever a header that is not at hand may declare."""

    entry: int | None
    field: str
    message: str
    hint: str
    certain: bool
