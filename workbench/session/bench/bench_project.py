"""Generates a project from a platform template that makes only the platform's transfers, with sizes in powers of
two."""

import json
import re
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO

from workbench.api.c_header import KNOWN, WORD, constants, declarations, used
from workbench.api.job import Job
from workbench.api.ports import HardwarePort, Signal
from workbench.model.application import SCHEMA_VERSION
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.hardware import Hardware
from workbench.model.platform import CallKind, Host, HostEntry, Platform, TransferTable
from workbench.model.prototypes import Callee, HandleTypes, Prototype, callees, handle_types, pointed_type, type_of
from workbench.model.run import Run
from workbench.model.text import counted
from workbench.session.begin.new_top import address_room
from workbench.session.bench.bench_calls import Calls, Unmade, handle
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.open.workspace import Workspace
from workbench.session.program.files import write_atomically
from workbench.session.program.plugins import Plugins
from workbench.system.cache import cache_dir
from workbench.system.files import locked, real, sha256

OUTSTANDING = 8  # non-blocking transfers at once
_WORD_BITS, _LENGTH_BITS = 32, 8  # for signals of any width: an AXI burst's length
_LARGEST_BYTES = 4 << 20  # if neither table nor limits give it
_ELSE = (
    "Run a program that makes such transfers, and take their times from its run: `workbench template bench --from RUN`."
)


@dataclass(frozen=True)
class Bench:
    """The project's files, the project file first. `left_out` maps a table without a call to the reason."""

    files: Mapping[str, str]
    left_out: Mapping[str, str]


@dataclass(frozen=True)
class _Timed:
    """A call to be timed, with its range of sizes; `wait` is the call that ends it if it does not block."""

    callee: Callee
    entry: HostEntry
    smallest_bytes: int
    largest_bytes: int
    wait: str = ""

    @property
    def name(self) -> str:
        """The prefix of its functions' names."""
        return re.sub(r"\W", "_", f"rcw_{self.entry.transfer}{'_nonblocking' if self.wait else ''}")


def bench_workspace(
    template: Path, platform: Platform, plugins: Plugins, folder: Path | None = None, repeats: int = 5,
    largest_bytes: int | None = None,
) -> tuple[Workspace, Mapping[str, str]]:  # fmt: skip
    """The project, opened, and the tables that it leaves out. It is written into `folder`, or into the cache in place
    of the template's last project that is no longer in use. WorkbenchError if the template's calls or ports are not
    sufficient."""
    template = real(template)
    bench = bench_project(template, platform, repeats, largest_bytes)
    lock: BinaryIO | None = None
    if folder is None:
        folder, lock = _free(real(cache_dir()) / "bench" / sha256(str(template).encode())[:32])
        shutil.rmtree(folder, ignore_errors=True)
    if existing := next((folder / name for name in bench.files if (folder / name).exists()), None):
        raise WorkbenchError(Diagnostic("this file exists already", "Name a new folder.", file=str(existing)))
    for name, text in bench.files.items():
        write_atomically(folder / name, text)
    workspace = open_workspace(folder / next(iter(bench.files)), plugins)
    if lock:
        weakref.finalize(workspace, lock.close)  # the folder stays while a measurement uses it
    return workspace, bench.left_out


