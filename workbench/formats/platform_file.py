"""Platform templates read from YAML, with what their schema alone does not show checked, line by line."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from workbench.api import PortKind
from workbench.api.ports import HardwarePort, check_ports
from workbench.api.source.expressions import reaches_out
from workbench.formats.documents import Schema, parse_document, read_text, warning
from workbench.formats.platform_file_1 import Platform1, upgraded
from workbench.formats.queue_calls import check_queues
from workbench.formats.units import written
from workbench.formats.yaml_marks import Marked, check
from workbench.model.diagnostic import Diagnostic, near
from workbench.model.hardware import Hardware, Port
from workbench.model.opened import opened, opened_names
from workbench.model.platform import EXPRESSIONS, STATEMENTS, CallKind, Platform, TransferTable

_INCLUDES = re.compile(r'(?:\s*#\s*include\s*)?(?:<[^<>"\r\n]+>|"[^"\r\n]+"|[^\s<>"#]+)\s*')
_TYPE = re.compile(r"[\w \t*:<>,]+")
_DIRECTIONS = {CallKind.SEND: "send", CallKind.RECEIVE: "receive"}

_QUALIFIED = r"(?:~?[A-Za-z_]\w*(?:\s*<[^<>()]*>)?\s*::\s*)*"
_CALLEE = re.compile(rf"({_QUALIFIED}(?:operator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+)|~?[A-Za-z_]\w*))\s*\(")
_BEFORE = re.compile(r"[\w\s*&:<>,.]*")
_AFTER = re.compile(r"[\w\s&=:>*-]*;?\s*")
_ATTRIBUTE = re.compile(
    r"__attribute__\s*\(\(.*?\)\)(?!\s*\))|__declspec\s*\(.*?\)|\[\[.*?\]\]|/\*.*?\*/|//[^\n]*", re.DOTALL
)
_NOT_NAMES = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "alignof", "defined"}


_TITLE = "platform template"
PortKinds = Mapping[str, PortKind]
PortClass = Callable[[], type[HardwarePort]]
NO_KINDS: PortKinds = {}


def load_platform(path: Path | str, kinds: PortKinds = NO_KINDS) -> tuple[Platform | None, tuple[Diagnostic, ...]]:
    """Read a platform template. None where there is an error; warnings may come with a platform.

    Ports are read as their `kinds` have them; without any, only what all ports have in common is.
    """
    text, problems = read_text(Path(path), _TITLE)
    return (None, problems) if text is None else parse_platform(text, str(path), kinds)


def parse_platform(
    text: str, file: str | None = None, kinds: PortKinds = NO_KINDS
) -> tuple[Platform | None, tuple[Diagnostic, ...]]:
    """Like `load_platform`, from a text that may not be saved yet."""
    return _parsed(text, file, tuple((name, kind.port) for name, kind in kinds.items()))


@lru_cache(maxsize=64)  # a template is read again at each step of a project, and all of them to find one
def _parsed(
    text: str, file: str | None, kinds: tuple[tuple[str, PortClass], ...]
) -> tuple[Platform | None, tuple[Diagnostic, ...]]:
    return parse_document(_schema(dict(kinds)), text, file)


def callee_name(prototype: str) -> str | None:
    """What a C/C++ prototype declares: `fpgaWrite`, `bo::write`, `kernel::operator()`; None where it is no prototype.

    A macro may be given as an equivalent prototype, or as `NAME(a, b)`.
    """
    text = _ATTRIBUTE.sub(" ", prototype).strip()
    match = _CALLEE.search(text)
    if match is None or _BEFORE.fullmatch(text[: match.start()]) is None:
        return None
    name = re.sub(r"\s+", "", match[1])
    closing = _closing(text, match.end() - 1)
    if name in _NOT_NAMES or closing is None or _AFTER.fullmatch(text[closing + 1 :]) is None:
        return None
    return name


def _closing(text: str, opening: int) -> int | None:
    depth = 0
    for offset in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[offset], 0)
        if depth == 0:
            return offset
    return None


def _semantic(platform: Platform, marked: Marked) -> list[Diagnostic]:
    return [
        *_check_entries(platform, marked),
        *_check_header(platform, marked),
        *_check_opened(platform, marked),
        *_check_expressions(marked),
        *check_queues(platform.host.queues, marked),
        *_check_suggestions(platform, marked),
        *_check_limits(platform, marked),
        *_check_hardware(platform.hardware, marked),
        *(d for name, table in platform.transfer_tables.items() for d in _check_table(platform, marked, name, table)),
        *_check_names(marked, "memories", [memory.name for memory in platform.memories]),
        *_check_names(marked, "networks", [network.name for network in platform.networks]),
    ]


def _typed(kinds: Mapping[str, PortClass]) -> Callable[[Platform, Marked], tuple[Platform, Sequence[Diagnostic]]]:
    """Reads each port as its kind has it."""

    def typed(platform: Platform, marked: Marked) -> tuple[Platform, Sequence[Diagnostic]]:
        hardware, problems = platform.hardware, []
        if hardware is None or not kinds:
            return platform, ()
        ports: list[Port] = []
        for number, port in enumerate(hardware.ports):
            here = ("hardware", "ports", number)
            if port.kind not in kinds:
                hint = near(port.kind, kinds, "Kinds are")
                problems.append(marked.diagnostic((*here, "kind"), f"there is no port kind '{port.kind}'", hint))
                continue
            read, port_problems = check(kinds[port.kind](), marked.below(here))
            problems += port_problems
            ports.append(read or port)
        return platform.model_copy(update={"hardware": hardware.model_copy(update={"ports": tuple(ports)})}), problems

    return typed


def _schema(kinds: Mapping[str, PortClass]) -> Schema[Platform]:
    """What a template is read as, with the port kinds that there are."""
    return Schema(
        _TITLE,
        Platform,
        migrations=(upgraded,),
        earlier={1: Platform1},
        complete=_typed(kinds),
        semantic=_semantic,
    )


def _check_entries(platform: Platform, marked: Marked) -> Iterator[Diagnostic]:
    seen: dict[tuple[str, ...], int] = {}
    for index, entry in enumerate(platform.host.entries):
        path = ("host", "entries", index)
        callee = f"a {entry.access} through a pointer" if entry.access else callee_name(entry.prototype)
        if callee is None:
            hint = "Write it as in the API's header: int fpgaWrite(fpga_t *fpga, const uint32_t *data, int words)."
            yield marked.diagnostic((*path, "prototype"), "this is not a C or C++ prototype", hint)
        key = (" ".join(entry.prototype.split()).rstrip("; "), entry.access or "", entry.of, entry.condition.strip())
        if key in seen:
            line = marked.span(("host", "entries", seen[key])).line
            hint = f"The entry on line {line} has them too; give each its own condition, or remove one."
            yield marked.diagnostic((*path, "prototype"), "this prototype and condition are given twice", hint)
        seen.setdefault(key, index)
        direction = _DIRECTIONS.get(entry.kind)
        table = platform.transfer_tables.get(entry.transfer)
        if entry.transfer and table is None and platform.transfer_tables:  # else they are a board's, still to come
            hint = near(entry.transfer, platform.transfer_tables, "Tables are")
            yield marked.diagnostic((*path, "transfer"), f"there is no transfer table '{entry.transfer}'", hint)
        elif table is not None and direction is not None and table.direction != direction:
            message = f"this call is of kind {entry.kind.value}, but table '{entry.transfer}' is for {table.direction}"
            yield warning(marked, (*path, "transfer"), message)
        elif not entry.transfer and direction and platform.transfer_tables:
            hint = near("", platform.transfer_tables, "Add `transfer:` with one of")
            yield warning(marked, (*path, "kind"), f"{callee or 'this call'} moves data but names no table", hint)


def _check_header(platform: Platform, marked: Marked) -> Iterator[Diagnostic]:
    """Check that include lines and constants contain no C of their own."""
    for index, line in enumerate(platform.host.include_lines):
        if not _INCLUDES.fullmatch(line):
            hint = "Write one as a source has it: '#include <opae/fpga.h>'."
            yield marked.diagnostic(("host", "include_lines", index), "this line includes no header", hint)
    for name in platform.host.constants:
        if not name.isidentifier():
            yield marked.diagnostic(("host", "constants", name), f"{name!r} is not a C name", "Write a macro's name.")
    if not _TYPE.fullmatch(platform.host.transfers.data_type):
        yield marked.diagnostic(("host", "transfers", "data_type"), "this is not a C type", "Write one, as uint32_t.")


def _check_opened(platform: Platform, marked: Marked) -> Iterator[Diagnostic]:
    """Check that entries open what `of` names, and that accesses have all that they need."""
    entries = platform.host.entries
    known = opened_names(entries)
    mapped = opened_names(entry for entry in entries if entry.mapped_bytes)
    for index, entry in enumerate(entries):
        path = ("host", "entries", index)
        for field, text in (("opens", entry.opens), ("of", entry.of)):
            if text and opened(text) is None:
                hint = "Write a name, or an expression, `is` and a name: *handle is bar0."
                yield marked.diagnostic((*path, field), f"'{text}' names nothing", hint)
        of = opened(entry.of)
        for name in of.names if of else ():
            if name not in known:
                hint = near(name, known, "Names are") if known else f"Write `opens: {name}` in the entry that opens it."
                yield marked.diagnostic((*path, "of"), f"no entry opens '{name}'", hint)
            elif entry.access and name not in mapped:
                hint = "Give its size in that entry, as in mapped_bytes: length."
                yield marked.diagnostic((*path, "of"), f"'{name}' is not a mapping", hint)
        if entry.access and entry.prototype:
            yield marked.diagnostic((*path, "prototype"), "accesses are not calls and have no prototype", "Remove one.")
        if entry.access and not entry.of:
            hint = "Name the mapping in it: of: NAME, and opens: NAME in the entry of the call that maps it."
            yield marked.diagnostic((*path, "access"), "these accesses name no mapping", hint)
        if entry.mapped_bytes and not entry.opens:
            yield marked.diagnostic((*path, "mapped_bytes"), "the mapping has no name", "Add opens: NAME.")


def _check_expressions(marked: Marked) -> Iterator[Diagnostic]:
    """Check that each host expression is a single one: anything more would get into a generated wrapper."""
    for index, entry in enumerate(marked.data.get("host", {}).get("entries", ())):
        for name in EXPRESSIONS:
            if why := reaches_out(str(entry.get(name, ""))):
                hint = "Write one expression over the call's arguments, such as words * 4."
                yield marked.diagnostic(("host", "entries", index, name), f"this is not an expression: {why}", hint)
    moves = marked.data.get("host", {}).get("transfers") or {}
    for name in moves:
        statements = name in STATEMENTS
        if name.endswith("_c") and (why := reaches_out(str(moves[name]), statements=statements)):
            kind, hint = ("a complete piece of C", "statements") if statements else ("an expression", "one expression")
            hint = f"Write {hint} over address, data, words, bytes, index and result."
            yield marked.diagnostic(("host", "transfers", name), f"this is not {kind}: {why}", hint)


def _check_suggestions(platform: Platform, marked: Marked) -> Iterator[Diagnostic]:
    for index, entry in enumerate(platform.host.entries):
        low, high = entry.suggestion_from_bytes, entry.suggestion_to_bytes
        if low is not None and high is not None and high < low:
            message = f"no call moves {low} to {high} bytes, so this advice would never be shown"
            yield marked.diagnostic(("host", "entries", index, "suggestion_to_bytes"), message, "Swap the two.")


def _check_limits(platform: Platform, marked: Marked) -> Iterator[Diagnostic]:
    limits = platform.host.transfers
    if limits.maximum_bytes is not None and limits.maximum_bytes < limits.minimum_bytes:
        message = f"the largest transfer ({limits.maximum_bytes} B) is below the smallest ({limits.minimum_bytes} B)"
        yield marked.diagnostic(("host", "transfers", "maximum_bytes"), message, "Swap the two.")


def _check_hardware(hardware: Hardware | None, marked: Marked) -> Iterator[Diagnostic]:
    if hardware is None:
        return
    for part in ("clocks", "ports"):
        if not getattr(hardware, part):
            yield marked.diagnostic(("hardware", part), f"there are no {part}", "Add at least one.")
            return
    names = [clock.name for clock in hardware.clocks]
    yield from _check_names(marked, "clocks", names, ("hardware",))
    if hardware.interrupt_clock and hardware.interrupt_clock not in names:
        message = f"there is no clock '{hardware.interrupt_clock}'"
        yield marked.diagnostic(("hardware", "interrupt_clock"), message, f"Clocks are: {', '.join(names)}.")
    for number, problem in check_ports(hardware):
        yield marked.diagnostic(("hardware", "ports", number, problem.field), problem.message, problem.hint)


def _check_table(platform: Platform, marked: Marked, name: str, table: TransferTable) -> Iterator[Diagnostic]:
    path = ("transfer_tables", name)
    if table.direction not in _DIRECTIONS.values():
        hint = near(table.direction, _DIRECTIONS.values(), "Choices are")
        yield marked.diagnostic((*path, "direction"), f"'{table.direction}' is not a direction", hint)
    if not table.points:
        yield marked.diagnostic((*path, "points"), f"table '{name}' has no rows", "Add one: {bytes: 4, time_s: 8 us}.")
    hardware = platform.hardware
    whole = hardware and hardware.ports and hardware.clocks
    port = (
        next((port for port in hardware.ports if table.port in ("", port.name)), None) if hardware and whole else None
    )
    if hardware and hardware.ports and port is None and table.port:
        hint = near(table.port, [port.name for port in hardware.ports], "Ports are")
        yield marked.diagnostic((*path, "port"), f"there is no port '{table.port}'", hint)
    clock_hz = hardware.clock_of(port).frequency_hz if hardware and port else 0.0
    port_rate = port.word_bits / 8 * clock_hz if port else None
    sizes = [point.bytes for point in table.points]
    for row, point in enumerate(table.points):
        here = (*path, "points", row)
        if port and port_rate and point.bytes > port_rate * point.time_s * (1 + 1e-9):
            message = (
                f"row {row + 1} of '{name}' is faster than the port: {written(point.bytes, 'B')} in "
                f"{written(point.time_s, 's')} is more than a word of {port.word_bits // 8} B a cycle "
                f"at {written(clock_hz, 'Hz')}"
            )
            least = written(float(f"{point.bytes / port_rate:.6g}"), "s")
            hint = f"It takes at least {least}, or word_bits of the port '{port.name}' is more than {port.word_bits}."
            yield warning(marked, (*here, "time_s"), message, hint)
        if row == 0:
            continue
        before = table.points[row - 1]
        if point.bytes == before.bytes:
            message = f"the size {written(point.bytes, 'B')} is in rows {row} and {row + 1} of '{name}'"
            yield marked.diagnostic((*here, "bytes"), message, "Remove one of them.")
        elif point.bytes < before.bytes:
            message = (
                f"sizes must grow: row {row + 1} of '{name}' ({written(point.bytes, 'B')}) "
                f"comes after {written(before.bytes, 'B')}"
            )
            yield marked.diagnostic((*here, "bytes"), message, _order_hint(sizes, row))
        elif point.time_s < before.time_s:
            message = (
                f"row {row + 1} of '{name}' takes less time than row {row}, though it moves more: "
                f"{written(point.time_s, 's')} against {written(before.time_s, 's')}"
            )
            yield warning(marked, (*here, "time_s"), message, "Check both times.")


def _order_hint(sizes: list[int], row: int) -> str:
    """What puts a row that is smaller than the one before it in order."""
    swapped = sizes.copy()
    swapped[row - 1], swapped[row] = swapped[row], swapped[row - 1]
    around = swapped[max(0, row - 2) : row + 2]
    if all(a < b for a, b in pairwise(around)):
        return f"Swap rows {row} and {row + 1}."
    place = sum(size < sizes[row] for size in sizes[:row])
    if place == 0 or sizes[place - 1] < sizes[row] < sizes[place]:
        return f"Move row {row + 1} before row {place + 1}."
    return "Check its size."


def _check_names(marked: Marked, part: str, names: list[str], above: tuple[str, ...] = ()) -> Iterator[Diagnostic]:
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"the name '{name}' is given twice in {part}"
            yield marked.diagnostic((*above, part, index, "name"), message, "Give each its own name.")
