"""Which hardware language a project's sources are in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import HdlLanguage
from workbench.api.source.lines import source_bytes

if TYPE_CHECKING:
    from workbench.model.application import HardwareSources

_USUAL = "verilog"


def language_of(hardware: HardwareSources, root: Path, languages: Mapping[str, HdlLanguage]) -> str:
    """The one that the project names, or else that of its sources; of several, that in which the top stands."""
    if hardware.language:
        return hardware.language
    files = {
        name: [source for source in hardware.sources if source.lower().endswith(language.suffixes)]
        for name, language in languages.items()
    }
    possible = [name for name, own in files.items() if own]
    if len(possible) > 1:
        top = re.compile(rb"\b(module|entity)\s+" + re.escape(hardware.top.encode()) + rb"\b", re.IGNORECASE)
        possible = [name for name in possible if any(top.search(source_bytes(root / file)) for file in files[name])]
    return next(iter(possible), _USUAL)
