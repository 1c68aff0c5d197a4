"""Instrumented accesses of memory: what stands for one in a copy, and the functions that are told before and after it.

An access becomes a statement expression, in which the place is named once and the access itself stays where it was, of
its own type. (C; no line is added.)
"""

from collections.abc import Iterator

from rc_workbench_plugins.c.copies import Copies
from rc_workbench_plugins.c.numbering import Hook, Wrapper
from workbench.api import HostEntry

_PARAMETERS = "(struct rcw_access *, const volatile void *, unsigned long, int)"


def preamble(cpp: bool) -> tuple[str, ...]:
    """What a source begins with that holds accesses (resources/host/objects.h has the same)."""
    linkage = '"C" ' if cpp else ""
    return (
        f"#define RCW_AUTO {'auto' if cpp else '__auto_type'}",
        "#ifndef RECAP_OBJECTS_H",
        "struct rcw_access { unsigned long long words[16]; };",
        f"extern {linkage}void rcw_accessed(struct rcw_access *);",
        "#endif",
    )


def declaration(wrapper: Wrapper, linkage: str) -> str:
    return f"{linkage} void {wrapper.name}{_PARAMETERS};"


def rewrite(hook: Hook, copies: Copies) -> None:
    """Put what records it around an access in its file's copy."""
    access = hook.api_use.use.access
    assert access is not None
    place, whole, file = access.place, access.whole, access.place.file
    n = hook.wrappers[0].name.removeprefix("rcw_")
    p, a, v, o = f"rcw_p{n}", f"rcw_a{n}", f"rcw_v{n}", f"rcw_o{n}"
    bare = f"__typeof__(({{ RCW_AUTO rcw_t{n} = *{p}; rcw_t{n}; }}))"

    def arguments_of(write: int) -> str:
        return f"{hook.expression}(&{a}, {p}, sizeof *{p}, {write})"

    opening = f"(__extension__ ({{ RCW_AUTO {p} = &("
    after = f"); struct rcw_access {a};"
    store = f"{arguments_of(1)}; *{p} = {v}; rcw_accessed(&{a});"
    load = f"{arguments_of(0)}; {bare} {o} = *{p}; rcw_accessed(&{a});"
    if access.step:
        start, end = (whole.start, place.start) if place.start > whole.start else (place.end, whole.end)
        copies.replace(file, start, end - start, "")
        result = o if access.step.endswith("after") else v
        copies.before(place, opening)
        copies.after(place, f"{after} {load} {bare} {v} = {o} {access.step[0]} 1; {store} {result}; }}))")
    elif access.value:
        operator = copies.files.text(file)[place.end : access.value]
        sign = _operator(operator)
        lines = "\n" * operator.count(b"\n")
        copies.before(whole, opening)
        begun = f"{after} {load} {bare} {v} = {o} {sign[:-1]} (" if sign != "=" else f"{after} {bare} {v} = ("
        copies.replace(file, place.end, access.value - place.end, f"{begun}{lines}")
        copies.after(whole, f"); {store} {v}; }}))")
    else:
        copies.before(place, opening)
        copies.after(place, f"{after} {load} {o}; }}))")


def _operator(between: bytes) -> str:
    """The operator between a place and its value, without the comments."""
    text = between.decode("latin-1")
    while (start := text.find("/*")) >= 0:
        text = text[:start] + text[text.index("*/", start) + 2 :]
    return "".join(line.partition("//")[0] for line in text.split("\n")).strip().replace("\\", "").strip()


def function(wrapper: Wrapper, about: str) -> Iterator[str]:
    """The wrapper's C: what an access is told by; rcw_accessed (objects.c) tells that it is done."""
    yield from (f"void {wrapper.name}{_PARAMETERS};",
                f"void {wrapper.name}(struct rcw_access *rcw_a, const volatile void *rcw_at, unsigned long rcw_size,",
                "    int rcw_w)", "{", "    rcw_accessing *rcw_it = (rcw_accessing *)rcw_a;", "    rcw_it->thread = 0;",
                "    rcw_it->began = rcw_enter();", "    rcw_thread *rcw_me = rcw_ready(&rcw_here);",
                "    if (!rcw_me)",
                "        return;", f"    {about}(&rcw_it->call, rcw_at, rcw_size, rcw_w);",
                "    if (rcw_it->call.which < 0) {", "        rcw_take_off();", "        return;", "    }",
                f"    rcw_it->slot = rcw_here.first + {wrapper.slot} + rcw_it->call.which;",
                "    rcw_it->thread = rcw_me;", "    rcw_go(rcw_me, &rcw_it->began, rcw_it->slot);", "}")  # fmt: skip


def about_lines(about: str) -> tuple[str, ...]:
    """How the function begins that evaluates the entries of accesses."""
    head = f"static __inline__ void {about}(rcw_call *rcw_it, const volatile void *rcw_at, size_t size, int rcw_w)"
    return ("", head,
            "{",
            "    const volatile char *pointer = rcw_at;",
            "    rcw_it->which = -1, rcw_it->fpga = -1, rcw_it->bytes = -1, rcw_it->address = -1;",
            "    (void)pointer;", "    (void)size;")  # fmt: skip


def entry_lines(which: int, entry: HostEntry, bits: str, value: str) -> Iterator[tuple[str, str]]:
    """(what it is, a line) of an entry's part of that function."""
    yield f"what the {entry.access} is of", f"    const rcw_object *rcw_o{which} = rcw_of({value}, {bits});"
    yield "", f"    if (rcw_it->which < 0 && rcw_o{which} && rcw_w == {int(entry.access == 'write')}) {{"
    yield "", f"        const int64_t offset = (int64_t)((uint64_t)(uintptr_t)pointer - rcw_o{which}->value);"
    yield "", "        (void)offset;"
    yield f"the condition of the {entry.access}", f"        if ({entry.condition.strip() or 1}) {{"
    yield "", f"            rcw_it->which = {which}, rcw_it->fpga = rcw_o{which}->fpga;"
    begins = f"rcw_o{which}->address"
    address = entry.address.strip() or f"{begins} < 0 ? offset : {begins} + offset"
    for field, text in (("bytes", entry.bytes.strip() or "size"), ("address", address), ("fpga", entry.fpga.strip())):
        if text:
            yield f"the {field} expression of the {entry.access}", f"            rcw_it->{field} = (int64_t)({text});"
    yield "", "        }"
    yield "", "    }"
