"""What a pydantic model wants at a place of a document: its keys, an example, and numbers with units converted."""

import types
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from workbench.formats.units import UnitError, example, quantity, unit_of_name

Path = tuple[int | str, ...]


def with_units(model_class: type[BaseModel], data: Any, report: Callable[[Path, str, str], None]) -> Any:
    """The data with texts such as "100 MHz" converted where a numeric field's name ends in a unit.

    Fields that may be texts are left alone. `report` gets path, message and hint of what cannot be converted.
    """
    return _convert((model_class,), data, "", (), report)


def fields_at(model_class: type[BaseModel], path: Path) -> list[str]:
    """The keys that a mapping at `path` may have."""
    return [name for member in _members_at(model_class, path) if _is_model(member) for name in member.model_fields]


def suggestion(model_class: type[BaseModel], path: Path) -> str:
    """What could be written as the value at `path`: an example for a person to change."""
    members = _members_at(model_class, path)
    name = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
    if (unit := unit_of_name(name)) and (int in members or float in members):
        return example(unit)
    for member in members:
        if isinstance(member, type) and issubclass(member, Enum):
            return str(next(iter(member)).value)
        if member in _EXAMPLES:
            return _EXAMPLES[member]
    return "[...]" if any(get_origin(m) in (tuple, list) for m in members) else "..."


_EXAMPLES: dict[Any, str] = {str: '"..."', int: "1", float: "1.0", bool: "true"}


def _is_model(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, BaseModel)


def _members(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of a type: a union's members, without Annotated's wrapping."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(member for part in get_args(annotation) for member in _members(part))
    return (annotation,)


def _below(member: Any, part: int | str) -> Iterable[Any]:
    """The alternatives of what is under a key or index of one alternative."""
    if _is_model(member):
        field = member.model_fields.get(part)
        return _members(field.annotation) if field else ()
    arguments = get_args(member)
    if isinstance(part, str) and get_origin(member) in (dict, Mapping) and len(arguments) == 2:
        return _members(arguments[1])
    if isinstance(part, int) and get_origin(member) in (tuple, list) and arguments:
        fixed = get_origin(member) is tuple and arguments[-1] is not Ellipsis
        index = part if fixed and part < len(arguments) else 0
        return _members(arguments[index])
    return ()


def _members_at(model_class: type[BaseModel], path: Path) -> tuple[Any, ...]:
    members: tuple[Any, ...] = (model_class,)
    for part in path:
        members = tuple(below for member in members for below in _below(member, part))
    return members


def _convert(
    members: tuple[Any, ...], data: Any, name: str, path: Path, report: Callable[[Path, str, str], None]
) -> Any:
    if isinstance(data, dict):
        return {
            key: _convert(_all_below(members, key), value, key if _any_model(members) else name, (*path, key), report)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [
            _convert(_all_below(members, index), value, name, (*path, index), report)
            for index, value in enumerate(data)
        ]
    unit = unit_of_name(name)
    if not unit or str in members or not (int in members or float in members):
        return data
    if isinstance(data, str):
        try:
            data = quantity(data, unit)
        except UnitError as error:
            report(path, error.message, error.hint)
            return data
    if isinstance(data, float) and data.is_integer() and float not in members:
        return int(data)
    return data


def _all_below(members: tuple[Any, ...], part: int | str) -> tuple[Any, ...]:
    return tuple(below for member in members for below in _below(member, part))


def _any_model(members: tuple[Any, ...]) -> bool:
    return any(_is_model(member) for member in members)
