"""Reads a project's sources with its language plugins, in children with limits; unreadable ones are reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.api.source.flags import readable
from workbench.api.source.includes import Includes
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.open.reader_child import CPU_S, ReaderEnded, ended, in_child

if TYPE_CHECKING:
    from workbench.api.job import Job
    from workbench.model.application import HardwareSources, HostSources
    from workbench.model.scan import Definition, HdlScan, HostScan

S = TypeVar("S", "HostSources", "HardwareSources")
F = TypeVar("F", "HostScan", "HdlScan")
T = TypeVar("T")

_BYTES_A_S = 250_000  # a multiple of the reading time on any machine
_ELSEWHERE = "to headers outside of the project's folder, which are not read"
_FLAG_HINT = "Add their folder to `outside` in the project, if you trust what is in it."
_SEARCH_S = 20.0  # the time to search for the unreadable source


def scanned(root: Path, outside: tuple[Path, ...], part: S, scan: Callable[[S], F], nothing: F, job: Job) -> F:
    """The result of `scan(part)`. A source that cannot be read is left out, with a diagnostic; the result is `nothing`
    if a source disappears meanwhile."""
    usable, refused = _usable(root, outside, part)
    problems: tuple[Diagnostic, ...] = refused
    if not usable.sources:
        return replace(nothing, diagnostics=problems)
    result: F = nothing
    try:
        _load_reader(part, scan)
        result = in_child(partial(scan, usable), _cpu_s(root, usable), job=job)
    except ReaderEnded as failed:
        bad = _culprit(root, usable, scan)
        problems = (*problems, ended(failed.why, str(root / bad) if bad else str(root)))
        remaining = tuple(name for name in usable.sources if name != bad)
        if bad and remaining:
            with suppress(ReaderEnded):  # there are several; the first is reported
                result = in_child(
                    partial(scan, usable.model_copy(update={"sources": remaining})), _cpu_s(root, usable), job=job
                )
    except OSError as error:
        problems = (*problems, _unreadable(error, root))
    return replace(result, diagnostics=(*problems, *result.diagnostics))


def instrumented(
    root: Path,
    outside: tuple[Path, ...],
    part: S,
    scan: Callable[[S], object],
    instrument: Callable[[S], T],
    job: Job,
    keep: Callable[[S, Callable[[], T]], T] = lambda usable, make: make(),
    otherwise: Callable[[S, str], T] | None = None,
) -> T:
    """The result of `instrument(part)`, or, beyond a limit, of `otherwise(part, why)`. WorkbenchError if a source
    cannot be read; `scan` finds which. `keep` may return an earlier result for the readable part."""
    usable, problems = _usable(root, outside, part)
    if problems:
        raise WorkbenchError(*problems)

    def make() -> T:
        _load_reader(part, scan)
        try:
            return in_child(partial(instrument, usable), 2 * _cpu_s(root, usable), job=job)
        except FileNotFoundError as error:
            raise WorkbenchError(_unreadable(error, root)) from None
        except ReaderEnded as failed:
            with suppress(ReaderEnded):
                if otherwise is not None:
                    return in_child(partial(otherwise, usable, failed.why), 2 * _cpu_s(root, usable), job=job)
            bad = _culprit(root, usable, scan)
            raise WorkbenchError(ended(failed.why, str(root / bad) if bad else str(root))) from None

    return keep(usable, make)


def read(
    work: Callable[[], T], place: Path, cpu_s: float = 4 * CPU_S, otherwise: Callable[[str], T] | None = None
) -> T:
    """The result of `work()` on the sources of a project or folder, or, beyond a limit, of `otherwise(why)`.
    WorkbenchError if they cannot be read."""
    try:
        return in_child(work, cpu_s)
    except OSError as error:
        raise WorkbenchError(_unreadable(error, place)) from None
    except ReaderEnded as failed:
        with suppress(ReaderEnded):
            if otherwise is not None:
                return in_child(partial(otherwise, failed.why), cpu_s)
        raise WorkbenchError(ended(failed.why, str(place))) from None


def definition(
    root: Path, outside: tuple[Path, ...], part: S, find: Callable[[S], Definition | None], job: Job
) -> Definition | None:
    """The result of `find(part)` on the sources that may be opened. WorkbenchError if they cannot be read."""
    usable, _ = _usable(root, outside, part)
    try:
        _load_reader(part, find)
        return in_child(partial(find, usable), _cpu_s(root, usable), job=job)
    except OSError as error:
        raise WorkbenchError(_unreadable(error, root)) from None
    except ReaderEnded as failed:
        raise WorkbenchError(ended(failed.why, str(root))) from None


def _unreadable(error: OSError, place: Path) -> Diagnostic:
    """The first file that existed when the project was opened, and cannot be read now."""
    hint = "The project was opened with it: put it back, or remove it from the project's sources."
    return Diagnostic(f"cannot read this file: {error.strerror}", hint, file=str(error.filename or place))


def _load_reader(part: S, scan: Callable[[S], object]) -> None:
    """Import the reader's modules by reading no source, here, where an import can wait for another thread's."""
    scan(part.model_copy(update={"sources": ()}))


def _usable(root: Path, outside: tuple[Path, ...], part: S) -> tuple[S, tuple[Diagnostic, ...]]:
    """The part without sources that include files which must not be opened."""
    includes = Includes([root / folder for folder in part.include_dirs], (root, *outside))
    problems = {name: includes.problems(root / name) for name in part.sources}
    good = tuple(name for name in part.sources if not problems[name])
    allowed = [root, *outside, *(root / folder for folder in part.include_dirs)]
    flags, refused = _flags(root, allowed, getattr(part, "flags", None), getattr(part, "source_flags", {}))
    diagnostics = dict.fromkeys(problem for of_source in problems.values() for problem in of_source)
    diagnostics |= dict.fromkeys(Diagnostic(f"the flag {flag} leads {_ELSEWHERE}", _FLAG_HINT) for flag in refused)
    return part.model_copy(update={"sources": good, **flags}), tuple(diagnostics)


def _flags(
    root: Path, allowed: Sequence[Path], flags: Sequence[str] | None, of_sources: Mapping[str, Sequence[str]]
) -> tuple[dict[str, object], list[str]]:
    """The flags of a host and of its sources that refer to headers in allowed folders, and the refused ones. Hardware
    has None."""
    if flags is None:
        return {}, []
    usable_flags, refused = readable(flags, root, allowed)
    usable: dict[str, tuple[str, ...]] = {}
    lost = [*refused]
    for name, source_flags in of_sources.items():
        usable[name], more = readable(source_flags, root, allowed)
        lost += more
    return {"flags": usable_flags, "source_flags": usable}, lost


def _cpu_s(root: Path, part: HostSources | HardwareSources) -> float:
    """The processor time (s) that reading may take."""
    size = 0
    for name in part.sources:
        with suppress(OSError):
            size += (root / name).stat().st_size
    return CPU_S + len(part.sources) // 4 + size / _BYTES_A_S


def _culprit(root: Path, part: S, scan: Callable[[S], object]) -> str:
    """The source that cannot be read even alone, or ''."""
    if len(part.sources) == 1:
        return part.sources[0]
    until = time.monotonic() + _SEARCH_S
    for name in part.sources:
        try:
            alone = part.model_copy(update={"sources": (name,)})
            in_child(partial(scan, alone), _cpu_s(root, alone))
        except ReaderEnded:
            return name
        if time.monotonic() > until:
            break
    return ""


def joined(before: HostScan, anew: HostScan, is_of: Callable[[str], bool]) -> HostScan:
    """The host's scan, with some sources replaced by their new scan."""
    calls = (*(c for c in before.calls if not is_of(c.file)), *(c for c in anew.calls if is_of(c.file)))
    still = (d for d in before.diagnostics if d.file is None or not is_of(d.file))
    return replace(
        before, calls=calls, diagnostics=(*still, *(d for d in anew.diagnostics if d.file and is_of(d.file)))
    )
