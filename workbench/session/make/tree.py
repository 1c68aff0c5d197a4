"""A complete tree of an instrumented application: what a user's own flow needs to build and run it anywhere.

    host/, hdl/    the instrumented copies, and sources without a call of the API as they are; below hdl/ also the files
                   that the HDL reads, at the paths it asks for
    runtime/       the recorder
    board/         the read-out of the monitors, through the platform's own calls
    include/       headers that the copies include
    recap.mk       variables for a Makefile: sources, flags, HDL
    recap.json     what `workbench collect` needs to know; platform.yaml is the template as it was

All paths in it are relative: it can be moved.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import chain, islice
from pathlib import Path
from typing import Any

from workbench.api import HdlBuild, HostBuild
from workbench.api.builds import AgentQuery
from workbench.api.instrument.board import board_sources
from workbench.api.instrument.stream_probe import stream_blocks
from workbench.api.source.flags import include_folders, macros_of_all
from workbench.api.source.suffixes import is_cpp
from workbench.formats.json_text import JsonError, read_json
from workbench.formats.manifest import manifest_text, read_manifest
from workbench.model.blocks import Block, Side
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, did_you_mean
from workbench.model.platform import Platform
from workbench.model.read_out import ReadOutPlan
from workbench.model.run import Manifest, RunClock
from workbench.model.streams import Fifo, Stream
from workbench.model.text import listed
from workbench.run.cards import block_in
from workbench.run.collect import not_watched
from workbench.session.make.tree_files import Includes, copy_file, flags_in_tree, headers, quoted, relative, write_file
from workbench.session.open.workspace import Value, Workspace
from workbench.system.files import read_file, sha256

DESCRIPTION = "recap.json"
SCHEMA_VERSION = 6
_MPI_COMPILERS = (  # a Makefile's own are kept
    "ifeq ($(origin CC),default)", "CC := mpicc", "endif", "ifeq ($(origin CXX),default)", "CXX := mpicxx", "endif",
)  # fmt: skip


@dataclass(frozen=True)
class TreeFpga:
    """An FPGA of a tree: its name prefix, its design's language, its number of blocks, its counter read-out, and the
    agent's query with the design's streams and FIFOs."""

    place: str
    language: str
    blocks: int
    read_out: ReadOutPlan | None
    agent: AgentQuery | None = None
    streams: tuple[Stream, ...] = ()
    fifos: tuple[Fifo, ...] = ()


@dataclass(frozen=True)
class Tree:
    """The description of a tree: the run's manifest before the run, and how each FPGA's monitors are read."""

    path: Path
    id: str
    manifest: Manifest
    fpgas: tuple[TreeFpga, ...]
    composed: Mapping[str, Any] = field(default_factory=dict)  #: `Composed.kept` by the composer's name

    @property
    def platform_path(self) -> Path:
        return self.path / "platform.yaml"

    @cached_property
    def host(self) -> HostBuild:
        """The host's part, as far as records refer to it."""
        manifest = self.manifest
        blocks = tuple(block for block in manifest.blocks if block.side is Side.HOST)
        return HostBuild(sources=(), blocks=blocks, sites=manifest.sites, entries=manifest.entries)

    @cached_property
    def hdl(self) -> HdlBuild:
        blocks = tuple(block for block in self.manifest.blocks if block.side is not Side.HOST)
        left, builds = iter(blocks), []
        for one in self.fpgas:
            own = tuple(block_in(block, one.place) for block in islice(left, one.blocks))
            builds.append(
                HdlBuild((), "", own, read_out=one.read_out, agent=one.agent, streams=one.streams, fifos=one.fifos)
            )
        streams, fifos = self.manifest.streams, self.manifest.fifos
        if len(builds) == 1:
            return replace(builds[0], streams=streams, fifos=fifos)
        places, read_out = (
            tuple(one.place for one in self.fpgas),
            next(filter(None, (b.read_out for b in builds)), None),
        )
        return HdlBuild(
            (), "", blocks, read_out=read_out, fpgas=tuple(builds), places=places, streams=streams, fifos=fifos
        )


