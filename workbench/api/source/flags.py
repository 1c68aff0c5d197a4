"""The compiler's flags of a project's host sources: those of all, and those that single sources have of their own."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.api.objects import include_folders
from workbench.model.application import HostSources


def flags_of(host: HostSources, source: str) -> tuple[str, ...]:
    """The flags of a source, as the project names it."""
    return (*host.flags, *host.source_flags.get(source, ()))


def folders_of_all(host: HostSources) -> tuple[str, ...]:
    """The include folders that single sources have of their own, each once: code that is made for all may need any."""
    every: Iterable[str] = (word for flags in host.source_flags.values() for word in flags)
    return tuple(dict.fromkeys(include_folders(every)))


def macros_of_all(host: HostSources) -> tuple[str, ...]:
    """Those `-D` and `-U` that single sources have of their own and all of these agree in."""
    first, *others = list(host.source_flags.values()) or [()]
    return tuple(word for word in first if word[:2] in ("-D", "-U") and all(word in other for other in others))
