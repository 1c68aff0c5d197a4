"""Which hardware language a project's sources are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.api import HdlLanguage

if TYPE_CHECKING:
    from workbench.model.application import HardwareSources

_USUAL = "verilog"


def language_of(hardware: HardwareSources, languages: Mapping[str, HdlLanguage]) -> str:
    """The one that the project names, or else the one that reads the most of its sources, and least beside them."""
    if hardware.language:
        return hardware.language
    files = {
        name: [source for source in hardware.sources if source.lower().endswith(language.suffixes)]
        for name, language in languages.items()
    }
    ranks = {name: (-len(own), len(languages[name].suffixes)) for name, own in files.items() if own}
    return min(ranks, key=lambda name: ranks[name], default=_USUAL)
