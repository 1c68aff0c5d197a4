"""What a program is: its sources, how it is built and run, on which platform. Schema of `*.workbench.yaml`.

Pragmas are in the sources themselves. `settings` are the names that `--set NAME=VALUE` can change: each becomes
a macro of the host's compiler, and replaces the value of the top module's parameter of the same name where
`hardware.parameters` lists it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, NonNegativeInt, PositiveFloat, PositiveInt, PrivateAttr

from workbench.model.links import Link
from workbench.model.platform import Document, QueueCall
from workbench.model.read_out import ReadOut
from workbench.model.simulation import Simulation
from workbench.model.streaming import Streaming

SCHEMA_VERSION = 1
STREAM_TOP = "stream_top"  # the design that is made of a streaming application
VhdlStandard = Annotated[Literal["93", "2008"], BeforeValidator(str)]


class HostSources(Document):
    """The host program of a project: its sources, and how they are compiled and started."""

    language: str = Field("c", description="the plugin that reads them")
    sources: tuple[str, ...] = Field(description="files or patterns such as src/*.c")
    include_dirs: tuple[str, ...] = Field((), description="folders with headers", examples=[["include"]])
    defines: dict[str, int | float | str] = Field(
        default_factory=dict, description="macros for the compiler, with their values", examples=[{"BINS": 256}]
    )
    flags: tuple[str, ...] = Field(("-O2",), description="more compiler flags")
    compile_commands: str = Field(
        "",
        description="a compile_commands.json, whose include folders, macros and flags hold for the sources that it "
        "lists; empty: the one beside the project file, where there is one",
        examples=["build/compile_commands.json"],
    )
    source_flags: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="more flags for single sources, after those of compile_commands.json",
        examples=[{"src/fast.c": ["-O3", "-mavx2"]}],
    )
    libraries: tuple[str, ...] = Field((), description="libraries to link with: m for -lm", examples=[["m"]])
    build: str = Field(
        "",
        description="command that builds the host program, run by `sh` in a copy of the project's folder, where gcc, "
        "g++, clang and the like are `workbench cc` and `c++`; empty: the workbench compiles the sources itself",
        examples=["make -C host", "cmake -S host -B out && cmake --build out"],
    )
    program: str = Field(
        "",
        description="the program that `build` makes, by its path below the project's folder; empty: the only one",
        examples=["host/app"],
    )
    arguments: tuple[str, ...] = Field((), description="arguments of the host program", examples=[["--size", "1024"]])
    queues: tuple[QueueCall, ...] = Field(
        (),
        description="calls in C++ that push into the program's own queues and pop from them, besides those that the "
        "platform's template names",
    )
    ranks: PositiveInt = Field(
        1, le=64, description="how many processes of the program run at once (MPI ranks), each with FPGAs of its own"
    )
    network: str = Field(
        "",
        description="the template's network over which they exchange messages (LogGP); empty: messages take no time",
        examples=["Gigabit Ethernet"],
    )


class StreamSignals(Document):
    """A connection with valid and ready that its names do not show. Signals are named below the top; !NAME: active low,
    NAME[3]: one bit."""

    name: str = Field(description="its name", examples=["pixels"])
    valid: str = Field(description="the signal that is high while a word is offered", examples=["core.fetch.go"])
    ready: str = Field(description="the signal that accepts it", examples=["!core.busy"])
    source: str = Field(
        "", description="the sending instance, below the top; empty: the one that drives valid", examples=["core.fetch"]
    )
    target: str = Field(
        "",
        description="the receiving instance, below the top; empty: the one that drives ready",
        examples=["core.decode"],
    )
    bits: NonNegativeInt = Field(0, description="width of its data in bits; 0: unknown")


class MadeClock(Document):
    """A clock that the design makes in a PLL. One that is not listed is simulated at its input's rate."""

    name: str = Field(
        description="the PLL below the top, and its output: a note of the design's names it", examples=["pll.CLKOUT0"]
    )
    frequency_hz: PositiveFloat = Field(description="how fast it is")