def board_plans(workspace: Workspace, hdl: HdlBuild) -> list[ReadOutPlan | None]:
    """The counter read-out of each FPGA on a real machine. If it has fewer counters than blocks, they watch the blocks
    that `hardware.watch` names, for one FPGA or for each. WorkbenchError if that is not possible."""
    boards = list(zip(hdl.places, workspace.boards, hdl.each, strict=True))
    for name in dict.fromkeys(name for _, one, _ in boards for name in one.project.hardware.watch):
        watchable = [f"{place}{block}" for place, _, build in boards for block in _watchable(build)]
        if not any(_watchable_with_name(name, place, build) for place, _, build in boards):
            hint = did_you_mean(name, watchable) or f"There are {listed(watchable)}."
            raise WorkbenchError(Diagnostic(f"no counter can watch a block '{name}'", hint))
    return [_board_plan(build, one.platform, place, one.project.hardware.watch) for place, one, build in boards]


def _board_plan(hdl: HdlBuild, platform: Platform, place: str, watch: Sequence[str]) -> ReadOutPlan | None:
    """The counter read-out of one FPGA on a real machine, through one of the platform's ports."""
    plan = hdl.read_out
    ports = [port.name for port in platform.hardware.ports] if platform.hardware else []
    if plan is None or plan.port not in ports:
        return None
    try:
        return plan.watching({number for name in watch for number in _watchable_with_name(name, place, hdl)})
    except ValueError:
        problem = f"hardware.read_out is too small to choose which blocks counters watch through the port '{plan.port}'"
        hint = "Reserve eight words of the port for it, aligned to eight words. Or set hardware.engines to 0."
        raise WorkbenchError(Diagnostic(problem, hint)) from None


def _watchable(hdl: HdlBuild) -> dict[str, int]:
    """The blocks that a counter can watch, with their numbers."""
    counters = hdl.read_out.counters if hdl.read_out else ()
    return {hdl.blocks[number].id: number for number in sorted({n for one in counters for n, _ in one.watched})}


def _watchable_with_name(name: str, place: str, hdl: HdlBuild) -> list[int]:
    """The numbers of the watchable blocks with this name, in which * stands for any text; the name may begin with the
    FPGA's prefix."""
    form = re.compile(re.escape(name).replace(r"\*", ".*"))
    return [n for block, n in _watchable(hdl).items() if form.fullmatch(block) or form.fullmatch(f"{place}{block}")]


def uncounted(workspace: Workspace, hdl: HdlBuild) -> Iterator[Diagnostic]:
    """Notes on blocks that the simulated card counts, but that a real machine's read-out does not reach or no counter
    watches."""
    lost: list[str] = []
    others: list[Block] = []
    numbers = iter(range(len(hdl.blocks)))
    for plan, build in zip(board_plans(workspace, hdl), hdl.each, strict=True):
        blocks = [hdl.blocks[number] for number in islice(numbers, len(build.blocks))]
        lost += [block.id for number, block in enumerate(blocks) if not (plan and plan.reaches(number))]
        others += [blocks[number] for number in (plan.not_watched() if plan else ())]
    if lost:
        yield Diagnostic(
            f"on a real machine these blocks are not counted: {listed(lost)}",
            "Counters are read there through a port with addresses, or a stream with another one back.",
            Severity.NOTE,
        )
    if others:
        yield not_watched(others)


def in_own_clocks(hdl: HdlBuild, manifest: Manifest) -> tuple[HdlBuild, Manifest]:
    """The design and run as a real machine counts them: blocks and streams on a clock that the design generates, in
    cycles of that clock. Each of several FPGAs has clocks of its own."""
    builds, clocks = [], list[RunClock]()
    for place, one in zip(hdl.places, hdl.each, strict=True):
        build, own = _in_own_clocks(one, manifest.clocks, place)
        builds.append(build)
        clocks += own
    blocks = [
        replace(block, clock=own.clock)
        for block, own in zip(hdl.blocks, chain.from_iterable(one.blocks for one in builds), strict=True)
    ]
    streams = [
        replace(stream, clock=own.clock)
        for stream, own in zip(hdl.streams, chain.from_iterable(one.streams for one in builds), strict=True)
    ]
    fpgas = tuple(builds) if hdl.fpgas else ()
    on_clocks = replace(hdl, blocks=tuple(blocks), streams=tuple(streams), fpgas=fpgas)
    return on_clocks, replace(manifest, clocks=tuple(clocks))


