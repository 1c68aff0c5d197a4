"""The base of a hardware language that is translated to Verilog line by line, and then read and instrumented as
Verilog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from workbench.api import HdlLanguage
from workbench.api.brought import brought
from workbench.api.languages import VERILOG, VERILOG_FILES, VHDL_FILES, FileKind, reads
from workbench.api.source.files import expand_sources
from workbench.api.source.lines import reading_typed, source_bytes, typed_texts
from workbench.hdl.verilog.dialect import VerilogLanguage
from workbench.system.files import real


def _translated(method: str) -> Callable[..., Any]:
    """A method of the language of all other sources, which finds the translated texts in the place of these."""

    def call(self: TranslatedVerilog, root: Path, part: Any, *given: Any, **named: Any) -> Any:
        names: Sequence[str] = getattr(part, "sources", part)
        files = list(map(real, expand_sources(root, names)))
        own = [file for file in files if file.name.endswith(self.own)]
        texts = {file: self.translate(source_bytes(file).decode("utf-8", "replace")).encode() for file in own}
        with reading_typed({**typed_texts(), **texts}):
            return getattr(self.beside({*files} - {*own}), method)(root, part, *given, **named)

    return call


class TranslatedVerilog(VerilogLanguage):
    """A hardware language that becomes Verilog line by line.

    `translate` makes Verilog of a source's text; each line stays where it is. Pragmas are as in Verilog. Sources in
    Verilog and VHDL may stand beside its own: each instantiates what another defines.
    """

    def __init__(self, name: str, suffixes: tuple[str, ...], translate: Callable[[str], str]) -> None:
        self.name, self.own, self.translate = name, suffixes, translate
        self.files = (FileKind(name, suffixes, VERILOG), *VERILOG_FILES, *VHDL_FILES)

    def beside(self, others: Iterable[Path]) -> HdlLanguage:
        """The loaded language that reads Verilog and the other sources."""
        loaded = (one for one in brought("hdl_languages") if not isinstance(one, TranslatedVerilog))
        needed: tuple[str | Path, ...] = ("of.v", *others)
        return next((one for one in loaded if all(reads(one, file) for file in needed)), VerilogLanguage())

    scan = _translated("scan")
    instrument = _translated("instrument")
    with_depths = _translated("with_depths")
    plain = _translated("plain")
    tops = _translated("tops")
    definition = _translated("definition")
