"""Verilog and SystemVerilog: read with slang, instrumented as text, so that the user's lines stay where they are."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.api import HdlLanguage, Later, hookimpl
from workbench.api.source import suffixes


class VerilogLanguage:
    """Verilog and SystemVerilog as far as slang reads them. What reads them is imported when it is first used."""

    name: str = "verilog"
    suffixes: tuple[str, ...] = (*suffixes.VERILOG, *suffixes.VERILOG_HEADERS)
    pragma_prefix: str = "//pragma recap "
    scan = staticmethod(Later(f"{__name__}.language:scan"))
    instrument = staticmethod(Later(f"{__name__}.language:instrument"))
    with_depths = staticmethod(Later(f"{__name__}.language:with_depths"))
    plain = staticmethod(Later(f"{__name__}.language:plain"))
    tops = staticmethod(Later("workbench.hdl.verilog.tops:tops"))
    definition = staticmethod(Later("workbench.hdl.verilog.definitions:definition"))
    prove = staticmethod(Later("workbench.hdl.equivalence.prove:prove"))
    decode = staticmethod(Later("workbench.api.instrument.readout:decode"))

    def tools(self) -> list[str]:
        """yosys, whose primitives stand in for vendors'."""
        from workbench.system.toolchain import find_yosys, versions  # asked when something is built

        return versions(find_yosys())


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [VerilogLanguage()]
