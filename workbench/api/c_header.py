"""A C header of a platform's host API, made of its template: for programs whose vendor's header is not at hand."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workbench.api.source import suffixes
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, Host, HostEntry
from workbench.model.prototypes import C_WORDS, HandleTypes, Prototype, c_callees, callees, handle_of, is_plain, type_of

WORD = re.compile(r"[A-Za-z_]\w*")
_SIZE = re.compile(r"\bsizeof\s*(\([^()]*\)|\**\s*\w+(\.\w+\(\))?)")
_SYSTEM = Path("/usr/include")
_SIZED = re.compile(r"\bsizeof\s*\(?\s*(\w+)\b")
_ARRAY = re.compile(r"(?:const )?(?:std::)?(?:vector|span|array|string)\b")
KNOWN = {*C_WORDS, "struct", "union", "enum"}
#: Types that <sys/types.h>, and with it <stdlib.h>, declares: an API may have its own by the same names.
SYSTEM_TYPES = {
    "blkcnt_t", "blksize_t", "caddr_t", "clock_t", "clockid_t", "daddr_t", "dev_t",
    "fd_mask", "fd_set", "fsblkcnt_t", "fsfilcnt_t", "fsid_t", "gid_t",
    "id_t", "ino_t", "key_t", "loff_t", "mode_t", "nlink_t", "pid_t",
    "quad_t", "register_t", "suseconds_t", "time_t", "timer_t", "u_char",
    "u_int", "u_int8_t", "u_int16_t", "u_int32_t", "u_int64_t", "u_long", "u_quad_t",
    "u_short", "uid_t", "uint", "ulong", "ushort",
}  # fmt: skip


def used(expression: str) -> list[str]:
    """The names whose values an expression of an entry uses."""
    return WORD.findall(_SIZE.sub(" ", expression))


def data_of(prototype: Prototype, entry: HostEntry, kept: HandleTypes) -> tuple[str, str, bool]:
    """The data of a call: (expression, bytes of an element, whether it is a value and not an array). WorkbenchError if
    its entry and parameters do not show them."""
    handle = handle_of(prototype, kept)
    others = [(text, name) for text, name in prototype.parameters if handle is None or name != handle.name]
    kinds = {name: type_of(text, name) for text, name in others}
    plain = {name for name, kind in kinds.items() if is_plain(kind) and "[" not in kind}
    if (given := entry.data.strip()) in plain:
        return f"&{given}", f"sizeof {given}", True
    if given:
        return given, f"sizeof *({given})", False
    sends = entry.kind is CallKind.SEND
    if prototype.cpp and (filled := _cpp_data(prototype, kinds, sends)):
        return filled
    texts = (entry.address, entry.bytes, entry.fpga, entry.condition)
    spoken = {name for text in texts for name in used(text)}
    pointers = [(text, name) for text, name in others if ("*" in text or "[" in text) and name not in spoken]
    usable = [name for text, name in pointers if ("const" in text) == sends]
    usable = usable or [name for text, name in pointers if sends]
    if len(usable) == 1:
        return usable[0], f"sizeof *{usable[0]}", False
    values = [name for text, name in others if name not in spoken and (text, name) not in pointers]
    values = [name for name in values if name in _SIZED.findall(entry.bytes)] or values
    if not usable and sends and len(values) == 1:
        return f"&{values[0]}", f"sizeof {values[0]}", True
    if not usable and not sends and not pointers and prototype.returns != "void":
        return "&rcw_value", "sizeof rcw_value", True
    choices = usable or values or [name for _, name in others]
    hint = " or ".join(f"data: {name}" for name in choices) or "data: EXPRESSION"
    raise WorkbenchError(
        Diagnostic(
            f"it is unclear which parameter of {prototype.name} has the data",
            f"Name that parameter, an array or a value, in its entry: {hint}.",
        )
    )


def _cpp_data(prototype: Prototype, kinds: Mapping[str, str], sends: bool) -> tuple[str, str, bool] | None:
    """The data of a call of C++ in an array of a library's, in a number that is referred to, or in what it returns."""
    arrays = [name for name, kind in kinds.items() if _ARRAY.match(kind) and (sends or not kind.startswith("const"))]
    numbers = [name for name, kind in kinds.items() if kind.endswith("&") and "const" not in kind and is_plain(kind)]
    if len(arrays) == 1:
        return f"{arrays[0]}.data()", f"{arrays[0]}.size() * sizeof *{arrays[0]}.data()", False
    if len(numbers) == 1 and not sends:
        return f"&{numbers[0]}", f"sizeof {numbers[0]}", True
    if not sends and _ARRAY.match(prototype.returns):
        return "rcw_value.data()", "rcw_value.size() * sizeof *rcw_value.data()", True
    return None


