"""Source mode's plain data: lines that move, points for pragmas, numbers of lines, edits of files."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse, load_knowledge
from workbench.api.languages import VERILOG, VHDL, syntax_of
from workbench.api.results import WhatIf
from workbench.api.source.pragma_text import find_pragmas
from workbench.api.source.pragma_typed import typed_at
from workbench.api.verified import ArmCount, AssertionResult, DecisionResult
from workbench.gui.modes.source.completion import fitting
from workbench.gui.modes.source.highlight import Highlighter
from workbench.gui.modes.source.line_advice import line_advice
from workbench.gui.modes.source.line_lexer import LineColours, spans
from workbench.gui.modes.source.line_numbers import (
    LinePath,
    blocks_of,
    file_shares,
    line_checks,
    line_numbers,
    line_paths,
)
from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.gui.modes.source.points import (
    Choices,
    choices,
    new_name,
    open_points,
    point_at,
    points_now,
    points_of,
    suggested,
)
from workbench.gui.modes.source.pragma_words import PragmaPlace, place_below, words_for
from workbench.model.changes import Unite
from workbench.model.custom import IMPLIED
from workbench.model.finding import Advice, Finding, Place
from workbench.model.pragma import Category, PlacedPragma, Pragma
from workbench.model.prediction import CriticalPath, PathLine, Prediction, Slack, Trust
from workbench.model.proposal import Proposal
from workbench.model.scan import (
    Branch,
    CallSite,
    HdlBlock,
    HdlScan,
    HostScan,
    ProjectScan,
    StateRegister,
    StateValue,
    Term,
)
from workbench.testing.runs import CORE_FILE, HOST_FILE, synthetic_platform, synthetic_run

lines = st.lists(st.sampled_from(["", "a", "b", "  c", "d\u00e9"]), max_size=8).map("\n".join)


class Edited:
    """A text that is edited, with where its lines were."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.moved = LinesMoved(self.lines)

    def change(self, text: str) -> None:
        """Make it another text, as an editor does: by the lines between those that stay."""
        old, new = self.lines[:], text.split("\n")
        head = next(
            (n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
        )
        self.lines[head:] = new[head:]
        self.moved.edited(head, old[head:], new[head:])

    @property
    def origins(self) -> list[int]:
        return [self.moved.original(line) for line in range(1, len(self.lines) + 1)]


def test_lines_keep_their_origin_when_others_come_and_go() -> None:
    text = Edited("a\nb\nc")
    text.change("a\nnew\nb\nc")
    assert text.origins == [1, 0, 2, 3]
    assert [text.moved.place(line) for line in range(5)] == [0, 1, 3, 4, 0]
    text.change("a\nb\nc")
    assert text.origins == [1, 2, 3]
    assert text.moved.same
    text.change("a\nb!\nc")
    assert text.origins == [1, 2, 3]
    assert not text.moved.same
    text.change("c")
    text.change("a\nb\nc")  # all is undone
    assert text.moved.same


def test_lines_are_followed_over_edits_that_were_not_seen() -> None:
    text = Edited("new\na\nb\nC\nd\nnew\ne")
    text.moved.reset("a\nb\nc\nd\ne")
    assert [text.moved.place(line) for line in range(1, 6)] == [2, 3, 0, 5, 7]
    text.change("a\nb\nC\nd\nnew\ne")
    assert [text.moved.place(line) for line in range(1, 6)] == [1, 2, 0, 4, 6]


@given(lines, st.lists(lines, max_size=4))
def test_lines_moved_has_an_origin_for_every_line_and_a_place_for_every_origin(first: str, later: list[str]) -> None:
    text = Edited(first)
    for other in later:
        text.change(other)
        kept = [line for line in text.origins if line]
        assert kept == sorted(set(kept))
        assert all(line <= first.count("\n") + 1 for line in kept)
        places = {line: number for number, line in enumerate(text.origins, 1) if line}
        assert all(text.moved.place(line) == places.get(line, 0) for line in range(first.count("\n") + 3))


PLACED = PlacedPragma(Pragma("take", Category.RECV, ("data",), ("$CPU",), ("w1",)), "core.v", 12, 9)
BLOCK = HdlBlock(
    "core.ctrl", "core", "always", "core.v", 10, 30, "clk", "posedge",
    (
        Branch(10, "body", "", 11, 5, 30),
        Branch(11, "if", "write", 12, 9, 14, (PLACED,)),
        Branch(13, "if", "inner", 14, 13, 13),
        Branch(15, "else", "", 16, 9, 20),
        Branch(21, "case", "IDLE", 22, 9, 23),
    ),
    ("top.core[0].ctrl", "top.core[1].ctrl"),
)  # fmt: skip
SCAN = ProjectScan(
    HostScan((CallSite("main.c", 7, 5, "fpgaWrite", "send", "fpgaWrite"),)),
    HdlScan((BLOCK,), (("top", "top"), ("top.core[0]", "core"), ("top.core[1]", "core"))),
)


def test_points_without_a_pragma_are_those_whose_time_nothing_names() -> None:
    found = points_of(SCAN, lambda f: f == "core.v")
    assert [p.line for p in open_points(found)] == [15, 21]
    assert [p.line for p in open_points(points_of(SCAN, lambda f: f == "main.c"))] == [7]


def test_points_follow_a_text_that_was_edited_since_the_scan() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 41)).replace("line 12\n", "//pragma recap take work()\n")
    edited = Edited(before)

    def now(text: str) -> dict[int, tuple[int, tuple[str, ...]]]:
        edited.change(text)
        found = points_now(
            points_of(SCAN, lambda f: f == "core.v"), edited.moved, find_pragmas(text, VERILOG, "core.v")[0]
        )
        return {p.line: (p.pragma_line, tuple(x.pragma.name for x in p.pragmas)) for p in found}

    assert now(before)[11] == (12, ("take",))
    above = before.replace("line 3\n", "line 3\nmore\n")
    assert now(above)[12] == (13, ("take",))
    assert now(above)[16] == (17, ())
    marked = above.replace("line 16\n", "//pragma recap mine work()\nline 16\n")
    assert now(marked)[16] == (18, ("mine",))
    assert now(marked)[12] == (13, ("take",))
    gone = marked.replace("//pragma recap take work()\n", "")
    assert now(gone)[12][1] == ()
    assert now(gone)[15] == (17, ("mine",))


