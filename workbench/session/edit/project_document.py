"""A project file in the editor."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.api import PlatformSupport
from workbench.formats.documents import parse_document
from workbench.formats.project_file import SCHEMA
from workbench.model.diagnostic import Diagnostic, did_you_mean
from workbench.session.edit.yaml_document import Notify, YamlDocument
from workbench.session.open.opening import find_template


class ProjectDocument(YamlDocument):
    """A project file; `platforms` are the templates by their names. Missing files that it names, but for its template,
    are reported when it is saved and the project is read again."""

    kind = "project"
    title = "project file"

    def __init__(self, notify: Notify, platforms: Mapping[str, PlatformSupport]) -> None:
        super().__init__(notify)
        self._platforms = platforms

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        found = (*parse_document(SCHEMA, self.text, None)[1], *self._template_problems())
        return tuple(replace(d, file=file or "") for d in found)

    def _template_problems(self) -> Iterator[Diagnostic]:
        """That there is no template of the name, and which is meant, or which there are."""
        name = self.value(("platform",))
        if self.marked is None or self.path is None or not isinstance(name, str) or not name:
            return
        found = find_template(name, self.path.parent, self._platforms)
        if isinstance(found, Diagnostic):
            there = f"Templates: {', '.join(sorted(self._platforms))}; or give the path of a template."
            yield self.marked.diagnostic(("platform",), found.message, did_you_mean(name, self._platforms) or there)
