"""Whether an instrumented design behaves as the original: GHDL's Verilog of both is proved entity by entity."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.vhdl.joined import read_joined
from rc_workbench_plugins.vhdl.side_by_side import simulate
from rc_workbench_plugins.vhdl.sides import texts_of, top_of, units_in
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.synthesis import synthesised, unobserved
from rc_workbench_plugins.vhdl.translated import asked_of, at_their_paths, top_module
from workbench.api import HardwareSources, HdlBuild, Job, WorkbenchError, has_errors
from workbench.api.equivalence import Comparison, HdlSide, Limits, Proof
from workbench.api.source import suffixes
from workbench.api.unstable import ReadOut
from workbench.hdl import ghdl
from workbench.hdl.equivalence import prove as verilog
from workbench.hdl.equivalence.simulation import Simulated
from workbench.hdl.equivalence.simulation import simulate as simulate_verilog
from workbench.hdl.equivalence.yosys import CannotRead

HIDDEN = "recap_net_"
_NO_READ_OUT = ReadOut(first=0, last=0)
_MODULE = re.compile(r"^module (\w+).*?^endmodule$", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(r"^  reg (?:\[[^]]*\] )?(n\d+_(?:q|data));", re.MULTILINE)
_CALLED = re.compile(r"^  (?:assign |always @\*\n    )(\w+) = (n\d+_q);", re.MULTILINE)
_MEMORY = re.compile(r"^  reg (?:\[[^]]*\] )?(n\d+)\[.*\] ?; // memory", re.MULTILINE)
_INSTANCE = re.compile(r"^  (\w+) (\w+) \($", re.MULTILINE)
_ASSERTED = re.compile(r"^  always @\*\n    if \(.*\)\n      \$fatal\(.*\);\n", re.MULTILINE)
_VARIABLE = re.compile(r"^n\d+_")
_NUMBERED = re.compile(r"\bn\d+(?:_\w+)?\b")


def prove(build: HdlBuild, root: Path, limits: Limits, job: Job, module: str = "") -> Proof:
    """`proof_of` a design in VHDL, with Verilog or alone: then what is not proved is simulated by GHDL, of which
    yosys's netlists have no part."""
    sources = build.checks.compared.made.sources if build.checks.compared is not None else ()
    kinds = {path.suffix.lower() in suffixes.VHDL for path in sources}
    if kinds == {False}:
        return verilog.prove(build, root, limits, job, module)
    in_verilog, simulated = (_synthesised, simulate) if kinds == {True} else (_in_verilog, _simulated_in_verilog)
    return verilog.proof_of(build, root, limits, job, module, partial(in_verilog, root), partial(simulated, root))


def _synthesised(root: Path, compared: Comparison, folder: Path, job: Job) -> Comparison:
    """GHDL's Verilog of both, as the card has it. CannotRead."""
    sides: list[HdlSide] = []
    for name, side in (("gold", compared.original), ("gate", compared.made)):
        job.progress(None, f"GHDL: {side.top}")
        verilog = _verilog(root, side, folder / f"{name}_vhdl", job)
        file = folder / f"{name}.v"
        file.write_text(comparable(verilog), encoding="utf-8")
        sides.append(HdlSide((file,), top_module(verilog)))
    entities = {plain(unit.name) for unit in units_in(compared.original) if unit.kind == "entity"}
    return replace(compared, original=sides[0], made=sides[1], units=_shown(sides[0], entities), hidden=HIDDEN)


def _verilog(root: Path, side: HdlSide, folder: Path, job: Job) -> str:
    folder.mkdir()
    values = [f"{name}={value}" for name, value in side.parameters.items()]
    try:
        with at_their_paths(dict(enumerate(side.sources))):
            asked = asked_of(texts_of(side), side.vhdl_standard, folder, side.top, top_of(side).library, values, root)
            return ghdl.kept(asked, partial(ghdl.synthesised, run=partial(job.run, on_line=lambda line: None)))
    except WorkbenchError as error:
        first = error.diagnostics[0]
        place = f"{Path(first.file).name}:{first.line}: " if first.file else ""
        raise CannotRead(f"GHDL does not synthesise it: {place}{first.message}") from None