class TraceMemory(Document):
    """Memory of the instrumented design in which it keeps the changes of its blocks' states, each with its cycle."""

    records: PositiveInt = Field(
        1024, le=1 << 20, description="number of records to keep, 64 bits each; later ones are counted only"
    )
    burst: PositiveInt = Field(16, le=1024, description="records that a block can buffer before some are lost")


class Design(Document):
    """A design in an FPGA: its sources, and what is to be known of them."""

    language: str = Field(
        "", description="the plugin that reads the sources; empty: chosen by their names", examples=["vhdl"]
    )
    sources: tuple[str, ...] = Field(
        description="files, patterns such as hdl/*.v, file lists (.f) or cores of FuseSoC (.core)"
    )
    top: str = Field(description="the top module's name")
    include_dirs: tuple[str, ...] = Field((), description="folders with included files", examples=[["hdl/include"]])
    defines: dict[str, int | float | str] = Field(
        default_factory=dict, description="macros of the HDL, with their values", examples=[{"WIDTH": 32}]
    )
    parameters: dict[str, int | float | str] = Field(
        default_factory=dict, description="parameters of the top module, with their values", examples=[{"CORES": 20}]
    )
    signals: dict[str, str] = Field(
        default_factory=dict,
        description="names at this top of the platform's signals, or of a port's prefix; !NAME: active low",
        examples=[{"wr_en": "write", "rst": "!reset_n"}],
    )
    constants: dict[str, NonNegativeInt] = Field(
        default_factory=dict,
        description="values of this top's inputs that nothing else drives; the simulated card keeps them constant",
        examples=[{"mode": 3}],
    )
    clocks: tuple[MadeClock, ...] = Field(
        (),
        description="clocks from PLLs in the design, with the frequency that the simulated card gives them",
        examples=[[{"name": "pll.CLKOUT0", "frequency_hz": "200 MHz"}]],
    )
    streams: tuple[StreamSignals, ...] = Field(
        (), description="streams inside the design that port names do not reveal"
    )
    fifos: tuple[str, ...] = Field(
        (),
        description="instances below the top that are FIFOs under other names, with one stream in and one out",
        examples=[["core.lines[0].store"]],
    )
    library: tuple[str, ...] = Field(
        (),
        description="sources that are not the application's own (files or patterns): their blocks are listed and "
        "counted if they contain pragmas, their streams if one end is the application's",
        examples=[["vendor/*.v"]],
    )
    libraries: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="VHDL libraries other than work, each with its sources (files or patterns)",
        examples=[{"neorv32": ["rtl/core/*.vhd"]}],
    )
    vhdl_standard: VhdlStandard = Field(
        "2008",
        description="the VHDL standard of the sources: 93 for names that 2008 reserves (release, force, "
        "context ...), files as VHDL-87 opens them, and packages of their own that 2008 brings",
        examples=[93],
    )
    names: dict[str, str] = Field(
        default_factory=dict,
        description="names of instances below the top, such as library FIFOs, in reports of streams "
        "(empty: reported as the host); their streams are counted",
        examples=[{"core.store": "pixels"}],
    )
    read_out: ReadOut = Field(description="addresses that the application does not use, for reading the counters")
    engines: NonNegativeInt = Field(
        0,
        description="how many counters the FPGA has for each clock: each watches one of its blocks in a run on a real "
        "machine; 0: one for each block with pragmas. The simulated card sees all blocks",
        examples=[4],
    )
    watch: tuple[str, ...] = Field(
        (),
        description="blocks that the counters watch, if there are fewer counters than blocks: names, with * for any "
        "part; with several FPGAs a name may begin with that of one (left:core.state); empty: the first blocks",
        examples=[["pdf2d_top.core[3].*"]],
    )
    observed_ports: tuple[str, ...] = Field(
        (),
        description="ports of the platform that are observed in the FPGA too (memory, stream or host ports): each is "
        "a block whose states show when words moved, the design waited, or the design held the port up",
        examples=[["mover"]],
    )
    metrics: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="custom metrics besides those in the sources, by the module or entity of their signals, each "
        "written as after `pragma recap`",
        examples=[{"core": ["count stalls when valid && !ready"]}],
    )
    query: str = Field(
        "",
        description="query file on the design's streams, FIFOs and states: an agent in the FPGA answers it frame by "
        "frame during the run, on the simulated card as on a machine",
        examples=["hdl.query"],
    )
    query_words: int = Field(
        1024,
        ge=256,
        le=1 << 20,
        description="block RAM for the agent's answers, in words of 32 bits; frames without room become one",
        examples=[4096],
    )
    count_streams: bool = Field(
        False,
        description="count the design's streams and the occupancy of its FIFOs in the FPGA itself, so that a run on a "
        "machine shows them too; with `trace` every word is recorded, so that all queries can be answered after the "
        "run",
    )
    assertions: bool = Field(
        False,
        description="watch the assertions in the design's own text in the FPGA, on the simulated card as on a machine: "
        "assert in VHDL and SystemVerilog, assert property, and PSL's assert in VHDL's comments",
    )
    branches: bool = Field(
        False,
        description="count in the FPGA how often each branch of the design's if and case statements is taken",
    )
    trace: TraceMemory | None = Field(
        None,
        description="record the changes of the blocks' states in the FPGA, for the timeline of a run on a real machine",
        examples=[{"records": 4096, "burst": 16}],
    )


