"""A hardware language that becomes Verilog line by line: what reads, marks and instruments Verilog does so for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.api.languages import VERILOG, VERILOG_FILES, FileKind
from workbench.api.source.files import expand_sources
from workbench.api.source.lines import reading_typed, source_bytes, typed_texts
from workbench.hdl.verilog.dialect import VerilogLanguage
from workbench.system.files import real


def _translated(method: str) -> Callable[..., Any]:
    """A method of Verilog's that finds the translated texts in the place of the sources."""

    def call(self: TranslatedVerilog, root: Path, part: Any, *given: Any, **named: Any) -> Any:
        names: Sequence[str] = getattr(part, "sources", part)
        files = [file for file in map(real, expand_sources(root, names)) if file.name.endswith(self.own)]
        texts = {file: self.translate(source_bytes(file).decode("utf-8", "replace")).encode() for file in files}
        with reading_typed({**typed_texts(), **texts}):
            return getattr(VerilogLanguage, method)(root, part, *given, **named)

    return call


class TranslatedVerilog(VerilogLanguage):
    """A hardware language that becomes Verilog line by line.

    `translate` makes Verilog of a source's text; each line stays where it is. Pragmas are as in Verilog. Sources in
    Verilog itself may stand beside its own.
    """

    def __init__(self, name: str, suffixes: tuple[str, ...], translate: Callable[[str], str]) -> None:
        self.name, self.own, self.translate = name, suffixes, translate
        self.files = (FileKind(name, suffixes, VERILOG), *VERILOG_FILES)

    scan = _translated("scan")
    instrument = _translated("instrument")
    with_depths = _translated("with_depths")
    plain = _translated("plain")
    tops = _translated("tops")
    definition = _translated("definition")