def _in_own_clocks(hdl: HdlBuild, clocks: Sequence[RunClock], place: str) -> tuple[HdlBuild, list[RunClock]]:
    derived = [monitor for monitor in hdl.read_out.monitors if monitor.made_of] if hdl.read_out else []
    of_block = {number: monitor.clock for monitor in derived for number in monitor.blocks or ()}
    clock_of_name = {clock.name: clock for clock in clocks}
    own_hz = {clock.name: clock.frequency_hz for clock in hdl.simulation.made.values()}
    more = [
        replace(clock, name=one.clock, frequency_hz=own_hz.get(one.clock, clock.frequency_hz), derived_from=one.made_of)
        for one in derived if (clock := clock_of_name[one.made_of])
    ]  # fmt: skip
    first = clocks[0].name if clocks else ""
    names = (of_block.get(number, block.clock) for number, block in enumerate(hdl.blocks))
    blocks = (replace(b, clock=place + (c or first) if place else c) for b, c in zip(hdl.blocks, names, strict=True))
    own = [
        replace(c, name=place + c.name, derived_from=c.derived_from and place + c.derived_from)
        for c in (*clocks, *more)
    ]
    counted_by = {number: of_block.get(n) for number, n in stream_blocks(hdl.streams, hdl.blocks).items()}
    streams = (replace(s, clock=place + (counted_by.get(n) or s.clock)) for n, s in enumerate(hdl.streams))
    return replace(hdl, blocks=tuple(blocks), streams=tuple(streams)), own


