"""Calls that did not return: those under way when the program was ended, and those that a longjmp left."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.api.host_stats import read_stats
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import PS_PER_S, Site
from workbench.model.text import time_text


def unreturned(raw: Path, sites: Sequence[Site]) -> Iterator[Diagnostic]:
    """A warning for each call that did not return, at its source place, from the program's recorder."""
    stats = read_stats(raw)
    if stats is None:
        return
    left_by_longjmp: Counter[int] = Counter()
    for thread in stats.threads:
        for row in thread.rows[thread.rows["left"] > 0]:
            left_by_longjmp[int(row["site"])] += int(row["left"])
        for slot, began_ps in thread.under_way if not stats.ended else ():
            site = sites[int(thread.rows["site"][slot])]
            lasted = time_text((stats.last_ps - began_ps) / PS_PER_S, 3)
            where = f" of thread {thread.number}" if thread.number else ""
            where += f" of forked child {thread.process}" if thread.process else ""
            text = f"a call of {site.callee}{where} was under way when the program ended"
            hint = f"It had taken {lasted} when the record ends. It is not counted."
            yield Diagnostic(text, hint, Severity.WARNING, site.file, site.line, site.column)
    for number, times in sorted(left_by_longjmp.items()):
        site = sites[number]
        calls = f"{times} calls" if times > 1 else "a call"
        text = f"a longjmp left {calls} of {site.callee}, which did not return"
        yield Diagnostic(
            text, "Calls that did not return are not counted.", Severity.NOTE, site.file, site.line, site.column
        )
