"""Builds the host program: the user's sources, the platform's API and the card's client library."""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.simulated_card.host_limits import not_simulated, reads_of_real_time
from rc_workbench_plugins.simulated_card.host_points import compile_with_points
from rc_workbench_plugins.simulated_card.shim import MADE_API_FLAGS, shim_source
from rc_workbench_plugins.simulated_card.target import HOST_FOLDER
from workbench.api import (
    Diagnostic,
    HostBuild,
    Job,
    PlatformSupport,
    Severity,
    Task,
    WorkbenchError,
    expand_sources,
    listed,
)
from workbench.api.c_header import in_cpp
from workbench.api.compile import STARTS_THREADS, digest, needed, run_all
from workbench.api.kept import contents, keep, one_at_a_time, take
from workbench.api.objects import ObjectFile, compile_objects
from workbench.api.source.flags import cpp_standard, flags_of, folders_of_all, macros_of_all
from workbench.api.source.suffixes import is_cpp
from workbench.api.unstable import Tool, cache_dir, find_compiler, symbols, without_card
from workbench.hdl.verilate import harness_dir

_THREADS = re.compile(rb'(?m)^\s*#\s*include\s*[<"](pthread\.h|threads\.h|thread|future)[>"]')
#: What lets a program be loaded several times into one process, each with data of its own.
_AS_COPY = ("-fPIC", "-fno-semantic-interposition", "-fno-gnu-unique")
_RECORDER = "recap.c"
_LIBRARY_FLAGS = ("-g", "-O2", "-Wno-builtin-declaration-mismatch")


def build_host(task: Task, job: Job) -> Path:
    """Compile and link the task's host; the path of the executable.

    In a deterministic run the user's sources, and only they, count the basic blocks that they run. Where they start
    threads, their atomic and volatile accesses are points in virtual time.
    The compiler's warnings are added to the job. Raises WorkbenchError with its errors at the user's lines.
    """
    support = api_of(task, job)
    users = _users_units(task, support)
    if not users:
        raise WorkbenchError(Diagnostic("the project names no host source file that exists", "See host.sources."))
    if problems := list(not_simulated(task.project)):
        raise WorkbenchError(*problems)
    apis = (*support.api_sources, *support.more_sources)
    extra = (*(task.host.extra_sources if task.host else ()), *(task.probe.sources if task.probe else ()))
    own = [(_own_flags(task, support, source), source) for source in (*apis, *extra)]
    units = [*users, *own]
    c_compiler = needed(find_compiler("c"))
    linker = needed(find_compiler("c++")) if any(is_cpp(source) for _, source in units) else c_compiler
    objects = task.build / HOST_FOLDER / "obj"
    objects.mkdir(parents=True, exist_ok=True)
    units_built = [
        ObjectFile(linker if is_cpp(source) else c_compiler, flags, source, objects / f"{n}_{source.stem}.o")
        for n, (flags, source) in enumerate(units)
    ]
    theirs, ours = units_built[: len(users)], [_anywhere(one, task) for one in units_built[len(users) :]]
    for warning in _compiled(task, theirs, ours, len(apis), job):
        job.report(warning)
    for warning in reads_of_real_time([one.target for one in theirs], task.root):
        job.report(warning)
    linked = [*(one.target for one in (*theirs, *ours)), *library_objects(c_compiler, objects, job)]
    executable = _linked(task, linker, linked, job)
    if task.project.host.ranks > 1:
        copied = [one.target for one in (*theirs, *ours) if one.source.name != _RECORDER]
        _copies(task, linker, copied, executable, job)
    return executable


def _anywhere(one: ObjectFile, task: Task) -> ObjectFile:
    """What is compiled of a source that is not the project's own is the same wherever the project lies."""
    of_project = one.source.is_relative_to(task.root) and not one.source.is_relative_to(task.build)
    return one if of_project else replace(one, root=task.root)


