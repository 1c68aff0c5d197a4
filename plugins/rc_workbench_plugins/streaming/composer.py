"""The project's `streaming` section: its topology read, its sources made, and what a run recorded of its edges."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rc_workbench_plugins.streaming.flatten import flattened
from rc_workbench_plugins.streaming.generate import RESOURCES, made
from rc_workbench_plugins.streaming.topology import At, Topology
from rc_workbench_plugins.streaming.x_language import Declared, read_section, read_x
from workbench.api import Composed, Composition
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Manifest, Table
from workbench.model.streaming import Streaming
from workbench.system.files import SOURCE_LIMIT, read_regular


def compose(composition: Composition) -> Composed:
    topology = read_topology(composition)
    section = _section(composition)
    result = made(topology, section, composition.platform, composition.root)
    return Composed(result.texts, result.host, result.hdl, (RESOURCES,), (RESOURCES,), len(topology.cores))


def tables(composition: Composition, raw: Path, run: Manifest) -> Mapping[str, Table]:
    from rc_workbench_plugins.streaming.recorded import recorded

    return recorded(read_topology(composition), _section(composition), raw, run)


def read_topology(composition: Composition) -> Topology:
    """The application of a project. WorkbenchError with every fault."""
    section, file = _section(composition), str(composition.path)
    declared, problems = Declared(), list[Diagnostic]()
    for number, name in enumerate(section.sources):
        path = composition.root / name
        try:
            read_x(read_regular(path, SOURCE_LIMIT).decode("utf-8", "replace"), str(path), declared)
        except OSError as error:
            line, column = composition.place(("streaming", "sources", number))
            problems.append(Diagnostic(f"cannot read '{name}': {error.strerror}", file=file, line=line, column=column))
        except WorkbenchError as error:
            problems += error.diagnostics
    if problems:
        raise WorkbenchError(*problems)
    read_section(section, lambda keys: At(file, *composition.place(keys)), declared)
    topology, problems_found = flattened(declared, At(file, *composition.place(("streaming",))))
    if topology is None:
        raise WorkbenchError(*problems_found)
    return topology


def _section(composition: Composition) -> Streaming:
    section = composition.project.streaming
    assert section is not None
    return section
