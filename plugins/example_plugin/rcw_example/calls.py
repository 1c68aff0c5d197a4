"""A host language: `array NAME WORDS`, `print NAME`, and calls of the platform's API with their arguments in C.

    array sent 16
    #pragma recap give send(data, top.port, word)
    exampleSend sent 0 64

It becomes C, in which each call is made by a function that records it (`resources/host/recap.h`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from rcw_example import SYNTAX
from workbench.api import (
    COMMON,
    FIRST_STATES,
    Callee,
    CallKind,
    CallSite,
    Category,
    Definition,
    Diagnostic,
    HostBuild,
    HostFile,
    HostScan,
    HostSources,
    Job,
    PlacedPragma,
    Platform,
    Site,
    State,
    WorkbenchError,
    callees,
    entries_of,
    expand_sources,
    find_pragmas,
    host_block,
    near,
    source_bytes,
    unit_text,
)

_KINDS = {CallKind.SEND: Category.SEND, CallKind.RECEIVE: Category.RECV}
_RUNTIME = Path(str(files("workbench.resources"))) / "host"
_CALL = """static void call_{n}({parameters})
{{
    rcw_start start = rcw_enter();
    rcw_thread *me = rcw_ready(&here);
    rcw_call call = {{0, 0, {bytes}, {address}}};
    if (me) rcw_go(me, &start, here.first + {n});
    {name}({names});
    if (me) rcw_leave(me, &start, here.first + {n}, &call);
}}
"""
_PRINT = 'for (unsigned n = 0; n < sizeof {0} / sizeof *{0}; n++) printf("%u\\n", {0}[n]);'


@dataclass(frozen=True)
class Line:
    """A line that is neither empty nor a comment, with the pragmas above it. `callee` is what it calls."""

    file: Path
    number: int
    words: tuple[str, ...]
    pragmas: tuple[PlacedPragma, ...]
    callee: Callee | None


def scan(root: Path, host: HostSources, platform: Platform, defines: dict[str, str], job: Job) -> HostScan:
    lines, problems = _read(root, host, platform)
    calls = (
        CallSite(str(line.file), line.number, 1, line.callee.name, line.callee.kind, line.callee.entry_text, "main",
                 line.pragmas, line.number)
        for line in lines if line.callee
    )  # fmt: skip
    return HostScan(tuple(calls), problems)


def plain(root: Path, host: HostSources, platform: Platform, out: Path) -> tuple[Path, ...]:
    lines, problems = _read(root, host, platform)
    if problems:
        raise WorkbenchError(*problems)
    return _write(out, platform, lines, {line: line.words[0] for line in lines}, ())


def instrument(
    root: Path, host: HostSources, platform: Platform, defines: dict[str, str], out: Path, job: Job
) -> HostBuild:
    lines, problems = _read(root, host, platform)
    states, sites, slots = list(FIRST_STATES), list[Site](), list[str]()
    functions, names = list[str](), dict[Line, str]()
    for line in lines:
        if line.callee is None:
            continue
        n, at, (number, entry) = len(sites), str(line.file.relative_to(root)), line.callee.entries[0]
        if line.pragmas:
            mark = line.pragmas[0].pragma
            what = (mark.name, mark.category, mark.reasons, mark.targets, mark.messages)
        else:
            what = (line.callee.name, _KINDS.get(entry.kind, Category.OVERHEAD), (), (), ())
        states.append(State(len(states), *what, at, line.number))
        sites.append(Site(at, line.number, 1, line.callee.name, what[0], 0))
        slots.append(f"{{{n}, {states[-1].index}, {number}}}")
        parameters, names[line] = line.callee.prototype.parameters, f"call_{n}"
        functions.append(_CALL.format(
            n=n, name=line.callee.name, parameters=", ".join(text for text, _ in parameters),
            names=", ".join(name for _, name in parameters), bytes=entry.bytes or 0, address=entry.address or 0,
        ))  # fmt: skip
    block = host_block(states, (sites[0].file, 1) if sites else None)
    unit = f".slot_count = {len(slots)}, .sites = {len(sites)}, .states = {len(states) - COMMON}"
    recorder = (
        f'#include "{_RUNTIME / "recap.h"}"',
        f"static const rcw_slot slots[] = {{{', '.join(slots)}}};",
        f"static rcw_unit here = {{.slots = slots, {unit}, .told = {json.dumps(unit_text(sites, block))}}};",
        "__attribute__((constructor(101))) static void begin(void) { rcw_add_unit(&here); }",
        *functions,
    )
    return HostBuild(
        _write(out, platform, lines, names, recorder), extra_sources=(_RUNTIME / "recap.c", _RUNTIME / "objects.c"),
        blocks=(block,), sites=tuple(sites), entries=entries_of(platform), diagnostics=problems,
    )  # fmt: skip


def _write(
    out: Path, platform: Platform, lines: Sequence[Line], names: Mapping[Line, str], before: Sequence[str]
) -> tuple[Path, ...]:
    """The program in C; `names` are the functions that make the calls, which `before` may define."""
    if len({line.file for line in lines}) > 1:
        raise WorkbenchError(Diagnostic("a program in this language has one source", "Join them."))
    arrays = [f"static unsigned {line.words[1]}[{line.words[2]}];" for line in lines if line.words[0] == "array"]
    body = [
        f"{names[line]}({', '.join(line.words[1:])});" if line.callee else _PRINT.format(line.words[1])
        for line in lines if line.words[0] != "array"
    ]  # fmt: skip
    head = ("#include <stdio.h>", *platform.host.include_lines, *before, *arrays)
    out.mkdir(parents=True, exist_ok=True)
    (out / "main.c").write_text("\n".join((*head, "int main(void)", "{", *body, "return 0;", "}", "")))
    return (out / "main.c",)


def outline(root: Path, names: Sequence[str]) -> tuple[HostFile, ...]:
    texts = {name: source_bytes(root / name).decode("utf-8", "replace") for name in names}
    return tuple(
        HostFile(name, True, ("main",), frozenset(re.findall(r"[A-Za-z_]\w*", text)), (), ())
        for name, text in texts.items()
    )


def definition(
    root: Path, host: HostSources, values: dict[str, str], file: Path, line: int, column: int, job: Job
) -> Definition | None:
    """The line of an array, of its name anywhere."""
    rows = source_bytes(file).decode("utf-8", "replace").splitlines()
    words = (word for word in re.finditer(r"\w+", rows[line - 1]) if word.start() < column <= word.end())
    name = next((word[0] for word in words), "")
    for number, row in enumerate(rows, 1):
        if found := re.match(rf"\s*array\s+({name})\s", row):
            return Definition(str(file), number, found.start(1) + 1, name, "array")
    return None


def _read(root: Path, host: HostSources, platform: Platform) -> tuple[list[Line], tuple[Diagnostic, ...]]:
    """The lines of all sources, and what is wrong with them."""
    known = callees(platform.host.entries)[0]
    lines, problems = list[Line](), list[Diagnostic]()
    for file in expand_sources(root, host.sources):
        text = source_bytes(file).decode("utf-8", "replace")
        pragmas, wrong = find_pragmas(text, SYNTAX, str(file))
        problems += wrong
        last = 0
        for number, row in enumerate(text.splitlines(), 1):
            words = row.partition("#")[0].split()
            if not words:
                continue
            above = tuple(pragma for pragma in pragmas if last < pragma.line < number)
            last = number
            if words[0] in known or (words[0], len(words)) in (("array", 3), ("print", 2)):
                lines.append(Line(file, number, tuple(words), above, known.get(words[0])))
            else:
                hint = near(words[0], known, "Calls are")
                problems.append(Diagnostic(f"there is no call '{words[0]}'", hint, file=str(file), line=number))
    return lines, tuple(problems)
