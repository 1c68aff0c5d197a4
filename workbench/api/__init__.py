"""What a plugin imports: the hooks it may answer, the descriptors it answers with, and what these are made of.

A plugin is a module named by an entry point of the group `rc_workbench.plugins`; it decorates functions with
`hookimpl`. The names below are promised: none of them disappears or changes while `API_VERSION` stays. A mode of
the window finds what else it needs in `workbench.api.window`, a hardware language in `workbench.api.hdl`. Each name is
loaded when it is first asked for.

The other modules of this package, and `workbench.api.unstable`, are what the built-in plugins need besides. They
change with any version.
"""

from typing import TYPE_CHECKING

from workbench.api.lazy import loads

#: The version of what is promised here, in `workbench.api.window` and in `workbench.api.hdl`. It rises when a name
#: disappears or changes.
API_VERSION = 2

if TYPE_CHECKING:
    from workbench.api.builds import BecomesC, HdlBuild, HdlChecks, HdlFiles, HdlSimulation, HostBuild
    from workbench.api.commands import Command, Workbench
    from workbench.api.descriptors import (
        Composed,
        Composer,
        Composition,
        Exporter,
        FindsDefinitions,
        HdlLanguage,
        HostLanguage,
        Importer,
        KnowsApis,
        PlatformSupport,
        PortKind,
        Proves,
        ReadsWithTools,
        RuleFile,
        VariesDepths,
    )
    from workbench.api.forms import Field, Group
    from workbench.api.hookspecs import hookimpl
    from workbench.api.host_units import COMMON, FIRST_STATES, entries_of, host_block, unit_text
    from workbench.api.job import Job
    from workbench.api.languages import FileKind, Syntax
    from workbench.api.later import Later
    from workbench.api.metrics import FindingSource, Measured, Metric, Selected, Value
    from workbench.api.model_kinds import EVERY, Begun, ModelKind, Printed, Question
    from workbench.api.models import (
        Completed,
        Count,
        Formula,
        ModelDocument,
        ModelReading,
        ModelValues,
        PartDocument,
        Positive,
        Share,
        Values,
    )
    from workbench.api.modes import Panel, Undo, WindowMode
    from workbench.api.port_styles import Handshake, PortStyle, Role, words
    from workbench.api.ports import Activity, HardwarePort, MonitorFront, Problem, Signal
    from workbench.api.predictions import Answer, Results, Row
    from workbench.api.queries import (
        Explained,
        ExplainedBar,
        QueriedBlock,
        QueriedEdge,
        QueueFill,
        Reply,
        RunQueries,
        Subject,
    )
    from workbench.api.results import Analysis, BlockMetrics, CallMetrics
    from workbench.api.source.files import expand_sources
    from workbench.api.source.lines import Lines, source_bytes
    from workbench.api.source.pragma_text import find_pragmas
    from workbench.api.table_port import TablePort
    from workbench.api.targets import MakesApis, Outcome, Target, Task
    from workbench.model.application import HardwareSources, HostSources, Project
    from workbench.model.blocks import Block, Side, State
    from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError, has_errors, near
    from workbench.model.finding import Advice, Finding, Place
    from workbench.model.hardware import Clock, Hardware
    from workbench.model.platform import CallKind, HostEntry, Platform
    from workbench.model.pragma import UNCLASSIFIED, Category, PlacedPragma, Pragma
    from workbench.model.prototypes import Callee, Prototype, callees, parse_prototype
    from workbench.model.run import PS_PER_S, Manifest, Run, RunStatus, Site
    from workbench.model.run_tables import Table
    from workbench.model.scan import (
        Branch,
        CallSite,
        Definition,
        HdlBlock,
        HdlPort,
        HdlScan,
        HdlTop,
        HostFile,
        HostScan,
    )
    from workbench.model.text import (
        bytes_text,
        count_text,
        counted,
        frequency_text,
        listed,
        percent_text,
        ratio_text,
        table,
        time_text,
    )
else:
    __getattr__ = loads(__name__, __file__)

__all__ = [
    "API_VERSION", "COMMON", "EVERY", "FIRST_STATES", "PS_PER_S", "UNCLASSIFIED", "Activity", "Advice", "Analysis",
    "Answer", "BecomesC", "Begun", "Block", "BlockMetrics", "Branch", "CallKind", "CallMetrics", "CallSite", "Callee",
    "Cancelled", "Category", "Clock", "Command", "Completed", "Composed", "Composer", "Composition", "Count",
    "Definition", "Diagnostic", "Explained", "ExplainedBar", "Exporter", "Field", "FileKind", "Finding",
    "FindingSource",
    "FindsDefinitions", "Formula", "Group", "Handshake", "Hardware", "HardwarePort", "HardwareSources", "HdlBlock",
    "HdlBuild", "HdlChecks", "HdlFiles", "HdlLanguage", "HdlPort", "HdlScan", "HdlSimulation", "HdlTop", "HostBuild",
    "HostEntry", "HostFile", "HostLanguage", "HostScan", "HostSources", "Importer", "Job", "KnowsApis", "Later",
    "Lines", "MakesApis", "Manifest", "Measured", "Metric", "ModelDocument", "ModelKind", "ModelReading", "ModelValues",
    "MonitorFront", "Outcome", "Panel", "PartDocument", "Place", "PlacedPragma", "Platform", "PlatformSupport",
    "PortKind", "PortStyle", "Positive", "Pragma", "Printed", "Problem", "Project", "Prototype", "Proves",
    "QueriedBlock", "QueriedEdge", "Question", "QueueFill", "ReadsWithTools", "Reply", "Results", "Role", "Row",
    "RuleFile", "Run", "RunQueries", "RunStatus", "Selected", "Severity", "Share", "Side", "Signal", "Site", "State",
    "Subject", "Syntax", "Table", "TablePort", "Target", "Task", "Undo", "Value", "Values", "VariesDepths",
    "WindowMode", "Workbench", "WorkbenchError", "bytes_text", "callees", "count_text", "counted", "entries_of",
    "expand_sources", "find_pragmas", "frequency_text", "has_errors", "hookimpl", "host_block", "listed", "near",
    "parse_prototype", "percent_text", "ratio_text", "source_bytes", "table", "time_text", "unit_text", "words",
]  # fmt: skip
