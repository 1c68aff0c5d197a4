"""Trust: building and running a project runs its code, so the user agrees to its present contents first.

A project marked as the user's own is trusted whatever its contents. Any other is trusted with the contents at that
time: if a file has changed since, the question returns and names the file.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import listed
from workbench.session.open.workspace import Workspace
from workbench.system import store
from workbench.system.confine import missing_tools
from workbench.system.files import sha256

_OWN = "own"
#: The kinds of trust, in words.
OWN, AS_IT_STOOD = "your own, whatever its files hold", "the files as they were when you agreed"
_MOST_FILES = 5000
_RIGHTS = "with your rights, network and all"
#: Larger files are identified by size and modification time, since reading them would take long.
_MOST_BYTES = 4 << 20
_HARDWARE_ACTS = re.compile(
    r"\$(?:system|fopen|fwrite|fdisplay|fscanf|fread|readmem[bh]|writemem[bh]|dumpfile)\b|\bimport\s+\"DPI(?:-C)?\""
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


@dataclass(frozen=True)
class TrustState:
    """Whether a project may be run without asking; if not, the files that differ from the trusted contents."""

    trusted: bool
    changed: tuple[str, ...] = ()


def trust_state(workspace: Workspace) -> TrustState:
    """The trust in the project now; reads its files."""
    if is_own(workspace):
        return TrustState(True)
    agreed = _agreed().get(str(workspace.path))
    if not isinstance(agreed, dict):
        return TrustState(False)
    now = content(workspace)
    changed = sorted(name for name in {*now, *agreed} if now.get(name) != agreed.get(name))
    return TrustState(not changed and bool(now), tuple(changed))


def trust(workspace: Workspace, own: bool = False) -> None:
    """Trust the project with its present contents or, if it is the user's `own`, with any later contents."""
    store.save("trusted", {**_agreed(), str(workspace.path): _OWN if own else content(workspace)})


def trusted() -> dict[str, bool]:
    """The trusted project files, each with whether it is the user's own."""
    return {path: agreed == _OWN for path, agreed in _agreed().items()}


def is_own(workspace: Workspace) -> bool:
    """Whether the project is trusted whatever its files hold."""
    return _agreed().get(str(workspace.path)) == _OWN


def withdraw(project: str) -> None:
    """Withdraw the trust in this project. WorkbenchError if it is not trusted."""
    agreed = _agreed()
    if project not in agreed:
        raise WorkbenchError(
            Diagnostic("this project is not trusted", "`workbench settings list` lists them.", file=project)
        )
    store.save("trusted", {path: content for path, content in agreed.items() if path != project})


def _agreed() -> Mapping[str, object]:
    trusted_projects: Mapping[str, object] = store.load("trusted", {})
    return trusted_projects


def content(workspace: Workspace) -> dict[str, str]:
    """File -> hash of its contents, for all that building and running may read in the project's own folders.

    These are the project file, the platform's template, and everything in or below the folders with sources and headers
    (with commands of its own: the project's whole folder), except runs and hidden folders. Empty if there are too many
    files: such a project needs the user's consent each time, unless it is the user's own.
    """
    project, root = workspace.project, workspace.root
    sources = [*(root / name for name in project.host.sources), *workspace.hdl_files]
    inner = [project.host.include_dirs, *(one.project.hardware.include_dirs for one in workspace.designs)]
    folders = [root / name for names in inner for name in names]
    sources = [path for path in (*sources, *workspace.parts) if not workspace.is_made(path)]
    folders = [folder for folder in folders if not workspace.is_made(folder)]
    if project.host.build or _commands(workspace):  # they may run any file here
        folders.append(root)
    own_folders = (root, workspace.platform_path.parent)
    api_sources = workspace.support.api_sources if workspace.support else ()
    api = [path for path in api_sources if any(path.is_relative_to(folder) for folder in own_folders)]
    files = {workspace.path, workspace.platform_path, *workspace.commands, *sources, *api}
    for folder in dict.fromkeys([*(source.parent for source in sources), *folders]):
        for path in _files_below(folder, workspace.runs_dir):
            files.add(path)
            if len(files) > _MOST_FILES:
                return {}
    return {os.path.relpath(path, root): hash_ for path in files if (hash_ := _digest(path))}


def _files_below(folder: Path, runs: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and Path(here) / name != runs]
        yield from (Path(here) / name for name in names)


def _digest(path: Path) -> str:
    """The hash of a regular file; nothing if it is not one, or cannot be read."""
    try:
        if not path.is_file():
            return ""
        facts = path.stat()
        if facts.st_size > _MOST_BYTES:
            return f"{facts.st_size} bytes, {facts.st_mtime_ns} ns"
        return sha256(path.read_bytes())
    except OSError:
        return ""


def trust_sentences(workspace: Workspace, trust_state: TrustState) -> tuple[str, ...]:
    """Sentences that say what trust permits to run, and with which rights."""
    project = workspace.project
    flags = " ".join((*project.host.flags, *(f"-l{name}" for name in project.host.libraries)))
    sentences = [f"Changed since you trusted it: {listed(trust_state.changed, 4)}."] if trust_state.changed else []
    host, hardware = _written_by_user(workspace, project.host.sources), _own_hardware(workspace)
    if workspace.parts:
        blocks = listed([os.path.relpath(path, workspace.root) for path in workspace.parts])
        sentences.append(f"Blocks: {blocks}, turned into a host program and a design, which are compiled and started.")
    if host or not workspace.parts:
        further = " and flags of single sources" if project.host.source_flags else ""
        how = f"compiled with '{flags}'{further}"
        if project.host.build:
            how = f"built by `{project.host.build}`, run in a copy of this folder {_RIGHTS},"
        sentences.append(f"Host: {listed(host)}, {how} and started as a program.")
    if hardware or not workspace.parts:
        sentences.append(f"Hardware: {listed(hardware)}, made into a program by Verilator and started.")
    if commands := _commands(workspace):
        sentences.append(f"Target {project.target.name}: {listed(commands)}: run in this folder {_RIGHTS}.")
    if acts := _hardware_acts(workspace):
        sentences.append(f"The hardware's sources reach outside the simulation: {listed(acts, 4)}.")
    lacking = missing_tools()
    if lacking:
        sentences.append(
            f"Both, whatever they call ($system and $fopen too), have your rights: nothing here confines them "
            f"({', '.join(lacking)} is not installed)."
        )
    else:
        sentences.append("Where this system allows it, both run without network and write to the run folder only.")
    return tuple(sentences)


def _commands(workspace: Workspace) -> tuple[str, ...]:
    """The project's own commands, as written."""
    target = workspace.project.target
    return tuple(f"`{line}`" for line in (target.build, target.run, target.fetch) if line)


def _written_by_user(workspace: Workspace, sources: Sequence[str]) -> list[str]:
    """The sources that the user wrote."""
    return [name for name in sources if not workspace.is_made(workspace.root / name)]


def _own_hardware(workspace: Workspace) -> list[str]:
    return _written_by_user(workspace, [os.path.relpath(path, workspace.root) for path in workspace.hdl_files])


def _hardware_acts(workspace: Workspace) -> tuple[str, ...]:
    """The HDL's calls that access files or start programs: `$system at hdl/top.v:12`."""
    places = []
    for name in _own_hardware(workspace):
        try:
            text = (workspace.root / name).read_text("utf-8", errors="replace")
        except OSError:
            continue
        code = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        for match in _HARDWARE_ACTS.finditer(code):
            places.append(f"{match[0]} at {name}:{code.count(chr(10), 0, match.start()) + 1}")
    return tuple(places)