def test_a_line_means_the_innermost_branch_around_it() -> None:
    found = points_of(SCAN, lambda f: f == "core.v")
    at = {line: point_at(found, line) for line in (9, 11, 12, 14, 17, 28)}
    assert at[9] is None
    assert [at[line].line for line in (11, 12, 14, 17, 28) if at[line]] == [11, 11, 11, 15, 10]


def test_choices_begin_with_what_the_project_uses() -> None:
    offered = choices(SCAN, synthetic_platform(), {Category.RECV: {"late_sender": "the other side is late"}})
    assert offered.reasons[Category.RECV][:2] == ("data", "late_sender")
    assert offered.targets == ("$CPU", "$MEM", "top", "top.core[*]")
    assert offered.messages == ("w1", "m1")
    assert offered.meanings["late_sender"] == "the other side is late"


def test_a_first_answer_fits_what_is_there() -> None:
    offered = choices(SCAN, None, {Category.SEND: {"data": ""}})
    call, *_ = points_of(SCAN, lambda f: f == "main.c")
    assert suggested(call, SCAN, offered) == Pragma("fpgaWrite", Category.SEND, ("data",), ("top",), ("m1",))
    branches = points_of(SCAN, lambda f: f == "core.v")
    assert suggested(branches[1], SCAN, offered) == PLACED.pragma
    assert suggested(branches[-1], SCAN, offered).name == "IDLE"
    assert suggested(branches[-1], SCAN, offered).category is Category.WORK
    assert new_name("x", ["x", "x1", "x2"]) == "x3"
    assert new_name("m1", ["m1"]) == "m2"
    assert isinstance(offered, Choices)


