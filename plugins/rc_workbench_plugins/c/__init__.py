"""Host language C: reads, marks and instruments the calls of a platform's API (ReCAP 2011, sections 3.1 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import HostBuild, HostLanguage, hookimpl

if TYPE_CHECKING:
    from workbench.api.job import Job
    from workbench.model.application import HostSources
    from workbench.model.platform import Platform
    from workbench.model.scan import Definition, HostFile, HostScan

SUFFIXES = (".c", ".h")


class CLanguage:
    """C up to C17 with GNU extensions, as gcc compiles it. What reads it is imported when it is first used."""

    name = "c"
    suffixes: tuple[str, ...] = SUFFIXES
    pragma_prefix = "#pragma recap "

    def scan(
        self, root: Path, host: HostSources, platform: Platform, defines: dict[str, str], job: Job | None = None
    ) -> HostScan:
        """Every call of the platform's API in the project's own files, with the pragmas that speak of it."""
        from rc_workbench_plugins.c.scanning import scan

        return scan(root, host, platform, defines, job)

    def instrument(
        self,
        root: Path,
        host: HostSources,
        platform: Platform,
        defines: dict[str, str],
        out: Path,
        job: Job | None = None,
    ) -> HostBuild:
        """Copies of the sources below `out` in which every such call is recorded; the user's files stay as they are."""
        from rc_workbench_plugins.c.instrumenting import instrument

        return instrument(root, host, platform, defines, out, job)

    def outline(self, root: Path, files: Sequence[str]) -> tuple[HostFile, ...]:
        from rc_workbench_plugins.c.outline import outline

        return tuple(outline(root, file) for file in files)

    def definition(
        self, root: Path, part: HostSources, values: dict[str, str], file: Path, line: int, column: int, job: Job
    ) -> Definition | None:
        from rc_workbench_plugins.c.definitions import definition

        return definition(root, part, values, file, line, column, job)


@hookimpl
def workbench_host_languages() -> Sequence[HostLanguage]:
    return [CLanguage()]
