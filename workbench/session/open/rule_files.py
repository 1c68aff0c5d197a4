"""The rule files that a project names, in its own folder or in one that it lists as outside."""

import os
from pathlib import Path

from workbench.api.source.files import within
from workbench.formats.documents import read_text
from workbench.formats.yaml_marks import read_marked
from workbench.session.open.project_path import PROJECT_SUFFIX

RULES_SUFFIX = ".rules.yaml"


def rule_files(project: Path) -> tuple[Path, ...]:
    """The existing rule files. None if the project is gone, cannot be read, or names none."""
    if not project.name.endswith(PROJECT_SUFFIX):
        return ()
    text, _ = read_text(project, "project file")
    marked = None if text is None else read_marked(text)[0]
    data = marked.data if marked and isinstance(marked.data, dict) else {}
    rule_texts, outside = (_texts(data.get(key)) for key in ("rules", "outside"))
    root = project.parent
    allowed = (root, *(root / folder for folder in outside))
    return tuple(root / name for name in rule_texts if os.path.isfile(root / name) and within(root / name, allowed))


def usual_rule_file(project: Path) -> Path:
    """The file for a project's own rules: the first rule file that it names, or a new one beside it."""
    return next(iter(rule_files(project)), project.with_name(project.name.removesuffix(PROJECT_SUFFIX) + RULES_SUFFIX))


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
