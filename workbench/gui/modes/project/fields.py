"""What a project's forms ask, in the words and the order of those who fill them in: pages of groups of fields.

A field's kind, note and default come from the schema; here are its label, its group, and whether it is seldom set.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from workbench.api.forms import Field, Group
from workbench.gui.modes.forms.fields import Choices, fields_of
from workbench.model.application import HardwareSources, HostSources, Project, TargetCommands
from workbench.model.read_out import ReadOut
from workbench.model.simulation import Simulation

#: A group: what it is for, then its fields by their names in the schema, each with its label. Seldom set: in ~.
Asked = Mapping[str, str]


@dataclass(frozen=True)
class AskedGroup:
    title: str
    note: str
    fields: Asked


PROJECT = (
    AskedGroup("Names", "", {"name": "Name", "title": "Title"}),
    AskedGroup("Platform", "the machine that the application runs on", {
        "platform": "Template", "~api_dir": "API's header in", "~api_sources": "API on the card",
    }),
    AskedGroup("Rules and places", "", {"rules": "Rule files", "~outside": "Folders outside"}),
)  # fmt: skip
SETTINGS = (
    AskedGroup("What a run can change", "macros of the host, and parameters of the top module of the same name", {
        "settings": "Settings",
    }),
)  # fmt: skip
HOST = (
    AskedGroup("Sources", "", {"sources": "Sources", "include_dirs": "Include folders", "~language": "Language"}),
    AskedGroup("Compiler", "", {
        "defines": "Macros", "flags": "Flags", "libraries": "Libraries", "~compile_commands": "Compile commands",
        "~source_flags": "Flags by source",
    }),
    AskedGroup("Own build", "if the workbench does not compile the sources itself", {
        "~build": "Build command", "~program": "Program",
    }),
    AskedGroup("Start", "", {"arguments": "Arguments"}),
)  # fmt: skip
DESIGN = (
    AskedGroup("Sources", "", {
        "sources": "Sources", "top": "Top module", "include_dirs": "Include folders", "~language": "Language",
        "~vhdl_standard": "VHDL standard", "~libraries": "VHDL libraries", "~library": "Library files",
    }),
    AskedGroup("Values", "", {"parameters": "Parameters", "defines": "Macros"}),
    AskedGroup("At the top", "", {
        "signals": "Signal names", "~constants": "Constant inputs", "~cards": "Cards",
    }),
)  # fmt: skip
COUNTERS = (
    AskedGroup("What is counted", "besides the states of blocks with pragmas", {
        "metrics": "Custom metrics", "assertions": "Assertions", "branches": "Branches",
        "~observed_ports": "Observed ports",
    }),
    AskedGroup("Counters on a real machine", "", {"engines": "Counters", "watch": "Watched blocks"}),
    AskedGroup("Streams", "", {
        "count_streams": "Count on boards", "~fifos": "Further FIFOs", "~names": "Instance names",
    }),
)  # fmt: skip
CARD = (
    AskedGroup("Speed of the host", "in virtual time", {
        "host_factor": "CPU time, times", "cores": "Processor cores", "~basic_block_ps": "Basic block (ps)",
        "~slice_ps": "Time slice (ps)", "~call_ps": "Synchronise (ps)", "~wake_ps": "Wake up (ps)",
        "~switch_ps": "Change thread (ps)",
    }),
    AskedGroup("Simulator", "", {
        "simulator": "Simulator", "hardware_counters": "Real counters", "~skip_rest": "Skip idle cycles",
        "~check_vhdl": "Check VHDL",
    }),
    AskedGroup("Limits", "the workbench ends a run that reaches one", {
        "wall_limit_s": "Real time (s)", "cycle_limit": "Cycles", "~idle_cycle_limit": "Idle cycles",
        "~files_bytes": "Files (bytes)",
    }),
    AskedGroup("Waveforms", "", {
        "waves": "Write signals", "waves_ports": "Ports only", "waves_from_s": "From (s)", "waves_to_s": "Until (s)",
        "~waves_bytes": "File (bytes)",
    }),
    AskedGroup("Clock of the card", "to imitate a real clock's error", {
        "~clock_ppm": "Faster by (ppm)", "~clock_drift_ppm_per_s": "Drift (ppm/s)",
    }),
)  # fmt: skip
TARGET = (
    AskedGroup("Where it runs", "", {"name": "Target"}),
    AskedGroup("Commands", "for a real machine; each is a line for sh in the project's folder", {
        "build": "Build", "run": "Run", "fetch": "Fetch records",
    }),
)  # fmt: skip
READ_OUT = Group(
    "Read-out",
    "addresses that the application does not use, for reading the counters",
    tuple(replace(field, kind="address") for field in fields_of(ReadOut, ("read_out",))),
)
#: The pages by the schema whose fields they ask; together they ask all of them.
ASKED: Mapping[type[BaseModel], tuple[AskedGroup, ...]] = {
    Project: (*SETTINGS, *PROJECT), HostSources: HOST, HardwareSources: (*DESIGN, *COUNTERS), Simulation: CARD,
    TargetCommands: TARGET,
}  # fmt: skip


def asked(schema: type[BaseModel], groups: Collection[AskedGroup], choices: Choices | None = None) -> tuple[Group, ...]:
    """Groups of a schema's fields, as forms have them. Fields that no page asks are on its last one, aside."""
    known = {str(field.path[-1]): field for field in fields_of(schema, choices=choices, pairs=True)}
    made = tuple(Group(group.title, group.note, tuple(_named(group, known))) for group in groups)
    pages = ASKED.get(schema, ())
    if not pages or pages[-1] not in groups:
        return made
    named = {name.removeprefix("~") for page in pages for name in page.fields} | {"schema_version"}
    others = tuple(replace(field, aside=True) for name, field in known.items() if name not in named)
    return (*made, Group("More", "", others)) if others else made


def _named(group: AskedGroup, known: Mapping[str, Field]) -> Iterator[Field]:
    for name, label in group.fields.items():
        field = known[name.removeprefix("~")]
        more: dict[str, Any] = {"picks": "file *.yaml *.yml"} if label == "Template" else {}
        yield replace(field, label=label, aside=name.startswith("~"), **more)
