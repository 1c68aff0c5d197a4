"""Builds the simulated card: the user's RTL through Verilator, with the harness in `resources/card` around it."""

import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.simulated_card.beside import LIBRARY, SOURCE, STEP, beside_defines, notes
from rc_workbench_plugins.simulated_card.config import places_of, uncounted
from rc_workbench_plugins.simulated_card.port_check import all_clocks, check_port, driven_ports
from rc_workbench_plugins.simulated_card.port_header import MADE_CLOCKS, Model, made_clocks, port_header
from workbench.api import Clock, Diagnostic, HdlBuild, Job, Platform, Severity, Task, WorkbenchError
from workbench.api.compile import digest, needed, run_all
from workbench.api.equivalence import HdlSide
from workbench.api.instrument.wrapper import STREAMS_DEFINE, TOP_FILE
from workbench.api.kept import (
    contents,
    keep,
    keep_folder,
    kept_folder,
    kept_whole,
    one_at_a_time,
    relative_texts,
    remember_reads,
    take,
)
from workbench.api.unstable import Tool, cache_dir, find_compiler, find_verilator
from workbench.hdl.verilate import (
    HEADERS,
    MODEL_FLAGS,
    RUNTIME,
    VERILATOR_OPTIONS,
    compile_headers,
    harness_dir,
    idle_state,
    lead_out_places,
    remembers_all,
    system_include,
    top_ports,
    verilate,
)

# Verilator's own code that writes waveforms, which is the same in every design
_WAVES_RUNTIME, _WAVES = "verilated_vcd_c.cpp", "all_waves.o"
_CARD, _DESIGN = "card.cpp", "design.cpp"
_FLAGS = (*MODEL_FLAGS, "-fno-strict-aliasing", "-DVL_USER_FATAL", "-DVL_USER_WARN", "-DVL_PRINTF=rcw_printf")
# Of a design's own: two of them in one program know nothing of each other.
_DESIGN_FLAGS = (*_FLAGS, "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique")
#: -O1 makes some models six times slower
_LEVELS = {"card": "-O2", "design": "-O2", "runtime": "-O1"}
_UNOPTIMISED = '#pragma GCC optimize("O0")\n'
#: What a model does but once is compiled in a unit of its own from this size on: the headers take a small one's time.
_OWN_UNIT_BYTES = 50_000

# Their names where they are kept.
_LIBRARY, _PLACES = "design.so", "places.txt"
_READ = re.compile(r'^S\s.*"(?P<path>[^"]+)"$', re.M)  # a line of Vcard__verFiles.dat

#: What writes the parts of a card that are generated.
_MAKERS = sorted(Path(__file__).parent.glob("*.py"))


@dataclass(frozen=True)
class CardExecutable:
    """A card, and the library of each FPGA's design that it loads; `tools` names what built them."""

    path: Path
    libraries: tuple[Path, ...]
    hdl: HdlBuild
    tools: Mapping[str, str]


def build_card(task: Task, job: Job) -> CardExecutable:
    """Build the task's card and its designs (or take equal ones from the cache).

    Parameters that the top module lacks are left out. Raises WorkbenchError: a missing tool, a port that does not fit
    the platform, a design that does not compile, a transfer table faster than the port.
    """
    try:
        return _build(task, job)
    except WorkbenchError as error:
        ours = [d for d in error.diagnostics if d.file and Path(d.file).name == TOP_FILE]
        if not task.hdl.streams or not ours:
            raise
        message = f"the design's streams are not counted: the simulator cannot observe them ({ours[0].message})"
        job.report(Diagnostic(message, "Everything else is measured.", Severity.WARNING))
        return _build(_without_streams(task), job)


def _without_streams(task: Task) -> Task:
    def without(hdl: HdlBuild) -> HdlBuild:
        return replace(hdl, streams=(), fifos=(), fpgas=tuple(without(one) for one in hdl.fpgas))

    return replace(task, hdl=without(task.hdl), designs=tuple(_without_streams(one) for one in task.designs))


def _build(task: Task, job: Job) -> CardExecutable:
    project, out = task.project, task.build / "card"
    check_port(task.platform)
    if project.simulation.waves and 0 < project.simulation.waves_to_s <= project.simulation.waves_from_s:
        message = "the end of the signal recording is before its start"
        raise WorkbenchError(
            Diagnostic(message, "Give a later time, or leave it out for the run's end.", file=str(task.path))
        )
    verilator, compiler = needed(find_verilator()), needed(find_compiler("c++"))
    out.mkdir(parents=True, exist_ok=True)
    with one_at_a_time("verilated", job):
        same = _same_in_every_card(compiler, verilator, out, job)
    executable = out / "card"
    shutil.copy2(same / "card", executable)
    clocks = all_clocks(task.platform, task.hdl)
    libraries: dict[int, Path] = {}  # by the build: FPGAs may share one
    for one in task.each:
        if id(one.hdl) not in libraries:
            libraries[id(one.hdl)] = out / f"design_{len(libraries)}.so"
            alone = uncounted(task.hdl, project)
            _build_design(one, clocks, alone, libraries[id(one.hdl)], same, verilator, compiler, job)
    tools = {"verilator": verilator.version, "g++": compiler.version}
    return CardExecutable(executable, tuple(libraries[id(one.hdl)] for one in task.each), task.hdl, tools)


