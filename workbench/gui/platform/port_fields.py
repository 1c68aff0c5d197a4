"""The form of a clock or a port, made from the fields that its schema has: so a plugin's kind of port has one too."""

from __future__ import annotations

from enum import EnumType
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from workbench.api.forms import Field, Group
from workbench.formats.units import unit_of_name
from workbench.model.hardware import Clock, Port


def clock_groups() -> tuple[Group, ...]:
    return (Group("Clock", "", _fields(Clock, ())),)


def port_groups(port: type[Port], kinds: tuple[str, ...]) -> tuple[Group, ...]:
    """The port's own fields, then a group for each part that has fields itself."""
    parts = [(name, _model(info.annotation)) for name, info in port.model_fields.items()]
    inner = [Group(_title(name), "", _fields(model, (name,))) for name, model in parts if model]
    return (Group("Port", "", _fields(port, (), kinds)), *inner)


def _fields(model: type[BaseModel], above: tuple[str, ...], kinds: tuple[str, ...] = ()) -> tuple[Field, ...]:
    return tuple(
        _field(name, info, above, kinds)
        for name, info in model.model_fields.items()
        if not _model(info.annotation) and get_origin(info.annotation) is not dict  # written by hand
    )


def _field(name: str, info: Any, above: tuple[str, ...], kinds: tuple[str, ...]) -> Field:
    path, label, note = (*above, name), _title(name), info.description or ""
    if name == "kind" and kinds:
        return Field(path, label, "choice", choices=kinds)
    if isinstance(info.annotation, EnumType):
        return Field(path, label, "choice", note, tuple(map(str, info.annotation.__members__.values())))
    if info.annotation is bool:
        return Field(path, label, "check", note, default=bool(info.default))
    if info.annotation is str:
        return Field(path, label, "code", note)
    return Field(path, label, "unit" if unit_of_name(name) else "number", note)


def _model(annotation: Any) -> type[BaseModel] | None:
    members = (annotation, *get_args(annotation))
    return next((m for m in members if isinstance(m, type) and issubclass(m, BaseModel)), None)


def _title(name: str) -> str:
    return name.removesuffix("_hdl").removesuffix("_hz").removesuffix("_s").replace("_", " ").capitalize()
