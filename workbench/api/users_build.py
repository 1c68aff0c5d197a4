"""The host program built by the project's own make or CMake, in a copy of its folder, with recorded calls.

Where the command looks for a compiler it finds scripts that lead to `workbench cc` and `workbench c++`, which a file
(`$RECAP_BUILD`) says what a target adds. Each compiler's words come back in another, so that they are reported at the
user's own lines.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from workbench.api.compile import MOST_DIAGNOSTICS, gcc_diagnostics, last_words, no_room
from workbench.api.compile_plan import VARIABLE, Compiled, CompilePlan
from workbench.api.job import Job
from workbench.api.targets import Task
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.text import listed
from workbench.system.process import ENGLISH

_COMPILER = re.compile(r"(?:[\w.]+-[\w.-]+-)?(?:(?P<c>cc|gcc|clang)|(?P<cpp>c\+\+|g\+\+|clang\+\+))(?:-\d[\d.]*)?")
_NOT_COPIED = {".git", ".hg", ".svn", ".venv"}
_CMAKE = "CMakeCache.txt"  # in a folder that CMake has built in, and that holds for no other
_MADE = (b"\x7fELF", b"!<arch>\n")
_MADE_BY_NAME = (".lo", ".la")  # libtool's
_AGE_S = 1_000_000_000


@dataclass(frozen=True)
class UsersBuild:
    """The program, and the object files that were made for it or others, those that are still there."""

    program: Path
    objects: tuple[Path, ...]


def build_as_the_user_does(
    task: Task, plan: CompilePlan, job: Job, points: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
) -> UsersBuild:
    """Run the project's own command on a copy of its folder; its warnings are added to the job. Where the sources start
    threads, they are compiled again with the flags of `points`, and through the filter that it names.

    WorkbenchError with the compiler's errors at the user's lines, or with what else went wrong.
    """
    plan = replace(plan, own_flags=(*plan.own_flags, f"-ffile-prefix-map={plan.mirror}={plan.root}"))
    _copy(task.root, Path(plan.mirror), (task.root / "runs", task.raw.parent), job)
    compiled = _run(task, plan, job)
    flags, filter_ = points
    if flags and any(one.starts_threads for one in compiled):
        job.log("Its sources start threads: it is built again, with points in virtual time.")
        plan = replace(plan, points=flags, filter=filter_)
        for place, _, names in os.walk(plan.mirror):
            for name in names:
                _age(Path(place, name))
        compiled = _run(task, plan, job)
    for warning in [one for one in _all_said(compiled, plan) if not has_errors([one])][:MOST_DIAGNOSTICS]:
        job.report(warning)
    objects = tuple(Path(one.target) for one in compiled if not one.program and os.path.isfile(one.target))
    return UsersBuild(_program(task, compiled, plan), objects)


def _run(task: Task, plan: CompilePlan, job: Job) -> list[Compiled]:
    """Run the command in the copy; what its compilers came to."""
    mirror, line = Path(plan.mirror), task.project.host.build
    bin_, file = Path(f"{mirror}.bin"), Path(f"{mirror}.json")
    for path in (plan.lines, *plan.objects.values()):
        path.unlink(missing_ok=True)
    file.write_text(json.dumps(asdict(plan)), encoding="utf-8")
    path_of_all = os.environ.get("PATH", os.defpath)
    _write_scripts(bin_, path_of_all)
    where = {"PATH": f"{bin_}{os.pathsep}{path_of_all}", VARIABLE: str(file), "CCACHE_DISABLE": "1"}
    where |= {name: str(bin_ / lead) for name, lead in (("CC", "cc"), ("CXX", "c++")) if os.environ.get(name)}
    job.log(f"$ {line}")
    done = job.run(["sh", "-c", line], cwd=mirror, env=where, on_output=job.log)
    compiled = plan.compiled()
    if done.returncode:
        errors = [one for one in _all_said(compiled, plan) if one.severity is Severity.ERROR][:MOST_DIAGNOSTICS]
        said = last_words(done.stderr or done.stdout)
        text = f"the command host.build ended with exit code {done.returncode}: {said}"
        errors = [*no_room(f"{done.stderr}{done.stdout}", "the host program")] or errors
        raise WorkbenchError(*(errors or [Diagnostic(text, "See the log for its output.", file=plan.project)]))
    if not compiled:
        hint = "Let it call gcc, g++, clang or the like by name: on PATH these names start `workbench cc`."
        raise WorkbenchError(Diagnostic("the command host.build started no compiler", hint, file=plan.project))
    return compiled


def _all_said(compiled: Iterable[Compiled], plan: CompilePlan) -> list[Diagnostic]:
    return list(dict.fromkeys(one for each in compiled for one in _said(each, plan)))


def _program(task: Task, compiled: Sequence[Compiled], plan: CompilePlan) -> Path:
    mirror = Path(plan.mirror)
    linked = (Path(one.target) for one in compiled if one.program and os.access(one.target, os.X_OK))
    programs = list(dict.fromkeys(linked))
    names = [os.path.relpath(path, mirror) for path in programs]
    if named := task.project.host.program:
        if (mirror / named).is_file():
            return mirror / named
        message, hint = f"the command host.build produced no {named}", f"It linked: {listed(names)}." if names else ""
    elif len(programs) == 1:
        return programs[0]
    else:
        message = f"the command host.build linked {listed(names) if names else 'no program'}"
        hint = "Name the program in the project: host: program: PATH."
    raise WorkbenchError(Diagnostic(message, hint, file=plan.project))


def _said(one: Compiled, plan: CompilePlan) -> Iterator[Diagnostic]:
    """The build's diagnostics at the user's own files, without those of files that the build writes for its own
    tests."""
    for diagnostic in (*gcc_diagnostics(one.said), *one.diagnostics):
        if not diagnostic.file:
            yield diagnostic
            continue
        path = os.path.normpath(os.path.join(one.cwd, diagnostic.file))
        if path.startswith(plan.mirror + os.sep):
            path = plan.root + path[len(plan.mirror) :]
        if os.path.isfile(path):
            yield replace(diagnostic, file=path)


def _write_scripts(folder: Path, path: str) -> None:
    """For each compiler on the path a script of its name, in which it is called by its own path."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in path.split(os.pathsep):
        names = sorted(os.listdir(place)) if place and os.path.isdir(place) else []
        for name in names:
            if not (match := _COMPILER.fullmatch(name)) or (folder / name).exists():
                continue
            if os.access(os.path.join(place, name), os.X_OK):
                _write_script(folder / name, os.path.join(place, name), "c" if match["c"] else "c++", path)
    for variable, name, language in (("CC", "cc", "c"), ("CXX", "c++", "c++")):
        if chosen := os.environ.get(variable):
            _write_script(folder / name, chosen, language, path)


