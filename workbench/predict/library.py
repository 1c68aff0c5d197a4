"""The models that come with the workbench, and finding a model by its path or its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near

KINDS = ("ratss", "density")


@dataclass(frozen=True)
class ModelEntry:
    """A bundled model: its name, what it is called for people, its kind (as "ratss"), its file."""

    name: str
    title: str
    kind: str
    path: Path


def list_models() -> tuple[ModelEntry, ...]:
    """The models that come with the workbench, by kind and name."""
    folder = Path(str(files("workbench.resources"))) / "models"
    return tuple(entry for kind in KINDS for entry in bundled(kind, folder))


def bundled(kind: str, folder: Path | None) -> Iterator[ModelEntry]:
    """A folder's models of one kind, by name."""
    for path in sorted(folder.glob(f"*.{kind}.yaml")) if folder else ():
        marked, _ = read_marked(path.read_text(encoding="utf-8"), str(path))
        title = str(marked.data.get("title", "")) if marked and isinstance(marked.data, dict) else ""
        yield ModelEntry(path.name.removesuffix(f".{kind}.yaml"), title, kind, path)


def find_model(name_or_path: str, kind: str, known: Iterable[ModelEntry] | None = None) -> Path:
    """The file of a model: a path, or the name of one that is known, else of one that comes with the workbench.
    WorkbenchError where there is none."""
    if is_file(path := Path(name_or_path)):
        return path
    names = {entry.name: entry.path for entry in (list_models() if known is None else known) if entry.kind == kind}
    if name_or_path in names:
        return names[name_or_path]
    hint = near(name_or_path, names, "Bundled models")
    raise WorkbenchError(Diagnostic(f"there is no file and no bundled {kind} model '{name_or_path[:80]}'", hint))


def is_file(path: Path) -> bool:
    """Whether a path names a file that can be seen; not so for names that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
