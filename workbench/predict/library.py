"""The models that come with the kinds of models, and finding a model by its path or its name."""

from pathlib import Path

from workbench.api import ModelKind
from workbench.api.source.files import is_file, is_there
from workbench.model.diagnostic import Diagnostic, WorkbenchError, near


def bundled_models(kind: ModelKind) -> dict[str, Path]:
    """The files of the models that come with a kind, by name."""
    suffix = f".{kind.name}.yaml"
    paths = sorted(kind.models.glob(f"*{suffix}")) if kind.models else ()
    return {path.name.removesuffix(suffix): path for path in paths}


def find_model(name_or_path: str, kind: ModelKind) -> Path:
    """The file of a model: a path, or the name of one that comes with its kind. WorkbenchError where there is none."""
    if is_file(path := Path(name_or_path)):
        return path
    names = bundled_models(kind)
    if name_or_path in names:
        return names[name_or_path]
    if is_there(path):  # its reader reports why it cannot be read
        return path
    hint = near(name_or_path, names, "Bundled models")
    raise WorkbenchError(
        Diagnostic(f"there is neither a file nor a bundled {kind.name} model '{name_or_path[:80]}'", hint)
    )
