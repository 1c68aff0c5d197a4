"""Verilog and SystemVerilog, which the core reads itself: what is simulated of any language is Verilog."""

from collections.abc import Sequence

from workbench.api import HdlLanguage, hookimpl
from workbench.hdl.verilog.dialect import VerilogLanguage


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [VerilogLanguage()]
