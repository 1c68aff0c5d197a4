"""VHDL, alone and with Verilog: read with tree-sitter, elaborated and synthesised by GHDL, instrumented as text."""

from collections.abc import Sequence

from workbench.api import FileKind, HdlLanguage, Later, hookimpl
from workbench.api.languages import VERILOG_FILES, VHDL_FILES


class VhdlLanguage:
    """VHDL-93 and 2008 as GHDL takes them. What reads them is imported when it is first used."""

    name: str = "vhdl"
    files: tuple[FileKind, ...] = VHDL_FILES
    scan = staticmethod(Later(f"{__name__}.language:scan"))
    instrument = staticmethod(Later(f"{__name__}.build:instrument"))
    plain = staticmethod(Later(f"{__name__}.build:plain"))
    tops = staticmethod(Later(f"{__name__}.tops:tops"))
    definition = staticmethod(Later(f"{__name__}.definitions:definition"))
    prove = staticmethod(Later(f"{__name__}.prove:prove"))
    port_types = staticmethod(Later(f"{__name__}.port_types:port_types"))
    decode = staticmethod(Later("workbench.api.instrument.readout:decode"))

    def tools(self) -> list[str]:
        """GHDL, and yosys, whose primitives stand in for vendors'."""
        from workbench.api.unstable import find_ghdl, find_yosys, versions  # asked when something is built

        return versions(find_ghdl(), find_yosys())

    def in_own_simulator(self) -> HdlLanguage:
        return VhdlInGhdl()


class VhdlInGhdl(VhdlLanguage):
    """VHDL that GHDL itself simulates (`InOwnSimulator`): no Verilog is made of it."""

    instrument = staticmethod(Later(f"{__name__}.build:instrument_unsynthesised"))
    plain = staticmethod(Later(f"{__name__}.build:plain_unsynthesised"))


class MixedLanguage:
    """VHDL entities that instantiate Verilog modules, and the other way round, as deep as they do. What reads them is
    imported when it is first used."""

    name: str = "mixed"
    files: tuple[FileKind, ...] = (*VERILOG_FILES, *VHDL_FILES)
    scan = staticmethod(Later(f"{__name__}.language:scan"))
    instrument = staticmethod(Later(f"{__name__}.build:instrument"))
    with_depths = staticmethod(Later(f"{__name__}.build:with_depths"))
    plain = staticmethod(Later(f"{__name__}.build:plain"))
    tops = staticmethod(Later(f"{__name__}.tops:tops_of_both"))
    definition = staticmethod(Later(f"{__name__}.definitions:definition_in_both"))
    prove = staticmethod(Later(f"{__name__}.prove:prove"))
    decode = staticmethod(Later("workbench.api.instrument.readout:decode"))
    tools = VhdlLanguage.tools


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [VhdlLanguage(), MixedLanguage()]
