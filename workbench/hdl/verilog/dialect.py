"""Verilog and SystemVerilog: read with slang, instrumented as text, so that the user's lines stay where they are."""

from workbench.api import Later
from workbench.api.languages import VERILOG_FILES, FileKind


class VerilogLanguage:
    """Verilog and SystemVerilog as far as slang reads them. What reads them is imported when it is first used."""

    name: str = "verilog"
    files: tuple[FileKind, ...] = VERILOG_FILES
    scan = staticmethod(Later("workbench.hdl.verilog.language:scan"))
    instrument = staticmethod(Later("workbench.hdl.verilog.language:instrument"))
    with_depths = staticmethod(Later("workbench.hdl.verilog.language:with_depths"))
    plain = staticmethod(Later("workbench.hdl.verilog.language:plain"))
    tops = staticmethod(Later("workbench.hdl.verilog.tops:tops"))
    definition = staticmethod(Later("workbench.hdl.verilog.definitions:definition"))
    prove = staticmethod(Later("workbench.hdl.equivalence.prove:prove"))
    decode = staticmethod(Later("workbench.api.instrument.readout:decode"))

    def tools(self) -> list[str]:
        """yosys, whose primitives stand in for vendors'."""
        from workbench.system.toolchain import find_yosys, versions  # asked when something is built

        return versions(find_yosys())