def _compiled(
    task: Task, users: Sequence[ObjectFile], own: Sequence[ObjectFile], apis: int, job: Job
) -> Sequence[Diagnostic]:
    """Compile the user's sources, and our own: so many of the API's, then what records. The warnings."""
    compiled = partial(compile_objects, job=job, base=task.build, cwd=task.root, what="the host program")
    if probe := task.probe:
        probed = [replace(one, made_by=(*one.made_by, *probe.made_by)) for one in users]
        return (*compiled(own), *compiled(probed, through=probe.compile))
    if task.project.streaming:  # its blocks are threads: no need to look
        return (*compiled(own), *compile_with_points(users, task.deterministic, compiled))
    looked_at = [one.target for one in (*users, *own[:apis])]  # what records has a thread of its own

    def starts_threads() -> bool:
        return any(STARTS_THREADS.match(name) for name in symbols(looked_at, defined=False))

    if any(map(_may_start_threads, users)):
        with suppress(WorkbenchError):  # errors and warnings are those of the sources as they are, below
            warned = (*compiled(own), *compile_with_points(users, task.deterministic, compiled))
            if not warned and starts_threads():
                return ()
    warnings = compiled([*users, *own])
    if starts_threads():
        compile_with_points(users, task.deterministic, compiled)
    return warnings


def _may_start_threads(one: ObjectFile) -> bool:
    """Whether a source includes what declares how threads are started: then it is compiled for them at once."""
    return bool(_THREADS.search(one.source.read_bytes()))


def _copies(task: Task, linker: Tool, objects: Sequence[Path], executable: Path, job: Job) -> None:
    """The program once more for each rank but the first: its code and data, which bind to themselves, and take from the
    executable the card's library and the recorder alone (`resources/card/libc/ranks.c`)."""
    link: list[str | Path] = [
        linker.path, "-shared", "-Wl,-Bsymbolic", *objects, "-o", executable.with_name("host.rank1.so"),
        *(task.host.link_flags if task.host else ()), *_libraries(task),
    ]  # fmt: skip
    run_all([link], job, cwd=task.root, what="the host program's ranks")
    for rank in range(2, task.project.host.ranks):
        shutil.copyfile(executable.with_name("host.rank1.so"), executable.with_name(f"host.rank{rank}.so"))


def _as_copy(task: Task, support: PlatformSupport) -> Sequence[str]:
    """The same with one rank as with several, so that times are."""
    return _AS_COPY if support.more or task.project.host.ranks > 1 else ()


def _libraries(task: Task) -> list[str]:
    names = task.project.host.libraries
    return [
        *(name if name.startswith("-") or "/" in name else f"-l{name}" for name in names),
        "-lm",
        "-ldl",
        "-pthread",
    ]


def _linked(task: Task, linker: Tool, objects: Sequence[Path], job: Job) -> Path:
    host, executable = task.project.host, task.build / HOST_FOLDER / "host"
    link: list[str | Path] = [
        linker.path, *(flag for flag in host.flags if flag.startswith("-fsanitize=")),
        *objects, "-o", executable, "-Wl,--wrap=main",
        *(["-rdynamic"] if host.ranks > 1 else []), *(task.host.link_flags if task.host else ()), *_libraries(task),
    ]  # fmt: skip
    run_all([link], job, cwd=task.root, what="the host program")
    return executable


def _users_units(task: Task, support: PlatformSupport) -> list[tuple[list[str], Path]]:
    """The user's sources, or their copies, each with its flags."""
    project, host, root = task.project, task.host, task.root
    include = [
        *(root / folder for folder in project.host.include_dirs),
        *(host.include_dirs if host else ()),
        *support.api_dirs,
    ]
    copies = task.build / "host" / "host"  # are told of as the user's files
    before = ["-g", f"-fdebug-prefix-map={copies}={root}"]
    before += ["-fsanitize-coverage=trace-pc"] if task.deterministic else []
    before += _as_copy(task, support)
    after = [
        *(f"-I{folder}" for folder in include),
        *(
            (f"-idirafter{harness_dir()}",) if host else ()
        ),  # a program's headers, and the system's, may be called so too
        *(f"-D{name}={value}" for name, value in {**project.host.defines, **task.settings}.items()),
        *_for_recording(host),
    ]
    named = expand_sources(root, project.host.sources)
    return [
        ([*before, *flags_of(project.host, os.path.relpath(path, root)), *after], source)
        for path, source in zip(named, host.sources if host else named, strict=True)
    ]


