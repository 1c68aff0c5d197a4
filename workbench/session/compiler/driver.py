"""Takes a compiler's place in any Makefile or CMake project.

Each source is compiled as it stands, so that errors and warnings are the compiler's own. Where it, or one of the
project's files that it includes, names a call of the platform's, an instrumented copy is then compiled in its stead,
and joined with its wrappers into the one object file that was asked for. Linking adds the recorder. Everything else is
the compiler's affair.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api.compile import STARTS_THREADS, digest, needed
from workbench.api.kept import ensure
from workbench.api.objects import ObjectFile, made, prerequisites
from workbench.api.source.flags import absolute
from workbench.api.told import Compiled, Told, told
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.session.compiler.command import Command, read_command
from workbench.session.compiler.linking import RECORDER, linked, shown
from workbench.session.finding import PROJECT_SUFFIX, find_project
from workbench.system.cache import cache_dir
from workbench.system.process import ProcessResult, become, run_program
from workbench.system.toolchain import Tool, find_compiler, symbols

if TYPE_CHECKING:  # what reads projects and sources is imported where an object file is not kept
    from workbench.session.workspace import Workspace

PROJECT, COMPILERS = "RECAP_PROJECT", {"c": "RECAP_CC", "c++": "RECAP_CXX"}
#: flags that do not concern the wrappers: they are the workbench's own code
_OF_USERS_CODE = re.compile(
    r"-(W|O|std=|ansi|pedantic|x|save-temps|pg|coverage|-coverage|fsanitize|fprofile|ftest|finstr|gsplit|f?stack-usage)"
)


def run(words: Sequence[str], language: str) -> int:
    """Do what the compiler of a language ("c" or "c++") would; its exit code. WorkbenchError where no project is near,
    or the sources cannot be instrumented."""
    within = told()
    try:
        return _run(words, language, within)
    except WorkbenchError as error:
        if within:
            within.add(Compiled("", os.getcwd(), diagnostics=error.diagnostics))
        raise


def _run(words: Sequence[str], language: str, within: Told | None) -> int:
    tool = _compiler(language)
    command = read_command(words)
    if not (command.makes_objects or command.links) or _is_device(command.value("-o")):
        become([tool.path, *words])
    here = Path.cwd()
    if not command.makes_objects:
        return linked(tool, command, words, within)
    project = Path(within.project) if within else _project(command.sources)
    units = _Units(tool, command, project, here, within)
    if not command.links:
        return max(units.compile(source, command.target(source)) for source in command.sources)
    with tempfile.TemporaryDirectory() as folder:
        objects = {source: f"{folder}/{n}.o" for n, source in enumerate(command.sources)}
        for source, target in objects.items():
            if code := units.compile(source, target):
                return code
        return linked(tool, command, [objects.get(word, word) for word in command.words], within)


def _is_device(name: str) -> bool:
    """Whether something is there that is no file, such as /dev/null."""
    return os.path.exists(name) and not os.path.isfile(name)


def _compiler(language: str) -> Tool:
    """The compiler that this one takes the place of: the one named, which may be a command of several words, or the
    system's."""
    variable = "CC" if language == "c" else "CXX"
    if named := os.environ.get(COMPILERS[language]):
        os.environ[variable] = _program_of(named, COMPILERS[language])
    elif Path(os.environ.get(variable, "")).name.startswith("workbench"):  # CMake names this program there
        del os.environ[variable]
    return needed(find_compiler(language))


def _program_of(command: str, variable: str) -> str:
    """A program that a command is called by."""
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
    if named := os.environ.get(PROJECT):
        return Path(os.path.realpath(find_project(Path(named))))
    for begin in (*(Path(source).absolute().parent for source in sources), Path.cwd()):
        for folder in (begin, *begin.parents):
            if any(folder.glob("*" + PROJECT_SUFFIX)):
                return Path(os.path.realpath(find_project(folder)))
    hint = f"Set {PROJECT} to the project file that names the platform."
    raise WorkbenchError(Diagnostic("there is no project file here or in a folder above", hint))


