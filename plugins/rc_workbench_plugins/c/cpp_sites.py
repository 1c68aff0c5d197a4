"""Writes a C++ call as a lambda that records it: the text that goes where the call begins, in recap.hpp's words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rc_workbench_plugins.c.cpp_reading import Form
from rc_workbench_plugins.c.numbering import Hook, Wrapper
from rc_workbench_plugins.c.wrappers import escaped
from workbench.model.platform import HostEntry
from workbench.model.prototypes import type_of

_WORD = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*")
_SCALAR = re.compile(r"(?:(?:unsigned|signed|long|short|int|char|bool|float|double|size_t|u?int\d+_t)\b\s*)+\*?")


def opening(hook: Hook, form: Form, unit: str, constants: Mapping[str, int | float | str]) -> str:
    """The lambda up to where the user's object follows; whole where there is none. `unit` names the slots' table."""
    wrapper = hook.wrappers[-1]
    takes = [f"{kind} rcw_{n}" for n, kind in enumerate(form.parameters)]
    given = ", ".join(f"static_cast<decltype(rcw_{n}) &&>(rcw_{n})" for n in range(len(form.parameters)))
    call = f"{form.call[0]}{given}{form.call[1]}"
    code = _code(hook)
    body = f"rcw_site rcw_s(rcw_here_{unit}, {'rcw_code' if len(hook.wrappers) > 1 else code}); "
    body += _described(wrapper, form, constants)
    body += f"rcw_s.go({len(wrapper.states)}); return {call};"
    outer = [
        *(["int rcw_code"] if len(hook.wrappers) > 1 else []),
        *([f"{form.object}rcw_self"] if form.object else []),
    ]
    captures = [*(["rcw_code"] if len(hook.wrappers) > 1 else []), *(["&rcw_self"] if form.object else [])]
    inner = f"[{', '.join(captures)}]({', '.join(takes)}) RCW_CALL -> decltype({call}) {{ {body} }}"
    if not outer:
        return f"({inner})"
    chosen = f"{code}{', ' if form.object else '))'}" if len(hook.wrappers) > 1 else ""
    return f"([]({', '.join(outer)}) RCW_UNCOUNTED {{ return {inner}; }}({chosen}"


def _code(hook: Hook) -> str:
    """The number for `rcw_site`, chosen by the pragmas' conditions where the call stands."""
    *conditional, last = hook.wrappers
    numbers = {w.name: 2 * w.slot + (w.otherwise is not None) for w in hook.wrappers}
    chain = "".join(f"({w.pragma.pragma.condition}) ? {numbers[w.name]} : " for w in conditional if w.pragma)
    return f"{chain}{numbers[last.name]}"


def _described(wrapper: Wrapper, form: Form, constants: Mapping[str, int | float | str]) -> str:
    """Evaluates the entries' expressions over the call's arguments."""
    prototype = wrapper.callee.prototype
    texts = [t for _, e in wrapper.callee.entries for t in (e.condition, e.bytes, e.address, e.fpga) if t.strip()]
    used = {word for text in texts for word in _WORD.findall(text)}
    names, defaults = [], dict(prototype.defaults)
    known = {"self"} if form.object or not prototype.cpp else set()
    if "self" in used and form.object:
        names.append(f"auto &self = ({form.only} &)rcw_self;" if form.only else "auto &self = rcw_self;")
    shift = 1 if form.object_is_first else 0
    for n, (declaration, name) in enumerate(prototype.parameters):
        kind, at = type_of(declaration, name), n - shift
        if "..." in declaration:
            continue
        if at < 0:
            known.add(name)
            names += [f"auto &{name} = rcw_self;"] if name in used else []
        elif at < len(form.parameters):
            known.add(name)
            value = f"rcw_{at}"
            if form.only and not _SCALAR.fullmatch(kind):
                known.discard(name)
                continue
            names += [f"auto {'' if form.only else '&&'}{name} = "
                      f"{f'rcw_as<{kind}>({value}, 0)' if form.only else value};"] if name in used else []  # fmt: skip
        elif name in defaults:
            known.add(name)
            names += [f"const auto {name} = {defaults[name]};"] if name in used else []
    unknown = {name for _, name in prototype.parameters} - known
    entries = " ".join(
        _entry(n, entry, unknown, constants, {name for _, name in prototype.parameters})
        for n, (_, entry) in enumerate(wrapper.callee.entries)
    )
    holds = f"rcw_s.open() && rcw_is<{form.only}>(rcw_self)" if form.only else "rcw_s.open()"
    return f"if ({holds}) {{ {' '.join(names)} {entries} }} "


def _entry(
    which: int,
    entry: HostEntry,
    unknown: set[str],
    constants: Mapping[str, int | float | str],
    parameters: set[str],
) -> str:
    def text(expression: str) -> str:
        return _WORD.sub(lambda m: _constant(m[0], constants) if m[0] not in parameters else m[0], expression.strip())

    fields = [
        f"rcw_s.it.{name} = {kind}({text(expression)});"
        for name, kind, expression in (
            ("bytes", "(int64_t)", entry.bytes),
            ("address", "(int64_t)", entry.address),
            ("fpga", "(int32_t)(intptr_t)", entry.fpga),
        )
        if expression.strip() and unknown.isdisjoint(_WORD.findall(expression))
    ]
    holds = f"rcw_s.open() && ({text(entry.condition) or 1})"
    return f"if ({holds}) {{ rcw_s.it.which = {which}; {' '.join(fields)} }}"


def _constant(word: str, constants: Mapping[str, int | float | str]) -> str:
    value = constants.get(word)
    return word if value is None else f'"{escaped(value)}"' if isinstance(value, str) else f"({value!r})"