def _free(folder: Path) -> tuple[Path, BinaryIO]:
    """The first of a template's cache folders that is not in use, and its lock, which must be kept open."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return next((folder / str(n), lock) for n in count(1) if (lock := locked(folder / f"{n}.lock")))
    except OSError as error:
        hint = "Check that the disk has room and that this folder is writable. `--keep FOLDER` names another."
        raise WorkbenchError(Diagnostic(f"cannot write: {error.strerror}", hint, file=str(folder))) from None


def bench_run(workspace: Workspace, job: Job) -> Run:
    """Run such a project. WorkbenchError if the run fails."""
    try:
        run = run_workspace(workspace, RunOptions(deterministic=workspace.target().simulated), job)
    except WorkbenchError as error:
        message = "the measuring program, generated from the template, could not be built and run"
        raise WorkbenchError(*error.diagnostics, Diagnostic(message, _ELSE, file=str(workspace.root))) from None
    if not run.complete:
        why = f"the transfers did not finish: {run.manifest.reason}"
        raise WorkbenchError(Diagnostic(why, _ELSE, file=str(run.path)))
    return run


def bench_project(template: Path, platform: Platform, repeats: int, largest_bytes: int | None = None) -> Bench:
    """The project's files: `repeats` transfers for each table and size, up to the table's last size or
    `largest_bytes`."""
    hardware = platform.hardware
    if hardware is None:
        raise WorkbenchError(
            Diagnostic("this template has no hardware port", "Describe one under hardware.ports.", file=str(template))
        )
    known, problems = callees(platform.host.entries)
    if problems:
        raise WorkbenchError(*problems)
    first, last, room_bytes = unused_addresses(hardware)
    unnamed = tuple(entry for entry in platform.host.entries if not (entry.opens and entry.kind is CallKind.ACQUIRE))
    kept = handle_types(platform.host.model_copy(update={"entries": unnamed}))
    timed, left_out = _choose(platform, known, kept, min(largest_bytes or 1 << 62, room_bytes))
    if not timed:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items()) or "no entry names a transfer table"
        raise WorkbenchError(
            Diagnostic(f"no transfer of this platform can be timed: {reasons}", _ELSE, file=str(template))
        )
    source = "transfers.cpp" if any(callee.prototype.cpp for callee in known.values()) else "transfers.c"
    project = [
        "# Generated: every kind of transfer of the platform, in sizes by powers of two.",
        f"schema_version: {SCHEMA_VERSION}",
        "name: transfers",
        f"title: {json.dumps(f'Transfers of {platform.title or platform.name}', ensure_ascii=False)}",
        f"platform: {json.dumps(str(template))}",
        "host:",
        f"  sources: [{source}]",
        "hardware:",
        "  sources: [quiet.v]",
        "  top: quiet",
        f"  read_out: {{first: {first}, last: {last}}}",
    ]
    files = {
        f"transfers{PROJECT_SUFFIX}": "\n".join([*project, ""]),
        source: _program(platform.host, known, kept, timed, repeats),
    }
    return Bench({**files, "quiet.v": quiet_design(hardware)}, left_out)


def unused_addresses(hardware: Hardware) -> tuple[int, int, int]:
    """The counter read-out's first and last address at the end of the port's range, and the bytes below them."""
    bits, step, unit_bytes = address_room(hardware)
    first = (1 << bits) - step
    if first <= 0:
        message = f"an address of {counted(bits, 'bit')} leaves no room besides the counters' addresses"
        raise WorkbenchError(Diagnostic(message))
    return first, (1 << bits) - 1, first * unit_bytes


def _choose(
    platform: Platform, known: Mapping[str, Callee], kept: HandleTypes, most_bytes: int
) -> tuple[list[_Timed], dict[str, str]]:
    """The calls that represent the tables: for each table the first one that blocks, and the first that does not."""
    accessed = {entry.transfer for entry in platform.host.entries if entry.access}
    left_out = {
        name: "its transfers are accesses through a pointer"
        if name in accessed
        else "no entry of kind send or receive names it"
        for name in platform.transfer_tables
    }
    calls = Calls(known, kept, platform.host.constants, _LARGEST_BYTES)
    timed: list[_Timed] = []
    chosen_pairs: set[tuple[str, bool]] = set()
    entries = [(callee, entry) for callee in known.values() for _, entry in callee.entries]
    # preferably a call with a size and an address
    entries.sort(key=lambda one: (not _sized(one[0].prototype, one[1], kept), not one[1].address.strip()))
    for callee, entry in entries:
        key = (entry.transfer, entry.asynchronous)
        if not entry.kind.moves or not entry.transfer or key in chosen_pairs:
            continue
        try:
            calls.call(callee, entry, _sized(callee.prototype, entry, kept))
            wait = _wait(callee, known, calls) if entry.asynchronous else ""
        except Unmade as why:
            if (entry.transfer, not entry.asynchronous) not in chosen_pairs:
                left_out[entry.transfer] = f"{callee.name} {why}"
            continue
        left_out.pop(entry.transfer, None)
        table = platform.transfer_tables.get(entry.transfer)
        smallest = max(platform.host.transfers.minimum_bytes, _word_bytes(platform, table))
        largest = table.points[-1].bytes if table else platform.host.transfers.maximum_bytes or _LARGEST_BYTES
        chosen_pairs.add(key)
        timed.append(_Timed(callee, entry, smallest, min(largest, most_bytes), wait))
    return timed, left_out


def _wait(callee: Callee, known: Mapping[str, Callee], calls: Calls) -> str:
    """A call that waits for the non-blocking calls of a callee. Raises Unmade."""
    for one in known.values():
        if CallKind.WAIT in one.kinds and one.prototype.scope == callee.prototype.scope:
            try:
                return f"{calls.call(one, one.entries[0][1])};"
            except Unmade:
                continue
    raise Unmade("does not block, and no call waits for it")


def _word_bytes(platform: Platform, table: TransferTable | None) -> int:
    """The word size (bytes) of the port that a table's transfers use; the smallest transfer."""
    ports = platform.hardware.ports if platform.hardware else ()
    ports_named = [port for port in ports if table and port.name == table.port] or ports
    return ports_named[0].word_bits // 8 if ports_named else 1


