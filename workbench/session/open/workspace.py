"""An open project: its documents read and resolved, with its languages and its platform's support."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.api import Composed, Composer, HdlLanguage, HostLanguage, PlatformSupport, PortKind, Target
from workbench.api.descriptors import FindsDefinitions
from workbench.api.languages import reads
from workbench.api.source.files import expand_sources
from workbench.api.source.lines import name_at, reading_typed
from workbench.model.diagnostic import Diagnostic, OfProject, WorkbenchError, has_errors, unknown_name
from workbench.session.open.places import placed
from workbench.session.open.reading import S, definition, instrumented, joined, scanned
from workbench.system.files import real, sha256

if TYPE_CHECKING:  # the documents' schemas are imported by the first project
    from workbench.api import HdlBuild
    from workbench.api.job import Job
    from workbench.formats.yaml_marks import Marked
    from workbench.model.application import HardwareSources, HostSources, Project
    from workbench.model.platform import Platform
    from workbench.model.scan import Definition, HdlPort, HdlScan, HostScan, ProjectScan
    from workbench.session.open.links import LinkEnd

Value = int | float | str
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Workspace:
    """An open project. `diagnostics` are warnings of its opening; errors raise instead. `composed` are the sources
    generated from its sections, with the files `parts`; `faults` give the reasons if generation failed, and then
    nothing can be built."""

    path: Path
    root: Path
    project: Project
    platform: Platform
    platform_path: Path
    support: PlatformSupport | None
    host_language: HostLanguage
    hdl_language: HdlLanguage
    targets: Mapping[str, Target]
    port_kinds: Mapping[str, PortKind]
    composers: Mapping[str, Composer] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    composed: tuple[Composed, ...] = ()
    parts: tuple[Path, ...] = ()
    commands: tuple[Path, ...] = ()  # the compile_commands.json and the HDL's file lists, where there are any
    faults: tuple[Diagnostic, ...] = ()
    ends: tuple[LinkEnd, ...] = ()  # where links begin and end in this design
    own_designs: tuple[Workspace, ...] = ()  # each FPGA's project as if there were no other; none: all have one design

    @property
    def boards(self) -> tuple[Workspace, ...]:
        """The project of each FPGA, in order; the same object for the same design."""
        return self.own_designs or (self,) * len(self.project.hardware.places)

    @property
    def designs(self) -> tuple[Workspace, ...]:
        """The project of each different design, once."""
        return tuple({id(one): one for one in self.boards}.values())

    @property
    def designs_by_place(self) -> dict[str, Workspace]:
        """The project of each design, by the name prefix of the first FPGA that holds it."""
        places = self.project.hardware.places
        return {places[self.boards.index(one)]: one for one in self.designs}

    def settings(self, changes: Mapping[str, Value] | None = None) -> dict[str, Value]:
        """The project's settings with `changes` applied. WorkbenchError for an unknown name."""
        for name in changes or {}:
            if name not in self.project.settings:
                raise WorkbenchError(unknown_name("setting", name, self.project.settings, self.path))
        return {**self.project.settings, **(changes or {})}

    def watching(self, blocks: Sequence[str]) -> Workspace:
        """The workspace with the design's counters watching these blocks; unchanged without any."""
        if not blocks:
            return self
        watched = self.with_hardware(self.project.hardware.model_copy(update={"watch": tuple(blocks)}))
        return replace(watched, own_designs=once_each(self.own_designs, lambda one: one.watching(blocks)))

    def counting(self, assertions: bool, branches: bool) -> Workspace:
        """The workspace with these counted too, in addition to what the project requests."""
        kinds = {name for name, wanted in (("assertions", assertions), ("branches", branches)) if wanted}
        if not kinds:
            return self
        counted = self.with_hardware(self.project.hardware.model_copy(update=dict.fromkeys(kinds, True)))
        of_each = once_each(self.own_designs, lambda one: one.counting(assertions, branches))
        return replace(counted, own_designs=of_each)

    def with_hardware(self, hardware: HardwareSources) -> Workspace:
        return replace(self, project=self.project.model_copy(update={"hardware": hardware}))

    def with_parameters(self, parameters: Mapping[str, Value]) -> Workspace:
        """The workspace with these parameters of the top module in place of the project's."""
        hardware = self.project.hardware
        laid = {**hardware.parameters, **parameters}
        return self.with_hardware(hardware.model_copy(update={"parameters": laid})) if parameters else self

    def defines(self, settings: Mapping[str, Value]) -> dict[str, str]:
        """The macros for the host's compiler."""
        return {name: str(value) for name, value in {**self.project.host.defines, **settings}.items()}

    def parameters(self, settings: Mapping[str, Value]) -> dict[str, str]:
        """The parameters of the top module: the project's, with settings of the same name applied."""
        listed = self.project.hardware.parameters
        return {name: str(settings.get(name, value)) for name, value in listed.items()}

    @property
    def host(self) -> HostSources:
        """The host's sources, with the folders of the platform's headers among the include folders."""
        api = self.support.api_dirs if self.support else ()
        host = self.project.host
        return host.model_copy(update={"include_dirs": (*host.include_dirs, *map(str, api))})

    def target(self, name: str = "") -> Target:
        """The target of that name, or the project's. WorkbenchError if there is none."""
        if name and name not in self.targets:
            raise WorkbenchError(unknown_name("target", name, self.targets))
        return named_item("target", name or self.project.target.name, self.targets, self.path, "target", "name")

    def scan(self, changes: Mapping[str, Value] | None = None, job: Job | None = None) -> ProjectScan:
        """The contents of the sources, read in children with limits. Raises Cancelled."""
        from workbench.api.job import Job
        from workbench.model.scan import HdlScan, HostScan, ProjectScan

        if self.faults:
            return ProjectScan(HostScan((), diagnostics=self.faults), HdlScan(()))
        settings, job = self.settings(changes), job or Job()
        design = self._scan_hardware(settings, job)
        return self._checked(ProjectScan(self._scan_host(self.host, settings, job), design))

    def _checked(self, scan: ProjectScan) -> ProjectScan:
        """The scan with its pragmas checked against each other."""
        from workbench.session.mark.mark_checks import mark_problems
        from workbench.session.mark.marking import proposed

        marks = mark_problems(scan, lambda bare: proposed(self, bare))
        return placed(replace(scan, marks=marks), self.root)

    def _scan_hardware(self, settings: Mapping[str, Value], job: Job) -> HdlScan:
        from workbench.run.cards import scanned_on_fpgas

        if not self.own_designs:
            return self._scan_design(settings, job)
        scans = once_each(self.own_designs, lambda one: one._scan_design(settings, job))
        return scanned_on_fpgas(scans, self.project.hardware)

    def _scan_design(self, settings: Mapping[str, Value], job: Job) -> HdlScan:
        from workbench.model.scan import HdlScan

        scanner = self.hdl_scanner(settings, job)
        with job.step("Read hardware sources"):
            design = scanned(self.root, self.outside, self.project.hardware, scanner, HdlScan(()), job)
        design = replace(design, diagnostics=self._in_project(design.diagnostics))
        if has_errors(design.diagnostics):
            return design
        return replace(design, diagnostics=(*design.diagnostics, *self.undriven(design.ports)))

    def _scan_host(self, host: HostSources, settings: Mapping[str, Value], job: Job) -> HostScan:
        from workbench.model.scan import HostScan

        with job.step("Read host sources"):
            scan = scanned(self.root, self.outside, host, self.host_scanner(settings, job), HostScan(()), job)
        own_calls = (call for call in scan.calls if call.pragmas or not self.is_made(self.root / call.file))
        return replace(scan, calls=tuple(own_calls))

    def instrument_hdl(
        self,
        settings: Mapping[str, Value],
        make: Callable[[HardwareSources], HdlBuild],
        job: Job,
        keep: Callable[[HardwareSources, Callable[[], HdlBuild]], HdlBuild] = lambda usable, make: make(),
        otherwise: Callable[[HardwareSources, str], HdlBuild] | None = None,
    ) -> HdlBuild:
        """The result of `make` on the hardware's sources; beyond a limit that of `otherwise`, and an earlier one if
        `keep` has it. WorkbenchError if they cannot be read or built."""
        scanner = self.hdl_scanner(settings, job)
        try:
            hdl = instrumented(self.root, self.outside, self.project.hardware, scanner, make, job, keep, otherwise)
        except WorkbenchError as error:
            raise WorkbenchError(*self._in_project(error.diagnostics)) from None
        return placed(replace(hdl, diagnostics=self._in_project(hdl.diagnostics)), self.root)

    def _in_project(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The diagnostics with their lines in the project's document."""
        return tuple(
            at_keys(self.path, self._keys_in_project(one.keys), one) if isinstance(one, OfProject) else one
            for one in diagnostics
        )

    def _keys_in_project(self, keys: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Map keys of the expanded design to keys in the project file: the last streams are ends of links."""
        first = len(self.project.hardware.streams) - len(self.ends)
        if keys[:2] != ("hardware", "streams") or int(keys[2]) < first:
            return keys
        end = self.ends[int(keys[2]) - first]
        return ("hardware", "links", end.link, end.side)

    def scan_typed(
        self, before: ProjectScan, texts: Mapping[Path, bytes], job: Job
    ) -> tuple[ProjectScan, tuple[Diagnostic, ...]]:
        """The scan with these texts in place of the contents of some files (by their real paths), and its problems;
        `before` is the scan of the files themselves. Only the hardware is read again, if a text belongs to it, and the
        host's sources with these texts; a header, or a file of unknown kind, may affect any source. Composed sources
        are composed again. Raises Cancelled."""
        from workbench.model.scan import ProjectScan
        from workbench.session.open.composing import faults

        composing = self.project.streaming
        with reading_typed(texts):
            wrong = faults(self.path, self.platform, self.composers) if composing else ()
        if self.faults:
            return before, wrong
        own_paths = {self.path, *(real(self.root / name) for name in (composing.sources if composing else ()))}
        texts = {path: text for path, text in texts.items() if path not in own_paths}
        sources = {real(self.root / name): name for name in self.host.sources}
        of_hdl = {path for path in texts if any(reads(one.hdl_language, path) for one in self.designs)}
        of_host = texts.keys() - of_hdl
        shared = of_host - sources.keys()
        host, hdl, settings = before.host, before.hdl, self.settings()
        with reading_typed(texts):
            if of_hdl or not all(reads(self.host_language, path) for path in shared):
                hdl = placed(self._scan_hardware(settings, job), self.root)
            if shared:
                host = placed(self._scan_host(self.host, settings, job), self.root)
            elif of_host:
                part = self.host.model_copy(update={"sources": tuple(sources[path] for path in of_host)})
                anew = placed(self._scan_host(part, settings, job), self.root)
                host = joined(host, anew, lambda file: real(self.root / file) in of_host)
        scan = self._checked(ProjectScan(host, hdl))
        return scan, wrong + scan.diagnostics

    def undriven(self, ports: Sequence[HdlPort]) -> tuple[Diagnostic, ...]:
        """The inputs of the top that nothing drives, and its invalid constants."""
        from workbench.session.open.undriven import undriven_inputs, wrong_constants  # with the schemas

        constants, top = self.project.hardware.constants, self.project.hardware.top
        wrong = [
            at_keys(self.path, ("hardware", "constants", name), problem)
            for name, problem in wrong_constants(ports, self.platform, constants)
        ]
        return (*wrong, *undriven_inputs(top, ports, self.platform, self.port_kinds, constants))

    def definition(self, file: Path, line: int, column: int, job: Job | None = None) -> Definition | None:
        """The definition of the name at a place of a source; None if there is no name, or no known definition.

        The column is in bytes. Raises Cancelled, and WorkbenchError if the sources cannot be read.
        """
        from workbench.api.job import Job

        watched, settings, file = job or Job(), self.settings(), real(file)

        def definition_in(language: object, part: S, values: dict[str, str]) -> Definition | None:
            if not isinstance(language, FindsDefinitions):
                return None

            def find(usable: S) -> Definition | None:
                return language.definition(self.root, usable, values, file, line, column, watched)

            return definition(self.root, self.outside, part, find, watched)

        with watched.step("Find the definition"):
            if reads(self.host_language, file):
                definition_found = definition_in(self.host_language, self.host, self.defines(settings))
            else:
                of = [one for one in self.designs if reads(one.hdl_language, file)]
                if not of:
                    return None
                board = next((one for one in of if file in map(real, one.hdl_files)), of[0])
                definition_found = definition_in(board.hdl_language, board.project.hardware, board.parameters(settings))
        return definition_found or self._defined_here(name_at(file, line, column))

    def _defined_here(self, name: str) -> Definition | None:
        """The definition by the project itself, such as a parameter's value."""
        from workbench.model.scan import Definition

        marked = _marked(self.path)
        for keys in (("settings", name), ("host", "defines", name), ("hardware", "defines", name)):
            if marked is not None and (span := marked.keys.get(keys)):
                return Definition(str(self.path), span.line, span.column, name, "setting")
        return None

    def host_scanner(self, settings: Mapping[str, Value], job: Job) -> Callable[[HostSources], HostScan]:
        return lambda host: self.host_language.scan(self.root, host, self.platform, self.defines(settings), job)

    def hdl_scanner(self, settings: Mapping[str, Value], job: Job) -> Callable[[HardwareSources], HdlScan]:
        parameters = self.parameters(settings)
        return lambda hardware: self.hdl_language.scan(self.root, hardware, self.platform, parameters, job)

    @property
    def hdl_files(self) -> tuple[Path, ...]:
        """The hardware's sources, of all FPGAs."""
        names = dict.fromkeys(name for one in self.designs for name in one.project.hardware.sources)
        return tuple(self.root / name for name in names)

    @property
    def outside(self) -> tuple[Path, ...]:
        """The folders outside of the project's that its sources may be in."""
        return tuple(self.root / folder for folder in self.project.outside)

    @property
    def runs_dir(self) -> Path:
        return self.root / "runs"

    def is_made(self, source: Path) -> bool:
        """Whether a source was generated from the project's parts, or belongs to the run-time of generated sources."""
        if not self.composed:
            return False
        from workbench.session.open.composing import made_folder

        folders = (made_folder(), *(folder for one in self.composed for folder in one.outside))
        return any(real(source).is_relative_to(real(folder)) for folder in folders)

    @property
    def documents(self) -> tuple[Path, ...]:
        """The documents of the project, and the files that it is composed of."""
        return (self.path, self.platform_path, *self.parts, *self.commands)

    def stamps(self) -> dict[Path, str]:
        """The present SHA-256 of its readable documents."""
        checksums = {}
        for path in self.documents:
            with suppress(OSError):
                checksums[path] = sha256(path.read_bytes())
        return checksums

    def source_checksums(self) -> dict[str, str]:
        """The present SHA-256 of its sources by their paths in the project, without those outside of it and unreadable
        ones."""
        checksums = {}
        for path in (*expand_sources(self.root, self.project.host.sources), *self.hdl_files):
            if path.is_relative_to(self.root):
                with suppress(OSError):
                    checksums[path.relative_to(self.root).as_posix()] = sha256(path.read_bytes())
        return checksums

    def run_folders(self) -> tuple[Path, ...]:
        """The project's run folders, oldest first."""
        if not self.runs_dir.is_dir():
            return ()
        folders = [p.parent for p in self.runs_dir.glob("*/manifest.json")]
        return tuple(sorted(folders, key=lambda p: (p.joinpath("manifest.json").stat().st_mtime_ns, p.name)))

    def next_run_folder(self) -> Path:
        """`runs/run-N`, with N one more than the highest existing number."""
        numbers = [int(p.name[4:]) for p in self.runs_dir.glob("run-*") if p.name[4:].isdecimal()]
        return self.runs_dir / f"run-{max(numbers, default=0) + 1}"


def once_each(items: Iterable[T], do: Callable[[T], U]) -> tuple[U, ...]:
    """The result of `do` for each item, computed once for the same object."""
    items = tuple(items)
    results = {number: do(one) for number, one in {id(one): one for one in items}.items()}
    return tuple(results[id(one)] for one in items)


def parse_settings(texts: Iterable[str]) -> dict[str, Value]:
    """`NAME=VALUE` texts, values read as in a document. WorkbenchError for a text without a name or an equals sign."""
    from workbench.formats.yaml_nodes import plain_scalar

    settings: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.isidentifier() and equals):
            raise WorkbenchError(Diagnostic(f"'{text}' is not NAME=VALUE", "Write for example --set CORES=20."))
        parsed = plain_scalar(value)
        settings[name] = value if parsed is None else parsed
    return settings


def named_item(kind: str, name: str, known: Mapping[str, T], path: Path, *at: str | int) -> T:
    """The item that a project names. WorkbenchError at the line of the name."""
    if name not in known:
        raise WorkbenchError(at_keys(path, at, unknown_name(kind, name, known, path)))
    return known[name]


def at_keys(path: Path, keys: tuple[str | int, ...], diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic at the line of the project to which the keys lead."""
    marked = _marked(path)
    return marked.diagnostic(keys, diagnostic.message, diagnostic.hint, diagnostic.severity) if marked else diagnostic


def _marked(path: Path) -> Marked | None:
    """The values of a project file with their lines; None if it is gone, or cannot be read."""
    from workbench.formats.yaml_marks import read_marked

    with suppress(OSError):
        return read_marked(path.read_text("utf-8", errors="replace"), str(path))[0]
    return None
