"""What plugins hand over, and what they are handed. All paths absolute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, runtime_checkable

from workbench.api.queries import Switching

if TYPE_CHECKING:  # what only types need: a plugin that is found, and not used, costs next to nothing
    import numpy as np
    from numpy.typing import NDArray

    from workbench.api.builds import HdlBuild, HostBuild
    from workbench.api.equivalence import Limits, Proof
    from workbench.api.job import Job
    from workbench.api.languages import FileKind
    from workbench.api.metrics import Measured
    from workbench.api.port_styles import PortStyle
    from workbench.api.ports import HardwarePort
    from workbench.model.application import HardwareSources, HostSources, Project
    from workbench.model.diagnostic import Diagnostic
    from workbench.model.platform import Platform
    from workbench.model.run import Manifest, Run
    from workbench.model.run_tables import Table
    from workbench.model.scan import (
        ApiHeader,
        Definition,
        HdlScan,
        HdlTop,
        HostFile,
        HostScan,
        WrongExpression,
    )


@dataclass(frozen=True)
class PlatformSupport:
    """A platform that the workbench can offer.

    `template` is its YAML file. `api_dir` holds the API's header as the user's sources include it; `api_sources` are
    C files that implement that API on the simulated card's client library (`resources/card/wbcard.h`). Without
    them it is made there of the template's entries, where these say enough. `board` holds the parts of a board that a
    template of an API alone lacks, as an example: a template that is begun from it gets them too. `more` are the other
    APIs that a project's program calls.
    """

    name: str
    template: Path
    api_dir: Path | None = None
    api_sources: tuple[Path, ...] = ()
    board: Path | None = None
    more: tuple[PlatformSupport, ...] = ()

    @property
    def api_dirs(self) -> tuple[Path, ...]:
        """The folders with the headers of all."""
        return tuple(one.api_dir for one in (self, *self.more) if one.api_dir)

    @property
    def more_sources(self) -> tuple[Path, ...]:
        """The sources that implement the other APIs."""
        return tuple(source for one in self.more for source in one.api_sources)


@dataclass(frozen=True)
class PortKind:
    """A kind of port. `port` gives its class (`workbench.api.ports.HardwarePort`), imported when it is first used.

    `style` is how its signals are told by their names at a design's top, if they are; `initiator`: the design asks (an
    AXI master, a stream's source), and what stands outside answers.
    """

    name: str
    title: str
    port: Callable[[], type[HardwarePort]]
    style: PortStyle | None = None
    initiator: bool = False

    @classmethod
    def of_table(cls, name: str, title: str, style: PortStyle, *, initiator: bool = False) -> PortKind:
        """A kind of which its style tells all; of one with one channel also what it does, and how it is driven."""

        def port() -> type[HardwarePort]:
            from workbench.api.table_port import port_class

            return port_class(name, title, style, initiator)

        return cls(name, title, port, style, initiator)


@dataclass(frozen=True)
class RuleFile:
    """A knowledge-base file (YAML) of reasons and bottleneck rules."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Exporter:
    """A form of runs that other programs read.

    `write` is given a run as measured and a file open for writing; what it raises leaves no file. `suffix` is how its
    files' names end. Where a form is a folder, `write_folder` fills an empty one in place of `write`.
    """

    name: str
    title: str
    suffix: str
    write: Callable[[Measured, BinaryIO], None]
    write_folder: Callable[[Measured, Path], None] | None = None


