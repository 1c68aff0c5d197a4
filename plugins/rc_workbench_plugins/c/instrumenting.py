"""Writes instrumented copies of a host's sources into a build folder.

In each copy an API function's name gives way to a generated wrapper's (rcw_wrappers.c; rcw_unit.c tells the recorder of
them). Nothing is added but text within lines, and `#line` names the user's file, so that compilers and debuggers speak
of the source as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files as resource_files
from pathlib import Path

from rc_workbench_plugins.c import access_sites, checking, cpp_catches
from rc_workbench_plugins.c.clang_parse import TokenPlace, included_files
from rc_workbench_plugins.c.copies import Copies
from rc_workbench_plugins.c.cpp_forms import Form
from rc_workbench_plugins.c.cpp_sites import opening, unfollowed
from rc_workbench_plugins.c.cpp_types import number_of
from rc_workbench_plugins.c.facts import Range, innermost
from rc_workbench_plugins.c.macros import Macros, carriers_of, definitions, find_macros
from rc_workbench_plugins.c.numbering import Hook, Numbering, name_below, number
from rc_workbench_plugins.c.survey import ApiUse, Survey, missed_diagnostic, survey
from rc_workbench_plugins.c.wrappers import declaration, generate, unit_source
from workbench.api import Diagnostic, HostBuild, HostSources, Job, Platform, Severity, WorkbenchError, entries_of
from workbench.api.source.suffixes import is_cpp
from workbench.api.unstable import opened_names

#: Before the declaration of a wrapper in C++ and C; defined where each source begins.
_IN_C = "RCW_C"
#: what stands before a name and says where it is looked for; the longest that ends there
_SCOPES = re.compile(rb"(?:\w*::\s*)+\Z")


def instrument(
    root: Path, host: HostSources, platform: Platform, defines: dict[str, str], out: Path, job: Job | None = None
) -> HostBuild:
    """Copies below `out/host`, and the wrappers beside them. Raises WorkbenchError for sources that cannot be read."""
    surveyed = survey(root, host, platform, defines, job)
    read = {unit.source for unit in surveyed.units}
    if unread := [source for source in surveyed.files.sources if source not in read]:
        raise WorkbenchError(*(d for d in surveyed.diagnostics if d.file in {str(source) for source in unread}))
    in_cpp = {use.callee.prototype.name for use in surveyed.uses if use.use.form and not use.use.written}
    macros = find_macros(surveyed.units, surveyed.callees.keys(), in_cpp, surveyed.files.text)
    uses = tuple(_with_macros(use, surveyed, macros) for use in surveyed.uses)
    numbering = number(surveyed, uses, _main(surveyed))
    others = cpp_catches.headers(surveyed, uses)
    copies = Copies(surveyed.files, out / "host", (*surveyed.user_files, *others))
    for unit in surveyed.units:
        for part, included in (*unit.reading.includes, *unit.reading.others_includes):
            copies.redirect(part, included.resolve())
    _replace_names(numbering, platform, surveyed, macros, copies)
    cpp_catches.write(surveyed, numbering.hooks, platform, numbering.unit, copies)
    in_macro = partial(_in_macro, unit=numbering.unit, platform=platform)
    runtime = Path(str(resource_files("workbench.resources") / "host"))
    records: dict[bool, tuple[str, ...]] = {False: (), True: ()}
    if any(hook.api_use.use.form for hook in numbering.hooks):
        table = f'extern "C" rcw_unit rcw_here_{numbering.unit};'
        records[True] = (f'#include "{runtime / "recap.hpp"}"', table)
    mixed = any(is_cpp(unit.source) for unit in surveyed.units)  # then what declares a wrapper says that it is in C
    for unit in surveyed.units:
        linkage = f"#define {_IN_C} " + ('extern "C"' if is_cpp(unit.source) else "extern")
        unwritten = (hook for hook in numbering.hooks if not hook.api_use.use.written)
        copies.preambles[unit.source] = (
            *((linkage,) if mixed else ()),
            *records[is_cpp(unit.source)],
            *(access_sites.preamble(is_cpp(unit.source)) if unit.reading.accesses else ()),
            *definitions(unit, unwritten, macros, surveyed.files.text, copies.line_of, in_macro),
        )
    missed = tuple(missed_diagnostic(use) for use in uses if use.why_missed)
    diagnostics = (replace(one, file=name_below(surveyed.files.root, Path(one.file or ""))) for one in missed)
    wrappers = generate(numbering, platform, defines, runtime, _beside(surveyed))
    wrappers_file, unit_file = out / "rcw_wrappers.c", out / "rcw_unit.c"
    try:
        copies.write()
        out.mkdir(parents=True, exist_ok=True)  # where no source calls the API there are no copies
        wrappers_file.write_text(wrappers.text, encoding="utf-8")
        unit_file.write_text(unit_source(numbering, runtime, diagnostics), encoding="utf-8")
    except OSError as error:
        hint = "Check that the disk has room and that this folder is writable."
        raise WorkbenchError(Diagnostic(f"cannot write: {error.strerror}", hint, file=str(out))) from None
    wrong = checking.check(surveyed, numbering, copies, wrappers, wrappers_file)
    link_flags = cpp_catches.link_flags(numbering.hooks)
    return HostBuild(
        sources=tuple(copies.targets.get(source, source) for source in surveyed.files.all_sources),
        flags=("-fno-lto",) if link_flags else (),  # by which the linker would not see what it is to lead elsewhere
        link_flags=link_flags,
        include_dirs=tuple((surveyed.files.root / folder).resolve() for folder in host.include_dirs),
        extra_sources=(wrappers_file, unit_file, runtime / "recap.c", runtime / "objects.c"),
        blocks=(numbering.block,),
        sites=numbering.sites,
        entries=entries_of(platform),
        missed=missed,
        diagnostics=(
            *(_not_fatal(problem) for problem in surveyed.diagnostics),
            *_addresses(numbering.hooks),
            *_not_followed(numbering.hooks),
            *_shown(numbering.hooks, [text for unit in surveyed.units for text in unit.reading.texts]),
            *wrong,
        ),
        read=tuple(path for path in (*surveyed.files.read, *included_files()) if not path.is_relative_to(out)),
    )


def _beside(survey: Survey) -> dict[str, Path]:
    """Headers that include lines may name alone: those beside a source, as the source does, and any other that one
    includes by its path."""
    folders = {source.parent for source in survey.files.sources}
    return {file.name: file for file in sorted(survey.user_files, key=lambda file: file.parent in folders)}


def _not_fatal(problem: Diagnostic) -> Diagnostic:
    """What clang cannot read, the project's own compiler may: it has the last word."""
    if problem.severity is not Severity.ERROR:
        return problem
    return replace(problem, severity=Severity.WARNING)


