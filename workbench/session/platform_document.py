"""A platform template being edited."""

from __future__ import annotations

from workbench.formats.platform_file import parse_platform
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import Platform
from workbench.session.plugins import Plugins
from workbench.session.yaml_document import Notify, YamlDocument


class PlatformDocument(YamlDocument):
    """`platform` is None while the text has errors."""

    kind = "platform"
    title = "platform template"

    def __init__(self, plugins: Plugins, notify: Notify) -> None:
        super().__init__(notify)
        self._plugins = plugins
        self.platform: Platform | None = None

    @property
    def read_only(self) -> bool:
        """Templates of the package and of plugins are not changed: a copy in the project is."""
        return self.path is not None and any(s.template == self.path for s in self._plugins.platforms.values())

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        self.platform, problems = parse_platform(self.text, file)
        return problems