def complete_tree(
    workspace: Workspace, settings: Mapping[str, Value], host: HostBuild, hdl: HdlBuild, manifest: Manifest, out: Path
) -> None:
    """Add to the instrumented copies below `out` all other parts of the application except the board's own."""
    plans = board_plans(workspace, hdl)
    resources = Path(str(files("workbench.resources")))
    runtime = out / "runtime" / "host"
    with_ranks = workspace.platform.host.exchanges_messages
    recorders = [resources / "host", *([resources / "host" / "ranks"] if with_ranks else [])]
    moved = {path: runtime / path.relative_to(recorders[0]) for one in recorders for path in one.glob("*.[ch]*")}
    for path, copy in moved.items():
        copy_file(path, copy)
    copy_file(resources / "card" / "records.h", out / "runtime" / "card" / "records.h")
    run_description = replace(manifest, blocks=(*host.blocks, *hdl.blocks), sites=host.sites, entries=host.entries)
    text = manifest_text(replace(run_description, streams=hdl.streams, fifos=hdl.fifos))
    tree_id = sha256(text.encode() + b"".join(source.read_bytes() for source in (*host.sources, *_sources(hdl))))[:16]
    extra = [moved.get(source, source) for source in host.extra_sources]
    extra += sorted((runtime / "ranks").glob("*.c"))
    if any(plans):
        platforms = [one.platform for one in workspace.boards]
        for name, content in board_sources(platforms, plans, resources / "board", tree_id).items():
            write_file(out / "board" / name, content.encode())
            extra += [out / "board" / name] if not name.endswith(".h") else []
    stand_ins = {folder.resolve() for folder in workspace.support.api_dirs} if workspace.support else set()
    folders = [folder for folder in host.include_dirs if folder not in stand_ins]
    local = Includes(workspace.root, out, moved)
    includes = [local.headers(folder, out / "include" / f"host_{n}") for n, folder in enumerate(folders)]
    for library in (folder for one in workspace.composed for folder in one.libraries):
        includes.append(headers(library, out / "include" / "system" / library.name) and out / "include" / "system")
    for name in hdl.files.data:
        copy_file(workspace.root / name, out / "hdl" / name)
    local.localise([path for path in (out / "host").rglob("*") if path.is_file()])
    sources = [local.source(source) for source in host.sources]
    shutil.copyfile(workspace.platform_path, out / "platform.yaml")
    folders_c = [f"-I$(RECAP)/{relative(folder, out)}" for folder in includes if folder]
    macros = {name: quoted(value) for name, value in workspace.defines(settings).items()}
    recorder = ("-DRCW_BOARD", "-I$(RECAP)/board") if any(plans) else ()
    part, in_tree = workspace.project.host, flags_in_tree(workspace, out)
    link_flags = (name if name.startswith("-") or "/" in name else f"-l{name}" for name in part.libraries)
    system = ("-lm", "-pthread", *["-ldl"] * with_ranks)  # before glibc 2.34 libdl has dlsym
    own_flags = [in_tree(part.source_flags.get(name, ())) for name in part.sources]
    of_all = dict.fromkeys(f"-I{folder}" for folder in include_folders(word for flags in own_flags for word in flags))
    values = {
        "RECAP_CFLAGS": (
            *in_tree(part.flags),
            *folders_c,
            *(f"-D{name}={value}" for name, value in macros.items()),
            *(f"-D{quoted(define)}" for define in host.defines),
            *host.flags,
        ),
        "RECAP_RUNTIME_CFLAGS": (
            "-O2",
            *recorder,
            *folders_c,
            *of_all,
            *map(quoted, macros_of_all(part)),
        ),
        "RECAP_LDLIBS": (*host.link_flags, *link_flags, *["-lstdc++"] * any(map(is_cpp, sources)), *system),
        "RECAP_HDL_DATA": (quoted(name) for name in hdl.files.data),
        **_designs(workspace, hdl, out),
    }
    units = (
        *((source, ("$(RECAP_CFLAGS)", *flags)) for source, flags in zip(sources, own_flags, strict=False)),
        *((source, ("$(RECAP_RUNTIME_CFLAGS)",)) for source in extra),
    )
    compilers = _MPI_COMPILERS if with_ranks else ()
    write_file(out / "recap.mk", _makefile(out, manifest.name, values, units, compilers).encode())
    description = {
        "schema_version": SCHEMA_VERSION,
        "id": tree_id,
        "fpgas": _fpgas_adapter().dump_python(
            tuple(
                TreeFpga(place, one.project.hardware.language, len(build.blocks), plan, *_of_agent(build))
                for place, one, build, plan in zip(hdl.places, workspace.boards, hdl.each, plans, strict=True)
            ),
            mode="json",
        ),
        "composed": {one.name: one.kept for one in workspace.composed if one.kept is not None},
        "manifest": json.loads(text),
    }
    write_file(out / DESCRIPTION, (json.dumps(description, indent=1) + "\n").encode())


def _of_agent(build: HdlBuild) -> tuple[AgentQuery | None, tuple[Stream, ...], tuple[Fifo, ...]]:
    """The query of an agent in a design, and the design's streams and FIFOs, without the FPGA's name."""
    if build.agent is None:
        return None, (), ()
    return replace(build.agent, misfits=()), tuple(build.streams), tuple(build.fifos)


def open_tree(path: Path) -> Tree:
    """The tree that `complete_tree` wrote to a folder. WorkbenchError if there is none, or it is damaged."""
    from pydantic import ValidationError

    file = path / DESCRIPTION
    if not file.is_file():
        raise WorkbenchError(
            Diagnostic(
                f"this folder has no {DESCRIPTION}", "Name one that `workbench instrument` wrote.", file=str(path)
            )
        )
    try:
        document = read_json(read_file(file))
        if document["schema_version"] > SCHEMA_VERSION:
            raise WorkbenchError(
                Diagnostic("a newer RC Workbench wrote this", "Collect with that one.", file=str(file))
            )
        if document["schema_version"] < SCHEMA_VERSION:
            raise WorkbenchError(Diagnostic("an older RC Workbench wrote this", "Instrument again.", file=str(file)))
        manifest = read_manifest(json.dumps(document["manifest"]), str(file))
        fpgas = _fpgas_adapter().validate_python(document["fpgas"])
        return Tree(path, str(document["id"]), manifest, fpgas, dict(document["composed"]))
    except (JsonError, ValidationError, KeyError, TypeError):
        raise WorkbenchError(Diagnostic("this description is damaged", "Instrument again.", file=str(file))) from None