def _program(host: Host, known: Mapping[str, Callee], kept: HandleTypes, timed: Sequence[_Timed], repeats: int) -> str:
    largest = max(max(one.smallest_bytes, one.largest_bytes) for one in timed)
    calls = Calls(known, kept, host.constants, largest)
    functions = [line for one in timed for line in _timing(one, kept, repeats, calls)]
    opening = list(_opening(known, kept, calls))
    lines = [
        "/* Generated from the platform template: each kind of transfer, in sizes by powers of two. */",
        *declarations(host),
        "#include <fcntl.h>", "#include <fnmatch.h>", "#include <stdint.h>", "#include <stdio.h>",
        "#include <stdlib.h>", "#include <string.h>", "#include <sys/types.h>",
        "#define like(text, pattern) (!fnmatch((pattern), (text), 0))", "#define order_of(text) 0",
        *constants(host), "", "static void *data;",
        *(f"static {kind} {handle(kind)};" for kind in kept),
        *(line for function in calls.functions.values() for line in ("", *function)), *functions,
        "", "int main(void)", "{", f"    data = calloc(1, {largest} + 4096);", *(f"    {line}" for line in opening),
        "    int done = 1;", *(f"    done &= {one.name}_of_all_sizes();" for one in timed),
        *(f"    {line}" for line in calls.ends()),
    ]  # fmt: skip
    for callee in known.values():
        entry = next((entry for _, entry in callee.entries if entry.kind is CallKind.RELEASE and not entry.of), None)
        if entry and not callee.prototype.cpp:
            with suppress(Unmade):
                lines.append(f"    {calls.call(callee, entry)};")
    return "\n".join([*lines, "    free(data);", "    return !done;", "}", ""])


def _opening(known: Mapping[str, Callee], kept: HandleTypes, calls: Calls) -> Iterator[str]:
    """The call that returns each type of handle."""
    for callee in known.values():
        prototype = callee.prototype
        entry = next((one for _, one in callee.entries if one.kind is CallKind.ACQUIRE and not one.opens), None)
        if entry is None or prototype.cpp:
            continue
        try:
            arguments = calls.arguments(callee, entry)
        except Unmade:
            continue
        filled = {name: pointed_type(text, name) for text, name in prototype.parameters}
        values = [
            f"&{handle(filled[name])}" if filled[name] in kept and "const" not in text else argument
            for (text, name), argument in zip(prototype.parameters, arguments, strict=True)
        ]
        returned = prototype.returns.replace(" ", "")
        brought = [f"{handle(kind)} = " for kind in kept if kind in kept.returned and kind.replace(" ", "") == returned]
        yield f"{''.join(brought[:1])}{prototype.name}({', '.join(values)});"


