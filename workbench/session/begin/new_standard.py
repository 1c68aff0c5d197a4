"""Finds the C++ standard of a new project's host: from its build files, or from what its includes need."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.api.source import suffixes
from workbench.model.scan import HostFile
from workbench.session.begin.project_text import Decision
from workbench.system.files import read_file

_BUILD_FILE = re.compile(r"(?:.*/)?(?:CMakeLists\.txt|[Mm]akefile|GNUmakefile|meson\.build|[^/]+\.(?:mk|cmake))")
_ASKED = re.compile(r"(?:CMAKE_CXX_STANDARD\s+|\bCXX_STANDARD\s+|cxx_std_|(?:-std=|cpp_std=)(?:c|gnu|vc)\+\+)(\d\w)")
_OF_NAME = {"0x": 11, "1y": 14, "1z": 17, "2a": 20, "2b": 23, "2c": 26}
#: Headers introduced by each standard.
_NEEDS = {
    20: {"barrier", "bit", "compare", "concepts", "coroutine", "format", "latch", "numbers", "ranges", "semaphore",
         "source_location", "span", "stop_token", "syncstream", "version"},
    23: {"expected", "flat_map", "flat_set", "generator", "mdspan", "print", "spanstream", "stacktrace", "stdfloat"},
}  # fmt: skip
_BY_DEFAULT = 17  # of current compilers


def standard_flag(root: Path, files: Sequence[str], outlines: Sequence[HostFile]) -> tuple[str, Decision | None]:
    """The compiler flag for the C++ standard and its reason; empty if the compiler's default is right."""
    if not any(file.file.endswith((*suffixes.CPP, *suffixes.CPP_HEADERS)) for file in outlines):
        return "", None
    year, reason = max((*_asked_by_build_files(root, files), *_needed_by_includes(outlines)), default=(0, ""))
    if year <= _BY_DEFAULT:
        return "", None
    return f"-std=c++{year}", Decision("C++ standard", f"C++{year}", reason)


def _asked_by_build_files(root: Path, files: Sequence[str]) -> Iterator[tuple[int, str]]:
    for file in files:
        if _BUILD_FILE.fullmatch(file):
            for match in _ASKED.finditer(read_file(root / file).decode("utf-8", "replace")):
                year = _OF_NAME.get(match[1]) or (int(match[1]) if match[1].isdigit() else 0)
                yield (year if year < 90 else 0), f"asked for by {file}"


def _needed_by_includes(outlines: Sequence[HostFile]) -> Iterator[tuple[int, str]]:
    for file in outlines:
        for year, headers in _NEEDS.items():
            if needing := sorted(headers.intersection(file.includes)):
                yield year, f"needed by <{needing[0]}>, which {file.file} includes"