def _build_design(
    task: Task, clocks: Sequence[Clock], without_counters: bool, library: Path, same: Path, verilator: Tool,
    compiler: Tool, job: Job,
) -> None:  # fmt: skip
    """Make the library of a design in a run with these clocks. `same` is where that lies which is the same in every
    card."""
    hdl, project, platform = task.hdl, task.project, task.platform
    assert platform.hardware is not None
    if hdl.asks_beside and hdl.beside:
        _build_link(library.with_name(LIBRARY), compiler, job)
        for one in (*notes(hdl.beside), *hdl.beside.told):
            job.report(one)
    waves = project.simulation.waves
    depth = ("--trace-depth", "1") if project.simulation.waves_ports else ()
    traced = ("--trace", *depth) if waves else ()
    places = places_of(library)
    named = (f"{name}={value}" for name, value in project.hardware.defines.items())
    ours = (
        *hdl.simulation.defines,
        *(hdl.simulation.uncounted if without_counters else ()),
        *([STREAMS_DEFINE] if hdl.streams else []),
    )
    defines = list(dict.fromkeys((*named, *ours)))
    constants = project.hardware.constants
    include_dirs = (*hdl.files.include_dirs, *(task.root / folder for folder in project.hardware.include_dirs))
    base = Path(os.path.abspath(task.build))
    searched = [Path(os.path.abspath(p)) for p in (*include_dirs, *(s.parent for s in hdl.sources))]
    searched = list(dict.fromkeys(searched))
    command = digest(
        [
            verilator.version, compiler.version, *_DESIGN_FLAGS, *_LEVELS.values(), *VERILATOR_OPTIONS,
            platform.hardware.model_dump_json(), hdl.top, str(hdl.simulation.tap_bits), repr(hdl.simulation.own_port),
            str(len(hdl.streams)), str(waves), *traced, *beside_defines(hdl), *defines,
            *(clock.model_dump_json() for clock in clocks), *hdl.simulation.made,
            *(f"{k}={v}" for k, v in sorted(task.parameters.items())), repr(sorted(constants.items())),
            *relative_texts(searched, base),
            *contents([*hdl.sources, *sorted(harness_dir().rglob("*.*")), *_drivers(platform), *_MAKERS]),
        ]
    )  # fmt: skip
    kept = kept_folder("cards", command, base)
    if kept and take(kept / _PLACES, places) and take(kept / _LIBRARY, library):
        job.log("the card has not changed since it was last built")
        return
    objects = library.with_suffix("")
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir()
    began_s = time.time()
    given = objects / f"{MADE_CLOCKS}.v"
    if hdl.simulation.made:
        given.write_text(made_clocks(hdl))
    defined = {name: value for name, _, value in (define.partition("=") for define in defines)}
    sources = (*hdl.sources, *((given,) if hdl.simulation.made else ()))
    design = HdlSide(sources, hdl.top, include_dirs, defined, dict(task.parameters))
    verilate(verilator, design, objects, job, options=traced)
    verilated = Model(top_ports(objects), idle_state(objects, hdl), remembers_all(objects), waves)
    (objects / "card_port.h").write_text(port_header(platform, hdl, clocks, verilated, constants))
    assert verilator.root is not None
    read = _included_files(objects.absolute(), [*hdl.sources, given], verilator.root)
    remember_reads(command, base, read, searched)
    kept = kept_folder("cards", command, base)
    places.write_text("".join(f"{place}\n" for place in lead_out_places(objects)))
    model = cache_dir() / "models" / digest([
        verilator.version, compiler.version, *_DESIGN_FLAGS, repr(_LEVELS), str(waves),
        *contents([*sorted(objects.glob("*.cpp")), *sorted(objects.glob("*.h"))]),
        *contents([*sorted(harness_dir().rglob("*.*")), *_drivers(platform)]),
    ])  # fmt: skip
    if take(model / _LIBRARY, library):
        job.log("the design's behaviour has not changed since the card was last built")
    else:
        _compile(objects, library, same, compiler, verilator, waves, job)
        keep(library, model, _LIBRARY)
    if kept and all(path.stat().st_mtime < began_s for path in read):  # nothing was saved while it was read
        keep(places, kept, _PLACES)
        keep(library, kept, _LIBRARY)


