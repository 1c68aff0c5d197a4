"""The title and the top keys of a YAML document for a list, without parsing all of it."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workbench.model.diagnostic import WorkbenchError
from workbench.system.files import read_file

_KEY = re.compile(r"^(\w+):(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class DocumentHead:
    """`title` is "" where the document gives none; `keys` are those at its margin."""

    title: str = ""
    keys: frozenset[str] = frozenset()


def head_of(path: Path) -> DocumentHead:
    """The head of a document; an empty one of a file that cannot be read."""
    try:
        return _head_in(read_file(path).decode("utf-8", "replace"))
    except WorkbenchError:
        return DocumentHead()


@lru_cache(maxsize=256)  # lists are made anew often, of documents that seldom change
def _head_in(text: str) -> DocumentHead:
    import yaml  # which a window starts without

    keys = dict(_KEY.findall(text))
    try:
        title = yaml.safe_load(keys.get("title", ""))
    except yaml.YAMLError:
        title = ""
    return DocumentHead(str(title or ""), frozenset(keys))