def in_cpp(host: Host) -> bool:
    """Whether an API's functions, and what calls them, have to be in C++: by its calls, or the header's name."""
    methods = any(callee.prototype.cpp for callee in callees(host.entries)[0].values())
    return methods or any(name.endswith(suffixes.CPP_HEADERS) for name in header_names(host))


def header_of(line: str) -> str:
    """The file that an include line names."""
    return re.sub(r'^\s*#\s*include\s*|["<>]', "", line).strip()


def header_names(host: Host) -> tuple[str, ...]:
    """The files that the template's include lines name, but for the system's own."""
    named = map(header_of, host.include_lines)
    return tuple(
        name
        for name in named
        if name and not os.path.isfile(_SYSTEM / name) and not os.path.isabs(name) and ".." not in name
    )


def include_lines(host: Host) -> tuple[str, ...]:
    """The template's include lines as C has them; one may name the header alone."""
    named = (re.sub(r"^#\s*include\s*", "", line.strip()) for line in host.include_lines)
    return tuple(
        f"#include {name if name[:1] in ('<', chr(34)) else f'{chr(34)}{name}{chr(34)}'}" for name in named if name
    )


def declarations(host: Host) -> tuple[str, ...]:
    """What brings the API's prototypes to C: the template's include lines, or a header's lines where it has none."""
    return include_lines(host) or (tuple(header_text(host).splitlines()) if c_callees(host.entries) else ())


def guessed_types(host: Host) -> tuple[str, ...]:
    """The types that prototypes pass whole and no header tells, where the template names none: they are taken for
    numbers."""
    if host.include_lines or host.api:
        return ()
    return tuple(name for name, whole in _foreign(_prototypes(host)).items() if whole)


def header_text(host: Host) -> str:
    """The header: prototypes, constants, and types as the prototypes use them."""
    prototypes = _prototypes(host)
    lines = ["/* Generated from the platform template. */", "#ifndef RCW_API_H", "#define RCW_API_H",
             *(f"#include <{name}.h>" for name in ("stdbool", "stddef", "stdint", "stdio", "sys/types")),
             "#ifdef __cplusplus", 'extern "C" {', "#endif"]  # fmt: skip
    lines += [*_types(prototypes), *constants(host), *(f"{prototype.text};" for prototype in prototypes)]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def constants(host: Host) -> Iterator[str]:
    """The template's constants as macros, where no header has them."""
    for name, value in host.constants.items():
        text = json.dumps(value) if isinstance(value, str) else repr(value)
        yield from (f"#ifndef {name}", f"#define {name} {text}", "#endif")


def _prototypes(host: Host) -> list[Prototype]:
    return [callee.prototype for callee in c_callees(host.entries).values()]


def _foreign(prototypes: Sequence[Prototype]) -> dict[str, bool]:
    """The types that only the vendor's header knows; whether they are used whole, not behind a pointer."""
    whole: dict[str, bool] = {}
    for prototype in prototypes:
        for text in (prototype.returns, *(type_of(text, name) for text, name in prototype.parameters)):
            words = [word for word in WORD.findall(text) if word not in KNOWN]
            for word in words[:1]:
                whole[word] = whole.get(word, False) or "*" not in text
    return whole


def _types(prototypes: Sequence[Prototype]) -> Iterator[str]:
    """Declarations of types that only the vendor's header knows: whole where they are used whole, else their name."""
    for name, used in _foreign(prototypes).items():
        if name in SYSTEM_TYPES:
            continue  # of <sys/types.h>
        yield f"typedef intptr_t {name};" if used else f"typedef struct {name} {name};"
