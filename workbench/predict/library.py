"""The models that come with the kinds of models, and finding a model by its path or its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.api import ModelKind
from workbench.api.source.files import is_file
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near


@dataclass(frozen=True)
class ModelEntry:
    """A bundled model: its name, what it is called for people, its kind (as "ratss"), its file."""

    name: str
    title: str
    kind: str
    path: Path


def list_models(kinds: Iterable[ModelKind]) -> tuple[ModelEntry, ...]:
    """The models that come with some kinds, by kind and name."""
    return tuple(entry for kind in kinds for entry in _bundled(kind))


def _bundled(kind: ModelKind) -> Iterator[ModelEntry]:
    suffix = f".{kind.name}.yaml"
    for path in sorted(kind.models.glob(f"*{suffix}")) if kind.models else ():
        marked, _ = read_marked(path.read_text(encoding="utf-8"), str(path))
        title = str(marked.data.get("title", "")) if marked and isinstance(marked.data, dict) else ""
        yield ModelEntry(path.name.removesuffix(suffix), title, kind.name, path)


def find_model(name_or_path: str, kind: ModelKind) -> Path:
    """The file of a model: a path, or the name of one that comes with its kind. WorkbenchError where there is none."""
    if is_file(path := Path(name_or_path)):
        return path
    names = {entry.name: entry.path for entry in _bundled(kind)}
    if name_or_path in names:
        return names[name_or_path]
    hint = near(name_or_path, names, "Bundled models")
    raise WorkbenchError(Diagnostic(f"there is no file and no bundled {kind.name} model '{name_or_path[:80]}'", hint))