def _own_flags(task: Task, support: PlatformSupport, source: Path) -> list[str]:
    """The flags of one of the API's sources, or of what records: they see what the user's sources do. The card's own
    headers come first for a source that a plugin brings, and last for others: a board's header may be called `card.h`
    as one of them is. The recorder includes nothing of the project: it is compiled once for all."""
    project, host, root = task.project, task.host, task.root
    if source.parent == harness_dir().parent / "host":
        return ["-g", "-O2", *_as_copy(task, support), *_for_recording(host)]
    named = expand_sources(root, project.host.sources)
    folders = dict.fromkeys((*(root / name for name in project.host.include_dirs), *(one.parent for one in named)))
    return [
        "-g", "-O2", *(cpp_standard(project.host) if is_cpp(source) else ()), card_headers(task, source),
        *(MADE_API_FLAGS if source.parent == task.build / "api" and is_cpp(source) else ()),
        *_as_copy(task, support), *(f"-I{folder}" for folder in support.api_dirs),
        *(f"-I{folder}" for folder in (*(host.include_dirs if host else ()), *folders)),
        *_for_recording(host),
        *macros_of_all(project.host), *(f"-I{folder}" for folder in folders_of_all(project.host)),
    ]  # fmt: skip


def card_headers(task: Task, source: Path) -> str:
    """The flag that leads a source of ours, or of an API, to the card's own headers."""
    brought = not any(source.is_relative_to(folder) for folder in (task.root, task.build))
    return f"{'-I' if brought else '-idirafter'}{harness_dir()}"


def _for_recording(host: HostBuild | None) -> list[str]:
    return [*(f"-D{define}" for define in host.defines), *host.flags] if host else []


def api_of(task: Task, job: Job) -> PlatformSupport:
    """The API with what implements it: as it is brought or named, or made of the template's entries."""
    support = task.support
    assert support is not None
    if support.api_sources:
        return support
    cards = len(task.hdl.each) // task.project.host.ranks
    if cards > 1 and (alone := without_card(task.platform.host)):
        job.report(
            Diagnostic(
                f"{listed(alone)}: the template does not say which of the {cards} cards it means; the first is used",
                "Name the parameter with the card's number in the entry: fpga: NAME.",
                Severity.WARNING,
            )
        )
    source = task.build / "api" / ("api.cpp" if in_cpp(task.platform.host) else "api.c")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(shim_source(task.platform, support), encoding="utf-8")
    return replace(support, api_sources=(source,))


def library_objects(compiler: Tool, objects: Path, job: Job) -> list[Path]:
    """The card's client library, compiled once for each version of the compiler.

    A program may have functions of its own by the C library's names: those that stand for them (`libc/`) give way.
    """
    with one_at_a_time("library", job):
        return _library_objects(compiler, objects, job)


def _library_objects(compiler: Tool, objects: Path, job: Job) -> list[Path]:
    weak = sorted((harness_dir() / "libc").glob("*.c"))
    strong = sorted(harness_dir().glob("*.c"))
    sources = [*strong, *weak]
    headers = sorted(harness_dir().rglob("*.h"))
    kept = cache_dir() / "library" / digest([compiler.version, *_LIBRARY_FLAGS, *contents([*sources, *headers])])
    targets = [objects / f"{source.stem}.o" for source in sources]
    if all(take(kept / target.name, target) for target in targets):
        return targets
    compile_it: list[list[str | Path]] = [
        [compiler.path, *_LIBRARY_FLAGS, "-c", source, "-o", target]
        for source, target in zip(sources, targets, strict=True)
    ]
    run_all(compile_it, job, cwd=objects, what="the card's client library")
    weaken: list[list[str | Path]] = [["objcopy", "--weaken", target] for target in targets[len(strong) :]]
    run_all(weaken, job, cwd=objects, what="the card's client library")
    for target in targets:
        keep(target, kept)
    return targets
