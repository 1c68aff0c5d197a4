"""A project file in the editor."""

from dataclasses import replace

from workbench.formats.documents import parse_document
from workbench.formats.project_file import SCHEMA
from workbench.model.diagnostic import Diagnostic
from workbench.session.edit.yaml_document import YamlDocument


class ProjectDocument(YamlDocument):
    """A project file. Missing files that it names are reported when it is saved and the project is read again."""

    kind = "project"
    title = "project file"

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        return tuple(replace(d, file=file or "") for d in parse_document(SCHEMA, self.text, None)[1])
