"""Designs in Verilog and VHDL: either language's plugin reads its half, and what is here joins the two."""

from __future__ import annotations

from collections.abc import Sequence

from rc_workbench_plugins.vhdl import VhdlLanguage
from workbench.api import HdlLanguage, Later, hookimpl
from workbench.api.source import suffixes


class MixedLanguage:
    """VHDL entities that instantiate Verilog modules, and the other way round, as deep as they do. What reads them is
    imported when it is first used."""

    name: str = "mixed"
    suffixes: tuple[str, ...] = (*suffixes.VERILOG, *suffixes.VERILOG_HEADERS, *suffixes.VHDL)
    pragma_prefix: str = "//pragma recap "
    scan = staticmethod(Later(f"{__name__}.language:scan"))
    instrument = staticmethod(Later(f"{__name__}.build:instrument"))
    with_depths = staticmethod(Later(f"{__name__}.build:with_depths"))
    plain = staticmethod(Later(f"{__name__}.build:plain"))
    tops = staticmethod(Later(f"{__name__}.tops:tops"))
    definition = staticmethod(Later(f"{__name__}.language:definition"))
    prove = staticmethod(Later(f"{__name__}.prove:prove"))
    decode = staticmethod(Later("workbench.api.instrument.readout:decode"))

    def tools(self) -> list[str]:
        return VhdlLanguage().tools()


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [MixedLanguage()]
