"""Checksums of a finished run's files, which tell damage; they are no protection against someone who changes both."""

import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from workbench.formats.json_text import read_json
from workbench.system.files import open_regular, read_regular

CHECKSUMS = "checksums.json"
_PIECE_BYTES = 1 << 20


def text_checksum(text: str) -> str:
    """CRC-32 of a text's UTF-8, as eight hexadecimal digits."""
    return f"{zlib.crc32(text.encode('utf-8')):08x}"


def file_checksum(path: Path) -> str:
    """CRC-32 of a file's bytes, as eight hexadecimal digits."""
    value = 0
    with open_regular(path) as stream:
        while piece := stream.read(_PIECE_BYTES):
            value = zlib.crc32(piece, value)
    return f"{value:08x}"


def checksums_text(folder: Path, paths: Iterable[Path], texts: Mapping[str, str]) -> str:
    """A document of the checksums of files below `folder`, by their path there, and of `texts` that are to come."""
    sums = {path.relative_to(folder).as_posix(): file_checksum(path) for path in sorted(paths)}
    sums |= {name: text_checksum(text) for name, text in texts.items()}
    return json.dumps(sums, indent=1) + "\n"


def read_checksums(folder: Path) -> dict[str, str]:
    """Checksums by path; {} where the folder has none (a run of an earlier version, or one that did not end).
    OSError or ValueError where they cannot be read."""
    try:
        sums = read_json(read_regular(folder / CHECKSUMS))
    except FileNotFoundError:
        return {}
    if not isinstance(sums, dict):
        raise ValueError("it has no checksums by path")
    return {name: text for name, text in sums.items() if isinstance(text, str) and _below(name)}


def _below(name: str) -> bool:
    """Whether a path stays below the folder that it starts from."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name


def is_as_written(folder: Path, name: str, checksums: Mapping[str, str]) -> bool:
    """Whether a file is there and holds what it did; one without a checksum counts as such."""
    try:
        return name not in checksums or file_checksum(folder / name) == checksums[name]
    except OSError:
        return False
