"""What the list at the left of Project mode holds, read from the document and the schemas."""

from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel

from workbench.api.forms import Group
from workbench.gui.modes.forms.fields import fields_of
from workbench.gui.modes.forms.part_list import with_article
from workbench.gui.modes.forms.parts import QUEUE_CALL, DocumentPart, PartSection, new_queue_call
from workbench.gui.modes.project.fields import (
    CARD,
    COUNTERS,
    DESIGN,
    HOST,
    PROJECT,
    READ_OUT,
    SETTINGS,
    TARGET,
    AskedGroup,
    asked,
)
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
from workbench.model.platform import QueueCall
from workbench.session.edit.project_document import ProjectDocument
from workbench.session.edit.yaml_document import Path_
from workbench.session.program.plugins import Plugins

_TRACE, _STREAM, _FPGA = ("hardware", "trace"), ("hardware", "streams"), ("hardware", "fpgas")
_QUEUE = ("host", "queues")
_LINK, _CLOCK, _HARDWARE = ("hardware", "links"), ("hardware", "clocks"), ("hardware",)


def sections_of(document: ProjectDocument, plugins: Plugins) -> tuple[PartSection, ...]:
    """Every part of the document, in the order of the list."""
    of_host, of_hardware = ({"language": ("", *names)} for names in (plugins.host_languages, plugins.hdl_languages))
    of_project, of_target = {"platform": ("", *plugins.platforms)}, {"name": tuple(plugins.targets)}
    fpga = (*asked(Fpga, _of_fpga(), of_hardware), READ_OUT)
    trace = (
        DocumentPart(_TRACE, "Trace memory", "", "in the FPGA", _grouped(TraceMemory, "Trace memory"), False, True),
    )
    traced = isinstance(document.value(_TRACE), Mapping)
    clocks = _named(document, _CLOCK, "made by the design", _grouped(MadeClock, "Clock"))
    fpgas = _named(document, _FPGA, "with its own design", fpga)
    links = _named(document, _LINK, "between FPGAs", _grouped(Link, "Link"), "source")
    streams = _named(document, _STREAM, "within the design", _grouped(StreamSignals, "Stream"))
    queues = _named(document, _QUEUE, "of the program's own", _grouped(QueueCall, "Queue's call"), "prototype")
    counters = (READ_OUT, *asked(HardwareSources, COUNTERS))
    return (
        PartSection("Application", (
            _page(document, (), "Name and platform", "", asked(Project, PROJECT, of_project)),
            _page(document, (), "Settings", "what a run can change", asked(Project, SETTINGS), "settings"),
        )),
        PartSection("Host program", (
            _page(document, ("host",), "Sources and build", "host program", asked(HostSources, HOST, of_host)),
        )),
        PartSection("FPGA design", (
            _page(document, _HARDWARE, "Sources and top", "design in the FPGA",
                  asked(HardwareSources, DESIGN, of_hardware)),
            _page(document, _HARDWARE, "Counters", "observed in the FPGA", counters, "counters"),
        )),
        PartSection("Runs", (
            _page(document, ("simulation",), "Simulated card", "", asked(Simulation, CARD)),
            _page(document, ("target",), "Target", "where it runs", asked(TargetCommands, TARGET, of_target)),
        )),
        _optional("Clocks of PLLs", "clock", MadeClock, clocks),
        _optional("Trace in hardware", "" if traced else "trace memory", TraceMemory, trace if traced else ()),
        _optional("FPGAs", "FPGA", Fpga, fpgas),
        _optional("Links", "link", Link, links),
        _optional("Queues of the host", QUEUE_CALL, QueueCall, queues),
        _optional("Streams", "stream", StreamSignals, streams),
    )  # fmt: skip


def add_part(document: ProjectDocument, what: str) -> Path_ | None:
    """Add a part with the least that is valid; its path, or None where that failed."""
    if what == "trace memory":
        records = TraceMemory.model_fields["records"].default
        return _TRACE if document.set(_TRACE, {"records": records}, "Add a trace memory") else None
    path = {"FPGA": _FPGA, "link": _LINK, "stream": _STREAM, "clock": _CLOCK, QUEUE_CALL: _QUEUE}[what]
    count = len(document.value(path) or ())
    new = {
        "FPGA": {"name": f"fpga{count}"},
        "clock": {"name": f"pll.CLKOUT{count}", "frequency_hz": "100 MHz"},
        QUEUE_CALL: new_queue_call(count),
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


def _page(
    document: ProjectDocument, base: Path_, title: str, what: str, groups: tuple[Group, ...], page: str = ""
) -> DocumentPart:
    """A page of fields below `base`, with how many of them are set; `page` tells it from others there."""
    count = sum(document.value((*base, *field.path)) is not None for group in groups for field in group.fields)
    note = f"{count} set" if count else ""
    return DocumentPart((*base, f"#{page}") if page else base, title, note, what, groups, code=False, at=base)


def _of_fpga() -> tuple[AskedGroup, ...]:
    """What is asked of an FPGA among several: its name, and what is asked of the design."""
    others = (replace(group, fields={n: label for n, label in group.fields.items() if n != "~cards"})
              for group in (*DESIGN, *COUNTERS))  # fmt: skip
    return AskedGroup("FPGA", "a field that is not set has the value of the design above", {"name": "Name"}), *others


def _grouped(schema: type[BaseModel], title: str) -> tuple[Group, ...]:
    """A schema's fields in one group, its name first."""
    fields = sorted(fields_of(schema, pairs=True), key=lambda field: field.path[-1] != "name")
    return (Group(title, "", tuple(fields)),)
