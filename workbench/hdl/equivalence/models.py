"""Builds programs from one or several Verilated designs, with our own main in C++."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.api.compile import digest, needed, run_all
from workbench.api.equivalence import HdlSide
from workbench.api.instrument.wrapper import runtime_source
from workbench.api.job import Job
from workbench.api.kept import contents, keep_folder, kept_whole, one_at_a_time
from workbench.hdl.verilate import (
    HEADERS,
    MODEL_FLAGS,
    RUNTIME,
    ModelPort,
    compile_headers,
    harness_dir,
    model_ports,
    system_include,
    verilate,
)
from workbench.system.cache import cache_dir
from workbench.system.toolchain import Tool, find_compiler, find_verilator

_BUILD_S = 900.0
_LEVELS = ("-O0", "-O1")


def verilated(name: str, side: HdlSide, folder: Path, job: Job, x_values: str = "0") -> list[ModelPort]:
    """Make C++ of a design, whose class is called `name`: its ports. WorkbenchError where Verilator cannot."""
    job.progress(None, f"Verilator: {side.top}")
    verilate(
        needed(find_verilator()), side, folder, job, prefix=name, x_values=x_values, timeout_s=_BUILD_S,
        options=("--no-assert",),  # inputs at random are not those that a design asserts to get
    )  # fmt: skip
    return model_ports(folder, name)


def write_ports(folder: Path, listed: Mapping[str, Sequence[str]]) -> None:
    """What a main includes to have its macros called: each, where it is defined, with all that is listed of it."""
    lines: list[str] = []
    for macro, of in listed.items():
        lines += [f"#ifdef {macro}", *(macro + one for one in of), "#endif\n"]
    (folder / "ports.inc").write_text("\n".join(lines), encoding="utf-8")


def compiled(
    main: str, names: Sequence[str], folder: Path, job: Job, *, defines: Sequence[str] = (), level: str = "-O1"
) -> Path:
    """A program of the models in a folder, and of a main among the run-time sources."""
    verilator, compiler = needed(find_verilator()), needed(find_compiler("c++"))
    what = "the designs' simulation"
    job.progress(None, f"compiling {what}")
    flags = model_flags(verilator)
    runtime = models_runtime(verilator, compiler, folder, job)
    units = [folder / main]
    units[0].write_text(runtime_source(main), encoding="utf-8")
    for name in names:
        parts = sorted(path.name for path in folder.glob(f"{name}*.cpp"))
        units.append(folder / f"all_{name}.cpp")
        units[-1].write_text("".join(f'#include "{part}"\n' for part in parts), encoding="utf-8")
    own = [*(f"-D{define}" for define in defines), f"-I{folder}"]
    commands: list[list[str | Path]] = [
        [
            compiler.path,
            *flags,
            level,
            "-include",
            runtime / level / HEADERS,
            *own,
            "-c",
            unit,
            "-o",
            unit.with_suffix(".o"),
        ]
        for unit in units
    ]
    run_all(commands, job, cwd=folder, what=what)
    program = folder / "program"
    objects = [*(unit.with_suffix(".o") for unit in units), *sorted(runtime.glob("*.o"))]
    run_all([[compiler.path, "-pthread", *objects, "-o", program]], job, cwd=folder, what=what)
    return program


def model_flags(verilator: Tool) -> list[str]:
    """The flags with which each unit of a model is compiled."""
    assert verilator.root is not None
    return ["-fPIC", *MODEL_FLAGS, *system_include(verilator.root / "include")]


def models_runtime(verilator: Tool, compiler: Tool, work_folder: Path, job: Job) -> Path:
    """A folder with Verilator's own code, and for each level what every unit includes, compiled once for each version
    of the tools; `work_folder` is a folder to do it in."""
    with one_at_a_time("side_by_side", job):
        return _runtime(verilator, compiler, work_folder, job)


def _runtime(verilator: Tool, compiler: Tool, work_folder: Path, job: Job) -> Path:
    assert verilator.root is not None
    include, flags = verilator.root / "include", model_flags(verilator)
    read = contents([harness_dir() / HEADERS, include / "verilated.h", *(include / name for name in RUNTIME)])
    kept = cache_dir() / "side_by_side" / digest([verilator.version, compiler.version, *MODEL_FLAGS, *read])
    if kept_whole(kept):
        return kept
    folder = work_folder / "runtime"
    folder.mkdir()
    commands: list[list[str | Path]] = [
        [compiler.path, *flags, "-O0", "-c", include / name, "-o", folder / f"{name}.o"] for name in RUNTIME
    ]
    for level in _LEVELS:
        (folder / level).mkdir()
        commands.append(compile_headers(compiler, [*flags, level], folder / level))
    run_all(commands, job, cwd=work_folder, what="Verilator's runtime")
    return keep_folder(folder, kept)
