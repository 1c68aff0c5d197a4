"""A project file being edited."""

from dataclasses import replace

from workbench.formats.documents import parse_document
from workbench.formats.project_file import SCHEMA
from workbench.model.diagnostic import Diagnostic
from workbench.session.edit.yaml_document import YamlDocument


class ProjectDocument(YamlDocument):
    """Whether the files are there that it names is told once it is saved, and the project read again."""

    kind = "project"
    title = "project file"

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        return tuple(replace(d, file=file or "") for d in parse_document(SCHEMA, self.text, None)[1])