REGISTER = StateRegister(
    "state", "core", "core.ctrl", "core.v", 4,
    (StateValue("IDLE", "state == IDLE", 21), StateValue("BUSY", "state == BUSY", 24)),
)  # fmt: skip
KNOWN = {Category.RECV: {"late_sender": "the other side is late"}, Category.SEND: {"ctrl": ""}}


def words(typed: str, place: PragmaPlace, after: str = "") -> list[tuple[str, str]]:
    """The words for a text and what stands behind each."""
    asked = replace(BLOCK, branches=(*BLOCK.branches, Branch(25, "if", terms=(Term("in_valid", True),))))
    scan = replace(SCAN, hdl=replace(SCAN.hdl, blocks=(asked,), registers=(REGISTER,)))
    found = typed_at(f"//pragma recap {typed}", VERILOG)
    assert found is not None
    offered = words_for(found, after, place, scan, choices(scan, synthetic_platform(), KNOWN))
    return [(word.text, word.behind) for word in fitting(offered, found.begun)]


def test_what_a_pragma_speaks_of_stands_below_it() -> None:
    found = points_of(SCAN, lambda f: f == "core.v")
    texts = [f"line {number}" for number in range(1, 31)]
    texts[20] = "//pragma recap"  # line 21; the case arm's pragma stands before line 22
    marks = (Proposal("a", "a", "core.v", 22, 9, Pragma("IDLE", Category.WORK), "why"),)
    place = place_below(21, texts, found, marks)
    assert (place.point and place.point.label, place.proposals) == ("IDLE", marks)
    assert place_below(18, texts, found, marks) == PragmaPlace()
    texts[19] = ""
    assert place_below(19, texts, found, marks) == place


def test_words_for_a_pragma_are_the_designs_own_names() -> None:
    branches = points_of(SCAN, lambda f: f == "core.v")
    idle = PragmaPlace(branches[-1])
    assert words("", idle) == [("IDLE", " "), ("BUSY", " "), ("take", " ")]
    assert words("bu", idle) == [("BUSY", " ")]
    marks = (Proposal("a", "a", "core.v", 22, 9, Pragma("IDLE", Category.RECV, ("data",), ("$CPU",), ("w1",)), "why"),)
    proposed = PragmaPlace(branches[-1], marks)
    assert words("", proposed)[:2] == [("IDLE recv(data, $CPU, w1)", ""), ("IDLE", " ")]
    assert words("", proposed, " work()")[0] == ("IDLE", " ")
    assert words("IDLE ", proposed)[0] == ("recv", "(")
    assert words("IDLE ", idle)[0] == ("work", "()")
    assert words("IDLE wait", idle) == [("wait_send", "("), ("wait_recv", "(")]
    assert words("IDLE ", idle, "(data, $CPU, x1)")[0] == ("work", "")
    assert words("IDLE recv(", idle) == [("data", ", "), ("late_sender", ", ")]
    assert words("IDLE recv(data, core", idle) == [("top.core[*]", ", ")]
    assert words("IDLE recv(data, $CPU, ", idle) == [("m1", ")"), ("w1", ")")]
    assert words("IDLE overhead(", idle, ")") == []
    assert words("IDLE work(): ", idle) == [("state == IDLE", ""), ("state == BUSY", ""), ("in_valid", "")]
    assert words("IDLE work(): in_valid && state == ", idle)[:2] == [("IDLE", ""), ("BUSY", "")]
    assert words("IDLE work(): in_valid && !i", idle) == [("in_valid", ""), ("state == IDLE", "")]


