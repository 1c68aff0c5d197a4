"""Takes a compiler's place in any Makefile or CMake project.

Each source is compiled as it stands, so that errors and warnings are the compiler's own. Where it, or one of the
project's files that it includes, names a call of the platform's, an instrumented copy is then compiled in its stead,
and joined with its wrappers into the one object file that was asked for. Linking adds the recorder. Everything else is
the compiler's affair.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api.compile import digest, needed
from workbench.api.kept import contents, keep
from workbench.api.objects import ObjectFile, made, prerequisites
from workbench.api.source.flags import absolute
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.session.compiler.command import Command, read_command
from workbench.session.finding import PROJECT_SUFFIX, find_project
from workbench.system.cache import cache_dir
from workbench.system.process import ProcessResult, become, run_program
from workbench.system.toolchain import Tool, find_compiler

if TYPE_CHECKING:  # what reads projects and sources is imported where an object file is not kept
    from workbench.session.workspace import Workspace

PROJECT, COMPILERS = "RECAP_PROJECT", {"c": "RECAP_CC", "c++": "RECAP_CXX"}
#: flags that do not concern the wrappers: they are the workbench's own code
_OF_USERS_CODE = re.compile(
    r"-(W|O|std=|ansi|pedantic|x|save-temps|pg|coverage|-coverage|fsanitize|fprofile|ftest|finstr|gsplit|f?stack-usage)"
)
_RECORDER = Path(str(files("workbench.resources"))) / "host"
_LINK = "-Wl,--export-dynamic-symbol=rcw_*"  # for libraries that are loaded while the program runs


def run(words: Sequence[str], language: str) -> int:
    """Do what the compiler of a language ("c" or "c++") would; its exit code. WorkbenchError where no project is near,
    or the sources cannot be instrumented."""
    tool = _compiler(language)
    command = read_command(words)
    if not command.makes_objects and not command.links:
        become([tool.path, *words])
    here = Path.cwd()
    if not command.makes_objects:
        return _shown(run_program([tool.path, *_linked(command, words, tool)]))
    nearby = _project(command.sources)
    units = _Units(tool, command, nearby, here)
    if not command.links:
        return max(units.compile(source, command.target(source)) for source in command.sources)
    with tempfile.TemporaryDirectory() as folder:
        objects = {source: f"{folder}/{n}.o" for n, source in enumerate(command.sources)}
        for source, target in objects.items():
            if code := units.compile(source, target):
                return code
        replaced = [objects.get(word, word) for word in command.words]
        return _shown(run_program([tool.path, *_linked(command, replaced, tool)]))


def _compiler(language: str) -> Tool:
    """The compiler that this one takes the place of: the one named, or the system's."""
    variable = "CC" if language == "c" else "CXX"
    if named := os.environ.get(COMPILERS[language]):
        os.environ[variable] = named
    elif Path(os.environ.get(variable, "")).name.startswith("workbench"):  # CMake names this program there
        del os.environ[variable]
    return needed(find_compiler(language))


def _project(sources: Sequence[str]) -> Path:
    if named := os.environ.get(PROJECT):
        return Path(os.path.realpath(find_project(Path(named))))
    for begin in (*(Path(source).absolute().parent for source in sources), Path.cwd()):
        for folder in (begin, *begin.parents):
            if any(folder.glob("*" + PROJECT_SUFFIX)):
                return Path(os.path.realpath(find_project(folder)))
    hint = f"Set {PROJECT} to the project file that names the platform."
    raise WorkbenchError(Diagnostic("there is no project file here or in a folder above", hint))


def _shown(result: ProcessResult) -> int:
    sys.stdout.write(result.stdout)
    sys.stderr.write(result.stderr)
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


def _linked(command: Command, words: Iterable[str], tool: Tool) -> list[str | Path]:
    """The words of a command that links, with the recorder; a library leaves that to the program."""
    if not command.links or command.shared:
        return list(words)
    return [*words, _LINK, _recorder(command, tool), "-pthread"]


def _recorder(command: Command, tool: Tool) -> Path:
    """The recorder as an archive: it is linked where something calls it."""
    flags = ["-O2", "-g", "-fPIC", "-w", *(f for f in command.flags if f in ("-m32", "-m64", "-mx32"))]
    sources = sorted(_RECORDER.glob("*.c"))
    stamp = contents([*sources, *sorted(_RECORDER.glob("*.h"))])
    kept = cache_dir() / "library" / digest([tool.version, *flags, *stamp]) / "librecap.a"
    if kept.is_file():
        return kept
    with tempfile.TemporaryDirectory() as name:
        objects = [Path(name) / f"{source.stem}.o" for source in sources]
        for source, target in zip(sources, objects, strict=True):
            _must([tool.path, *flags, "-x", "c", "-c", source, "-o", target])
        archive = Path(name) / kept.name
        _must(["ar", "rcs", archive, *objects])
        keep(archive, kept.parent)
    if not kept.is_file():
        raise WorkbenchError(Diagnostic("the recorder cannot be kept in the cache", file=str(kept)))
    return kept


