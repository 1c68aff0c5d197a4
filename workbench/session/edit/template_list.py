"""Platform templates for a list: by what they are for, each with its title. No Qt here."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workbench.formats.heads import head_of

PROJECT, BOARDS, APIS, PREDICTED = "This project", "Boards", "Host APIs of any board", "For predictions alone"


@dataclass(frozen=True)
class TemplateFound:
    path: Path
    title: str


def template_groups(own: Iterable[Path], bundled: Iterable[Path]) -> dict[str, tuple[TemplateFound, ...]]:
    """The project's own templates, then the workbench's: boards, host APIs without a board, boards without a host API.
    Each group is sorted by title; groups without templates are left out."""
    groups: dict[str, list[TemplateFound]] = {PROJECT: [], BOARDS: [], APIS: [], PREDICTED: []}
    own = tuple(dict.fromkeys(own))
    for path in dict.fromkeys((*own, *bundled)):
        head = head_of(path)
        kind = PREDICTED if "host" not in head.keys else BOARDS if "hardware" in head.keys else APIS
        groups[PROJECT if path in own else kind].append(TemplateFound(path, head.title or path.stem))
    return {name: tuple(sorted(found, key=lambda one: one.title.lower())) for name, found in groups.items() if found}
