"""Edits of a person's sources: exact bytes, all or nothing, and back again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import files
from workbench.files import sha256, write_files
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Category, Pragma
from workbench.source.edits import TextEdit, apply_edits, insert_lines, insert_pragma, remove_pragma, replace_pragma
from workbench.source.pragma_text import find_pragmas, style_of

SEND = Pragma("writeX", Category.SEND, ("data",), ("top.in",), ("x1",), "words > 0")
WORK = Pragma("mult", Category.WORK)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_edits_and_their_inverse(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("edits")
    before: dict[Path, bytes] = {}
    expected: dict[Path, bytes] = {}
    edits: list[TextEdit] = []
    for name in ("a.c", "b.v"):
        path = folder / name
        content = data.draw(st.binary(max_size=40))
        path.write_bytes(content)
        before[path], result, position = content, b"", 0
        cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False):
            new = data.draw(st.binary(max_size=5))
            edits.append(TextEdit(path, sha256(content), start, end, new))
            result += content[position:start] + new
            position = end
        expected[path] = result + content[position:]
    inverse = apply_edits(edits)
    assert {path: path.read_bytes() for path in expected} == expected
    again = apply_edits(inverse)
    assert {path: path.read_bytes() for path in before} == before
    apply_edits(again)
    assert {path: path.read_bytes() for path in expected} == expected


def test_a_changed_file_stops_everything(tmp_path: Path) -> None:
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    for path in (first, second):
        path.write_bytes(b"one\n")
    edits = [TextEdit(path, sha256(b"one\n"), 0, 3, b"two") for path in (first, second)]
    second.write_bytes(b"three\n")
    with pytest.raises(WorkbenchError, match="changed by another program"):
        apply_edits(edits)
    assert first.read_bytes() == b"one\n"
    assert second.read_bytes() == b"three\n"
    assert sorted(os.listdir(tmp_path)) == ["a.c", "b.c"]


def test_overlapping_edits_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"abcdef")
    digest = sha256(b"abcdef")
    with pytest.raises(WorkbenchError, match="do not fit together"):
        apply_edits([TextEdit(path, digest, 0, 3, b"x"), TextEdit(path, digest, 2, 4, b"y")])
    with pytest.raises(WorkbenchError, match="do not fit together"):
        apply_edits([TextEdit(path, digest, 5, 9, b"x")])
    assert path.read_bytes() == b"abcdef"


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


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_insert_replace_remove(tmp_path: Path, newline: bytes) -> None:
    path = tmp_path / "main.c"
    lines = [b"/* caf\xe9 */", b"int main(void)", b"{", b"\t  fpgaWrite(f, d, 0, 4);", b"}", b""]
    path.write_bytes(original := newline.join(lines))
    steps = [apply_edits([insert_pragma(path, 4, 4, "c", SEND)])]
    lines.insert(3, b"\t  #pragma recap writeX send(data, top.in, x1): words > 0")
    assert path.read_bytes() == newline.join(lines)
    steps.append(apply_edits([replace_pragma(path, 4, "c", WORK)]))
    lines[3] = b"\t  #pragma recap mult work()"
    assert path.read_bytes() == newline.join(lines)
    steps.append(apply_edits([remove_pragma(path, 4, "c")]))
    assert path.read_bytes() == original
    for inverse in reversed(steps):
        apply_edits(inverse)
    assert path.read_bytes() == original


def test_comments_after_a_pragma_stay(tmp_path: Path) -> None:
    path = tmp_path / "core.v"
    path.write_text("  // pragma recap a work() // why é\nx <= 1;")
    apply_edits([replace_pragma(path, 1, "verilog", SEND)])
    assert path.read_text() == "  //pragma recap writeX send(data, top.in, x1): words > 0 // why é\nx <= 1;"
    apply_edits([remove_pragma(path, 1, "verilog")])
    assert path.read_text() == "  // why é\nx <= 1;"
    with pytest.raises(WorkbenchError, match="no pragma on this line"):
        remove_pragma(path, 2, "verilog")


def test_a_spliced_pragma_goes_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    path.write_text("a;\n#pragma recap s \\\n  send(data, \\\n  top.in, x1)\nb;\n")
    edit = replace_pragma(path, 2, "c", WORK)
    assert edit.replacement == b"#pragma recap mult work()"
    apply_edits([edit])
    assert path.read_text() == "a;\n#pragma recap mult work()\nb;\n"
    path.write_text("a;\n#pragma recap s \\\n  work()")
    apply_edits([remove_pragma(path, 2, "c")])
    assert path.read_text() == "a;\n"


def test_at_the_end_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    for before, line, after in (
        ("", 1, "x\ny\n"), ("a", 1, "x\ny\na"), ("a\n", 2, "a\nx\ny\n"), ("a\nb", 2, "a\nx\ny\nb"),
    ):  # fmt: skip
        path.write_text(before)
        apply_edits([insert_lines(path, line, 1, ["x", "y"])])
        assert path.read_text() == after
    with pytest.raises(WorkbenchError, match="no line 9"):
        insert_lines(path, 9, 1, ["x"])


def test_an_inserted_pragma_is_found_again(tmp_path: Path) -> None:
    for name in ("m.c", "m.vhd", "m.sv"):
        path = tmp_path / name
        path.write_text("one\n    two\n")
        style = style_of(path)
        assert style is not None
        apply_edits([insert_pragma(path, 2, 5, style, SEND)])
        (placed,), problems = find_pragmas(path.read_text(), style, name)
        assert problems == ()
        assert (placed.pragma, placed.line, placed.column) == (SEND, 2, 5)
    assert style_of("notes.txt") is None
