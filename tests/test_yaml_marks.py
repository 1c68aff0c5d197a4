"""Documents with places: what is read, and what is said of what is not."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

from workbench.formats.yaml_marks import check, read_marked
from workbench.formats.yaml_nodes import Scalars, compose
from workbench.model.diagnostic import Diagnostic, Severity

TEMPLATES = Path(__file__).parents[1] / "platform_templates"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Kind(StrEnum):
    SEND = "send"
    RECEIVE = "receive"


class Point(Strict):
    bytes: PositiveInt
    time_s: PositiveFloat


class Call(Strict):
    name: str
    kind: Kind = Kind.SEND
    bytes: str = ""  # an expression, never converted


class Box(Strict):
    title: str
    clock_hz: PositiveFloat = 1.0
    words: int = 1
    points: tuple[Point, ...] = ()
    calls: tuple[Call, ...] = ()
    constants: dict[str, int | float | str] = Field(default_factory=dict)
    times_s: dict[str, float] = Field(default_factory=dict)
    limit_bytes: PositiveInt | None = None
    on: bool = False

    @model_validator(mode="after")
    def _title(self) -> Box:
        if self.title == "refuse":
            raise ValueError("This title is refused")
        return self


GOOD = """\
title: A box   # a comment
clock_hz: 100 MHz
points:
  - {bytes: 2 KiB, time_s: 13.94 us}
  - bytes: 4096
    time_s: 1e-5
calls:
  - name: write
    kind: receive
    bytes: words * 4
