"""Host language C: reads, marks and instruments the calls of a platform's API (ReCAP 2011, sections 3.1 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rc_workbench_plugins.c.instrumenting import instrument
from rc_workbench_plugins.c.survey import SUFFIXES, survey
from workbench.api import HostBuild, HostLanguage, hookimpl
from workbench.model.application import HostSources
from workbench.model.platform import Platform
from workbench.model.scan import CallSite, HostScan


class CLanguage:
    """C up to C17 with GNU extensions, as gcc compiles it."""

    name = "c"
    suffixes: tuple[str, ...] = SUFFIXES
    pragma_prefix = "#pragma recap "

    def scan(self, root: Path, host: HostSources, platform: Platform, defines: dict[str, str]) -> HostScan:
        """Every call of the platform's API in the project's own files, with the pragmas that speak of it."""
        found = survey(root, host, platform, defines)
        calls = tuple(
            CallSite(
                file=str(one.file),
                line=one.use.place.line,
                column=one.use.place.column,
                callee=one.callee.name,
                kind=one.callee.kind,
                entry=one.callee.entry_text,
                function=one.function,
                pragmas=one.pragmas,
                pragma_line=one.pragma_line,
                indent=one.indent,
            )
            for one in found.uses
            if one.use.is_call
        )
        return HostScan(calls, found.diagnostics)

    def instrument(
        self, root: Path, host: HostSources, platform: Platform, defines: dict[str, str], out: Path
    ) -> HostBuild:
        """Copies of the sources below `out` in which every such call is recorded; the user's files stay as they are."""
        return instrument(root, host, platform, defines, out)


@hookimpl
def workbench_host_languages() -> Sequence[HostLanguage]:
    return [CLanguage()]