def _main(survey: Survey) -> TokenPlace | None:
    for unit in survey.units:
        for function in unit.reading.functions:
            if function.name == "main":
                line = survey.files.text(function.file).count(b"\n", 0, function.start) + 1
                return TokenPlace(function.file, function.start, line, 1)
    return None


def _with_macros(use: ApiUse, survey: Survey, macros: Macros) -> ApiUse:
    """A use whose name a macro's body brings can be instrumented where that body is the user's."""
    if use.why_missed or use.use.written:
        return use
    carriers = next(filter(None, (carriers_of(use, unit, macros, survey.files.text)[0] for unit in survey.units)), [])
    if use.use.form:
        here = (use.use.callee, use.use.place.file, use.use.place.line)
        same = (one.use for one in survey.uses if (one.use.callee, one.use.place.file, one.use.place.line) == here)
        kinds = {(one.form.object, one.form.parameters) for one in same if one.form and not one.written}
        if carriers and len(kinds) == 1 and len(carriers) == (1 if carriers[0].part == "call" else 2):
            return use
        why = "part of it is produced by a macro that is not the project's own, or that makes calls of different kinds"
        return replace(use, why_missed=why)
    if carriers:
        return use
    why = "its name is produced by a macro that is not the project's own, or is pasted together with ##"
    return replace(use, why_missed=why)


def _in_macro(hook: Hook, part: str, unit: str, platform: Platform) -> str:
    """What stands in a macro's body in the place of a part of a call that the macro brings."""
    form = hook.api_use.use.form
    if form is None:
        return hook.expression
    if part == "member":
        return ")))"
    text = opening(hook, form, unit, platform, opened_names(platform.host.entries))
    return text + {"object": "rcw_ref(", "pointer": "rcw_arrow(", "call": "*this))" if form.object else ""}[part]


