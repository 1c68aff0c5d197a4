"""Builds the host program by the project's own command, for the simulated card."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rc_workbench_plugins.simulated_card import host_points
from rc_workbench_plugins.simulated_card.host import api_of, card_headers, library_objects
from rc_workbench_plugins.simulated_card.host_limits import not_simulated, reads_of_real_time
from rc_workbench_plugins.simulated_card.target import HOST_FOLDER
from workbench.api import Diagnostic, Job, Task, WorkbenchError
from workbench.api.compile import needed
from workbench.api.compile_plan import CompilePlan
from workbench.api.objects import ObjectFile, compile_objects
from workbench.api.source.suffixes import is_cpp
from workbench.api.unstable import find_compiler, words_of_calls
from workbench.api.users_build import build_as_the_user_does


def build_users_host(task: Task, job: Job) -> Path:
    """Have the project's command compile and link the host; the path of the executable.

    Programs that the command links are the card's: their API is that of the simulated card, and they are on its clock
    where they are started for it. Raises WorkbenchError with the compiler's errors at the user's lines.
    """
    project, out = task.project, task.build / HOST_FOLDER
    problems = list(not_simulated(project))
    if project.host.ranks > 1:
        hint = "Name the program's sources under host.sources, and remove host.build."
        problems.append(Diagnostic("host.ranks above 1 cannot be simulated together with host.build", hint))
    if problems:
        raise WorkbenchError(*problems)
    support = api_of(task, job)
    folders, sources = support.api_dirs, (*support.api_sources, *support.more_sources)
    macros = tuple(f"-D{name}={value}" for name, value in {**project.host.defines, **task.settings}.items())
    counted = ("-fsanitize-coverage=trace-pc",) if task.deterministic else ()
    plan = CompilePlan(
        project=str(task.path),
        root=str(task.root),
        mirror=str(out / "tree"),
        names=words_of_calls(task.platform.host) if task.host else (),
        flags=("-g", *(f"-I{folder}" for folder in folders), *macros),
        own_flags=counted,
        link=(
            *map(str, _own_objects(task, sources, [*folders, *_headers(task)], job)),
            "-rdynamic", "-Wl,--wrap=main", *(["-lstdc++"] if any(map(is_cpp, sources)) else []),
            "-lm", "-ldl", "-pthread",
        ),
        stand_ins=True,
    )  # fmt: skip
    built = build_as_the_user_does(task, plan, job, _points(task.deterministic))
    for warning in reads_of_real_time(built.objects, task.root):
        job.report(warning)
    return built.program


def _points(counted: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """With what flags, and through what filter of assembly, sources are compiled of a program that starts threads."""
    if host_points.sees_every_access(counted, ()):
        return host_points.EVERY_ACCESS, ()
    return host_points.AS_ASSEMBLY, (sys.executable, "-P", "-m", host_points.__name__)


def _headers(task: Task) -> list[Path]:
    """Where headers are that a stand-in of the project's own may include."""
    host = task.project.host
    folders = (*host.include_dirs, *(str(Path(source).parent) for source in host.sources))
    return list(dict.fromkeys(task.root / folder for folder in folders))


def _own_objects(task: Task, sources: Sequence[Path], folders: Sequence[Path], job: Job) -> list[Path]:
    """The platform's API and the card's client library."""
    objects = task.build / HOST_FOLDER / "obj"
    objects.mkdir(parents=True, exist_ok=True)
    compilers = {cpp: needed(find_compiler("c++" if cpp else "c")) for cpp in {False, *map(is_cpp, sources)}}
    flags = ["-g", "-O2", "-fPIC", *(f"-I{folder}" for folder in folders)]
    objects_of_api = [
        ObjectFile(
            compilers[is_cpp(source)], [card_headers(task, source), *flags], source, objects / f"{n}_{source.stem}.o"
        )
        for n, source in enumerate(sources)
    ]
    compiled = partial(compile_objects, job=job, base=task.build, cwd=task.root, what="the platform's API")
    for warning in compiled(objects_of_api):
        job.report(warning)
    return [*(one.target for one in objects_of_api), *library_objects(compilers[False], objects, job)]
