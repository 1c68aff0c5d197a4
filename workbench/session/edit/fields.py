"""The field reference, made from the schemas: every document that users write or that a run leaves, field by field."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from workbench.analysis.knowledge import KnowledgeFile
from workbench.api import ModelKind
from workbench.formats.field_reference import MappingFields, json_schema, markdown, sections
from workbench.formats.manifest import manifest_text
from workbench.formats.yaml_marks import read_marked
from workbench.model.application import Project
from workbench.model.platform import Platform
from workbench.model.run import Manifest
from workbench.model.run_tables import COLUMNS, ROWS, TABLES
from workbench.session.program.plugins import load_plugins

HEAD = """# Every field

Made by `workbench fields` from the schemas that check the documents. `a.b` means `b` inside `a`, `[]` means each
item of a list, `NAME` a name that you choose. Where a field has a unit, a text such as `100 MHz` or `32 KiB` may be
written; a bare number is in that unit. Where a *number or formula* is allowed, a formula may use the model's inputs.
"""


@dataclass(frozen=True)
class Document:
    """A kind of document. `schema` is its pydantic model or dataclass, `examples` are bundled documents."""

    title: str
    file: str
    schema: type
    examples: Sequence[object]


def documents(name: str) -> tuple[Document, ...]:
    """The documents of one group in `NAMES`."""
    resources = Path(str(files("workbench.resources")))
    if name == "template":
        templates = sorted(Path(str(files("workbench.platform_templates"))).glob("*.yaml"))
        kinds = load_plugins().port_kinds.values()
        with_ports = [document for document in _read(templates) if isinstance(document, dict)]
        ports = [port for document in with_ports for port in document.get("hardware", {}).get("ports", ())]
        return (
            Document("Platform template", "NAME.yaml", Platform, _read(templates)),
            *(
                Document(f"{kind.title} (kind: {kind.name})", f"hardware.ports[] {kind.name}", kind.port(), ports)
                for kind in kinds
            ),
        )
    if name == "project":
        projects = sorted((resources / "examples").rglob("*.workbench.yaml"), reverse=True)
        return (Document("Project", "NAME.workbench.yaml", Project, _read(projects)),)
    if name == "model":
        return tuple(
            Document(f"Model: {kind.title}", f"NAME.{kind.name}.yaml", kind.document(), _read(_models(kind)))
            for kind in load_plugins().model_kinds.values()
        )
    if name == "rules":
        brought = [file.path for file in load_plugins().rules.values()]
        return (Document("Rules", "NAME.yaml", KnowledgeFile, _read(brought)),)
    from workbench.testing.runs import synthetic_run  # a whole run with every kind of block

    manifest = json.loads(manifest_text(synthetic_run(cores=2, rounds=2).manifest))
    return (Document("Run folder: the manifest", "manifest.json", Manifest, [manifest]),)


NAMES = ("template", "project", "model", "rules", "run")


def reference(names: Sequence[str] = NAMES) -> str:
    """The whole reference as Markdown."""
    parts = [HEAD]
    for name in names:
        for document in documents(name):
            parts.append(f"## {document.title}\n\n`{document.file}`\n")
            parts.append(markdown(described(document)))
        if name == "run":
            parts.append(_tables())
    return "\n".join(parts).rstrip() + "\n"


def schemas(name: str) -> Mapping[str, object]:
    """The documents' JSON Schemas, by file name."""
    return {document.file: json_schema(document.schema) for document in documents(name)}


def described(document: Document) -> tuple[MappingFields, ...]:
    return sections(document.schema, document.examples)


def _models(kind: ModelKind) -> list[Path]:
    """The models that come with a model kind, and those of the bundled applications."""
    pattern = f"*.{kind.name}.yaml"
    bundled = sorted(kind.models.glob(pattern)) if kind.models else []
    return [*bundled, *sorted((Path(str(files("workbench.resources"))) / "examples").rglob(pattern))]


def _read(paths: Sequence[Path]) -> list[object]:
    read = [read_marked(path.read_text("utf-8"), str(path))[0] for path in paths]
    return [marked.data for marked in read if marked is not None]


def _tables() -> str:
    lines = ["## Run folder: the tables", "", "`tables/TABLE/COLUMN.npy`: columns of numbers, equally long in a table; "
             "-1 means none. Times are picoseconds on the virtual clock.", ""]  # fmt: skip
    for name, columns in TABLES.items():
        lines += [f"### `{name}`", "", f"A row: {ROWS[name]}.", "", "| column | type | holds |", "| --- | --- | --- |"]
        lines += [f"| `{column}` | {kind} | {COLUMNS[column]} |" for column, kind in columns.items()]
        lines.append("")
    return "\n".join(lines)
