"""What a hardware language is made of beyond `workbench.api`: the one module here that leads to the core for these."""

from typing import TYPE_CHECKING

from workbench.api.lazy import loads

if TYPE_CHECKING:
    from workbench.hdl.translated import TranslatedVerilog
else:
    __getattr__ = loads(__name__, __file__)

__all__ = ["TranslatedVerilog"]