@dataclass(frozen=True)
class _Units:
    """The sources of one command of the compiler, of a project; `within` is the build of the project's own that it is
    part of."""

    tool: Tool
    command: Command
    project: Path
    cwd: Path
    within: Told | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Those of sources and wrappers alike."""
        return (*self.command.flags, *(self.within.flags if self.within else ()))

    @property
    def users_flags(self) -> tuple[str, ...]:
        within = self.within
        return (*self.flags, *(within.own_flags if within else ()), *(within.points if within and self.is_gcc else ()))

    @property
    def is_gcc(self) -> bool:
        return "clang" not in self.tool.version

    @cached_property
    def root(self) -> Path:
        """The project's folder, or what stands for it."""
        return Path(os.path.realpath(self.within.mirror)) if self.within else self.workspace.root

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Words of which a file holds one where it calls the platform."""
        from workbench.model.prototypes import words_of_calls

        return self.within.names if self.within else words_of_calls(self.workspace.platform.host)

    @cached_property
    def workspace(self) -> Workspace:
        from workbench.session.opening import open_workspace
        from workbench.session.plugins import load_plugins

        return open_workspace(self.project, load_plugins())

    def compile(self, source: str, target: str) -> int:
        """Make an object file, or leave none; the exit code. What the compiler said is shown."""
        made_by = (str(self.project), source, *((*self.within.names, *self.within.filter) if self.within else ()))
        one = ObjectFile(self.tool, self.users_flags, self.cwd / source, self.cwd / target, made_by)
        base = self.root if self.within else self.cwd
        try:
            if self.command.writes_beside:
                with tempfile.TemporaryDirectory() as folder:
                    done = self._made(source, one.command(Path(folder) / "reads.d"))
            else:
                done = made(one, base, self.cwd, partial(self._made, source))
        except WorkbenchError:
            one.target.unlink(missing_ok=True)
            raise
        if done.returncode:
            one.target.unlink(missing_ok=True)
        if not done.returncode and (listing := self.command.dependencies(source, target)):
            run_program([self.tool.path, *self.flags, *listing])
        if self.within:
            threads = any(map(STARTS_THREADS.match, symbols([one.target], defined=False)))
            self.within.add(Compiled(str(one.target), str(self.cwd), done.stderr, threads))
        return shown(done)

    def _compiled(self, words: Sequence[str | Path]) -> ProcessResult:
        """What a command makes that ends with its object file."""
        if not (self.within and self.within.filter and self.is_gcc):
            return run_program(words)
        *to_assembly, target = (str(word) for word in words if word != "-c")
        text, tool = f"{target}.s", str(self.tool.path)
        for step in ([*to_assembly, text], [*self.within.filter, text], [tool, "-c", text, "-o", target]):
            if (done := run_program(step)).returncode:
                break
        return done

    def _made(self, source: str, words: Sequence[str]) -> ProcessResult:
        words = [source if word == str(self.cwd / source) else word for word in words]  # as it was named
        target, listed = Path(words[-1]), Path(words[words.index("-MF") + 1])
        done = self._compiled(words)
        if done.returncode:
            return done
        read = [Path(os.path.realpath(self.cwd / name)) for name in prerequisites(listed)]
        own = [path for path in read if path.is_relative_to(self.root)]
        names = re.compile(rb"\b(" + b"|".join(re.escape(name.encode()) for name in self.names) + rb")\b")
        calls = bool(self.names) and any(names.search(path.read_bytes()) for path in own)
        outcome = done
        if calls and read[0] not in own:
            message = f"calls in a source outside of {self.root} are not recorded"
            note = Diagnostic(message, "Move the project file up.", Severity.WARNING, str(source))
            outcome = replace(done, stderr=f"{done.stderr}{note.text()}\n")
        elif calls:
            with tempfile.TemporaryDirectory() as folder:
                outcome = self._instrumented(source, read[0], target, done, Path(folder))
        if calls or not self.within:
            with listed.open("a", encoding="utf-8", errors="surrogateescape") as more:  # what else it is made of
                also = (self.project, self.workspace.platform_path, *_own_code(self.workspace))
                more.write(f"also: {' '.join(map(_escaped, also))}\n")
        return outcome

    def _instrumented(self, source: str, file: Path, target: Path, done: ProcessResult, out: Path) -> ProcessResult:
        from workbench.api.job import Job
        from workbench.model.application import HostSources
        from workbench.session.reading import instrumented

        workspace, root, flags, users_flags = self.workspace, self.root, self.flags, self.users_flags
        lto = [flag for flag in flags if flag.startswith("-flto")]
        if lto and not self.is_gcc:  # whose bitcode GNU ld does not join
            flags, users_flags = (tuple(flag for flag in some if flag not in lto) for some in (flags, users_flags))
            lto = []
        part = HostSources(
            language=workspace.project.host.language,
            sources=(str(file.relative_to(root)),),
            flags=tuple(absolute(flags, self.cwd)),
        )
        job = Job()
        build = instrumented(
            root,
            (workspace.root, *workspace.outside, self.cwd),
            part,
            lambda host: workspace.host_language.scan(root, host, workspace.platform, {}, job),
            lambda host: workspace.host_language.instrument(root, host, workspace.platform, {}, out, job),
            job,
        )
        told = [one for one in (*build.diagnostics, *build.missed) if one.severity is not Severity.NOTE]
        if has_errors(told):
            raise WorkbenchError(*told)
        done = replace(done, stderr=done.stderr + "".join(f"{one.text()}\n" for one in told))
        if not (build.sites or build.missed):
            return done
        copy, pieces = build.sources[0], [out / "copy.o"]
        _name_as_given(copy, file, source)
        beside = ["-iquote", str(file.parent), f"-fdebug-prefix-map={out / 'host'}={workspace.root}"]
        compiled = self._compiled([self.tool.path, *users_flags, *build.flags, "-w", *beside, "-c", copy, "-o", target])
        if compiled.returncode:
            return replace(compiled, stderr=f"{done.stderr}{compiled.stderr}")
        shutil.move(target, pieces[0])  # what else the compiler writes is named after the object file
        commands: list[list[str | Path]] = []
        own = [flag for flag in (*flags, *build.flags) if not _OF_USERS_CODE.match(flag)]
        for number, extra in enumerate(path for path in build.extra_sources if path.is_relative_to(out)):
            pieces.append(out / f"{number}.o")
            as_c = ["-x", "c"] if extra.suffix == ".c" else []  # also where this is a C++ compiler
            commands.append(
                [self.tool.path, *own, "-w", "-O2", "-iquote", str(file.parent), *as_c, "-c", extra, "-o", pieces[-1]]
            )
        lto = [] if "-fno-lto" in build.flags else lto
        joining: list[str | Path] = [self.tool.path, *lto, *(["-flinker-output=rel"] if lto else []), "-r", "-nostdlib"]
        commands.append([*joining, *build.link_flags, *pieces, "-o", target])
        for command in commands:
            if (step := run_program(command)).returncode:
                return replace(step, stderr=f"{done.stderr}{step.stderr}")
        return self._beside(own, done)

    def _beside(self, flags: Sequence[str], done: ProcessResult) -> ProcessResult:
        """What a program with recorded calls is linked with besides, compiled as the first of its sources is."""
        for source, target in (self.within.objects if self.within else {}).items():
            if not target.exists():
                mine = f"{target}.{os.getpid()}"  # compilers run side by side
                step = run_program([self.tool.path, *flags, "-w", "-O2", "-fPIC", "-x", "c", "-c", source, "-o", mine])
                if step.returncode:
                    return replace(step, stderr=f"{done.stderr}{step.stderr}")
                os.replace(mine, target)
        return done


def _name_as_given(copy: Path, file: Path, source: str) -> None:
    """A copy tells the compiler the source's name as it was given, which `__FILE__` and the debugger show."""
    data = copy.read_bytes()
    copy.write_bytes(data.replace(b'#line 1 "%s"' % os.fsencode(file), b'#line 1 "%s"' % os.fsencode(source), 1))


def _own_code(workspace: Workspace) -> Iterator[Path]:
    """The code that instruments: the workbench's modules, the language's plugin (a child imports it), the recorder."""
    own = __name__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == own and (file := getattr(module, "__file__", None)):
            yield Path(file)
    plugin = sys.modules[type(workspace.host_language).__module__]
    for folder in getattr(plugin, "__path__", ()):
        yield from sorted(Path(folder).rglob("*.py"))
    yield from sorted(path for path in RECORDER.iterdir() if path.is_file())


def _escaped(path: Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "\\ ")