def _rewrite(
    hook: Hook,
    form: Form,
    unit: str,
    platform: Platform,
    names: Mapping[str, int],
    copies: Copies,
    recorded: int | None,
) -> None:
    """What ends where a call begins comes before it; of two that begin or end at a place, the longer is outside."""
    for edit in form.edits:
        text = (
            edit.before + opening(hook, form, unit, platform, names, recorded) + edit.text if edit.opens else edit.text
        )
        if edit.opens:
            copies.before(Range(form.file, edit.start, form.end), text)
        elif edit.start == edit.end:
            copies.after(Range(form.file, form.start, edit.start), text)
        if edit.end > edit.start:
            copies.replace(form.file, edit.start, edit.end - edit.start, "" if edit.opens else text)


def _replace_names(numbering: Numbering, platform: Platform, survey: Survey, macros: Macros, copies: Copies) -> None:
    unit = numbering.unit
    names = opened_names(platform.host.entries)
    declarations = [d for unit in survey.units for d in unit.reading.declarations]
    linkage = _IN_C if any(is_cpp(unit.source) for unit in survey.units) else "extern"
    caught = cpp_catches.catches(numbering.hooks)
    for hook in numbering.hooks:
        use = hook.api_use.use
        if use.form:
            recorded = number_of(use.callee) if use.callee in caught else None
            _rewrite(hook, use.form, unit, platform, names, copies, recorded)
            if use.form.taken and (holding := innermost(declarations, use.place)):
                copies.declare(holding.file, holding.start, f"{use.form.taken};")
            continue
        if use.access:
            access_sites.rewrite(hook, copies)
        elif use.written:
            scopes = _SCOPES.search(survey.files.text(use.place.file), max(0, use.place.offset - 200), use.place.offset)
            length = len(scopes[0]) if scopes else 0  # std::fclose: a wrapper is no namespace's
            copies.replace(use.place.file, use.place.offset - length, length + len(use.callee), hook.expression)
        holding = innermost(declarations, use.place)
        if holding is not None:
            for wrapper in hook.wrappers:
                copies.declare(holding.file, holding.start, declaration(wrapper, linkage))
    for carrier in macros.carriers:
        copies.replace(carrier.file, carrier.offset, len(carrier.text.encode("latin-1")), f"{carrier.replacement} ")


def _not_followed(hooks: Iterable[Hook]) -> Iterator[Diagnostic]:
    """C++ calls that do not tell what they open or are called on, where an entry asks for it."""
    for hook in hooks:
        form = hook.api_use.use.form
        if form and (what := unfollowed(hook, form)):
            yield Diagnostic(
                f"the call of {hook.api_use.callee.name} does not show which object it {what}"
                + ("; the call is counted in any case" if what == "is called on" else ""),
                "Use the object's own class at the call, or separate such calls by a condition.",
                Severity.WARNING,
                str(hook.api_use.file),
                hook.api_use.use.place.line,
                hook.api_use.use.place.column,
            )


def _shown(hooks: Iterable[Hook], texts: list[Range]) -> Iterator[Diagnostic]:
    """Macros that make a text of a call that is recorded, once each."""
    reported: set[str] = set()
    for hook in hooks:
        where = hook.api_use.use.place
        macro = innermost(texts, where) if hook.api_use.use.written else None
        if macro and where.offset > macro.start and macro.name not in reported:
            reported.add(macro.name)
            yield Diagnostic(
                f"{macro.name} turns its argument into text: for a recorded call it shows the wrapper's name",
                "The program behaves the same; only a message that it prints may differ.",
                Severity.NOTE,
                str(where.file),
                where.line,
                where.column,
            )


def _addresses(hooks: Iterable[Hook]) -> Iterator[Diagnostic]:
    """Where calls are counted that no text stands for: once for each constructor or destructor."""
    hooks = tuple(hooks)
    together = [id(hook) for hook in cpp_catches.catches(hooks).values()]
    for hook in hooks:
        use, name = hook.api_use.use, hook.api_use.callee.name
        caught = use.form is not None and use.form.caught is not None
        if use.is_call or (caught and id(hook) not in together):
            continue
        how = (
            "that do not appear in the source text are counted together here"
            if caught
            else "through a pointer are counted here, where its address is taken"
        )
        yield Diagnostic(
            f"calls of {name} {how}",
            "Pragmas cannot name them."
            if caught
            else "Pragmas cannot name them; call the function by its name to separate its calls.",
            Severity.NOTE,
            str(hook.api_use.file),
            use.place.line,
            use.place.column,
        )