def test_numbers_of_lines_are_means_over_replicas() -> None:
    run = synthetic_run(cores=4, rounds=3)
    analysis = analyse(run, synthetic_platform(), load_knowledge([], [])[0])
    core = line_numbers(analysis, lambda f: f == CORE_FILE)
    cores = [m for m in analysis.blocks if m.block.file == CORE_FILE]
    assert len(cores) == 4
    for index, metrics in enumerate(cores[0].states):
        if metrics.state.line is not None and metrics.state.file == CORE_FILE:
            share = sum(m.states[index].share for m in cores) / 4
            assert core[metrics.state.line].share == pytest.approx(share)
    host = line_numbers(analysis, lambda f: f == HOST_FILE)
    assert sum(n.share for n in host.values()) == pytest.approx(sum(c.share for c in analysis.calls))
    assert sum(share for _, share in file_shares(analysis, lambda f: f == CORE_FILE)) == pytest.approx(1)
    assert file_shares(analysis, lambda f: False) == ()
    assert len(blocks_of(analysis, lambda f: f == CORE_FILE, 10_000)) == 4


def test_syntax_spans_stand_where_the_words_are() -> None:
    found = spans("int x = 4; // four\nreturn x;\n", ".c")
    assert (0, 3, "keyword") in found[0]
    assert (8, 1, "number") in found[0]
    assert (11, 7, "comment") in found[0]
    assert (0, 6, "keyword") in found[1]
    assert len(found) == 3
    assert spans("when idle => x <= 1;", ".vhd")[0][0] == (0, 4, "keyword")
    assert syntax_of(Path("a.VHD")) == VHDL
    assert syntax_of(Path("a.yaml")) is None


def test_a_text_is_coloured_where_one_looks_and_again_where_lines_moved(qtbot: QtBot) -> None:
    view = QPlainTextEdit("\n".join(["wire one;"] * 3500))
    view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    document, highlighter = view.document(), Highlighter(view)

    def coloured() -> set[int]:
        lines = range(document.blockCount())
        return {n for n in lines if document.findBlockByNumber(n).layout().formats()}

    def in_view() -> set[int]:
        first = view.firstVisibleBlock().blockNumber()
        return set(range(first, first + view.viewport().height() // view.fontMetrics().lineSpacing()))

    spans = [[(0, 4, "keyword")]] * 3500
    highlighter.set_spans(spans)
    assert in_view() <= coloured()
    assert len(coloured()) < 100
    view.verticalScrollBar().setValue(2400)
    assert in_view() <= coloured()
    assert len(coloured()) < 200
    QTextCursor(document.findBlockByNumber(2401)).insertText("\n\n")
    highlighter.set_spans([*spans[:2401], [], [], *spans[2401:]])
    assert not document.findBlockByNumber(2402).layout().formats()
    assert in_view() - {2401, 2402} <= coloured()
    highlighter.set_names(["one"])
    assert {f.start for f in document.findBlockByNumber(2400).layout().formats()} == {0, 5}


#: Pieces that begin and end comments, directives and strings, and what stands between.
PIECES = st.sampled_from(("/*", "*/", "//", '"', "\\", "\n", "#define", " int x", "1'b0", "begin "))


@given(st.lists(PIECES, max_size=12), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9), PIECES), max_size=5),
       st.sampled_from((".c", ".v", ".vhd", ".x", ".yaml")))  # fmt: skip
def test_colours_after_edits_are_those_of_the_text_read_anew(
    first: list[str], edits: list[tuple[int, int, str]], suffix: str
) -> None:
    text = "".join(first)
    lines = text.split("\n")
    colours = LineColours(lines, suffix)
    for at, length, put in edits:
        text = text[:at] + put + text[at + length :]
        old, new = lines[:], text.split("\n")
        lines[:] = new
        colours.edited(0, len(old), len(new))
        assert [colours.spans(number) for number in range(len(new))] == spans(text, suffix)
        apart = [(start, start + size) for start, size, _ in colours.spans(0)]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(apart))


