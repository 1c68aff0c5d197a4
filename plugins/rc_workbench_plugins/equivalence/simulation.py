"""Two designs simulated side by side under the same random inputs: for what no proof is found of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rc_workbench_plugins.simulated_card.verilate import hdl_value, read_errors
from workbench.api.compile import digest, last_words, needed, run_all
from workbench.api.equivalence import Comparison, HdlSide, Limits
from workbench.api.instrument.wrapper import runtime_source
from workbench.api.job import Job
from workbench.api.kept import keep_folder, one_at_a_time
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.cache import cache_dir
from workbench.system.confine import read_only
from workbench.system.toolchain import VERILATOR_SOUND, Tool, find_compiler, find_verilator, verilator_environment

_OPTIONS = (
    "--cc", "-O2", "--no-timing", "--x-assign", "0", "--x-initial", "0", "-Wno-fatal", "--no-decoration",
    *VERILATOR_SOUND, "--output-split-cfuncs", "1000",
)  # fmt: skip
_FLAGS = (
    "-std=gnu++17", "-pthread", "-w", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0", "-DVERILATOR=1",
)  # fmt: skip
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
_PORT = re.compile(r"^\s*VL_(IN|OUT|INOUT)\w*\((?:\(&?(\w+)\)(?:\[\d+\])+|&?(\w+)),(\d+),(\d+)", re.M)
_BUILD_S = 900.0


@dataclass(frozen=True)
class Simulated:
    """`cycles` were simulated; in the last of them the `signals` differ, if there are any. `left` are ports that were
    neither driven nor compared."""

    cycles: int
    signals: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def simulate(compared: Comparison, folder: Path, limits: Limits, job: Job) -> Simulated:
    """Build both and let them run, without network and without writing anything where the system allows it.
    WorkbenchError where Verilator cannot build them."""
    verilator, compiler = needed(find_verilator()), needed(find_compiler("c++"))
    made = folder / "models"
    made.mkdir()
    for name, side in (("Vgold", compared.original), ("Vgate", compared.made)):
        _verilate(verilator, name, side, made, job)
    ports = list(_ports((made / "Vgold.h").read_text(encoding="utf-8")))
    given = {member for _, member, _ in ports}
    clocks = [name for name in compared.clocks if name in given]
    resets = {name: low for name, low in compared.resets if name in given and name not in clocks}
    free = [(member, bits) for way, member, bits in ports if way == "IN" and member not in {*clocks, *resets}]
    listed = {
        "CLOCK": [f"({name})" for name in clocks],
        "RESET": [f"({name}, {str(low).lower()})" for name, low in resets.items()],
        "INPUT": [f"({member}, {bits})" for member, bits in free],
        "OUTPUT": [f"({member}, {bits})" for way, member, bits in ports if way == "OUT"],
    }
    lines: list[str] = []
    for macro, of in listed.items():
        lines += [f"#ifdef {macro}", *(macro + one for one in of), "#endif\n"]
    (made / "ports.inc").write_text("\n".join(lines), encoding="utf-8")
    program = _compiled(verilator, compiler, made, len(free), job)
    job.progress(None, "random inputs")
    done = job.run(
        [*read_only(), program, str(limits.cycles), str(limits.simulate_s)], cwd=folder,
        timeout_s=2 * limits.simulate_s + 60, memory_bytes=limits.memory_bytes,
    )  # fmt: skip
    told = [line.split(" ") for line in done.stdout.splitlines()]
    cycles = next((int(words[1]) for words in told if words[0] == "cycles"), None)
    if done.returncode or cycles is None:
        said = last_words(done.stderr or done.stdout)
        raise WorkbenchError(Diagnostic(f"the simulation ended with {done.returncode}: {said}"))
    signals = tuple(f"{words[2]} ({words[4]}, was {words[3]})" for words in told if words[0] == "differs")
    return Simulated(cycles, signals, tuple(member for way, member, _ in ports if way == "INOUT"))


def _verilate(tool: Tool, name: str, side: HdlSide, made: Path, job: Job) -> None:
    job.progress(None, f"Verilator: {side.top}")
    command: list[str | Path] = [
        tool.path, *_OPTIONS, "--prefix", name, "--top-module", side.top, "--Mdir", made,
        *(f"-I{folder}" for folder in side.include_dirs),
        *(f"-D{define}={value}" for define, value in side.defines.items()),
        *(f"-G{parameter}={hdl_value(value)}" for parameter, value in side.parameters.items()),
        *side.sources,
    ]  # fmt: skip
    done = job.run(command, cwd=made, env=verilator_environment(tool), on_line=lambda line: None, timeout_s=_BUILD_S)
    if done.returncode:
        raise WorkbenchError(*read_errors(done.stderr))


def _ports(header: str) -> Iterator[tuple[str, str, int]]:
    """Each port's direction, its member of the model, and its bits."""
    for way, array, plain, high, low in _PORT.findall(header):
        yield way, array or plain, int(high) - int(low) + 1


def _compiled(verilator: Tool, compiler: Tool, made: Path, inputs: int, job: Job) -> Path:
    assert verilator.root is not None
    job.progress(None, "compiling both")
    include = verilator.root / "include"
    folders = ["-isystem", str(include), "-isystem", str(include / "vltstd")]
    flags: list[str | Path] = [compiler.path, *_FLAGS, *folders]
    with one_at_a_time("side_by_side", job):
        runtime = _runtime(verilator, compiler, flags, include, made, job)
    main = made / "main.cpp"
    main.write_text(runtime_source("side_by_side.cpp"), encoding="utf-8")
    for name in ("Vgold", "Vgate"):
        parts = sorted(path.name for path in made.glob(f"{name}*.cpp"))
        (made / f"all_{name}.cpp").write_text("".join(f'#include "{part}"\n' for part in parts), encoding="utf-8")
    units = [main, *(made / f"all_{name}.cpp" for name in ("Vgold", "Vgate"))]
    commands: list[list[str | Path]] = [
        [*flags, f"-DRCW_INPUTS={inputs}", f"-I{made}", "-O1", "-c", unit, "-o", unit.with_suffix(".o")]
        for unit in units
    ]
    run_all(commands, job, cwd=made, what="the two designs side by side")
    objects = [*(unit.with_suffix(".o") for unit in units), *sorted(runtime.glob("*.o"))]
    program = made / "side_by_side"
    run_all([[compiler.path, "-pthread", *objects, "-o", program]], job, cwd=made, what="the two designs side by side")
    return program


def _runtime(verilator: Tool, compiler: Tool, flags: list[str | Path], include: Path, made: Path, job: Job) -> Path:
    """Verilator's own code, compiled once for each version of the tools."""
    kept = cache_dir() / "side_by_side" / digest([verilator.version, compiler.version, *map(str, flags)])
    if kept.is_dir():
        return kept
    folder = made / "runtime"
    folder.mkdir()
    commands = [[*flags, "-O0", "-c", include / name, "-o", folder / f"{name}.o"] for name in _RUNTIME]
    run_all(commands, job, cwd=made, what="Verilator's runtime")
    return keep_folder(folder, kept)
