"""Writes what records every call of a constructor or destructor (cpp_structors.py), in recap.hpp's words."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rc_workbench_plugins.c.copies import Copies
from rc_workbench_plugins.c.cpp_forms import Form
from rc_workbench_plugins.c.cpp_sites import SiteWords
from rc_workbench_plugins.c.cpp_structors import InHeader
from rc_workbench_plugins.c.cpp_types import number_of
from rc_workbench_plugins.c.facts import Range
from rc_workbench_plugins.c.numbering import Hook
from rc_workbench_plugins.c.survey import ApiUse, Survey
from workbench.api import Platform
from workbench.api.source.suffixes import is_cpp
from workbench.api.unstable import opened_names


def catches(hooks: Iterable[Hook]) -> dict[str, Hook]:
    """The hooks that stand for every call of a constructor or destructor, by its key."""
    by_key: dict[str, Hook] = {}
    for hook in hooks:
        if hook.api_use.use.form and hook.api_use.use.form.caught:
            by_key.setdefault(hook.api_use.use.callee, hook)
    return by_key


def link_flags(hooks: Iterable[Hook]) -> tuple[str, ...]:
    """Linker flags that redirect calls to the recorder's functions."""
    forms = (hook.api_use.use.form for hook in catches(hooks).values())
    symbols = (symbol for form in forms if form and form.caught for symbol in form.caught.symbols)
    return tuple(f"-Wl,--wrap={symbol}" for symbol in symbols)


def headers(survey: Survey, uses: Iterable[ApiUse]) -> list[Path]:
    """The headers, none of the user's, that are to be rewritten, and those by which a source comes to them."""
    forms = (survey.use.form for survey in uses)
    wanted = {form.caught.header.file for form in forms if form and form.caught and form.caught.header}
    includes = [(part.file, file.resolve()) for unit in survey.units for part, file in unit.reading.others_includes]
    while more := {above for above, file in includes if file in wanted} - wanted:
        wanted |= more
    return sorted(wanted - {*survey.user_files})


def write(survey: Survey, hooks: Iterable[Hook], platform: Platform, unit: str, copies: Copies) -> None:
    """Add to the copies what records the calls: at the end of each source, or in the header."""
    hooks = tuple(hooks)
    every, addresses = catches(hooks), {hook.api_use.use.callee: hook for hook in hooks if _of_address(hook)}
    for key, hook in every.items():
        form = hook.api_use.use.form
        if form and form.caught and form.caught.header:
            _in_header(key, hook, form, form.caught.header, platform, unit, copies)
    for source in (one for one in survey.units if is_cpp(one.source)):
        forms = [(use.callee, use.form.caught) for use in source.reading.uses if use.form and use.form.caught]
        keys, pointers = {key for key, _ in forms}, {key for key, caught in forms if caught.of_pointer}
        lines = [line for key in every if key in keys for line in _wrapped(key, every[key], platform, unit)]
        lines += [line for key in every if key in pointers for line in _of_pointer(key, every[key], platform, unit)]
        taken = {use.callee for use in source.reading.uses if use.form and use.form.taken}
        lines += [_taken(addresses[key], platform, unit) for key in addresses if key in taken]
        if lines:
            size = len(survey.files.text(source.source))
            copies.after(Range(source.source, 0, size), "\n" + "\n".join(lines) + "\n")


def _code(hook: Hook) -> int:
    last = hook.wrappers[-1]
    return 2 * last.slot + (last.otherwise is not None)


def _begins(hook: Hook, form: Form, platform: Platform) -> str:
    """C++ that reports a call to the recorder before it is made."""
    last, names = hook.wrappers[-1], opened_names(platform.host.entries)
    words = SiteWords(last.callee, form, platform.host.constants, names)
    opens, _ = words.opens()
    before = f"{words.described()}{f'{{ {opens} }} ' if opens else ''}{words.at_the_board(platform)}"
    return f"{before}rcw_s.go({len(last.states)});"


