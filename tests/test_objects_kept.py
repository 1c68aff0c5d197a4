"""Object files are compiled once, and again where anything changed that the compiler read."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.api.compile import needed
from workbench.api.job import Job
from workbench.api.kept import one_at_a_time
from workbench.api.objects import ObjectFile, compile_objects
from workbench.model.diagnostic import Cancelled, WorkbenchError
from workbench.system.toolchain import find_compiler, symbols


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectFile:
    monkeypatch.setenv("RCW_CACHE", str(tmp_path / "cache"))
    for folder in ("first", "second", "build"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a.c").write_text('#include "kind.h"\nint KIND(void) { char unused; return 0; }\n')
    (tmp_path / "second" / "kind.h").write_text("#define KIND one\n")
    long_ago = time.time() - 60
    for file in tmp_path.rglob("*.[ch]"):
        os.utime(file, (long_ago, long_ago))
    flags = ("-Wunused", "-Ifirst", f"-I{tmp_path / 'second'}")
    return ObjectFile(needed(find_compiler("c")), flags, tmp_path / "a.c", tmp_path / "build" / "a.o")


def test_what_was_compiled_is_taken_again_until_something_that_it_read_changes(one: ObjectFile) -> None:
    root, commands = one.source.parent, []

    def told(command, run):
        commands.append(command)
        return run(command)

    def make(this: ObjectFile = one) -> tuple[str, int]:
        one.target.unlink(missing_ok=True)
        warnings = compile_objects([this], Job(), base=root / "build", cwd=root, what="it", through=told)
        assert [(w.line, w.message) for w in warnings] == [(2, "unused variable ‘unused’ [-Wunused-variable]")]
        assert warnings[0].file == str(root / "a.c")
        (name,) = symbols([this.target], defined=True)
        return name, len(commands)

    def write(name: str, text: str) -> None:
        (root / name).write_text(text)
        os.utime(root / name, (time.time() - 30, time.time() - 30))

    assert make() == ("one", 1)
    assert make() == ("one", 1)
    write("second/kind.h", "#define KIND two\n")
    assert make() == ("two", 2)
    write("first/kind.h", "#define KIND three\n")  # found before the one that was read
    assert make() == ("three", 3)
    (root / "first" / "kind.h").unlink()
    assert make() == ("two", 4)
    assert make(replace(one, flags=(*one.flags, "-O2"))) == ("two", 5)
    assert make(replace(one, made_by=("another version",))) == ("two", 6)


def test_what_the_compiler_reads_besides_counts_too(one: ObjectFile, monkeypatch: pytest.MonkeyPatch) -> None:
    root, commands = one.source.parent, []

    def make(this: ObjectFile) -> tuple[list[str], int]:
        one.target.unlink(missing_ok=True)
        compile_objects([this], Job(), base=root / "build", cwd=root, what="it", through=lambda words, run: (
            commands.append(words), run(words))[1])  # fmt: skip
        assert this.target.stat().st_mtime > began_s - 1, "make compares times"
        return sorted(symbols([this.target], defined=True)), len(commands)

    began_s = time.time()
    bare = replace(one, flags=("-w",))
    for kind in ("first", "second"):
        (root / kind / "kind.h").write_text(f"#define KIND {kind}\n")
        os.utime(root / kind / "kind.h", (began_s - 60, began_s - 60))
    monkeypatch.setenv("CPATH", str(root / "first"))
    assert make(bare) == (["first"], 1)
    assert make(bare) == (["first"], 1)
    monkeypatch.setenv("CPATH", str(root / "second"))
    assert make(bare) == (["second"], 2)
    monkeypatch.setenv("CPATH", f"{root / 'first'}:{root / 'second'}")
    assert make(bare) == (["first"], 3)
    folder = replace(bare, flags=("-w", f'-DPLACE="{root / "build"}"'))
    assert make(folder)[1] == 4
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    moved = replace(folder, flags=("-w", f'-DPLACE="{elsewhere}"'), target=elsewhere / "a.o")
    compile_objects([moved], Job(), base=elsewhere, cwd=root, what="it", through=lambda words, run: (
        commands.append(words), run(words))[1])  # fmt: skip
    assert len(commands) == 5, "a path in a macro is part of the object file"
    (root / "data").write_text("one")
    (root / "a.c").write_text(f'__asm__(".incbin \\"{root}/data\\"");\n')
    os.utime(root / "a.c", (began_s - 60, began_s - 60))
    assert [make(bare)[1], make(bare)[1]] == [6, 7], "which file that reads is not listed"


def test_projects_in_other_folders_get_the_same_object_until_one_of_their_headers_comes_first(one: ObjectFile) -> None:
    commands: list[str] = []

    def make(name: str) -> tuple[bytes, int]:
        root = one.source.parent / name
        (root / "build").mkdir(parents=True, exist_ok=True)
        flags = ("-w", "-g", f"-I{root}", f"-I{one.source.parent / 'second'}")
        this = replace(one, flags=flags, target=root / "build" / "a.o", root=root)
        compile_objects([this], Job(), base=root / "build", cwd=root, what="it", through=lambda words, run: (
            commands.append(words[0]), run(words))[1])  # fmt: skip
        return this.target.read_bytes(), len(commands)

    first, _ = make("here")
    assert str(one.source.parent / "here").encode() not in first
    assert make("there") == (first, 1)
    header = one.source.parent / "there" / "kind.h"
    header.write_text("#define KIND theirs\n")
    os.utime(header, (time.time() - 60,) * 2)
    assert make("there")[1] == 2
    assert b"theirs" in make("there")[0]
    assert make("here")[0] == first


def test_a_source_that_does_not_compile_is_told_each_time(one: ObjectFile) -> None:
    root = one.source.parent
    (root / "a.c").write_text("int a = ;\n")
    for _ in range(2):
        with pytest.raises(WorkbenchError) as failed:
            compile_objects([one], Job(), base=root / "build", cwd=root, what="it")
        assert [(d.file, d.line, d.column) for d in failed.value.diagnostics] == [(str(root / "a.c"), 1, 9)]


def test_of_those_who_make_the_same_one_goes_on_and_the_others_wait_until_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RCW_CACHE", str(tmp_path / "cache"))
    done: list[str] = []

    def make() -> None:
        with one_at_a_time("library", Job()):
            done.append("second")

    other = threading.Thread(target=make)
    given_up = Job()
    given_up.cancel()
    with one_at_a_time("library", Job()):
        other.start()
        with pytest.raises(Cancelled), one_at_a_time("library", given_up):
            done.append("cancelled")
        with one_at_a_time("objects", Job()):
            done.append("another kind")
        time.sleep(0.1)
        done.append("first")
    other.join(10)
    assert done == ["another kind", "first", "second"]
    monkeypatch.setenv("RCW_CACHE", "/dev/null/cache")
    with one_at_a_time("library", Job()), one_at_a_time("library", Job()):
        done.append("nobody waits")
    assert done[-1] == "nobody waits"
