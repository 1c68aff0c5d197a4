"""Whether an instrumented design of both languages behaves as the original: both in Verilog, module by module."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.vhdl import prove as vhdl
from rc_workbench_plugins.vhdl.mixed.build import translated_whole
from rc_workbench_plugins.vhdl.mixed.joined import read_joined
from workbench.api import HardwareSources, HdlBuild, Job, WorkbenchError, has_errors
from workbench.api.equivalence import Comparison, HdlSide, Limits, Proof
from workbench.api.source import suffixes
from workbench.api.unstable import ReadOut
from workbench.hdl.equivalence import prove as verilog
from workbench.hdl.equivalence.simulation import Simulated, simulate
from workbench.hdl.equivalence.yosys import CannotRead

_NO_READ_OUT = ReadOut(first=0, last=0)


def prove(build: HdlBuild, root: Path, limits: Limits, job: Job, module: str = "") -> Proof:
    """`proof_of` a design in both languages, or in the one that its top reaches alone."""
    sources = build.compared.made.sources if build.compared is not None else ()
    kinds = {path.suffix.lower() in suffixes.VHDL for path in sources}
    if kinds == {True}:
        return vhdl.prove(build, root, limits, job, module)
    if kinds == {False}:
        return verilog.prove(build, root, limits, job, module)
    return verilog.proof_of(build, root, limits, job, module, partial(_in_verilog, root), partial(_simulated, root))


def _simulated(root: Path, compared: Comparison, folder: Path, limits: Limits, job: Job) -> Simulated:
    try:
        return simulate(_in_verilog(root, compared, folder, job), folder, limits, job)
    except CannotRead as error:
        raise WorkbenchError(*error.args) from None


def _in_verilog(root: Path, compared: Comparison, folder: Path, job: Job) -> Comparison:
    """Both sides in Verilog. CannotRead."""
    original, units = _side(root, compared.original, folder / "gold_mixed.v", job)
    made, _ = _side(root, compared.made, folder / "gate_mixed.v", job)
    return replace(compared, original=original, made=made, units=units, hidden=vhdl.HIDDEN)


def _side(root: Path, side: HdlSide, file: Path, job: Job) -> tuple[HdlSide, dict[str, str]]:
    """A side in Verilog, and what its entities are called there."""
    libraries: Mapping[str, list[str]] = defaultdict(list)
    for path, library in zip(side.sources, side.libraries, strict=True):
        if library:
            libraries[library].append(str(path))
    hardware = HardwareSources(
        sources=tuple(map(str, side.sources)), top=side.top, libraries={k: tuple(v) for k, v in libraries.items()},
        include_dirs=tuple(map(str, side.include_dirs)), defines=dict(side.defines), read_out=_NO_READ_OUT,
        vhdl_standard=side.vhdl_standard,
    )  # fmt: skip
    joined = read_joined(root, hardware, (), side.parameters, job)
    if joined.top is None or has_errors(joined.diagnostics):
        raise CannotRead("; ".join(one.message for one in joined.diagnostics[:3]))
    try:
        made = translated_whole(joined, hardware, side.parameters)
    except WorkbenchError as error:
        raise CannotRead(f"GHDL does not synthesise it: {error.diagnostics[0].message}") from None
    file.write_text(vhdl.comparable(made.text), encoding="utf-8")
    own = joined.modules.needed if joined.modules is not None else ()
    sources = (*(path for path in own if path not in joined.boxes), file)
    values = {} if made.top else dict(side.parameters)
    units = {f"\\{name}": f"{part.entity.name} (in VHDL)" for part, name in made.parts}
    return HdlSide(sources, made.top or side.top, side.include_dirs, side.defines, values), units