def _timing(one: _Timed, kept: HandleTypes, repeats: int, calls: Calls) -> Iterator[str]:
    """The C functions for an entry: its condition, its bytes, and its calls of all sizes."""
    prototype, entry, name = one.callee.prototype, one.entry, one.name
    sized = _sized(prototype, entry, kept)
    object_ = calls.object(one.callee, entry)
    call_arguments = [*([object_] if object_ else []), *calls.arguments(one.callee, entry, sized)]
    arguments = ", ".join(call_arguments)
    parameters = ", ".join(
        [*([f"{prototype.scope} &self"] if object_ else []), *(text for text, _ in prototype.parameters)]
    )
    message = json.dumps(f"{entry.prototype}: the template does not say enough to call it\n")
    call_lines = [f"{calls.call(one.callee, entry, sized)};"]
    if one.wait:
        call_lines = [line for many in (1, OUTSTANDING) for line in (
            f"for (int call = 0; call < {many}; call++)", f"    {call_lines[0]}", one.wait)]  # fmt: skip
    yield from (
        "",
        f"static int {name}_holds({parameters or 'void'}) {{ return !!({entry.condition.strip() or '1'}); }}",
        f"static int64_t {name}_bytes({parameters or 'void'}) {{ return (int64_t)({entry.bytes.strip() or '0'}); }}",
        f"static int {name}_of_all_sizes(void)", "{", "    long count = 1;",
        f"    int64_t one = {name}_bytes({arguments});",
    )  # fmt: skip
    if sized:
        yield from ("    count = 2;", f"    int64_t each = {name}_bytes({arguments}) - one;")
    yield f"    if (!{name}_holds({arguments}) || {'each' if sized else 'one'} <= 0) {{"
    yield from (f"        fputs({message}, stderr);", "        return 0;", "    }")
    if sized:
        yield f"    for (int64_t size = {one.smallest_bytes}; size <= {one.largest_bytes}; size *= 2) {{"
        yield "        count = (long)((size - one) / each + 1);"
        yield f"        if (count <= 0 || {name}_bytes({arguments}) != size)"
        yield "            continue;"
    else:
        yield "    {"
    yield f"        for (int time = 0; time < {repeats}; time++) {{"
    yield from (f"            {line}" for line in call_lines)
    yield from ("        }", "    }", "    return count > 0;", "}")


def _sized(prototype: Prototype, entry: HostEntry, kept: HandleTypes) -> str:
    """The parameter that gives the size of a transfer; "" if every call moves the same size."""
    kinds = {name: type_of(text, name) for text, name in prototype.parameters if "*" not in text}
    values = {name for name, kind in kinds.items() if kind not in kept
              and (not prototype.cpp or set(WORD.findall(kind)) <= KNOWN)}  # fmt: skip
    return next((name for name in used(entry.bytes) if name in values), "")


def quiet_design(hardware: Hardware) -> str:
    """A Verilog design `quiet` behind all of a platform's ports that takes every word at once and returns zeros."""
    ports = [port for port in hardware.ports if isinstance(port, HardwarePort)]
    pins = {name: f"input wire {name}" for clock in hardware.clocks for name in (clock.pin, clock.reset) if name}
    for port in ports:
        pins |= {s.name: _pin(s, role, port) for role, s in port.signals().items() if s.name and not s.optional}
    listed = ",\n    ".join(pins.values())
    body = [f"    {line}" for port in ports for line in port.quiet(hardware.clock_of(port).pin)]
    head = ["// Generated: takes every word at once, and gives zeros.", f"module quiet (\n    {listed}\n);"]
    return "\n".join([*head, *body, "endmodule", ""])


def _pin(signal: Signal, role: str, port: HardwarePort) -> str:
    any_width: int = _LENGTH_BITS if role.endswith("len") else getattr(port, "address_bits", _WORD_BITS)
    bits = any_width if signal.bits is None else signal.bits
    return f"{signal.direction} wire {f'[{bits - 1}:0] ' if bits > 1 else ''}{signal.name}"