class Fpga(Design):
    """An FPGA among several. What it does not say is as `hardware` says."""

    name: str = Field(
        description="its name, with which its design's names begin in a run",
        examples=["left"],
    )
    sources: tuple[str, ...] = Field(
        (), description="files, patterns and lists; default: those of `hardware`", examples=[["right/*.v"]]
    )
    top: str = Field("", description="the top module's name; default: that of `hardware`", examples=["right_top"])
    read_out: ReadOut = Field(
        ReadOut(first=0, last=0), description="addresses that its design does not use; default: those of `hardware`"
    )


class HardwareSources(Design):
    """The design of a project: its sources, and on how many cards or FPGAs it runs."""

    cards: PositiveInt = Field(
        1, le=64, description="number of cards with the design; the host's calls select one by the handle they opened"
    )
    fpgas: tuple[Fpga, ...] = Field(
        (),
        max_length=64,
        description="FPGAs with designs of their own, in the order of the numbers by which the host's calls select "
        "them; each has the fields in which its design differs from `hardware`",
        examples=[[{"name": "left"}, {"name": "right", "top": "right_top"}]],
    )

    links: tuple[Link, ...] = Field(
        (),
        description="links between the FPGAs that `fpgas` names",
        examples=[[{"source": "left.out_*", "target": "right.in_*"}]],
    )

    _ranks: int = PrivateAttr(1)  # those of the host
    _agent_words: int = PrivateAttr(0)

    @property
    def places(self) -> tuple[str, ...]:
        """What the names in each FPGA begin with; nothing where there is only one. Of several ranks, those of rank 0
        first."""
        of_rank = tuple(f"{fpga.name}:" for fpga in self.fpgas) or ("",)
        if self.cards > 1 and not self.fpgas:
            of_rank = tuple(f"card[{n}]." for n in range(self.cards))
        if self._ranks == 1:
            return of_rank
        return tuple(f"rank[{rank}].{place}" for rank in range(self._ranks) for place in of_rank)

    @property
    def agent_words(self) -> int:
        """How many words an agent beside the counters has room for; 0 where there is none."""
        return self._agent_words

    def with_agent(self, words: int) -> HardwareSources:
        """The hardware with an agent."""
        copy = self.model_copy()
        copy._agent_words = words
        return copy

    def of_ranks(self, ranks: int) -> HardwareSources:
        """The hardware of so many ranks, each with all that is said here."""
        copy = self.model_copy()
        copy._ranks = ranks
        return copy

    def values(self, given: Mapping[str, str]) -> dict[str, str]:
        """The parameters of the top module, with those given laid over."""
        return {**{name: str(value) for name, value in self.parameters.items()}, **given}

    def designs(self) -> tuple[HardwareSources, ...]:
        """The hardware of each FPGA, as if there were no other."""
        if not self.fpgas:
            return (self.of_ranks(1).model_copy(update={"cards": 1}),) * self.cards
        own = ({name: getattr(fpga, name) for name in fpga.model_fields_set - {"name"}} for fpga in self.fpgas)
        alone = self.of_ranks(1)
        return tuple(alone.model_copy(update={**given, "fpgas": (), "links": (), "cards": 1}) for given in own)