def test_a_lines_time_on_the_critical_path_is_that_of_all_replicas() -> None:
    run = synthetic_run(cores=4, rounds=3)
    analysis = analyse(run, synthetic_platform(), load_knowledge([], [])[0])
    cores = [m.block.id for m in analysis.blocks if m.block.file == CORE_FILE]
    on_path = (
        *(PathLine(block, "bin", CORE_FILE, 40, 2e-3, 0.2) for block in cores[:2]),
        PathLine("host.main", "work", "", 0, 4e-3, 0.4),
        PathLine("host.main", "fpgaWrite", HOST_FILE, 70, 2e-3, 0.2),
    )
    slack = (
        Slack("host.main", "put", 0.0, "fpgaWrite", HOST_FILE, 70),
        Slack(cores[3], "idle", 5e-6, "", CORE_FILE, 50),
        Slack(cores[3], "idle", None, "", CORE_FILE, 52),
    )
    path = CriticalPath(10e-3, (), on_path, slack)
    analysis = replace(analysis, what_if=WhatIf("", (), (), (), 0, path))
    host, core = (line_paths(analysis, lambda f, file=file: f == file) for file in (HOST_FILE, CORE_FILE))
    assert host == {
        70: LinePath(2e-3, 0.2, "host main fpgaWrite: 2.00\u202fms of the critical path (20.0\u202f%), least slack 0")
    }
    assert (core[40].time_s, core[40].share) == (pytest.approx(4e-3), pytest.approx(0.4))
    assert core[50].words == "core[*].ctrl idle: not on the critical path, least slack 5.00\u202fµs"
    assert core[52].words.endswith("nothing waits for it")
    assert line_paths(replace(analysis, what_if=None), lambda f: True) == {}


def test_what_was_counted_of_branches_and_assertions_is_beside_their_lines() -> None:
    arms = (ArmCount(IMPLIED, 5, 17604), ArmCount("else if go", 7, 48), ArmCount("else", 9, 0))
    held = AssertionResult("one", CORE_FILE, 12, "error", "", 3, 0, {})
    failed = replace(held, name="two", line=13, failed=12)
    analysis = replace(
        analyse(synthetic_run(), synthetic_platform(), load_knowledge([], [])[0]),
        decisions=(DecisionResult("port", CORE_FILE, 5, arms, ()),), assertions=(held, failed),
    )  # fmt: skip
    checks = line_checks(analysis, lambda file: file == CORE_FILE)
    # the line is that of the if, whose own branch is another one
    assert {line: check.text for line, check in checks.items()} == {
        5: "else 17\u202f604", 7: "48", 9: "never", 12: "held", 13: "failed 12",
    }  # fmt: skip
    assert [line for line, check in checks.items() if check.bad] == [9, 13]


def test_a_finding_is_advised_once_at_a_line_that_its_best_change_is_about() -> None:
    analysis = analyse(synthetic_run(cores=4, rounds=3), synthetic_platform(), load_knowledge([], [])[0])
    calls = tuple(Place(HOST_FILE, line, "call") for line in (20, 30))
    advice = Advice("Unite", 4.0, changes=(Unite((f"{HOST_FILE}:30",), 8),))
    united = replace(advice, prediction=Prediction(advice.changes, Trust.TRUSTED, 1.0, 1.29))
    best = Finding(
        "a", "r", "Small transfers", "block", "host", "host", 1.0, 2.0, 4.0, "medium", (united,), places=calls
    )
    other = replace(best, id="b", title="Waits", advice=(Advice("Wait less", 1.5),), speedup_cap=1.5)
    late = replace(best, id="c", advice=(Advice("Elsewhere", 9.0, elsewhere=True),))
    small = replace(best, id="d", advice=(replace(united, prediction=Prediction((), Trust.TRUSTED, 1.0, 1.01)),))
    part = replace(best, id="e", part_of="a")
    found = replace(analysis, findings=(best, other, late, small, part))
    by_line = line_advice(found, (), lambda file: file == HOST_FILE)
    assert {line: (one.finding, one.title, one.gain) for line, one in by_line.items()} == {
        30: ("a", "Unite 8 calls", "predicted 1.29×"),
        20: ("b", "Waits", "≤\u202f1.50×"),
    }
    assert list(line_advice(found, {"a"}, lambda file: file == HOST_FILE)) == [20]
    assert line_advice(found, (), lambda file: False) == {}