def _build_link(library: Path, compiler: Tool, job: Job) -> None:
    """What a simulator beside loads."""
    source = harness_dir() / SOURCE
    kept = cache_dir() / "models" / digest([compiler.version, *contents([source, source.with_name(STEP)])])
    if take(kept / LIBRARY, library):
        return
    command: list[str | Path] = [compiler.path, "-shared", "-fPIC", "-O2", source, "-o", library]
    run_all([command], job, cwd=library.parent, what="files for the design's simulator")
    keep(library, kept, LIBRARY)


def _included_files(objects: Path, sources: Iterable[Path], tool_root: Path) -> list[Path]:
    """The files that Verilator read to fill `objects`, without the sources named to it and without its own."""
    named = {os.path.realpath(source) for source in sources}
    text = (objects / "Vcard__verFiles.dat").read_text(encoding="utf-8", errors="replace")
    paths = dict.fromkeys(objects / match["path"] for match in _READ.finditer(text))
    return [p for p in paths if os.path.realpath(p) not in named and not p.is_relative_to(tool_root)]


def _drivers(platform: Platform) -> list[Path]:
    return [port.driver_header for port in driven_ports(platform) if port.driver_header]


def _compile(objects: Path, library: Path, same: Path, compiler: Tool, verilator: Tool, waves: bool, job: Job) -> None:
    assert verilator.root is not None
    include = verilator.root / "include"
    units = sorted(objects.glob("Vcard*.cpp"))
    slow = [path for path in units if path.name.endswith("__Slow.cpp")]
    apart = sum(path.stat().st_size for path in slow) >= _OWN_UNIT_BYTES
    parts = {"design": [path.name for path in units if not (apart and path in slow)] + [_DESIGN]}
    if apart:
        parts["slow"] = [path.name for path in slow]
    same_waves = cache_dir() / "models" / digest([verilator.version, compiler.version, *_DESIGN_FLAGS, repr(_LEVELS)])
    if waves and not take(same_waves / _WAVES, objects / _WAVES):
        parts["waves"] = [_WAVES_RUNTIME]
    flags = [*_DESIGN_FLAGS, f"-I{objects}", f"-I{harness_dir()}", *system_include(include), _LEVELS["design"]]
    commands: list[list[str | Path]] = []
    for name, included in parts.items():
        unit = objects / f"all_{name}.cpp"
        text = "".join(f'#include "{part}"\n' for part in included)
        unit.write_text(_UNOPTIMISED + text if name == "slow" else text)
        commands.append([compiler.path, *flags, "-include", same / HEADERS, "-c", unit, "-o", unit.with_suffix(".o")])
    run_all(commands, job, cwd=objects, what="the simulated card")
    if "waves" in parts:
        keep(objects / _WAVES, same_waves, _WAVES)
    run_all(
        [[compiler.path, "-pthread", "-shared", *sorted(objects.glob("all_*.o")), "-o", library]],
        job, cwd=objects, what="the simulated card",
    )  # fmt: skip


def _same_in_every_card(compiler: Tool, verilator: Tool, out: Path, job: Job) -> Path:
    """A folder with the card's own program, which has Verilator's runtime, and the headers that every unit of a design
    includes: compiled once for each version of the tools."""
    assert verilator.root is not None
    include = verilator.root / "include"
    units = [*((include / name, _LEVELS["runtime"]) for name in RUNTIME), (harness_dir() / _CARD, _LEVELS["card"])]
    headers = harness_dir() / HEADERS
    compile_it = [*_FLAGS, *system_include(include)]
    read = [*(source for source, _ in units), include / "verilated.h", *sorted(harness_dir().rglob("*.h"))]
    makers = [verilator.version, compiler.version, *_FLAGS, *_DESIGN_FLAGS, repr(_LEVELS)]
    kept = cache_dir() / "verilated" / digest([*makers, *contents(read)])
    if kept_whole(kept):
        return kept
    shared = out / "same"
    shared.mkdir(exist_ok=True)
    commands: list[list[str | Path]] = [
        [compiler.path, *compile_it, level, "-include", headers, "-c", source, "-o", shared / f"{source.name}.o"]
        for source, level in units
    ]
    commands.append(compile_headers(compiler, (*_DESIGN_FLAGS, *system_include(include), _LEVELS["design"]), shared))
    run_all(commands, job, cwd=shared, what="parts common to every card")
    link: list[str | Path] = [compiler.path, "-pthread", "-rdynamic", *sorted(shared.glob("*.o")), "-ldl"]
    run_all([[*link, "-o", shared / "card"]], job, cwd=shared, what="parts common to every card")
    return keep_folder(shared, kept)