class TargetCommands(Document):
    """Where the application runs. On a real machine the project's own commands get it there.

    Each is a line for `sh` in the project's folder, with variables: $RECAP_TREE is the instrumented tree, $RCW_RAW the
    empty folder in which the records have to be at the end, and $RECAP_PROGRAM what `host: build:` made.
    """

    name: str = Field("simulated", description="the target: simulated, machine, or what a plugin brings")
    build: str = Field(
        "", description="command that builds the instrumented tree", examples=["make -C board TREE=$RECAP_TREE"]
    )
    run: str = Field(
        "",
        description="command that runs the program; its output is the program's; empty: start here what `host: build:` "
        "built",
        examples=["ssh lab board/host"],
    )
    launch: str = Field(
        "",
        description="the command that starts several ranks if `run` is empty; the program and its arguments follow "
        "it; $RECAP_RANKS is the number of ranks in every command; empty: mpirun -n $RECAP_RANKS for several",
        examples=["mpirun -n $RECAP_RANKS -x RCW_RAW -x RCW_TRACE --hostfile lab.hosts"],
    )
    fetch: str = Field(
        "", description="command that copies the records back", examples=["scp -q 'lab:records/*' $RCW_RAW"]
    )


class Project(Document):
    """The Application document. Paths are relative to the project file's folder.

    Without `outside`, all that is read lies below it (the compiler's and the platform's own headers apart).
    """

    schema_version: int = Field(description="schema version of this document")
    name: str = Field(description="a short name")
    title: str = Field("", description="title in window and reports")
    platform: str = Field(description="the name of a platform template, or the path of one")
    apis: tuple[str, ...] = Field(
        (),
        description="other host APIs that the program calls: templates by name, whose calls, headers and networks are "
        "added to the platform's",
        examples=[["mpi"]],
    )
    outside: tuple[str, ...] = Field(
        (),
        description="more folders for sources and included files",
        examples=[["../shared"]],
    )
    api_dir: str = Field("", description="folder of the platform API's header", examples=["vendor"])
    api_sources: tuple[str, ...] = Field(
        (),
        description="C files that implement the platform's API on the simulated card's client library (wbcard.h); "
        "empty: the platform's own, or generated from its entries",
        examples=[["vendor/on_card.c"]],
    )
    host: HostSources = Field(HostSources(sources=()), description="the host program; a run needs one")
    hardware: HardwareSources = Field(description="the design in the FPGA")
    rules: tuple[str, ...] = Field(
        (),
        description="rule files for runs, after those of plugins",
        examples=[["pdf2d.rules.yaml"]],
    )
    settings: dict[str, int | float | str] = Field(
        default_factory=dict,
        description="names that `--set NAME=VALUE` can change: macros of the host, and parameters of that name",
    )
    target: TargetCommands = Field(TargetCommands(), description="where the program runs, and how it gets there")
    simulation: Simulation = Field(Simulation(), description="settings of the simulated card")
    streaming: Streaming | None = Field(
        None,
        description="a streaming application, from which host program and design are generated; `host` and `hardware` "
        "may then be left out",
    )

    def with_ranks(self, ranks: int) -> Project:
        """The project with so many ranks."""
        host = self.host.model_copy(update={"ranks": ranks})
        return self.model_copy(update={"host": host, "hardware": self.hardware.of_ranks(ranks)})
