"""Host language C: reads, marks and instruments the calls of a platform's API (ReCAP 2011, sections 3.1 and 4)."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.api import HostLanguage, Later, hookimpl

SUFFIXES = (".c", ".h")


class CLanguage:
    """C up to C17 with GNU extensions, as gcc compiles it. What reads it is imported when it is first used."""

    name = "c"
    suffixes: tuple[str, ...] = SUFFIXES
    pragma_prefix = "#pragma recap "
    scan = staticmethod(Later(f"{__name__}.scanning:scan"))
    instrument = staticmethod(Later(f"{__name__}.instrumenting:instrument"))
    outline = staticmethod(Later(f"{__name__}.outline:outline"))
    definition = staticmethod(Later(f"{__name__}.definitions:definition"))


@hookimpl
def workbench_host_languages() -> Sequence[HostLanguage]:
    return [CLanguage()]