def _wrapped(key: str, hook: Hook, platform: Platform, unit: str) -> Iterator[str]:
    """For each symbol a function that the linker leads its calls to, and that calls the library's."""
    form = hook.api_use.use.form
    if form is None or form.caught is None:
        return
    kinds = form.caught.parameters
    takes = ", ".join((f"{form.caught.of} *rcw_that", *(f"{kind} rcw_{n}" for n, kind in enumerate(kinds))))
    given = ", ".join(("rcw_that", *(f"static_cast<decltype(rcw_{n}) &&>(rcw_{n})" for n in range(len(kinds)))))
    for symbol in form.caught.symbols:
        real, wrap = f"rcw_real_{unit}_{symbol}", f"rcw_wrap_{unit}_{symbol}"
        yield f'extern "C" RCW_STRUCTOR {real}({takes}) __asm__("__real_{symbol}");'
        yield f'extern "C" RCW_STRUCTOR {wrap}({takes}) __asm__("__wrap_{symbol}");'
        yield f'extern "C" __attribute__((weak, used)) RCW_CALL RCW_STRUCTOR {wrap}({takes}) {{'
        yield f"if (rcw_is_inside({number_of(key)}, rcw_that)) return {real}({given});"
        yield f"rcw_inside rcw_i({number_of(key)}, rcw_that);"
        yield f"if (rcw_expected == {number_of(key)}) {{ rcw_expected = 0; return {real}({given}); }}"
        yield f"rcw_site rcw_s(rcw_here_{unit}, {_code(hook)}); auto &rcw_self = *rcw_that; (void)rcw_self;"
        yield f"{_begins(hook, form, platform)} return {real}({given}); }}"


def _of_address(hook: Hook) -> bool:
    return hook.api_use.use.form is not None and bool(hook.api_use.use.form.taken)


def _taken(hook: Hook, platform: Platform, unit: str) -> str:
    """The function that is called where a function's address was taken."""
    form = hook.api_use.use.form
    if form is None:
        return ""
    given = ", ".join(f"static_cast<decltype(rcw_{n}) &&>(rcw_{n})" for n in range(len(form.parameters)))
    begins = f"rcw_site rcw_s(rcw_here_{unit}, {_code(hook)}); {_begins(hook, form, platform)}"
    return f"RCW_CALL {form.taken} {{ {begins} return {form.call[0]}{given}{form.call[1]}; }}"


def _of_pointer(key: str, hook: Hook, platform: Platform, unit: str) -> Iterator[str]:
    """How std::unique_ptr deletes an object, for a class of which a table in the library tells the destructor."""
    form = hook.api_use.use.form
    if form and form.caught:
        of = form.caught.of
        yield f"template <> inline void std::default_delete<{of}>::operator()({of} *rcw_that) const RCW_DELETES {{"
        yield f"rcw_site rcw_s(rcw_here_{unit}, {_code(hook)}); auto &rcw_self = *rcw_that; (void)rcw_self;"
        yield f"rcw_expects rcw_e({number_of(key)}); {_begins(hook, form, platform)} delete rcw_that; }}"


def _in_header(
    key: str, hook: Hook, form: Form, header: InHeader, platform: Platform, unit: str, copies: Copies
) -> None:
    name, again = f"rcw_caught_{unit}_{hook.wrappers[-1].site}", header.again
    kinds = [f"rcw_kind_{n}" for n in range(len(form.parameters))]
    template = ", ".join(f"class {kind}" for kind in ("rcw_class", *kinds))
    takes = ", ".join(("rcw_class &rcw_self", *(f"{kind} &rcw_{n}" for n, kind in enumerate(kinds))))
    unused = "".join(f"(void){one}; " for one in ("rcw_self", *(f"rcw_{n}" for n in range(len(kinds)))))
    copies.declare(
        header.file,
        header.top,
        f"struct {name} : rcw_site {{ template <{template}> RCW_INLINED explicit {name}({takes})"
        f" : rcw_site(rcw_here_{unit}, {_code(hook)}) {{ {unused}if (rcw_expected == {number_of(key)})"
        f" {{ rcw_expected = 0; leave_out(); return; }} rcw_site &rcw_s = *this;"
        f" {_begins(hook, form, platform)} }} RCW_INLINED ~{name}() {{}} }};",
    )
    tag = f'__attribute__((abi_tag("rcw_{unit}"))) ' if header.tagged else ""
    copies.before(Range(header.file, header.name, header.name), f"RCW_CALL {tag}")
    text = f" {name} rcw_s(*this); "
    if again:
        site = f"{name}({', '.join(('*this', *again.given))})"
        given = ", ".join((site, *(f"static_cast<decltype({one}) &&>({one})" for one in again.given)))
        parameters = ", ".join((f"{name} &&", *again.parameters))
        text = f": {again.name}({given}) {{}} {again.template} RCW_UNCOUNTED {again.name}({parameters}) {again.rest} "
    copies.before(Range(header.file, header.inside, header.inside), text)
