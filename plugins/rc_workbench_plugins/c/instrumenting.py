"""Writes instrumented copies of a host's sources into a build folder.

In each copy an API function's name gives way to a generated wrapper's (rcw_wrappers.c). Nothing is added but text
within lines, and `#line` names the user's file, so that compilers and debuggers speak of the source as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files as resource_files
from pathlib import Path

from rc_workbench_plugins.c import checking
from rc_workbench_plugins.c.copies import Copies
from rc_workbench_plugins.c.macros import Macros, carriers_of, definitions, find_macros
from rc_workbench_plugins.c.numbering import Hook, number
from rc_workbench_plugins.c.reading import innermost
from rc_workbench_plugins.c.survey import FoundUse, Survey, missed_diagnostic, survey
from rc_workbench_plugins.c.wrappers import declaration, generate
from workbench.api import HostBuild
from workbench.api.job import Job
from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.run import Entry


def instrument(
    root: Path, host: HostSources, platform: Platform, defines: dict[str, str], out: Path, job: Job | None = None
) -> HostBuild:
    """Copies below `out/host`, and the wrappers beside them. Raises WorkbenchError for sources that cannot be read."""
    found = survey(root, host, platform, defines, job)
    read = {unit.source for unit in found.units}
    if unread := [source for source in found.files.sources if source not in read]:
        raise WorkbenchError(*(d for d in found.diagnostics if d.file in {str(source) for source in unread}))
    macros = find_macros(found.units, found.callees.keys(), found.files.text)
    uses = tuple(_with_macros(use, found, macros) for use in found.uses)
    numbering = number(uses, found.in_cpp, _main(found))
    copies = Copies(found.files, out / "host", found.user_files)
    for unit in found.units:
        for part, included in unit.reading.includes:
            copies.redirect(part, included.resolve())
    _replace_names(numbering.hooks, found, macros, copies)
    for unit in found.units:
        copies.preambles[unit.source] = definitions(
            unit, (h for h in numbering.hooks if not h.found.use.written), macros, found.files.text, copies.line_of
        )
    runtime = Path(str(resource_files("workbench.resources") / "host"))
    wrappers = generate(numbering.wrappers, platform, defines, runtime / "recap.h", _beside(found))
    wrappers_file = out / "rcw_wrappers.c"
    try:
        copies.write()
        out.mkdir(parents=True, exist_ok=True)  # where all is C++ there are no copies
        wrappers_file.write_text(wrappers.text, encoding="utf-8")
    except OSError as error:
        hint = "Is there room on the disk, and may this folder be written to?"
        raise WorkbenchError(Diagnostic(f"cannot write: {error.strerror}", hint, file=str(out))) from None
    return HostBuild(
        sources=tuple(copies.targets.get(source, source) for source in found.files.all_sources),
        include_dirs=tuple((found.files.root / folder).resolve() for folder in host.include_dirs),
        extra_sources=(wrappers_file, runtime / "recap.c"),
        redefined={hook.found.callee.name: hook.expression for hook in numbering.in_cpp},
        blocks=(numbering.block,),
        sites=numbering.sites,
        entries=_entries(platform, found),
        missed=tuple(missed_diagnostic(use) for use in uses if use.why_missed),
        diagnostics=(
            *(_not_fatal(problem) for problem in found.diagnostics),
            *_addresses(numbering.hooks),
            *checking.check(found, numbering, copies, wrappers, wrappers_file),
        ),
    )


def _beside(found: Survey) -> dict[str, Path]:
    """Headers that stand beside a source, which include lines may name as the source does."""
    return {file.name: file for file in found.user_files if file.parent in {s.parent for s in found.files.sources}}


def _not_fatal(problem: Diagnostic) -> Diagnostic:
    """What clang cannot read, the project's own compiler may: it has the last word."""
    if problem.severity is not Severity.ERROR:
        return problem
    return replace(problem, severity=Severity.WARNING)


def _main(found: Survey) -> tuple[str, int] | None:
    for unit in found.units:
        for function in unit.reading.functions:
            if function.name == "main":
                line = found.files.text(function.file).count(b"\n", 0, function.start) + 1
                return str(function.file), line
    return None


def _with_macros(use: FoundUse, found: Survey, macros: Macros) -> FoundUse:
    """A use whose name a macro's body brings can be instrumented where that body is the user's."""
    if use.why_missed or use.use.written:
        return use
    if any(carriers_of(use, unit, macros, found.files.text)[0] for unit in found.units):
        return use
    why = "its name comes out of a macro that is not the project's own, or is pasted together with ##"
    return replace(use, why_missed=why)


def _replace_names(hooks: Iterable[Hook], found: Survey, macros: Macros, copies: Copies) -> None:
    declarations = [d for unit in found.units for d in unit.reading.declarations]
    for hook in hooks:
        use = hook.found.use
        if use.written:
            copies.replace(use.place.file, use.place.offset, len(use.callee), hook.expression)
        holding = innermost(declarations, use.place)
        if holding is not None:
            for wrapper in hook.wrappers:
                copies.declare(holding.file, holding.start, declaration(wrapper))
    for carrier in macros.carriers:
        copies.replace(carrier.file, carrier.offset, len(carrier.callee), carrier.replacement)


def _entries(platform: Platform, found: Survey) -> tuple[Entry, ...]:
    names = {n: callee.name for callee in found.callees.values() for n, _ in callee.entries}
    return tuple(
        Entry(names.get(n, entry.prototype), entry.subtype, entry.kind.value, entry.transfer, entry.suggestion)
        for n, entry in enumerate(platform.host.entries)
    )


def _addresses(hooks: Iterable[Hook]) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            f"calls of {hook.found.callee.name} through a pointer are counted here, where its address is taken",
            "Pragmas cannot speak of them; call the function by its name to tell its calls apart.",
            Severity.NOTE,
            str(hook.found.file),
            hook.found.use.place.line,
            hook.found.use.place.column,
        )
        for hook in hooks
        if not hook.found.use.is_call
    )
