"""The pragmas of a VHDL file."""

from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.syntax import VhdlFile
from workbench.api import Diagnostic, source_bytes
from workbench.api.languages import VHDL
from workbench.hdl.source_file import SourceFile, read_pragmas


def pragmas_of(design: Design, file: VhdlFile) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """A file's pragmas, and what is wrong with their text."""
    return read_pragmas(file.path, source_bytes(file.path), VHDL, design.name_of(file.path))
