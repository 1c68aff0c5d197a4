"""Edits of documents keep every line that they do not name."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.formats.platform_file import parse_platform
from workbench.formats.yaml_edit import insert_item, remove_item, set_value, swap_items, write_checked
from workbench.formats.yaml_marks import read_marked
from workbench.formats.yaml_nodes import compose
from workbench.model.diagnostic import WorkbenchError

NALLATECH = Path(__file__).parents[1] / "platform_templates" / "nallatech_h101.yaml"
TEXT = """\
# head
name: card   # the name
title: 'quoted'
description: >-
  folded text
  over lines

empty:
points:   # the table
  # the first
  - {bytes: 4, time_s: 8 us}
  - {bytes: 2 KiB, time_s: 13.94 us} # printed
  # the last
  - bytes: 32 KiB
    time_s: 95.6 us   # from 32 KB
tail: [1, 2, 3]
nested:
  - a: 1
    b: 2
  - - x
    - y
"""


def data(text: str) -> Any:
    marked, problems = read_marked(text)
    assert problems == ()
    assert marked is not None
    return marked.data


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("name",), "other", "name: card   #", "name: other   #"),
        (("name",), "a: b", "name: card   #", "name: 'a: b'   #"),
        (("name",), "1e5", "name: card   #", "name: '1e5'   #"),
        (("name",), 5, "name: card   #", "name: 5   #"),
        (("title",), "it's", "'quoted'", "'it''s'"),
        (("description",), "short", ">-\n  folded text\n  over lines\n", "short\n"),
        (("empty",), "x", "empty:\n", "empty: x\n"),
        (("points", 1, "time_s"), "14 us", "13.94 us", "14 us"),
        (("points", 0, "time_s"), 8.5e-6, "8 us", "8.5e-06"),
        (("points", 0, "source"), "a, b", "8 us}", "8 us, source: 'a, b'}"),
        (("points", 2, "source"), "x", "# from 32 KB\n", "# from 32 KB\n    source: x\n"),
        (("tail", 1), [7, "u"], "2, 3", "[7, u], 3"),
        (("nested", 1, 0), "z", "- - x", "- - z"),
        (("new",), {"a": [1], "b": "x y"}, "    - y\n", "    - y\nnew: {a: [1], b: x y}\n"),
        (("host", "limits", "size"), 4, "    - y\n", "    - y\nhost: {limits: {size: 4}}\n"),
        (("empty", "key"), 1, "empty:\n", "empty: {key: 1}\n"),
        (("title",), "two\nlines", "'quoted'", '"two\\nlines"'),
        (("tail",), [{"a": 1}, {"a": 2}], "tail: [1, 2, 3]\n", "tail:\n  - {a: 1}\n  - {a: 2}\n"),
        (
            ("points", 2),
            {"p": [{"b": 1}], "c": 2},
            "bytes: 32 KiB\n    time_s: 95.6 us",
            "p:\n      - {b: 1}\n    c: 2",
        ),
        (("empty",), {"p": [{"b": 1}]}, "empty:\n", "empty:\n  p:\n    - {b: 1}\n"),
        (
            ("host",),
            {"on": [1], "calls": [{"f": "int f(int a)", "k": "x", "b": "a", "c": "d"}]},
            "    - y\n",
            "    - y\nhost:\n  on: [1]\n  calls:\n    - f: int f(int a)\n      k: x\n      b: a\n      c: d\n",
        ),
    ],
)
def test_set_value(path: tuple[Any, ...], value: Any, old: str, new: str) -> None:
    if new == '"two\\nlines"':
        path, old = ("name",), "card"
    assert TEXT.count(old) == 1
    assert set_value(TEXT, path, value) == TEXT.replace(old, new)


def test_long_texts_are_folded() -> None:
    long = "word " * 40 + "end"
    text = set_value(TEXT, ("description",), long)
    assert data(text)["description"] == long
    assert max(map(len, text.splitlines())) <= 112
    assert "description: >-\n  word" in text


@pytest.mark.parametrize(
    ("path", "index", "value", "old", "new"),
    [
        (
            ("points",), 1, {"bytes": "1 KiB", "time_s": "9 us"},
            "  - {bytes: 2", "  - {bytes: 1 KiB, time_s: 9 us}\n  - {bytes: 2",
        ),
        (("points",), 2, 5, "  # the last\n", "  - 5\n  # the last\n"),
        (("points",), 3, {"bytes": 1}, "# from 32 KB\n", "# from 32 KB\n  - {bytes: 1}\n"),
        (("tail",), 0, 0, "[1,", "[0, 1,"),
        (("tail",), 3, "a b", "3]", "3, a b]"),
        (
            ("nested",), 1, {"p": "f(a, b)", "q": 1, "r": 2, "s": "#"},
            "  - - x", "  - p: f(a, b)\n    q: 1\n    r: 2\n    s: '#'\n  - - x",
        ),
    ],
)  # fmt: skip
def test_insert_item(path: tuple[Any, ...], index: int, value: Any, old: str, new: str) -> None:
    assert insert_item(TEXT, path, index, value) == TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("points", 1), "  - {bytes: 2 KiB, time_s: 13.94 us} # printed\n", ""),
        (("points", 2), "  - bytes: 32 KiB\n    time_s: 95.6 us   # from 32 KB\n", ""),
        (("points", 2, "bytes"), "bytes: 32 KiB\n    time_s", "time_s"),
        (("points", 2, "time_s"), "    time_s: 95.6 us   # from 32 KB\n", ""),
        (("points", 0, "time_s"), ", time_s: 8 us", ""),
        (("points", 0, "bytes"), "bytes: 4, ", ""),
        (("tail", 0), "1, ", ""),
        (("tail", 2), ", 3", ""),
        (("description",), "description: >-\n  folded text\n  over lines\n", ""),
        (("empty",), "empty:\n", ""),
    ],
)
def test_remove_item(path: tuple[Any, ...], old: str, new: str) -> None:
    assert remove_item(TEXT, path) == TEXT.replace(old, new)


def test_the_last_item_leaves_an_empty_list() -> None:
    assert remove_item("a:  # list\n  - 1\nb: 2\n", ("a", 0)) == "a: []  # list\nb: 2\n"
    assert remove_item("a: [1]\n", ("a", 0)) == "a: []\n"
    assert remove_item("a:\n  b: 1\n", ("a", "b")) == "a: {}\n"
    assert insert_item("a: []\n", ("a",), 0, 3) == "a: [3]\n"


def test_swap_items() -> None:
    text = swap_items(TEXT, ("points",), 1, 0)
    assert text == TEXT.replace("{bytes: 4, time_s: 8 us}", "@").replace(
        "{bytes: 2 KiB, time_s: 13.94 us}", "{bytes: 4, time_s: 8 us}"
    ).replace("@", "{bytes: 2 KiB, time_s: 13.94 us}")


def test_windows_newlines_stay() -> None:
    text = insert_item(TEXT.replace("\n", "\r\n"), ("points",), 3, {"bytes": 1})
    assert text.count("\n") == text.count("\r\n") == TEXT.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "path"),
    [("a: &x [1, 2]\nb: *x\n", ("b", 0)), ("a: [1", ("a",)), ("a: 1", ("a", "b", 0)), ("[1, 2]", (5,)), ("a: 1", ())],
)
def test_what_cannot_be_edited_says_so(text: str, path: tuple[Any, ...]) -> None:
    with pytest.raises(WorkbenchError, match=r"by hand|not YAML"):
        set_value(text, path, 3)


plain = st.recursive(
    st.one_of(
        st.integers(-(1 << 63), (1 << 64) - 1),
        st.booleans(),
        st.none(),
        st.text(max_size=12),
        st.floats(allow_nan=False, width=16),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
).filter(lambda value: "inf" not in repr(value))


@pytest.mark.parametrize("value", [-(1 << 63) - 1, 1 << 64, 10**400])
def test_a_whole_number_beyond_64_bits_is_refused(value: int) -> None:
    with pytest.raises(WorkbenchError):
        set_value(TEXT, ("name",), value)


@settings(max_examples=80)
@given(plain, st.sampled_from(["name", "title", "points", "tail", "nested", "fresh"]))
def test_any_value_is_set_exactly_or_refused(value: Any, key: str) -> None:
    expected = copy.deepcopy(data(TEXT))
    expected[key] = value
    try:
        text = set_value(TEXT, (key,), value)
    except WorkbenchError:
        assert "\\u" in ascii(value) or "\\x" in ascii(value) or "<<" in repr(value)  # what YAML cannot hold plainly
        return
    assert data(text) == expected
    assert text.startswith("# head\n")
    assert key == "points" or "# printed" in text


def test_write_checked(tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: a\r\n")
    write_checked(path, "name: a\r\n", "name: b\r\n")
    assert path.read_bytes() == b"\xef\xbb\xbfname: b\r\n"
    with pytest.raises(WorkbenchError, match="changed by another program"):
        write_checked(path, "name: a\r\n", "name: c\r\n")
    assert path.read_bytes() == b"\xef\xbb\xbfname: b\r\n"


def test_the_nallatech_template_survives_edits() -> None:
    before = NALLATECH.read_text()
    text = set_value(before, ("transfer_tables", "write", "points", 5, "time_s"), "13.94 us")
    text = set_value(text, ("hardware", "clocks", 0, "frequency_hz"), "125 MHz")
    text = insert_item(text, ("host", "entries"), 0, {"prototype": "int f(int a, int b)", "kind": "other"})
    text = remove_item(text, ("networks", 2))
    text = set_value(text, ("host", "entries", 3, "suggestion"), "Be quick. " * 20 + "Now.")
    platform, problems = parse_platform(text)
    assert platform is not None
    assert [p.severity for p in problems] == ["warning"]  # 2 KiB are now quicker than 1 KiB
    assert platform.transfer_tables["write"].points[5].time_s == 13.94e-6
    assert platform.hardware is not None
    assert platform.hardware.clocks[0].frequency_hz == 125e6
    assert [c for c in before.splitlines() if c.startswith("#")] == [c for c in text.splitlines() if c.startswith("#")]
    assert yaml.safe_load(text)["host"]["entries"][0]["prototype"] == "int f(int a, int b)"


def test_an_edit_and_its_reading_parse_one_new_text() -> None:
    """An editor changes a cell, shows the new text and checks it: what was parsed once is not parsed again."""
    text = NALLATECH.read_text()
    parse_platform(text)
    before = compose.cache_info().misses
    new = set_value(text, ("transfer_tables", "write", "points", 1, "time_s"), "9 us")
    assert read_marked(new)[0] is not None
    assert parse_platform(new)[0] is not None
    assert parse_platform(text)[0] is not None  # taken back
    assert compose.cache_info().misses == before + 1
