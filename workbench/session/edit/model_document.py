"""A model in the editor: its text is parsed as its kind of model after every change."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.api import ModelKind
from workbench.api.source.files import is_file
from workbench.formats.heads import head_of
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import Platform
from workbench.model.text import capitalised
from workbench.predict.formulas import ModelFile
from workbench.predict.kinds import parse_model
from workbench.predict.library import bundled_models
from workbench.session.edit.yaml_document import Notify, Path_, YamlDocument
from workbench.session.program.files import write_atomically
from workbench.session.program.plugins import Plugins
from workbench.system.files import read_file

Kinds = Mapping[str, ModelKind]


@dataclass(frozen=True)
class ModelFound:
    """A model's file for the list: its name, its kind, and whether it belongs to the project."""

    path: Path
    name: str
    kind: ModelKind
    own: bool

    @property
    def title(self) -> str:
        """The title that the model gives itself, or else its name."""
        return head_of(self.path).title or self.name


def kind_of(path: Path, kinds: Kinds) -> ModelKind | None:
    """The kind of a model, by its file name; None for another file."""
    return next((kind for kind in kinds.values() if path.name.endswith(f".{kind.name}.yaml")), None)


def models_of(root: Path | None, kinds: Kinds) -> tuple[ModelFound, ...]:
    """The project's models, then the bundled ones."""
    own_paths = sorted((p, kind) for kind in kinds.values() for p in root.glob(f"*.{kind.name}.yaml")) if root else []
    own_models = [ModelFound(p, p.name.removesuffix(".yaml").rpartition(".")[0], kind, True) for p, kind in own_paths]
    bundled = (ModelFound(p, n, kind, False) for kind in kinds.values() for n, p in bundled_models(kind).items())
    return (*own_models, *bundled)


def starter(path: Path, kinds: Kinds) -> str:
    """The text of a new model, of the kind that the file name shows."""
    name, kind = path.name.split(".")[0], kind_of(path, kinds)
    about = f"# {capitalised(kind.title)}. The guide describes the fields.\n" if kind else ""
    head = f"{about}schema_version: 1\nname: {name}\ntitle: {name.replace('_', ' ').capitalize()}\n"
    return f"{head}\n{kind.starter}" if kind and kind.starter else head


def files_named(value: object, folder: Path, at: Path_ = ()) -> Iterator[tuple[Path_, str]]:
    """The texts of a document that name a file from its folder, each with its place."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from files_named(one, folder, (*at, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from files_named(one, folder, (*at, number))
    elif isinstance(value, str) and "\n" not in value and Path(value).suffix and is_file(folder / value):
        yield at, value


class ModelDocument(YamlDocument):
    """A model of one of the known kinds. `model_file` is None while the text has errors.

    `own` is the open project's platform, used in place of its template.
    """

    kind = "predict"
    title = "model"

    def __init__(self, plugins: Plugins, notify: Notify, own: Callable[[], Platform | None] = lambda: None) -> None:
        super().__init__(notify)
        self._plugins, self._own = plugins, own
        self.model_file: ModelFile | None = None
        self._templates: dict[Path, Platform | None] = {}

    @property
    def model_kind(self) -> ModelKind | None:
        """The model's kind, by its file name."""
        return kind_of(self.path, self._plugins.model_kinds) if self.path else None

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """The templates that a model can name, with the open project's platform in place of its template."""
        for _ in self.read_templates():
            pass
        platforms = (*self._templates.values(), self._own())
        return {platform.name: platform for platform in platforms if platform is not None}

    def read_templates(self) -> Iterator[None]:
        """Read every template once, one in each step; those that cannot be read are left out."""
        for support in self._plugins.platforms.values():
            if support.template not in self._templates:
                self._templates[support.template] = load_platform(support.template)[0]
                yield

    @property
    def read_only(self) -> bool:
        """Whether the model is bundled; only a copy in the project can be edited."""
        return self.path is not None and self.model_kind is not None and self.path.parent == self.model_kind.models

    def save_as(self, path: Path) -> None:
        """Save a copy, with copies beside it of the files that it names, such as a kernel's source."""
        before = self.path
        super().save_as(path)
        if before is None or before.parent == path.parent:
            return
        for place, name in files_named(self.value(()), before.parent):
            original = before.parent / name
            copy = path.parent / original.name
            if not copy.exists():
                write_atomically(copy, read_file(original))
            same = read_file(copy) == read_file(original)
            self.set(place, copy.name if same else str(original.resolve()), "Name the copied file")
        if self.dirty:
            self.save()

    def read_again(self) -> None:
        """Parse the text again after a change of the platforms that it may name."""
        self.read()
        self.changed.emit()

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        kind = self.model_kind
        if kind is None:
            self.model_file, hint = None, f"Name it NAME.KIND.yaml, of {', '.join(self._plugins.model_kinds)}."
            return (Diagnostic("the file's name does not say of what kind the model is", hint, file=file),)
        self.model_file, problems = parse_model(kind, self.text, file, self.platforms)
        return problems