def _shown(side: HdlSide, entities: Collection[str]) -> dict[str, str]:
    """What modules are called: the entity, and where it is made several of, the first place of each."""
    text = side.sources[0].read_text(encoding="utf-8")
    modules = {match[1]: match[0] for match in _MODULE.finditer(text)}
    places = _places(side.top, modules)
    of = {module: _entity_of(module, entities) or module for module in modules}
    several = Counter(of.values())
    return {
        f"\\{module}": f"{unit} ({places.get(module, module)})" if several[unit] > 1 else unit
        for module, unit in of.items()
    }


def _places(top: str, modules: Mapping[str, str]) -> dict[str, str]:
    """The first path to each module."""
    places = {top: ""}
    waiting = [top]
    for module in waiting:
        for kind, label in _INSTANCE.findall(modules[module]):
            if kind in modules and kind not in places:
                places[kind] = f"{places[module]}.{label}".lstrip(".")
                waiting.append(kind)
    return places


def _entity_of(module: str, entities: Collection[str]) -> str:
    """The entity that GHDL made a module of: it adds what generics are to its name."""
    fitting = [name for name in entities if module.lower() == name or module.lower().startswith(f"{name}_")]
    return max(fitting, key=len, default="")


def comparable(verilog: str) -> str:
    """With registers and memories named by what they are in VHDL, or by their order in their module, and other nets so
    that they are hidden: GHDL numbers all, and where states are inserted the numbers are others. Assertions, which
    yosys does not read, are left out."""
    return _MODULE.sub(lambda module: _renamed(_ASSERTED.sub("", module[0])), verilog)


def _renamed(module: str) -> str:
    called: dict[str, str] = {}
    for name, register in _CALLED.findall(module):
        called.setdefault(register, _VARIABLE.sub("", name))
    called = {one: called.get(one, "") for one in _REGISTER.findall(module)}
    called |= dict.fromkeys(_MEMORY.findall(module), "memory")
    numbers: Counter[str] = Counter()
    for one, name in called.items():
        numbers[name] += 1
        called[one] = "_".join(filter(None, (name, "register", str(numbers[name]) if numbers[name] > 1 else "")))
    return _NUMBERED.sub(lambda name: called.get(name[0]) or HIDDEN + name[0], module)


def _simulated_in_verilog(root: Path, compared: Comparison, folder: Path, limits: Limits, job: Job) -> Simulated:
    try:
        return simulate_verilog(_in_verilog(root, compared, folder, job), folder, limits, job)
    except CannotRead as error:
        raise WorkbenchError(*error.args) from None


def _in_verilog(root: Path, compared: Comparison, folder: Path, job: Job) -> Comparison:
    """Both sides in Verilog. CannotRead."""
    original, units = _side(root, compared.original, folder / "gold_mixed.v", job)
    copy, _ = _side(root, compared.made, folder / "gate_mixed.v", job)
    return replace(compared, original=original, made=copy, units=units, hidden=HIDDEN)


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
    if joined.top is None or has_errors(joined.wrong):
        raise CannotRead("; ".join(one.message for one in joined.wrong[:3]))
    top = joined.entities.top
    names = [port.name for port in top.ports] if top is not None else ()
    try:
        synthesis = synthesised(joined, unobserved(joined, hardware, side.parameters), names, job)
    except WorkbenchError as error:
        raise CannotRead(f"GHDL does not synthesise it: {error.diagnostics[0].message}") from None
    file.write_text(comparable(synthesis.text), encoding="utf-8")
    values = {} if synthesis.top else dict(side.parameters)
    units = {f"\\{name}": f"{part.unit.name} (in VHDL)" for part, name in synthesis.parts}
    return HdlSide(
        (*joined.in_verilog, file), synthesis.top or side.top, side.include_dirs, side.defines, values
    ), units
