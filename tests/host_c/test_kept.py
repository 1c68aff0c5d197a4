"""A host's instrumented copies are made once, and again where anything changed that they are made of."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.api import HostBuild
from workbench.session.make.kept_builds import keeping

HOST = """#include "fake.h"
#include "own.h"
int main(void) { fake_t *f = fakeOpen(0);
    fakeWrite(f, 0, 4, WORDS); return 0; }
"""


@pytest.fixture
def made(project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[HostBuild, int]]:
    monkeypatch.setenv("RCW_CACHE", str(tmp_path / "cache"))
    project.file("user.c", HOST)
    project.file("include/own.h", "#define WORDS 8\n")
    project.include_dirs = ("first", "include")
    counted = []

    def make(name: str = "build") -> tuple[HostBuild, int]:
        """The build in a folder of that name, and how often sources were read until now."""
        out = project.work / name
        for file in project.root.rglob("*.[ch]"):
            os.utime(file, (time.time() - 60, time.time() - 60))

        def instrument() -> HostBuild:
            counted.append(name)
            return project.language.instrument(project.root, project.host, project.platform, project.defines, out)

        keep = keeping(project.language, project.root, project.platform, project.defines, out)
        return keep(project.host, instrument), len(counted)

    return make


def texts(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_instrumented_is_taken_again_in_any_folder_and_runs(project, made) -> None:
    first, _ = made("one")
    second, times = made("two")
    assert times == 1
    assert texts(project.work / "one") == texts(project.work / "two")
    assert second.sources == (project.work / "two" / "host" / "user.c",)
    assert (second.sites, second.blocks, second.missed) == (first.sites, first.blocks, first.missed)
    assert project.run(second).recorded == {"fakeOpen": 1, "fakeWrite": 1}


def test_it_is_made_anew_where_what_it_was_made_of_changed(project, made) -> None:
    assert made()[1] == 1
    project.file("include/own.h", "#define WORDS 9\n")
    assert made()[1] == 2
    project.file("first/own.h", "#define WORDS 10\n")  # found before the one that was read
    assert made()[1] == 3
    project.defines = {"WORDS": "11"}
    assert made()[1] == 4
    entries = project.platform.host.entries
    host = project.platform.host.model_copy(update={"entries": entries[1:]})
    project.platform = project.platform.model_copy(update={"host": host})
    build, times = made()
    assert (times, [site.callee for site in build.sites]) == (5, ["fakeWrite"])


def test_it_is_made_anew_where_the_system_reads_with_another_library(project, made, monkeypatch) -> None:
    def installed(version: str) -> None:
        monkeypatch.setattr(type(project.language), "tools", staticmethod(lambda: [version]))

    installed("libclang-19.so.19")
    assert (made()[1], made()[1]) == (1, 1)
    installed("libclang-20.so.20")
    assert (made()[1], made()[1]) == (2, 2)


def test_what_was_told_with_errors_is_told_again(project, made) -> None:
    project.file("user.c", HOST.replace("\n    ", "\n    #pragma recap put send(data, top.in, x): nothing == 1\n    "))
    build, _ = made()
    again, times = made()
    assert (times, again.diagnostics) == (2, build.diagnostics)
    assert [one.line for one in again.diagnostics] == [4]