def _write_script(script: Path, compiler: str, language: str, path: str) -> None:
    variable, command = ("RECAP_CC", "cc") if language == "c" else ("RECAP_CXX", "c++")
    words = [sys.executable, "-P", "-m", "workbench", command]
    set_ = {"PATH": path, variable: compiler, **ENGLISH}
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in set_.items())
    script.write_text(f'#!/bin/sh\n{settings} exec {shlex.join(words)} "$@"\n', encoding="utf-8")
    script.chmod(0o755)


def _copy(root: Path, mirror: Path, without: Sequence[Path], job: Job) -> None:
    """Copy a folder, in which nothing counts as newer than anything else, but for what a compiler made."""
    shutil.rmtree(mirror, ignore_errors=True)
    left_out = {os.path.realpath(path) for path in without}
    for place, folders, names in os.walk(root):
        job.check()
        here = mirror / os.path.relpath(place, root)
        here.mkdir(parents=True, exist_ok=True)
        cmake = _CMAKE in names
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = [name for name in folders if name not in links and _is_copied(Path(place, name), left_out, cmake)]
        for name in (*names, *links):
            if cmake and name == _CMAKE:
                continue
            try:
                _copy_file(Path(place, name), here / name, root, mirror)
            except OSError as error:
                text = f"it cannot be copied for host.build: {error.strerror}"
                raise WorkbenchError(Diagnostic(text, file=os.path.join(place, name))) from None


def _is_copied(folder: Path, left_out: Iterable[str], cmake: bool) -> bool:
    if folder.name in _NOT_COPIED or os.path.realpath(folder) in left_out or (cmake and folder.name == "CMakeFiles"):
        return False
    return not (folder / _CMAKE).is_file() or (folder / "CMakeLists.txt").is_file()


def _copy_file(path: Path, copy: Path, root: Path, mirror: Path) -> None:
    if path.is_symlink():
        to, whole = Path(os.path.realpath(path)), os.path.realpath(root)
        copy.symlink_to(mirror / to.relative_to(whole) if to.is_relative_to(whole) else to)
    elif path.is_file():
        shutil.copyfile(path, copy)
        shutil.copymode(path, copy)
        os.utime(copy, (_AGE_S, _AGE_S))
        _age(copy)


def _age(path: Path) -> None:
    """Make what a compiler made older than all else, so that make makes it anew where it can."""
    if path.is_symlink() or not path.is_file():
        return
    with path.open("rb") as file:
        is_object = path.suffix in _MADE_BY_NAME or file.read(8).startswith(_MADE)
    if is_object:
        os.utime(path, (0, 0))
