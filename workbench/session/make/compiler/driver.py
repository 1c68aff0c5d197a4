"""Replaces the compiler in any Makefile or CMake project.

It runs the user's command unchanged, so that errors, warnings and all files are the compiler's own. If a source, or a
project file that it includes, names a call of the platform, an instrumented copy is then compiled, and joined with its
wrappers into the requested object file. Linking adds the recorder.

In a build that a run started (`users_build.py`) each source is compiled by a command of its own, with the flags that
the target adds, and object files are kept (`objects.py`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from workbench.api.compile import digest, needed
from workbench.api.compile_plan import Compiled, CompilePlan, plan_of_environment
from workbench.api.kept import ensure
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.make.compiler.command import CompilerCommand, read_command
from workbench.session.make.compiler.linking import linked, print_output
from workbench.session.make.compiler.units import SUCCESS, Units
from workbench.session.open.project_path import PROJECT_SUFFIX, find_project
from workbench.system.cache import cache_dir
from workbench.system.files import sha256
from workbench.system.process import become, run_program
from workbench.system.toolchain import Tool, find_compiler

_BY_CCACHE = "CCACHE_DISABLE"  # ccache sets it for the compiler that it starts
_STARTS = "RECAP_CC_STARTS"  # the number of these programs in the chain that started this one
PROJECT, COMPILERS = "RECAP_PROJECT", {"c": "RECAP_CC", "c++": "RECAP_CXX"}


def run(words: Sequence[str], language: str) -> int:
    """Act as the compiler of a language ("c" or "c++"); returns its exit code. WorkbenchError if there is no project
    nearby, or the sources cannot be instrumented."""
    plan = plan_of_environment()
    try:
        return _run(words, language, plan)
    except WorkbenchError as error:
        if plan:
            plan.add(Compiled("", os.getcwd(), diagnostics=error.diagnostics))
        raise


def _run(words: Sequence[str], language: str, plan: CompilePlan | None) -> int:
    tool = _compiler(language, words)
    command = read_command(words)
    compiles = command.makes_objects or command.compiles_other_code
    if not plan and os.environ.get(_BY_CCACHE) and "-E" in words:
        return _listed_for_ccache(tool, command, words)
    if not (compiles or command.links) or _is_device(command.value("-o")):
        become([tool.path, *words])
    if not compiles:
        return print_output(linked(tool, command, words, plan))
    project = Path(plan.project) if plan else _project(command.sources)
    units = Units(tool, command, project, Path.cwd(), plan)
    units.report_other_code()
    if not plan:
        return _recorded(units, words)
    if not command.makes_objects:
        return print_output(linked(tool, command, [*words, *plan.flags, *plan.own_flags], plan))
    if not command.links:
        return max(units.compile(source, command.target(source)) for source in command.sources)
    with tempfile.TemporaryDirectory() as folder:
        objects = {source: f"{folder}/{n}.o" for n, source in enumerate(command.sources)}
        for source, target in objects.items():
            if code := units.compile(source, target):
                return code
        return print_output(linked(tool, command, command.with_objects(objects), plan))


def _recorded(units: Units, words: Sequence[str]) -> int:
    """Run the user's command, then replace the object files of sources that call the platform by recording ones;
    returns the exit code."""
    tool, command = units.tool, units.command
    calling = {source: file for source in command.sources if (file := units.calling(source))}
    code = print_output(linked(tool, command, words, None))  # object files that it links may need the recorder
    if code or not calling:
        return code
    with tempfile.TemporaryDirectory() as folder:
        objects = {s: f"{folder}/{n}.o" if command.links else command.target(s) for n, s in enumerate(calling)}
        for source, file in calling.items():
            if code := units.record(source, file, units.cwd / objects[source]):
                return code
        linking = linked(tool, command, command.with_objects(objects), None) if command.links else SUCCESS
        return print_output(linking) if linking.returncode else 0  # it already printed its messages on the program


def _listed_for_ccache(tool: Tool, command: CompilerCommand, words: Sequence[str]) -> int:
    """Preprocess for ccache, whose key is this text and the files that it names; the project and its platform are among
    them."""
    preprocessed = run_program([tool.path, *words])
    target, project = command.value("-o"), None
    with suppress(WorkbenchError):
        project = _project([one.name for one in command.inputs])
    if preprocessed.returncode == 0 and project is not None:
        read = (project, Path(os.path.realpath(Units(tool, command, project, Path.cwd()).workspace.platform_path)))
        more = "".join(f'# 1 "{path}"\n// {sha256(path.read_bytes())}\n' for path in read)
        if target and target != "-":
            with open(target, "a", encoding="utf-8") as file:
                file.write(more)
        else:
            preprocessed = replace(preprocessed, stdout=preprocessed.stdout + more)
    return print_output(preprocessed)


def _is_device(name: str) -> bool:
    """Whether the path exists and is not a file, such as /dev/null."""
    return os.path.exists(name) and not os.path.isfile(name)


def _compiler(language: str, words: Sequence[str]) -> Tool:
    """The replaced compiler: the named one, which may be a command of several words, or the system's."""
    variable = "CC" if language == "c" else "CXX"
    starts = int(os.environ.get(_STARTS, "0"))
    os.environ[_STARTS] = str(starts + 1)  # inherited by the compiler that this one starts
    if starts > 1:
        message = f"the compiler that `workbench {'cc' if language == 'c' else language}` starts is that command itself"
        raise WorkbenchError(Diagnostic(message, f"Set {COMPILERS[language]} to the path of the compiler itself."))
    if starts:  # $CC, or $RECAP_CC, names a script that leads here: its words go to the compiler that it means
        os.environ.pop(variable, None)
        become([needed(find_compiler(language)).path, *words])
    if command := os.environ.get(COMPILERS[language]):
        os.environ[variable] = _program_of(command, COMPILERS[language])
    elif Path(os.environ.get(variable, "")).name.startswith("workbench"):  # CMake names this program there
        del os.environ[variable]
    return needed(find_compiler(language))


def _program_of(command: str, variable: str) -> str:
    """The program that a command starts."""
    if shutil.which(command):
        return command
    words = shlex.split(command)
    program = shutil.which(words[0]) if len(words) > 1 else None
    if program is None:
        raise WorkbenchError(Diagnostic(f"{variable}={command} names no program that can be started"))
    script = cache_dir() / "compilers" / f"{Path(program).name}-{digest([program, *words])}"
    ensure(script, os.fsencode(f'#!/bin/sh\nexec {shlex.join([program, *words[1:]])} "$@"\n')).chmod(0o755)
    return str(script)


def _project(sources: Sequence[str]) -> Path:
    if path := os.environ.get(PROJECT):
        return Path(os.path.realpath(find_project(Path(path))))
    for begin in (*(Path(source).absolute().parent for source in sources), Path.cwd()):
        for folder in (begin, *begin.parents):
            if any(folder.glob("*" + PROJECT_SUFFIX)):
                return Path(os.path.realpath(find_project(folder)))
    hint = f"Set {PROJECT} to the project file that names the platform."
    raise WorkbenchError(Diagnostic("there is no project file here or in a folder above", hint))
