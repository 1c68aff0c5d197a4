"""The effective value of every field of a project, and its origin: the project, its template, or the default."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from workbench.formats.yaml_edit import remove_item, write_checked
from workbench.formats.yaml_marks import read_marked
from workbench.model.application import Project
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.document import part_in
from workbench.model.platform import Platform
from workbench.system.files import read_file

Keys = tuple[int | str, ...]
OriginName = Literal["project", "template", "hardware", "found", "default", "none"]

#: Fields that a template says where the project does not.
_OF_TEMPLATE: Mapping[Keys, Callable[[Platform], Any]] = {
    ("api_dir",): lambda platform: platform.host.api_dir,
    ("api_sources",): lambda platform: platform.host.api_sources,
}
_COMMANDS = "compile_commands.json"
_FPGAS = ("hardware", "fpgas")


@dataclass(frozen=True)
class Origin:
    """The effective value (`value`, in words) and its origin (`name`); `none` if the field has no value."""

    name: OriginName
    value: str = ""


@dataclass(frozen=True)
class FieldOrigin:
    """A field of a project by its keys, such as hardware.top, with its effective value and origin."""

    keys: Keys
    origin: Origin
    what: str

    @property
    def name(self) -> str:
        return ".".join(map(str, self.keys))


def unset_origin(keys: Keys, platform: Platform | None, root: Path | None) -> Origin:
    """The effective value of a field that the project in `root` does not set."""
    if keys[:2] == _FPGAS and len(keys) > 3 and _info(("hardware", *keys[3:])) is not None:
        return Origin("hardware")
    template_value = _OF_TEMPLATE[keys](platform) if platform and keys in _OF_TEMPLATE else None
    if template_value:
        return Origin("template", in_words(template_value))
    if keys == ("host", "compile_commands") and root is not None and (root / _COMMANDS).exists():
        return Origin("found", _COMMANDS)
    info = _info(keys)
    default = info.get_default(call_default_factory=True) if info is not None else None
    default_value = "" if default is None or default is PydanticUndefined or isinstance(default, BaseModel) else default
    return Origin("default", in_words(default_value)) if default_value not in ("", (), {}) else Origin("none")


def can_reset(keys: Keys) -> bool:
    """Whether a project may omit the field."""
    schema_keys = ("hardware", *keys[3:]) if keys[:2] == _FPGAS and keys[3:] else keys
    info = _info(schema_keys)
    return info is not None and (not info.is_required() or schema_keys != keys)


def origins(project: Project, platform: Platform | None, root: Path) -> Iterator[FieldOrigin]:
    """Every field of a project that has a value, also lists and mappings, with its effective value."""
    yield from _origins(project, (), platform, root)


def _origins(part: BaseModel, above: Keys, platform: Platform | None, root: Path) -> Iterator[FieldOrigin]:
    for name, info in type(part).model_fields.items():
        keys, value = (*above, name), getattr(part, name)
        if keys == ("schema_version",):
            continue
        inner = value if isinstance(value, tuple) and value and isinstance(value[0], BaseModel) else ()
        if isinstance(value, BaseModel):
            yield from _origins(value, keys, platform, root)
        elif inner:
            for number, one in enumerate(inner):
                yield from _origins(one, (*keys, number), platform, root)
        elif name in part.model_fields_set:
            yield FieldOrigin(keys, Origin("project", in_words(value)), info.description or "")
        else:
            yield FieldOrigin(keys, unset_origin(keys, platform, root), info.description or "")


def reset_field(project: Path, name: str) -> None:
    """Remove a field from a project's file, by its name such as simulation.cores. WorkbenchError if it is not set, or
    is required."""
    keys: Keys = tuple(int(part) if part.isdecimal() else part for part in name.split("."))
    text = read_file(project).decode("utf-8-sig")
    marked, problems = read_marked(text, str(project))
    if marked is None:
        raise WorkbenchError(*problems)
    if keys not in marked.values:
        hint = f"`workbench settings project {project.name}` lists the fields."
        raise WorkbenchError(Diagnostic(f"'{name}' is not set", hint, file=str(project)))
    if not can_reset(keys):
        raise WorkbenchError(marked.diagnostic(keys, f"a project needs '{name}'", "Give it another value."))
    write_checked(project, text, remove_item(text, keys))


@cache
def _info(keys: Keys) -> FieldInfo | None:
    """The schema's field at these keys; None if there is none."""
    schema: type[BaseModel] | None = Project
    info: FieldInfo | None = None
    for key in keys:
        if isinstance(key, int):
            continue
        info = schema.model_fields.get(key) if schema is not None else None
        if info is None:
            return None
        schema = part_in(info)
    return info


def in_words(value: Any) -> str:
    """A value in one line of a form or a table."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {in_words(one)}" for name, one in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(in_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
