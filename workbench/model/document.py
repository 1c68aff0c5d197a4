"""What every document that people write is made of: frozen data that takes no key it does not know."""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo


class Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def part_in(info: FieldInfo) -> type[BaseModel] | None:
    """The part that a field holds, or holds many of."""
    return next((a for a in _within(info.annotation) if isinstance(a, type) and issubclass(a, BaseModel)), None)


def _within(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _within(inner)