def _must(command: Sequence[str | Path]) -> None:
    if (done := run_program(command)).returncode:
        raise WorkbenchError(Diagnostic(f"the recorder does not build: {done.stderr.strip()}"))


@dataclass(frozen=True)
class _Units:
    """The sources of one command of the compiler, of a project."""

    tool: Tool
    command: Command
    project: Path
    cwd: Path

    @cached_property
    def workspace(self) -> Workspace:
        from workbench.session.plugins import load_plugins
        from workbench.session.workspace import open_workspace

        return open_workspace(self.project, load_plugins())

    def compile(self, source: str, target: str) -> int:
        """Make an object file; the exit code. What the compiler said is shown."""
        one = ObjectFile(
            self.tool, self.command.flags, self.cwd / source, self.cwd / target, (str(self.project), source)
        )
        if self.command.writes_beside:
            with tempfile.TemporaryDirectory() as folder:
                done = self._made(source, one.command(Path(folder) / "reads.d"))
        else:
            done = made(one, self.cwd, self.cwd, partial(self._made, source))
        if not done.returncode and (listing := self.command.dependencies(source, target)):
            run_program([self.tool.path, *self.command.flags, *listing])
        return _shown(done)

    def _made(self, source: str, words: Sequence[str]) -> ProcessResult:
        words = [source if word == str(self.cwd / source) else word for word in words]  # as it was named
        target, listed = Path(words[-1]), Path(words[words.index("-MF") + 1])
        done = run_program(words)
        if done.returncode:
            return done
        workspace = self.workspace
        read = [Path(os.path.realpath(self.cwd / name)) for name in prerequisites(listed)]
        outcome = self._recorded(source, read, target, done)
        with listed.open("a", encoding="utf-8", errors="surrogateescape") as more:  # what else the object is made of
            also = (self.project, workspace.platform_path, *_own_code(workspace))
            more.write(f"also: {' '.join(map(_escaped, also))}\n")
        return outcome

    def _recorded(self, source: str, read: Sequence[Path], target: Path, done: ProcessResult) -> ProcessResult:
        """With its calls recorded, where the files read for it make any."""
        from workbench.model.prototypes import callees

        workspace = self.workspace
        own = [path for path in read if path.is_relative_to(workspace.root)]
        known, _ = callees(workspace.platform.host.entries)
        names = re.compile(rb"\b(" + b"|".join(re.escape(n.split("::")[-1].encode()) for n in known) + rb")\b")
        if not known or not any(names.search(path.read_bytes()) for path in own):
            return done
        if read[0] not in own:
            message = f"calls in a source outside of {workspace.root} are not recorded"
            note = Diagnostic(message, "Move the project file up.", Severity.WARNING, str(source))
            return replace(done, stderr=f"{done.stderr}{note.text()}\n")
        with tempfile.TemporaryDirectory() as folder:
            return self._instrumented(source, read[0], target, done, Path(folder))

    def _instrumented(self, source: str, file: Path, target: Path, done: ProcessResult, out: Path) -> ProcessResult:
        from workbench.api.job import Job
        from workbench.model.application import HostSources
        from workbench.session.reading import instrumented

        workspace, flags = self.workspace, self.command.flags
        lto = [flag for flag in flags if flag.startswith("-flto")]
        if lto and "clang" in self.tool.version:  # whose bitcode GNU ld does not join
            flags, lto = tuple(flag for flag in flags if flag not in lto), []
        part = HostSources(
            language=workspace.project.host.language,
            sources=(str(file.relative_to(workspace.root)),),
            flags=tuple(absolute(flags, self.cwd)),
        )
        job = Job()
        build = instrumented(
            workspace.root,
            (*workspace.outside, self.cwd),
            part,
            lambda host: workspace.host_language.scan(workspace.root, host, workspace.platform, {}, job),
            lambda host: workspace.host_language.instrument(workspace.root, host, workspace.platform, {}, out, job),
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
        compiled = run_program([self.tool.path, *flags, "-w", *beside, "-c", copy, "-o", target])
        if compiled.returncode:
            return replace(compiled, stderr=f"{done.stderr}{compiled.stderr}")
        shutil.move(target, pieces[0])  # what else the compiler writes is named after the object file
        commands: list[list[str | Path]] = []
        own = [flag for flag in flags if not _OF_USERS_CODE.match(flag)]
        for number, extra in enumerate(path for path in build.extra_sources if path.is_relative_to(out)):
            pieces.append(out / f"{number}.o")
            as_c = ["-x", "c"] if extra.suffix == ".c" else []  # also where this is a C++ compiler
            commands.append(
                [self.tool.path, *own, "-w", "-O2", "-iquote", str(file.parent), *as_c, "-c", extra, "-o", pieces[-1]]
            )
        joining: list[str | Path] = [self.tool.path, *lto, *(["-flinker-output=rel"] if lto else []), "-r", "-nostdlib"]
        commands.append([*joining, *pieces, "-o", target])
        for command in commands:
            if (step := run_program(command)).returncode:
                return replace(step, stderr=f"{done.stderr}{step.stderr}")
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
    yield from sorted(path for path in _RECORDER.iterdir() if path.is_file())


def _escaped(path: Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "\\ ")
