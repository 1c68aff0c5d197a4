"""File lists of HDL for other tools, which a project can name among its sources."""

import os
from collections.abc import Sequence
from pathlib import Path

from workbench.api.source.files import expand_sources
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic
from workbench.session.open.fusesoc_core import read_core
from workbench.session.open.listed import Listed
from workbench.session.open.simulator_list import read_list

_LISTS = (".f", ".fl", ".vc")


def with_lists(
    hardware: HardwareSources, root: Path, outside: Sequence[str]
) -> tuple[HardwareSources, tuple[Path, ...], tuple[Diagnostic, ...]]:
    """The hardware's sources with the contents of every list in place of its name; the lists; and their problems.

    Defines and parameters of the project itself take precedence.
    """
    listed = Listed(root, (root, *(root / folder for folder in outside)))
    for path in expand_sources(root, hardware.sources):
        if path.suffix == ".core":
            read_core(path, listed)
        elif path.suffix in _LISTS:
            read_list(path, root, listed)
        else:
            listed.sources[path] = None
    if listed.read and not listed.sources:
        message = "no source of the design is listed"
        listed.problems.append(Diagnostic(message, "Name a source file in it.", file=str(next(iter(listed.read)))))
    folders = (os.path.relpath(path, root) for path in listed.include_dirs)
    libraries = {
        name: (*(os.path.relpath(path, root) for path in paths), *hardware.libraries.get(name, ()))
        for name, paths in listed.libraries.items()
    }
    update = {
        "libraries": {**libraries, **{k: v for k, v in hardware.libraries.items() if k not in libraries}},
        "sources": tuple(os.path.relpath(path, root) for path in listed.sources),
        "include_dirs": tuple(dict.fromkeys((*hardware.include_dirs, *folders))),
        "defines": listed.defines | hardware.defines,
        "parameters": listed.parameters | hardware.parameters,
    }
    if listed.vhdl_standards and "vhdl_standard" not in hardware.model_fields_set:
        update["vhdl_standard"] = "2008" if "2008" in listed.vhdl_standards else "93"
    return hardware.model_copy(update=update), tuple(listed.read), tuple(listed.problems)
