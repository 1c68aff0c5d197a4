"""What the workbench asks of host sources before anything is built: calls, pragmas, and what is wrong with them."""

import re
from pathlib import Path

from rc_workbench_plugins.c.conditions import check_conditions
from rc_workbench_plugins.c.survey import ApiUse, survey
from workbench.api import CallSite, HostScan, HostSources, Job, Platform

_ASKED = re.compile(r"\s*\w+\s*==\s*([A-Za-z_]\w*)\s*")


def scan(
    root: Path, host: HostSources, platform: Platform, defines: dict[str, str], job: Job | None = None
) -> HostScan:
    """Every call of the platform's API in the project's own files, with the pragmas that speak of it."""
    surveyed = survey(root, host, platform, defines, job)
    calls = tuple(
        CallSite(
            file=str(one.file),
            line=one.use.place.line,
            column=one.use.place.column,
            callee=one.callee.name,
            kind=_kind(one, surveyed.files.text(one.file)),
            entry=one.callee.entry_text,
            function=one.function,
            pragmas=one.pragmas,
            pragma_line=one.pragma_line,
            indent=one.indent,
            waits_when=one.waits_when,
        )
        for one in surveyed.uses
        if one.use.is_call
    )
    return HostScan(calls, (*surveyed.diagnostics, *check_conditions(surveyed)))


def _kind(use: ApiUse, text: bytes) -> str:
    """What a call is for; of several kinds that the entries' conditions tell apart, the one that an argument names."""
    rest = text[use.use.place.offset :].partition(b";")[0].decode("utf-8", "replace")
    named = {entry.kind.value for _, entry in use.callee.entries
             if (asked := _ASKED.fullmatch(entry.condition)) and re.search(rf"\b{asked[1]}\b", rest)}  # fmt: skip
    return named.pop() if len(named) == 1 else use.callee.kind
