"""The VHDL of a design as Verilog: what is simulated of it, and where GHDL refuses that, what asks GHDL's simulator."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.vhdl.beside import Alone
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.joined import Joined, Part
from rc_workbench_plugins.vhdl.linked import linked, module_of
from rc_workbench_plugins.vhdl.sides import parted
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.translated import spelled, top_module, translated
from rc_workbench_plugins.vhdl.types import shared_types
from rc_workbench_plugins.vhdl.units import Instantiation, Unit
from workbench.api import Diagnostic, HardwareSources, Job, Severity, WorkbenchError
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument.wrapper import STATE_PORT
from workbench.api.kept import ensure
from workbench.api.unstable import cache_dir, sha256
from workbench.hdl.edits import Edits
from workbench.hdl.ghdl import renamed
from workbench.hdl.instances import Instance
from workbench.hdl.reading import comparison

_SYNTHESISABLE = "Only what can be synthesised can be built."
_NOT_MADE = "Such a design cannot be built; GHDL itself simulates it."
_BESIDE = "VHDL next to Verilog must be synthesised; GHDL itself can simulate a design in VHDL only."
_CONDITION_HINT = "Write a VHDL condition over signals of this architecture, such as ack = '1'."


@dataclass(frozen=True)
class Synthesised:
    """The VHDL as Verilog: the text, what its own top is called in it ("" where the design's is Verilog), and what the
    entities that Verilog instantiates are. `alone` are the texts of those that instantiate no Verilog. `stands_in`: the
    text asks GHDL's simulator, for it was asked for, or GHDL `refused` to synthesise the design."""

    text: str
    top: str
    parts: tuple[tuple[Part, str], ...]
    alone: Mapping[int, str]
    stands_in: bool = False
    refused: tuple[Diagnostic, ...] = ()

    @property
    def compared(self) -> tuple[Comparison, ...]:
        """What can be held against the VHDL by itself of the entities that Verilog instantiates."""
        return tuple(
            beside_verilog(as_written(part.design, part.values), kept_verilog(text), top, part.tree)
            for part, top in self.parts
            if (text := self.alone.get(part.number))
        )

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings that a design which GHDL itself simulates cannot become hardware."""
        return tuple(
            replace(
                one, hint=f"{one.hint} {_NOT_MADE}" if one.hint != _SYNTHESISABLE else _NOT_MADE,
                severity=Severity.WARNING,
            )
            for one in self.refused
        )  # fmt: skip


def unobserved(joined: Joined, hardware: HardwareSources, parameters: Mapping[str, str]) -> Alone:
    """The VHDL of a design as it is."""
    top = joined.entities.top
    texts = {file.path: parted(file) for file in joined.entities.needed}
    return Alone(joined.entities, texts, top.name if top is not None else "", hardware.values(parameters))


def synthesised(
    joined: Joined, alone: Alone, names: Iterable[str], job: Job, edits: Mapping[Path, Edits] | None = None,
    synthesise: bool = True,
) -> Synthesised:  # fmt: skip
    """All of the VHDL: below the design's own top, if it is VHDL, which is `alone.unit`, with its ports spelled as in
    `names`, and each entity that Verilog instantiates. Without `synthesise` a design in VHDL alone asks GHDL's
    simulator, as one does that GHDL refuses to synthesise. WorkbenchError, at the user's lines."""
    edits, types, more = edits or {}, shared_types(joined.entities.units), _BESIDE if joined.mixed else ""
    walked = joined.top.walk() if joined.top is not None else ()
    in_vhdl = (one for one in walked if isinstance(one.node, Instantiation) and not isinstance(one.body, Unit))
    modules = {one.module.lower() for one in in_vhdl}
    heads = {name: joined.heads[name] for name in modules & joined.heads.keys()}
    components = [one for unit in joined.entities.units for one in unit.all_components]
    texts: list[str] = []
    top, stands_in, refused = "", False, tuple[Diagnostic, ...]()
    if joined.entities.top is not None:
        text = ""
        try:
            text = _verilog_of(alone.design, alone, alone.unit, alone.generics, edits, job, more) if synthesise else ""
        except WorkbenchError as error:
            if joined.mixed:
                raise
            refused = error.diagnostics
        stands_in = not text
        text = spelled(linked(text or _stand_in(alone, job, refused), heads, components, types), names)
        top = top_module(text)
        texts.append(text)
    parts = sorted({part.number: part for part in joined.parts.values()}.values(), key=lambda part: part.number)
    own: dict[int, str] = {}
    for part in parts:
        text = _verilog_of(part.design, alone, part.unit.name, part.values, edits, job, more)
        own[part.number] = renamed(linked(text, heads, components, types), f"recap_{part.number}")
    for box in dict.fromkeys(part.box for part in parts):
        several = [part for part in parts if part.box == box]
        texts += [own[part.number] for part in several]
        texts.append(module_of(several, own, joined.asked.get(box, ()), types))
    below = re.compile(rf"^  (?:{'|'.join(re.escape(head.name) for head in heads.values())})\b", re.MULTILINE)
    by_itself = {number: text for number, text in own.items() if not (heads and below.search(text))}
    tops = tuple((part, top_module(own[part.number])) for part in parts)
    return Synthesised("\n".join(texts), top, tops, by_itself, stands_in, refused)


def _verilog_of(
    design: Design, alone: Alone, unit: str, generics: Mapping[str, str], edits: Mapping[Path, Edits], job: Job,
    more: str,
) -> str:  # fmt: skip
    """The Verilog of a unit. WorkbenchError, at the user's lines, with `more` in their hints."""
    try:
        return translated(design, alone.texts, unit, generics, job)
    except WorkbenchError as error:
        raise WorkbenchError(*(_explained(design, edits, one, more) for one in error.diagnostics)) from None


def _stand_in(alone: Alone, job: Job, refused: Iterable[Diagnostic]) -> str:
    """Verilog that stands for a design that GHDL itself simulates. WorkbenchError where GHDL cannot, at the user's
    lines, with why it refused to synthesise the design."""
    if wrong := alone.wrong(job):
        places = {(one.file, one.line) for one in refused}
        raise WorkbenchError(*refused, *(one for one in wrong if (one.file, one.line) not in places))
    return alone.stand_in(alone.unit.lower())


def _explained(design: Design, edits: Mapping[Path, Edits], problem: Diagnostic, more: str) -> Diagnostic:
    """What GHDL says of a copy, at the user's line: lines are the same, columns are not."""
    if not problem.file:
        return problem
    path = Path(problem.file)
    if path in edits and (placed := edits[path].conditions.get(problem.line or 0)) is not None:
        message = f"{placed.title} is wrong: {problem.message}"
        return placed.diagnostic(message, _CONDITION_HINT, Severity.ERROR)
    hint = f"{problem.hint or _SYNTHESISABLE} {more}".strip()
    return Diagnostic(problem.message, hint, Severity.ERROR, design.name_of(path), problem.line)


def kept_verilog(text: str) -> Path:
    """A file with this Verilog, which is kept with what else is cached."""
    return ensure(cache_dir() / "vhdl" / f"{sha256(text.encode())[:32]}.v", text.encode())


def as_written(design: Design, generics: Mapping[str, str]) -> HdlSide:
    """The design that is compared with what is made of it."""
    assert design.top is not None
    sources, libraries = zip(*((file.path, file.library) for file in design.needed), strict=True)
    values = of_top(design, generics)
    return HdlSide(sources, design.top.name, parameters=values, libraries=libraries, vhdl_standard=design.standard)


def of_top(design: Design, values: Mapping[str, str]) -> dict[str, str]:
    """The values that are for generics of the top."""
    declared = design.top.generics if design.top is not None else ()
    known = {plain(one.name) for one in declared}
    return {name: value for name, value in values.items() if plain(name) in known}


def beside_verilog(written: HdlSide, file: Path, module: str, top: Instance | None) -> Comparison:
    """A design with the Verilog that is simulated of it."""
    return comparison(written, HdlSide((file,), module), top, (STATE_PORT,))
