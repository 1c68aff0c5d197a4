"""A table's column as a `.npy` file: one dimension of one kind of number, mapped to read where it is large, written in
pieces."""

import os
import re
from collections.abc import Mapping
from mmap import MADV_DONTNEED, mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import Table
from workbench.model.text import counted
from workbench.system.files import open_regular

#: What `np.save` writes for one dimension. numpy's own reader evaluates the text of a header, whatever it is.
_HEADER = re.compile(
    rb"\{'descr': '([<>|]?[a-z][0-9])', 'fortran_order': (?:False|True), 'shape': \((\d{1,18}),\), \} *\n"
)
_SMALL_BYTES = 1 << 18  # read at once: a mapped file stays open, and a process may open a thousand
_BEGINNING = b"\x93NUMPY\x01\x00"


class DamagedError(Exception):
    """A table, or one column of it, that is not as it was written."""


def read_column(path: Path, kind: str | None) -> NDArray[np.generic]:
    """The numbers of kind `kind` ("i8"), or of any kind, in a file, read only. Raises DamagedError.

    Unsigned ones may be of fewer bytes.
    """
    try:
        with open_regular(path) as stream:
            start = stream.read(10)
            header = _HEADER.fullmatch(stream.read(int.from_bytes(start[8:], "little")))
            if start[:8] != _BEGINNING or header is None:
                raise DamagedError(f"{path.name} has no header of a column")
            dtype, count, offset = np.dtype(header[1].decode()), int(header[2]), stream.tell()
            if not _fits(dtype, kind):
                wanted = "numbers" if kind is None else np.dtype(kind).str
                raise DamagedError(f"{path.name} holds {header[1].decode()}, not {wanted}")
            if os.fstat(stream.fileno()).st_size != offset + count * dtype.itemsize:
                raise DamagedError(f"{path.name} has a length that differs from its {counted(count, 'value')}")
            if count * dtype.itemsize <= _SMALL_BYTES:
                return np.frombuffer(stream.read(count * dtype.itemsize), dtype)
            return np.memmap(stream, dtype, "r", offset, (count,))
    except FileNotFoundError:
        raise DamagedError(f"{path.name} is missing") from None
    except (OSError, TypeError) as error:
        raise DamagedError(f"{path.name} cannot be read ({error})") from None


def _fits(dtype: np.dtype[np.generic], kind: str | None) -> bool:
    if kind is None:
        return dtype.kind in "biuf"
    wanted = np.dtype(kind)
    return dtype == wanted or (dtype.kind == wanted.kind == "u" and dtype.itemsize <= wanted.itemsize)


def let_go(table: Table) -> None:
    """Give back the memory that holds what was read of mapped columns; it is read again when it is needed."""
    for column in table.values():
        if isinstance(column.base, mmap):
            column.base.madvise(MADV_DONTNEED)


class ColumnWriter:
    """A column in the making: what was appended is a whole column whenever `append` has returned. Raises OSError."""

    def __init__(self, path: Path, kind: str) -> None:
        self._kind, self._count = np.dtype(kind), 0
        self._stream = path.open("xb")
        self._write_header()

    def append(self, values: NDArray[np.generic]) -> None:
        self._stream.seek(0, os.SEEK_END)
        self._stream.write(np.ascontiguousarray(values, self._kind).data)
        self._count += len(values)
        self._write_header()

    def close(self) -> None:
        self._stream.close()

    def _write_header(self) -> None:
        """numpy leaves room in it for the count to grow."""
        self._stream.seek(0)
        facts = {"descr": self._kind.str, "fortran_order": False, "shape": (self._count,)}
        np.lib.format.write_array_header_1_0(self._stream, facts)
        self._stream.flush()


class TableWriter:
    """A table in the making: a column for each of `kinds`, in a folder that is made. Raises OSError."""

    def __init__(self, folder: Path, kinds: Mapping[str, str]) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._columns = {name: ColumnWriter(folder / f"{name}.npy", kind) for name, kind in kinds.items()}

    def append(self, piece: Table) -> None:
        for name, column in self._columns.items():
            column.append(piece[name])

    def close(self) -> Table:
        """Finish; the table, mapped."""
        for column in self._columns.values():
            column.close()
        return {name: read_column(self._folder / f"{name}.npy", None) for name in self._columns}