@dataclass(frozen=True)
class Importer:
    """A kind of other programs' files that can be read as a run; `suffixes` are how their names end.

    `read` gives the run's manifest and tables, without a path. It raises WorkbenchError for a file that is none of its
    kind, and runs nothing that the file holds.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Job], Run]


@dataclass(frozen=True)
class Composed:
    """An application's sources, made of its composition.

    `texts` are what was made, by the names of their files; `host` and `hdl` the sources to build in order, each such a
    name or the absolute path of a file that is there. `include_dirs` are the host's, `outside` folders that these files
    lie in; what is made, and what lies there, is none of the application's own (`hardware.library`). `names` are what
    instances in it are called all the same (`hardware.names`; empty: the top). `cores` are virtual cores and `cards`
    those that hold the design, 0: as the project says. `parts` are the user's files that it was made of, in the order
    in which one reads them, relative to the project or absolute. `libraries` are folders of headers that the sources
    include as <FOLDER/HEADER> from the system: they go along where the application is built elsewhere.

    `check` runs parts of them before they are built, as the user agreed to, and tells what it finds wrong. Of a run
    that has ended, and the folder in which it left its records, `tables` makes tables of its own, and `stopped` says of
    one that failed or was cancelled where it stood still. `switching` says how agents are switched (`CountsInDesign`).
    All raise WorkbenchError. `kept`, as JSON knows it, is what the composer called `name` can restore them of."""

    texts: Mapping[str, str]
    host: tuple[str, ...]
    hdl: tuple[str, ...]
    include_dirs: tuple[Path, ...] = ()
    outside: tuple[Path, ...] = ()
    cores: int = 0
    cards: int = 0
    names: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    tables: Callable[[Path, Manifest], Mapping[str, Table]] = lambda raw, run: {}
    stopped: Callable[[Path, Manifest], Sequence[Diagnostic]] = lambda raw, run: ()
    switching: Callable[[str, Sequence[str]], Switching] = lambda frame, only: Switching()
    check: Callable[[Job], Iterable[Diagnostic]] | None = None
    libraries: tuple[Path, ...] = ()
    name: str = ""
    kept: Any = None


@dataclass(frozen=True)
class Composition:
    """A project as its composer is given it, with its platform. `place` tells where a key stands (line and column)."""

    path: Path
    project: Project
    platform: Platform
    place: Callable[[tuple[str | int, ...]], tuple[int, int]]

    @property
    def root(self) -> Path:
        return self.path.parent


@runtime_checkable
class Composer(Protocol):
    """Makes host program and design of a section of the project, whose key is its `name`; `files` are what it reads."""

    name: str
    files: tuple[FileKind, ...]

    def compose(self, composition: Composition) -> Composed:
        """The sources. They are made when a project is opened: nothing of the project is run. Raises WorkbenchError."""
        ...

    def restored(self, kept: Any) -> Composed:
        """From `Composed.kept` the `tables` and `stopped` of it, with no sources. ValueError or KeyError where it is
        damaged."""
        ...


@runtime_checkable
class HostLanguage(Protocol):
    """A host language: reads, marks, instruments."""

    name: str
    files: tuple[FileKind, ...]

    def scan(self, root: Path, host: HostSources, platform: Platform, defines: dict[str, str], job: Job) -> HostScan:
        """Find the platform's calls and the pragmas before them. Bad source becomes diagnostics, never an exception.

        This and `instrument` work in a child process that a cancel ends; what they tell the job reaches its watcher."""
        ...

    def instrument(
        self, root: Path, host: HostSources, platform: Platform, defines: dict[str, str], out: Path, job: Job
    ) -> HostBuild:
        """Write instrumented copies below `out`. Raises WorkbenchError where the source cannot be read at all."""
        ...

    def outline(self, root: Path, files: Sequence[str]) -> tuple[HostFile, ...]:
        """What each file (relative to `root`) defines and mentions, for a new project. Never raises."""
        ...


@runtime_checkable
class FindsDefinitions(Protocol):
    """A language of either kind that can also tell where a name in its sources is defined."""

    def definition(
        self, root: Path, part: Any, values: dict[str, str], file: Path, line: int, column: int, job: Job
    ) -> Definition | None:
        """What the name at a place of `file` means; None where none stands there, or none that is known. `part` is the
        project's sources as for `scan`, `values` its defines or parameters. Column in bytes. Never raises for what
        stands in the sources; works in a child process, as `scan` does."""
        ...


@runtime_checkable
class ReadsWithTools(Protocol):
    """A language of either kind whose builds depend on more than the sources and what is installed for Python."""

    def tools(self) -> Sequence[str]:
        """The system's programs and libraries that it reads with, each with what tells its versions apart: what was
        instrumented is taken again (`session/make/kept_builds.py`) while they are the same."""
        ...


@runtime_checkable
class KnowsApis(Protocol):
    """A host language that also helps to write a platform template: tells what an API's header declares, and which
    of the template's expressions do not compile. Works in a child process, as `scan` does."""

    files: tuple[FileKind, ...]

    def header(self, file: Path, text: str) -> ApiHeader:
        """The functions that a header of this text declares itself, `file` being where it lies. What was not understood
        is reported."""
        ...

    def wrong_expressions(self, platform: Platform, folders: Sequence[Path]) -> tuple[WrongExpression, ...]:
        """The entries' expressions that do not compile over their prototypes' parameters; `folders` hold headers."""
        ...


@runtime_checkable
class VariesDepths(Protocol):
    """A hardware language that can also make a design whose FIFOs' depths are chosen when it is simulated."""

    def with_depths(
        self, root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], out: Path, job: Job
    ) -> HdlBuild:
        """Instrument with variable depths: as `instrument`, without states; `varied` names the FIFOs
        (`resources/hdl/recap_depth.v`)."""
        ...


@runtime_checkable
class Proves(Protocol):
    """A hardware language that can also tell whether an instrumented design behaves as the original."""

    def instrument(
        self, root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], out: Path, job: Job
    ) -> HdlBuild:
        """Instrument a design, as every hardware language does; `prove` uses `compared` of the build."""
        ...

    def prove(self, build: HdlBuild, root: Path, limits: Limits, job: Job, module: str = "") -> Proof:
        """Prove or simulate whether each module, or one, behaves as before. Raises WorkbenchError."""
        ...


@runtime_checkable
class HdlLanguage(Protocol):
    """A hardware description language: reads, marks, instruments, and decodes what its monitors counted."""

    name: str
    files: tuple[FileKind, ...]

    def scan(
        self, root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], job: Job
    ) -> HdlScan:
        """Find clocked blocks, their branches and pragmas, and elaborate the design for its instances."""
        ...

    def instrument(
        self, root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], out: Path, job: Job
    ) -> HdlBuild:
        """Write an instrumented design below `out`. Raises WorkbenchError where the design cannot be elaborated."""
        ...

    def plain(self, root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
        """The design as it is: the sources that the top reaches, each after those it needs, and the top's ports."""
        ...

    def tops(
        self, root: Path, files: Sequence[str], chosen: str = "", defines: Mapping[str, int | float | str] = ...
    ) -> tuple[HdlTop, ...]:
        """The modules among `files` (relative to `root`) that may be a design's top, the largest design first, for a
        new project; with them the one that is `chosen` by its name or file, whatever instantiates it. `defines` are
        values of macros, passed only where there are any. Never raises."""
        ...

    def decode(self, build: HdlBuild, words: NDArray[np.uint32]) -> dict[str, Table]:
        """The read-out words as tables `state_time` and `transitions` (block numbers from 0; time_ps left 0)."""
        ...
