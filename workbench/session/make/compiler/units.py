"""The sources that one compiler command compiles: as the user wrote them, and with recorded calls."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import workbench
from workbench.api.compile import STARTS_THREADS, digest
from workbench.api.compile_plan import Compiled, CompilePlan
from workbench.api.kept import keep_data, kept_folder, remember_reads, taken
from workbench.api.objects import ObjectFile, object_file, prerequisites
from workbench.api.source.flags import absolute, header_folders
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.session.make.compiler.command import STDIN, CompilerCommand
from workbench.session.make.compiler.linking import RECORDER, print_output
from workbench.system.process import ProcessResult, run_program
from workbench.system.toolchain import Tool, symbols

if TYPE_CHECKING:  # imported only if an object file is not in the cache
    from workbench.session.open.workspace import Workspace

_WORDS = "words.json"
#: these flags produce texts of the source, not of its copy
_OF_SOURCE = ("-save-temps", "--save-temps")
#: flags that do not concern the wrappers: they are the workbench's own code
_OF_USERS_CODE = re.compile(
    r"-(W|O|std=|ansi|pedantic|x|save-temps|pg|coverage|-coverage|fsanitize|fprofile|ftest|finstr|gsplit|f?stack-usage)"
)
SUCCESS = ProcessResult(0, "", "")


def _typed() -> bytes:
    """The contents of standard input, which the compiler can then read from the start."""
    data = sys.stdin.buffer.read()
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        os.dup2(file.fileno(), sys.stdin.fileno())
    return data


@dataclass(frozen=True)
class Units:
    """The sources of one compiler command in a project; `plan` is the plan of the host build that the command belongs
    to."""

    tool: Tool
    command: CompilerCommand
    project: Path
    cwd: Path
    plan: CompilePlan | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of sources and wrappers alike."""
        return (*self.command.flags, *(self.plan.flags if self.plan else ()))

    @property
    def users_flags(self) -> tuple[str, ...]:
        plan = self.plan
        return (*self.flags, *(plan.own_flags if plan else ()), *(plan.points if plan and self.is_gcc else ()))

    @property
    def is_gcc(self) -> bool:
        return "clang" not in self.tool.version

    @cached_property
    def root(self) -> Path:
        """The project's folder, or its mirror."""
        return Path(os.path.realpath(self.plan.mirror)) if self.plan else Path(self._known[0])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A file that calls the platform contains at least one of these words."""
        return self.plan.names if self.plan else tuple(self._known[1:])

    @cached_property
    def _known(self) -> list[str]:
        """The project's folder, and the words of its platform's calls. They are cached, since most sources contain none
        and need nothing else of the project."""
        command = digest([workbench.__version__, str(self.project)])
        folder = kept_folder("words", command, self.project.parent)
        if folder and (kept := taken(folder / _WORDS)) is not None:
            return list(json.loads(kept))
        from workbench.model.prototypes import words_of_calls

        read = [self.project, Path(os.path.realpath(self.workspace.platform_path))]
        known = [str(self.workspace.root), *words_of_calls(self.workspace.platform.host)]
        remember_reads(command, self.project.parent, read, ())
        if folder := kept_folder("words", command, self.project.parent):
            keep_data(json.dumps(known).encode(), folder, _WORDS)
        return known

    @cached_property
    def workspace(self) -> Workspace:
        from workbench.session.open.opening import open_workspace
        from workbench.session.program.plugins import load_plugins

        return open_workspace(self.project, load_plugins())

    def calling(self, source: str) -> Path | None:
        """The file that calls the platform: the source, or a project file that it includes; None if there is none, or
        the source does not compile."""
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "reads.d"
            listing = run_program([self.tool.path, *self.command.flags, "-w", "-M", "-MF", listed, source])
            read = [] if listing.returncode else self._files(prerequisites(listed))
        return read[0] if self._calls(read) else None

    def _files(self, names: Sequence[str]) -> list[Path]:
        return [Path(os.path.realpath(self.cwd / name)) for name in names]

    def _calls(self, read: Sequence[Path]) -> bool:
        project_files = [path for path in read if path.is_relative_to(self.root) and path.is_file()]
        return bool(self.names) and any(self._words.search(path.read_bytes()) for path in project_files)

    @cached_property
    def _words(self) -> re.Pattern[bytes]:
        return re.compile(rb"\b(" + b"|".join(re.escape(name.encode()) for name in self.names) + rb")\b")

    def report_other_code(self) -> None:
        """Warn of calls in code that is compiled as C or C++ but is not in a source file."""
        for one in self.command.other_code:
            text = _typed() if one.name == STDIN else b""
            with suppress(OSError):
                text = text or (self.cwd / one.name).read_bytes()
            if self.names and self._words.search(text):
                message = f"the calls in this code are not recorded: {one.why_not_recorded}"
                hint = "Compile a source file by its name, which ends in .c or .cpp, or the like."
                print(Diagnostic(message, hint, Severity.WARNING, one.name).text(), file=sys.stderr)

    def record(self, source: str, file: Path, target: Path) -> int:
        """Make a recording object file, or leave none; returns the exit code."""
        plain: list[str | Path] = [self.tool.path, *self.command.flags, "-w", "-c", source, "-o", target]
        if not file.is_relative_to(self.root):
            print(self._outside(source).text(), file=sys.stderr)
            return print_output(run_program(plain))
        try:
            with tempfile.TemporaryDirectory() as folder:
                result = self._instrumented(source, file, target, SUCCESS, Path(folder))
            if not result.returncode and not target.exists():  # the file contains a word of the API, but no call
                return print_output(run_program(plain))
        except WorkbenchError:
            target.unlink(missing_ok=True)
            raise
        if result.returncode:
            target.unlink(missing_ok=True)
        return print_output(result)

    def _outside(self, source: str) -> Diagnostic:
        message = f"calls in a source outside of {self.root} are not recorded"
        return Diagnostic(message, "Move the project file up.", Severity.WARNING, source)

    def compile(self, source: str, target: str) -> int:
        """Make an object file, or leave none; returns the exit code. The compiler's output is printed."""
        assert self.plan
        makers = (str(self.project), source, *self.plan.names, *self.plan.filter)
        one = ObjectFile(self.tool, self.users_flags, self.cwd / source, self.cwd / target, makers)
        try:
            if self.command.writes_beside:
                with tempfile.TemporaryDirectory() as folder:
                    result = self._build(source, one.command(Path(folder) / "reads.d"))
            else:
                result = object_file(one, self.root, self.cwd, partial(self._build, source))
        except WorkbenchError:
            one.target.unlink(missing_ok=True)
            raise
        if result.returncode:
            one.target.unlink(missing_ok=True)
        if not result.returncode and (listing := self.command.dependencies(source, target)):
            run_program([self.tool.path, *self.flags, *listing])
        threads = any(map(STARTS_THREADS.match, symbols([one.target], defined=False)))
        self.plan.add(Compiled(str(one.target), str(self.cwd), result.stderr, threads))
        return print_output(result)

    def _compiled(self, words: Sequence[str | Path]) -> ProcessResult:
        """The result of a command that makes its object file last."""
        if not (self.plan and self.plan.filter and self.is_gcc):
            return run_program(words)
        *to_assembly, target = (str(word) for word in words if word != "-c")
        text, tool = f"{target}.s", str(self.tool.path)
        for step in ([*to_assembly, text], [*self.plan.filter, text], [tool, "-c", text, "-o", target]):
            if (ran := run_program(step)).returncode:
                break
        return ran

    def _build(self, source: str, words: Sequence[str]) -> ProcessResult:
        words = [source if word == str(self.cwd / source) else word for word in words]  # as it was named
        target, listed = Path(words[-1]), Path(words[words.index("-MF") + 1])
        result = self._compiled(words)
        if result.returncode:
            return result
        read = self._files(prerequisites(listed))
        calls, outcome = self._calls(read), result
        if calls and not read[0].is_relative_to(self.root):
            outcome = replace(result, stderr=f"{result.stderr}{self._outside(source).text()}\n")
        elif calls:
            with tempfile.TemporaryDirectory() as folder:
                outcome = self._instrumented(source, read[0], target, result, Path(folder))
        if calls:
            with listed.open("a", encoding="utf-8", errors="surrogateescape") as more:  # its other dependencies
                also = (self.project, self.workspace.platform_path, *_own_code(self.workspace))
                more.write(f"also: {' '.join(map(_escaped, also))}\n")
        return outcome

    def _instrumented(self, source: str, file: Path, target: Path, done: ProcessResult, out: Path) -> ProcessResult:
        from workbench.api.job import Job
        from workbench.model.application import HostSources
        from workbench.session.open.reading import instrumented

        workspace, root, flags, users_flags = self.workspace, self.root, self.flags, self.users_flags
        lto = [flag for flag in flags if flag.startswith("-flto")]
        if lto and not self.is_gcc:  # GNU ld does not join their bitcode
            flags, users_flags = (tuple(flag for flag in some if flag not in lto) for some in (flags, users_flags))
            lto = []
        part = HostSources(
            language=workspace.project.host.language,
            sources=(str(file.relative_to(root)),),
            flags=tuple(absolute(flags, self.cwd)),
        )
        outside = (workspace.root, *workspace.outside, self.cwd, *header_folders(part.flags))  # of a build, not opened
        job, platform = Job(), workspace.platform
        if not self.plan:  # for this machine, regardless of the simulated card's limits
            platform = platform.model_copy(update={"host": platform.host.model_copy(update={"lacks": {}})})
        build = instrumented(
            root,
            outside,
            part,
            lambda host: workspace.host_language.scan(root, host, platform, {}, job),
            lambda host: workspace.host_language.instrument(root, host, platform, {}, out, job),
            job,
        )
        reported = [one for one in (*build.diagnostics, *build.missed) if one.severity is not Severity.NOTE]
        if has_errors(reported):
            raise WorkbenchError(*reported)
        done = replace(done, stderr=done.stderr + "".join(f"{one.text()}\n" for one in reported))
        if not (build.sites or build.missed):
            return done
        copy, pieces = build.sources[0], [out / "copy.o"]
        _name_as_given(copy, file, source)
        beside = ["-iquote", str(file.parent), f"-fdebug-prefix-map={out / 'host'}={workspace.root}"]
        kept = (flag for flag in users_flags if not flag.startswith(_OF_SOURCE))
        compiled = self._compiled([self.tool.path, *kept, *build.flags, "-w", *beside, "-c", copy, "-o", target])
        if compiled.returncode:
            return replace(compiled, stderr=f"{done.stderr}{compiled.stderr}")
        shutil.move(target, pieces[0])  # other files of the compiler are named after the object file
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
        """The files linked into a program with recorded calls, compiled like the first of its sources."""
        for source, target in (self.plan.objects if self.plan else {}).items():
            if not target.exists():
                mine = f"{target}.{os.getpid()}"  # compilers run side by side
                step = run_program([self.tool.path, *flags, "-w", "-O2", "-fPIC", "-x", "c", "-c", source, "-o", mine])
                if step.returncode:
                    return replace(step, stderr=f"{done.stderr}{step.stderr}")
                os.replace(mine, target)
        return done


def _name_as_given(copy: Path, file: Path, source: str) -> None:
    """Make a copy keep the source's given name, which `__FILE__` and the debugger show."""
    data = copy.read_bytes()
    copy.write_bytes(data.replace(b'#line 1 "%s"' % os.fsencode(file), b'#line 1 "%s"' % os.fsencode(source), 1))


def _own_code(workspace: Workspace) -> Iterator[Path]:
    """The code that instruments: the workbench's modules, the language's plugin (imported by a child), the recorder."""
    package = __name__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package and (file := getattr(module, "__file__", None)):
            yield Path(file)
    plugin = sys.modules[type(workspace.host_language).__module__]
    for folder in getattr(plugin, "__path__", ()):
        yield from sorted(Path(folder).rglob("*.py"))
    yield from sorted(path for path in RECORDER.iterdir() if path.is_file())


def _escaped(path: Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "\\ ")
