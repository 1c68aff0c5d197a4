"""Edits of a person's sources: pragmas in texts, texts back into exact bytes, files whole or not at all."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.api.languages import VERILOG, C, syntax_of
from workbench.api.source.edits import decode, encode, insert_lines, insert_pragma, remove_pragma, replace_pragma
from workbench.api.source.pragma_text import find_pragmas
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Category, Pragma
from workbench.system import files
from workbench.system.files import replace_file, write_files

SEND = Pragma("writeX", Category.SEND, ("data",), ("top.in",), ("x1",), "words > 0")
WORK = Pragma("mult", Category.WORK)


def test_a_failing_write_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths[:2]:
        path.write_bytes(b"old")
    replace, calls = os.replace, []

    def failing(source: str, target: Path) -> None:
        calls.append(target)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", failing)
    with pytest.raises(WorkbenchError, match="No space left on device"):
        write_files(dict.fromkeys([paths[0], paths[2], paths[1]], b"new"))
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert [path.read_bytes() for path in paths[:2]] == [b"old", b"old"]


def test_what_a_killed_save_left_goes_with_the_next(tmp_path: Path) -> None:
    left, under_way, own = (tmp_path / name for name in (".a.c.rcw-0123abcd", ".a.c.rcw-89abcdef", ".a.c.0123abcd"))
    for path in (left, under_way, own):
        path.write_text("x")
    os.utime(left, (0, 0))
    os.utime(own, (0, 0))
    write_files({tmp_path / "a.c": b"int a;\n"})
    assert sorted(tmp_path.iterdir()) == sorted([under_way, own, tmp_path / "a.c"])


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "run.sh", tmp_path / "link"
    path.write_bytes(b"a")
    path.chmod(0o750)
    link.symlink_to(path)
    write_files({link: b"b"})
    assert link.is_symlink()
    assert path.read_bytes() == b"b"
    assert path.stat().st_mode & 0o777 == 0o750
    with pytest.raises(WorkbenchError, match="cannot write"):
        write_files({tmp_path / "none" / "x": b""})


def test_nothing_takes_the_place_of_a_pipe_or_a_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, b"page")
    assert os.read(reader, 10) == b"page"
    with pytest.raises(WorkbenchError, match="it is a folder, a device or a pipe"):
        write_files({pipe: b"b"})
    assert pipe.is_fifo()
    os.close(reader)


def test_insert_replace_remove() -> None:
    original = "/* caf\u00e9 */\nint main(void)\n{\n\t  fpgaWrite(f, d, 0, 4);\n}\n"
    lines = original.split("\n")
    text = insert_pragma(original, 4, 4, C, SEND)
    lines.insert(3, "\t  #pragma recap writeX send(data, top.in, x1): words > 0")
    assert text.split("\n") == lines
    text = replace_pragma(text, 4, C, WORK)
    lines[3] = "\t  #pragma recap mult work()"
    assert text.split("\n") == lines
    assert remove_pragma(text, 4, C) == original


def test_comments_after_a_pragma_stay() -> None:
    text = replace_pragma("  // pragma recap a work() // why \u00e9\nx <= 1;", 1, VERILOG, SEND)
    assert text == "  //pragma recap writeX send(data, top.in, x1): words > 0 // why \u00e9\nx <= 1;"
    assert remove_pragma(text, 1, VERILOG) == "  // why \u00e9\nx <= 1;"
    with pytest.raises(WorkbenchError, match="no pragma on this line"):
        remove_pragma(text, 2, VERILOG)


def test_a_spliced_pragma_goes_as_a_whole() -> None:
    text = "a;\n#pragma recap s \\\n  send(data, \\\n  top.in, x1)\nb;\n"
    assert replace_pragma(text, 2, C, WORK) == "a;\n#pragma recap mult work()\nb;\n"
    assert remove_pragma("a;\n#pragma recap s \\\n  work()", 2, C) == "a;\n"


def test_at_the_end_of_a_file() -> None:
    for before, line, after in (
        ("", 1, "x\ny\n"), ("a", 1, "x\ny\na"), ("a\n", 2, "a\nx\ny\n"), ("a\nb", 2, "a\nx\ny\nb"),
    ):  # fmt: skip
        assert insert_lines(before, line, 1, ["x", "y"]) == after
    with pytest.raises(WorkbenchError, match="no line 9"):
        insert_lines("a", 9, 1, ["x"])


def test_an_inserted_pragma_is_found_again() -> None:
    for name in ("m.c", "m.vhd", "m.sv"):
        syntax = syntax_of(name)
        assert syntax is not None
        (placed,), problems = find_pragmas(insert_pragma("one\n    two\n", 2, 5, syntax, SEND), syntax, name)
        assert problems == ()
        assert (placed.pragma, placed.line, placed.column) == (SEND, 2, 5)
    assert syntax_of("notes.txt") is None


lines = st.lists(st.sampled_from(["", "a", "b", "  c", "d\u00e9"]), max_size=8).map("\n".join)


@given(first=lines, second=lines, newline=st.sampled_from(["\n", "\r\n"]))
def test_a_text_goes_back_into_its_bytes(first: str, second: str, newline: str) -> None:
    before = first.replace("\n", newline).encode()
    assert decode(before) == first
    assert encode(first, before) == before
    after = encode(second, before)
    assert decode(after) == second
    if first.split("\n")[0] == second.split("\n")[0]:
        assert after.startswith(first.split("\n")[0].encode())


def test_only_the_lines_that_changed_are_touched() -> None:
    before = b"one\r\ntwo\xc2\xa0wide\r\nthree\nfour\r\n"
    assert encode("one\ntwo wide\n3\nfour\n", before) == b"one\r\ntwo\xc2\xa0wide\r\n3\r\nfour\r\n"


def test_a_file_in_latin_1_stays_so() -> None:
    assert decode(b"caf\xe9\nx\n") == "caf\u00e9\nx\n"
    assert encode("caf\u00e9\ny\u00e9\n", b"caf\xe9\nx\n") == b"caf\xe9\ny\xe9\n"
