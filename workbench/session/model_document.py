"""A model being edited: the text of a RATSS or density model, read again at every change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import Platform
from workbench.predict.density import DensityModelFile, parse_density
from workbench.predict.library import KINDS, ModelEntry, list_models
from workbench.predict.ratss import RatssModelFile, parse_ratss
from workbench.session.plugins import Plugins
from workbench.session.yaml_document import Notify, YamlDocument


@dataclass(frozen=True)
class ModelFound:
    """A model's file for the list: what it is called, its kind, whether it is the project's own."""

    path: Path
    title: str
    kind: str
    own: bool


def kind_of(path: Path) -> str:
    """ "ratss" or "density", by the file's name; "" for another file."""
    return next((kind for kind in KINDS if path.name.endswith(f".{kind}.yaml")), "")


@cache
def bundled() -> tuple[ModelEntry, ...]:
    """The bundled models, read once."""
    return list_models()


def models_of(root: Path | None) -> tuple[ModelFound, ...]:
    """The project's models, then the bundled ones."""
    own = sorted(p for kind in KINDS for p in root.glob(f"*.{kind}.yaml")) if root else []
    named = [ModelFound(p, p.name.removesuffix(".yaml").rpartition(".")[0], kind_of(p), True) for p in own]
    return (*named, *(ModelFound(e.path, e.name, e.kind, False) for e in bundled()))


def starter(path: Path) -> str:
    """A model to begin with, of the kind that the file's name says."""
    name = path.name.split(".")[0]
    head = f"schema_version: 1\nname: {name}\ntitle: {name.replace('_', ' ').capitalize()}\n"
    if kind_of(path) == "density":
        return (
            "# What the memories let an algorithm reach (computational density). The guide tells of the fields.\n"
            f"{head}algorithm: dot_product\nelement_bytes: element\n\n"
            "inputs:\n  element: {value: 4, unit: B, title: bytes of an operand}\n\n"
            "layers:\n  - {name: main memory, layer_bytes: 1 GB, bandwidth_bytes_per_s: 1 GB/s, latency_s: 0}\n\n"
            "compute:\n  units: 1\n  clock_hz: 100 MHz\n"
        )
    return (
        "# How long an application takes on its nodes and networks (RATSS). The guide tells of the fields.\n"
        f"{head}\ninputs:\n  elements: {{value: 1000, title: elements}}\n\n"
        "stages:\n  - name: compute\n    nodes:\n      - name: node\n        elements: elements\n"
        "        ops_per_element: 1\n        clock_hz: 100 MHz\n        ops_per_cycle: 1\n"
    )


class ModelDocument(YamlDocument):
    """A RATSS or density model. `model_file` is None while the text has errors.

    `own` is the open project's platform, which stands in place of its template.
    """

    kind = "predict"
    title = "model"

    def __init__(self, plugins: Plugins, notify: Notify, own: Callable[[], Platform | None] = lambda: None) -> None:
        super().__init__(notify)
        self._plugins, self._own = plugins, own
        self.model_file: RatssModelFile | DensityModelFile | None = None
        self._templates: dict[str, Platform] | None = None

    @property
    def model_kind(self) -> str:
        """ "ratss" or "density", by the file's name."""
        return kind_of(self.path) if self.path else ""

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """The templates that a model can name; the open project's platform in place of its template."""
        own = self._own()
        templates = self.read_templates()
        return {**templates, own.name: own} if own else templates

    def read_templates(self) -> dict[str, Platform]:
        """Every template that can be read, by its platform's name. The files are read the first time only."""
        if self._templates is None:
            read = (load_platform(support.template)[0] for support in self._plugins.platforms.values())
            self._templates = {platform.name: platform for platform in read if platform is not None}
        return self._templates

    @property
    def ratss(self) -> RatssModelFile | None:
        return self.model_file if isinstance(self.model_file, RatssModelFile) else None

    @property
    def density(self) -> DensityModelFile | None:
        return self.model_file if isinstance(self.model_file, DensityModelFile) else None

    @property
    def read_only(self) -> bool:
        """Bundled models are not changed: a copy in the project is."""
        return self.path is not None and any(e.path == self.path for e in bundled())

    def read_again(self) -> None:
        """Read the text again, where the platforms that it may name have changed."""
        self.read()
        self.changed.emit()

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        parse = parse_density if self.model_kind == "density" else parse_ratss
        self.model_file, problems = parse(self.text, file, self.platforms)
        return problems
