"""A table's column as a `.npy` file: one dimension of one kind of number, mapped and never loaded."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.files import open_regular

#: What `np.save` writes for one dimension. numpy's own reader evaluates the text of a header, whatever it is.
_HEADER = re.compile(
    rb"\{'descr': '([<>|]?[a-z][0-9])', 'fortran_order': (?:False|True), 'shape': \((\d{1,18}),\), \} *\n"
)
_BEGINNING = b"\x93NUMPY\x01\x00"


class DamagedError(Exception):
    """A table, or one column of it, that is not as it was written."""


def read_column(path: Path, kind: str) -> NDArray[np.generic]:
    """The numbers of kind `kind` ("i8") in a file, read only. Raises DamagedError."""
    try:
        with open_regular(path) as stream:
            start = stream.read(10)
            header = _HEADER.fullmatch(stream.read(int.from_bytes(start[8:], "little")))
            if start[:8] != _BEGINNING or header is None:
                raise DamagedError(f"{path.name} has no header of a column")
            wanted, count, offset = np.dtype(kind), int(header[2]), stream.tell()
            if np.dtype(header[1].decode()) != wanted:
                raise DamagedError(f"{path.name} holds {header[1].decode()}, not {wanted.str}")
            if os.fstat(stream.fileno()).st_size != offset + count * wanted.itemsize:
                raise DamagedError(f"{path.name} has not the length of its {count} values")
            if not count:
                return np.zeros(0, wanted)
            return np.memmap(stream, wanted, "r", offset, (count,))
    except FileNotFoundError:
        raise DamagedError(f"{path.name} is missing") from None
    except (OSError, TypeError) as error:
        raise DamagedError(f"{path.name} cannot be read ({error})") from None