constants: {BASE: 0x4000, RATE: 1.5, NAME: on, OLD: 010}
times_s: {a: 5 ms}
limit_bytes: 4 MiB
on: true
"""


def validate(model_class: type[Box], text: str, file: str | None = None) -> tuple[Box | None, tuple[Diagnostic, ...]]:
    marked, problems = read_marked(text, file)
    return (None, problems) if marked is None else check(model_class, marked)


def test_good_document() -> None:
    box, problems = validate(Box, GOOD, "box.yaml")
    assert problems == ()
    assert box is not None
    assert box.clock_hz == 100e6
    assert [(p.bytes, p.time_s) for p in box.points] == [(2048, 13.94e-6), (4096, 1e-5)]
    assert box.calls[0].bytes == "words * 4"
    assert box.constants == {"BASE": 0x4000, "RATE": 1.5, "NAME": "on", "OLD": 10}
    assert box.times_s == {"a": 0.005}
    assert box.limit_bytes == 4 << 20


def test_places() -> None:
    marked, _ = read_marked(GOOD, "box.yaml")
    assert marked is not None
    place = marked.span(("points", 1, "time_s"))
    assert (place.line, place.column, GOOD[place.start : place.end]) == (6, 13, "1e-5")
    key = marked.span(("points", 1, "time_s"), key=True)
    assert (key.line, key.column) == (6, 5)
    assert marked.span(("points", 1, "nothing")).line == 5
    assert marked.span(("nowhere",)).line == 1


@pytest.mark.parametrize(
    ("change", "line", "column", "message", "hint"),
    [
        (("clock_hz", "clock_Hz"), 2, 1, "no key 'clock_Hz' here", "Did you mean 'clock_hz'?"),
        (("    time_s", "    tmie_s"), 6, 5, "no key 'tmie_s' here", "Did you mean 'time_s'?"),
        (("100 MHz", "100 us"), 2, 11, "'us' is not a frequency", '"100 MHz"'),
        (("2 KiB", "2 KB"), 4, 13, "'KB' can mean two sizes", "KiB (1024 bytes)"),
        (("13.94 us", "-13.94 us"), 4, 28, '"-13.94 us" should be above 0', ""),
        (("receive", "recieve"), 9, 11, "'recieve' is not one of the choices", "Did you mean 'receive'?"),
        (("4096", "4096.5"), 5, 12, "4096.5 should be a whole number", '"32 KiB"'),
        (("    time_s: 1e-5\n", ""), 5, 5, "the key 'time_s' is missing", 'Add `time_s: "13.94 us"`.'),
        (("title: A box ", "title: 12 "), 1, 8, "12 should be a text", "quotes"),
        (("title: A box ", "title: "), 1, 1, "a value is missing", 'Write "..."'),
        (("true", "yes"), 14, 5, '"yes" should be true or false', "true"),
        (("1.5", "[1]"), 11, 33, "this should be a number or a text", "for example"),
        (("title: A box ", "title: refuse "), 1, 1, "this title is refused", ""),
        (("times_s: {a: 5 ms}", "times_s: 5 ms"), 12, 10, '"5 ms" should be keys with values', "key: value"),
        (("limit_bytes: 4 MiB", "title: twice"), 13, 1, "the key 'title' is given twice", "line 1"),
        (("on: true", "on: *x"), 14, 5, "this is not YAML: found undefined alias", "quotes"),
        (("on: true", "\ton: true"), 14, 1, "this is not YAML", "blanks, not tabs"),
        (("on: true", "on: [true"), 15, 1, "this is not YAML", "not closed"),
        (("on: true", "on: !!python/name:os.system"), 14, 5, "cannot be read as", "plain values"),
        (("on: true", "on: !thing {a: 1}"), 14, 5, "values of kind !thing", "plain"),
        (("on: true", "on: 2001-01-01"), 14, 5, '"2001-01-01" should be true or false', ""),
        (("on: true", "<<: {on: true}"), 14, 1, "merge keys", "keys out"),
        (("on: true", "? [a]\n: b"), 14, 3, "a key should be a plain name", "name: value"),
        (("on: true", "words: &a [*a]"), 14, 8, "alias refers to a value that contains it", ""),
        (("on: true", "words: 1e999"), 14, 8, "too large", ""),
        (("on: true", 'words: "\\ud800"'), 14, 11, "invalid Unicode character", ""),
        (("on: true", "words: 1\x07"), 14, 9, "not allowed in YAML", ""),
        (("on: true", "---\na: 1"), 14, 1, "this is not YAML", "one document"),
    ],
)
def test_what_is_wrong(change: tuple[str, str], line: int, column: int, message: str, hint: str) -> None:
    text = GOOD.replace(*change)
    assert text != GOOD
    box, problems = validate(Box, text, "box.yaml")
    assert box is None
    (problem,) = [p for p in problems if message in p.message]
    assert (problem.file, problem.line, problem.column) == ("box.yaml", line, column)
    assert hint in problem.hint
    assert problem.severity is Severity.ERROR


def test_every_problem_is_told_in_order() -> None:
    text = "titel: x\nclock_hz: 5 s\npoints:\n  - {bytes: 0, time_s: 1}\n  - {}\n"
    _, problems = validate(Box, text)
    assert [(p.line, p.message) for p in problems] == [
        (1, "the key 'title' is missing"),
        (1, "there is no key 'titel' here"),
        (2, "'s' is not a frequency"),
        (4, "0 should be above 0"),
        (5, "the key 'bytes' is missing"),
        (5, "the key 'time_s' is missing"),
    ]


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "[" * 100_000, "{a: " * 5000, "- 1", "just text", "a: " + "[" * 80]
)
def test_no_document(text: str) -> None:
    box, problems = validate(Box, text, "box.yaml")
    assert box is None
    assert problems[0].message
    assert problems[0].line == 1


def test_an_alias_bomb_is_refused_quickly() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    box, problems = validate(Box, "\n".join(lines))
    assert box is None
    assert "too large" in problems[0].message


MANGLE = st.sampled_from("{}[]:-#&*!|>'\"%@`?,<=~ \n\ta1.é\x00")


@settings(max_examples=150)
@given(st.data())
def test_mangled_documents_never_raise(data: st.DataObject) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(st.text(alphabet=MANGLE, max_size=5)) + text[end:]
    box, problems = validate(Box, text, "box.yaml")
    assert box is not None or problems
    for problem in problems:
        assert problem.line is not None
        assert 1 <= problem.line <= text.count("\n") + 2


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.yaml")), ids=lambda path: str(path.stem))
def test_marks_are_those_of_the_python_scanner(template: Path) -> None:
    """Editors take text at these places: libyaml's marks must be character offsets, as PyYAML's own are."""
    text = template.read_text("utf-8").replace("title: ", "title: \N{MICRO SIGN}\N{BAR CHART} ", 1)

    def flat(node: yaml.Node) -> list[tuple[str, int, int, int, int]]:
        start, end = node.start_mark, node.end_mark
        inner = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        below = [place for part in inner for place in flat(part)] if isinstance(inner, list) else []
        stripped = start.index + len(text[start.index : end.index].rstrip())
        return [(node.tag, start.index, stripped, start.line, start.column), *below]

    ours = compose(text)
    assert ours is not None
    loader = yaml.BaseLoader(text)
    loader.resolve = Scalars().resolve  # the same kinds; what is compared are the marks
    assert flat(ours) == flat(loader.get_single_node())


def test_what_is_too_much_is_answered_at_once() -> None:
    bomb = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
    )
    for text in ("[" * 100_000, "- " * 100_000, "{a: " * 100_000, bomb, "a: 1\n" * 1_000_000):
        marked, (problem,) = read_marked(text)
        assert marked is None
        assert "too large or too deep" in problem.message


def test_numbers_beyond_a_machine_word() -> None:
    marked, _ = read_marked(f"a: {2**64 - 1}\nb: 1e30\n")
    assert marked is not None
    assert marked.data == {"a": 2**64 - 1, "b": 1e30}
    for number in (str(2**64), "1" * 400, "1" * 5000, "-" + "9" * 30):
        assert read_marked(f"a: {number}")[0] is None
