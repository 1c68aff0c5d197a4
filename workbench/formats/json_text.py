"""JSON read from files that may be damaged or foreign: bounded in depth; errors have line and column."""

import re
from typing import Any

from pydantic_core import from_json

_PLACE = re.compile(r" at line (\d+) column (\d+)$")


class JsonError(ValueError):
    """What is no JSON: why, and where (from 1)."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text, after a byte order mark or none. Raises JsonError, also for nesting beyond some 200
    levels."""
    mark: Any = "\ufeff" if isinstance(text, str) else b"\xef\xbb\xbf"
    try:
        return from_json(text.removeprefix(mark))
    except ValueError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        raise JsonError(_PLACE.sub("", str(error)), line, max(column, 1)) from None
