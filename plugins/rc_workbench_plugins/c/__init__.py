"""Host languages C and C++: reads, marks and instruments calls of a platform's API (ReCAP 2011, sections 3.1, 4)."""

from collections.abc import Sequence

from workbench.api import FileKind, HostLanguage, Later, hookimpl
from workbench.api.languages import C_FILES


class CLanguage:
    """C up to C17 and C++11 to C++20 with GNU extensions, as gcc compiles them. What reads them is imported when it is
    first used."""

    name = "c"
    files: tuple[FileKind, ...] = C_FILES
    scan = staticmethod(Later(f"{__name__}.scanning:scan"))
    instrument = staticmethod(Later(f"{__name__}.instrumenting:instrument"))
    outline = staticmethod(Later(f"{__name__}.outline:outline"))
    header = staticmethod(Later(f"{__name__}.header:api_header"))
    wrong_expressions = staticmethod(Later(f"{__name__}.entry_checking:wrong_expressions"))
    definition = staticmethod(Later(f"{__name__}.definitions:definition"))
    tools = staticmethod(Later(f"{__name__}.system_clang:tools"))


@hookimpl
def workbench_host_languages() -> Sequence[HostLanguage]:
    return [CLanguage()]
