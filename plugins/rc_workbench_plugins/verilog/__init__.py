"""Verilog and SystemVerilog: read with slang, instrumented as text, so that the user's lines stay where they are."""

from __future__ import annotations

from collections.abc import Sequence

from rc_workbench_plugins.verilog.language import VerilogLanguage
from workbench.api import HdlLanguage, hookimpl


@hookimpl
def workbench_hdl_languages() -> Sequence[HdlLanguage]:
    return [VerilogLanguage()]
