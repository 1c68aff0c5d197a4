"""Decides the hardware language of sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.api import HdlLanguage
from workbench.api.languages import reads, suffixes_of

if TYPE_CHECKING:
    from workbench.model.application import HardwareSources

_USUAL = "verilog"


def language_of(hardware: HardwareSources, languages: Mapping[str, HdlLanguage]) -> str:
    """The language that the project names, or else the one that reads most of its sources, and fewest other files."""
    return hardware.language or next(iter(languages_of(hardware.sources, languages)), _USUAL)


def languages_of(files: Iterable[str], languages: Mapping[str, HdlLanguage]) -> dict[str, list[str]]:
    """The languages that read files of these names, each with its files; first the one that reads most of them, and
    fewest other files."""
    unread, files_of = list(files), dict[str, list[str]]()
    while True:
        files_by_language = {name: [file for file in unread if reads(one, file)] for name, one in languages.items()}
        ranks = {
            name: (-len(read), len(suffixes_of([languages[name]]))) for name, read in files_by_language.items() if read
        }
        if not ranks:
            return files_of
        best = min(ranks, key=lambda name: ranks[name])
        files_of[best] = files_by_language[best]
        unread = [file for file in unread if file not in files_by_language[best]]