def _fpgas_adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[TreeFpga, ...])


def _sources(hdl: HdlBuild) -> Iterator[Path]:
    """The sources of all designs, each once."""
    yield from dict.fromkeys(source for one in hdl.each for source in one.sources)


def _designs(workspace: Workspace, hdl: HdlBuild, out: Path) -> dict[str, Iterable[str]]:
    """The sources of each design; with several designs the variables end in the FPGA's name."""
    parts: dict[str, Iterable[str]] = {}
    copied: dict[Path, Path | None] = {}
    names = [f"_{fpga.name}" for fpga in workspace.project.hardware.fpgas] or [""]
    for ending, one, build in zip(names, workspace.boards, hdl.each, strict=False):
        own_hardware = one.project.hardware
        sources = {workspace.root / name for name in own_hardware.sources}
        for folder in build.files.include_dirs:
            if folder not in copied:
                copied[folder] = headers(folder, out / "include" / f"hdl_{len(copied)}", without=sources)
        includes = [copy for folder in build.files.include_dirs if (copy := copied[folder])]
        files = [path for path in build.files.board_sources or build.sources if path not in build.files.stand_ins]
        parts |= {
            f"RECAP_HDL{ending}": [f"$(RECAP)/{relative(path, out)}" for path in files],
            f"RECAP_HDL_STAND_INS{ending}": [f"$(RECAP)/{relative(path, out)}" for path in build.files.stand_ins],
            f"RECAP_HDL_INCLUDE_DIRS{ending}": [f"$(RECAP)/{relative(folder, out)}" for folder in includes],
            f"RECAP_HDL_DEFINES{ending}": [quoted(f"{name}={value}") for name, value in own_hardware.defines.items()],
            f"RECAP_HDL_TOP{ending}": [build.top],
        }
    return parts if names == [""] else {"RECAP_FPGAS": [name[1:] for name in names], **parts}


def _makefile(
    out: Path,
    title: str,
    values: Mapping[str, Iterable[str]],
    units: Iterable[tuple[Path, Iterable[str]]],
    compilers: Iterable[str],
) -> str:
    """The Makefile fragment: variables, and a rule for each object. `units` are sources with their flags."""
    objects, rules = [], []
    for number, (source, flags) in enumerate(units):
        compiler = "$(CXX) $(CPPFLAGS) $(CXXFLAGS)" if is_cpp(source) else "$(CC) $(CPPFLAGS) $(CFLAGS)"
        objects.append(f"recap_objects/{number}_{source.stem}.o".replace(" ", "_"))
        rules += [
            f"{objects[-1]}: $(RECAP)/{relative(source, out)}",
            "\t@mkdir -p recap_objects",
            f"\t{compiler} {' '.join(flags)} -c $< -o $@",
        ]
    return "\n".join(
        [
            f"# {title}, instrumented. Include this in your own Makefile:",
            "#   link RECAP_OBJECTS with RECAP_LDLIBS and the board's own library, whose header CPPFLAGS find (-I);",
            "#   make the FPGA of RECAP_HDL, whose top level is RECAP_HDL_TOP, instead of your own HDL;",
            *(
                ["#   each FPGA of RECAP_FPGAS has these of its own, RECAP_HDL_<its name> and so on;"]
                * ("RECAP_FPGAS" in values)
            ),
            "#   to simulate it take RECAP_HDL_STAND_INS too, for the vendor's primitives in it;",
            "#   where that reads files, RECAP_HDL_DATA, start what makes or simulates it in $(RECAP)/hdl;",
            "#   run the program with RCW_RAW set to an empty folder; `workbench collect` makes a run of that folder.",
            "RECAP := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))",
            "RECAP_GOAL := $(.DEFAULT_GOAL)",
            *compilers,
            *(f"{name} := {' '.join(words)}".rstrip() for name, words in values.items()),
            f"RECAP_OBJECTS := {' '.join(objects)}",
            *rules,
            ".DEFAULT_GOAL := $(RECAP_GOAL)",
            "",
        ]
    )
