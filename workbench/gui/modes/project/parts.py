"""What the list at the left of Project mode holds, read from the document and the schemas."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from pydantic import BaseModel

from workbench.api.forms import Field, Group
from workbench.gui.modes.forms.fields import Choices, fields_of
from workbench.gui.modes.forms.part_list import with_article
from workbench.gui.modes.forms.parts import DocumentPart, PartSection
from workbench.model.application import (
    Fpga,
    HardwareSources,
    HostSources,
    MadeClock,
    Project,
    Simulation,
    StreamSignals,
    TargetCommands,
    TraceMemory,
)
from workbench.model.links import Link
from workbench.model.read_out import ReadOut
from workbench.session.edit.project_document import ProjectDocument
from workbench.session.edit.yaml_document import Path_
from workbench.session.program.plugins import Plugins

#: Groups of a part's fields by their names; what is in none of them is in the part's first one.
_HARDWARE = {
    "At the top": ("signals", "constants", "cards"),
    "Counters": ("engines", "watch", "observed_ports", "metrics", "assertions", "branches"),
    "Streams": ("fifos", "names"),
}
_SIMULATION = {
    "Host": ("host_factor", "basic_block_ps", "cores", "slice_ps", "call_ps", "wake_ps", "switch_ps"),
    "Limits": ("cycle_limit", "idle_cycle_limit", "wall_limit_s", "files_bytes"),
    "Waves": ("waves", "waves_ports", "waves_from_s", "waves_to_s", "waves_bytes"),
    "Clock": ("clock_ppm", "clock_drift_ppm_per_s"),
}
_READ_OUT = Group(
    "Read-out",
    "addresses that the application does not use; the counters are read there",
    tuple(replace(field, kind="address") for field in fields_of(ReadOut, ("read_out",))),
)
_TRACE, _STREAM, _FPGA = ("hardware", "trace"), ("hardware", "streams"), ("hardware", "fpgas")
_LINK, _CLOCK = ("hardware", "links"), ("hardware", "clocks")


def sections_of(document: ProjectDocument, plugins: Plugins) -> tuple[PartSection, ...]:
    """Every part of the document, in the order of the list."""
    of_host, of_hardware = ({"language": ("", *names)} for names in (plugins.host_languages, plugins.hdl_languages))
    of_project, of_target = {"platform": ("", *plugins.platforms)}, {"name": tuple(plugins.targets)}
    fpga = (*_grouped(Fpga, "FPGA", None, of_hardware), _READ_OUT)
    first, *others = _grouped(HardwareSources, "Design", _HARDWARE, of_hardware)
    trace = (
        DocumentPart(_TRACE, "Trace memory", "", "in the FPGA", _grouped(TraceMemory, "Trace memory"), False, True),
    )
    traced = isinstance(document.value(_TRACE), Mapping)
    clocks = _named(document, _CLOCK, "made by the design", _grouped(MadeClock, "Clock"))
    fpgas = _named(document, _FPGA, "with its own design", fpga)
    links = _named(document, _LINK, "between FPGAs", _grouped(Link, "Link"), "source")
    streams = _named(document, _STREAM, "within the design", _grouped(StreamSignals, "Stream"))
    return (
        PartSection("Project", (
            _part((), "Name and platform", "", _grouped(Project, "Project", {}, of_project, ("schema_version",))),
            _part(("host",), "Host program", "sources and build", _grouped(HostSources, "Host", {}, of_host)),
        )),
        PartSection("Hardware", (
            _part(("hardware",), "Design and counters", "ports and counters", (first, _READ_OUT, *others)),
        )),
        _optional("Clocks of PLLs", "clock", MadeClock, clocks),
        _optional("Trace in hardware", "" if traced else "trace memory", TraceMemory, trace if traced else ()),
        _optional("FPGAs", "FPGA", Fpga, fpgas),
        _optional("Links", "link", Link, links),
        _optional("Streams", "stream", StreamSignals, streams),
        PartSection("Runs", (
            _part(("simulation",), "Simulated card", "", _grouped(Simulation, "Design", _SIMULATION)),
            _part(("target",), "Target", "where it runs", _grouped(TargetCommands, "Target", {}, of_target)),
        )),
    )  # fmt: skip


def add_part(document: ProjectDocument, what: str) -> Path_ | None:
    """Add a part with the least that is valid; its path, or None where that failed."""
    if what == "trace memory":
        records = TraceMemory.model_fields["records"].default
        return _TRACE if document.set(_TRACE, {"records": records}, "Add a trace memory") else None
    path = {"FPGA": _FPGA, "link": _LINK, "stream": _STREAM, "clock": _CLOCK}[what]
    count = len(document.value(path) or ())
    new = {
        "FPGA": {"name": f"fpga{count}"},
        "clock": {"name": f"pll.CLKOUT{count}", "frequency_hz": "100 MHz"},
        "link": {"source": "left.out_*", "target": "right.in_*"},
        "stream": {"name": f"stream{count}", "valid": "valid", "ready": "ready"},
    }[what]
    return (*path, count) if document.append(path, new, f"Add {with_article(what)}") else None


def _optional(title: str, add: str, schema: type[BaseModel], parts: tuple[DocumentPart, ...]) -> PartSection:
    """What a project may have none of; what it is for is said as in the reference of its fields."""
    return PartSection(title, parts, add, about=" ".join((schema.__doc__ or "").split()))


def _named(
    document: ProjectDocument, path: Path_, what: str, groups: tuple[Group, ...], by: str = "name"
) -> tuple[DocumentPart, ...]:
    """The items of a list, by their names."""
    items = document.value(path)
    return tuple(
        DocumentPart((*path, number), str(one.get(by, "")) if isinstance(one, Mapping) else "", "", what, groups,
             removable=True)
        for number, one in enumerate(items if isinstance(items, list) else ())
    )  # fmt: skip


def _part(path: Path_, title: str, what: str, groups: tuple[Group, ...]) -> DocumentPart:
    return DocumentPart(path, title, "", what, groups, code=False)


def _grouped(
    schema: type[BaseModel],
    title: str,
    others: Mapping[str, Collection[str]] | None = None,
    choices: Choices | None = None,
    hidden: Collection[str] = (),
) -> tuple[Group, ...]:
    """A schema's fields: in `others` those that are named there, the rest before them under `title`."""
    every = fields_of(schema, choices=choices, hidden=hidden, pairs=True)
    fields = sorted(every, key=lambda field: field.path[-1] != "name")  # its name comes first

    def named(names: Collection[str]) -> tuple[Field, ...]:
        return tuple(field for field in fields if field.path[-1] in names)

    rest = tuple(field for field in fields if not any(field.path[-1] in names for names in (others or {}).values()))
    return Group(title, "", rest), *(Group(group, "", named(names)) for group, names in (others or {}).items())
