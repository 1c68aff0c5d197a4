"""What is being typed in a pragma, part by part of its grammar."""

import pytest

from workbench.api.languages import VERILOG, VHDL, C, Syntax
from workbench.api.source.pragma_typed import Typed, typed_at
from workbench.model.pragma import Category

SEND, OVERHEAD = Category.SEND, Category.OVERHEAD


@pytest.mark.parametrize("syntax", [C, VERILOG, VHDL])
@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("", Typed("name", "")),
        ("wri", Typed("name", "wri")),
        ("write ", Typed("category", "")),
        ("write sen", Typed("category", "sen")),
        ("write send(", Typed("reason", "", SEND)),
        ("write send(da", Typed("reason", "da", SEND)),
        ("write send(data|ct", Typed("reason", "ct", SEND)),
        ("write send(data, ", Typed("target", "", SEND)),
        ("write send(data, top.core[", Typed("target", "top.core[", SEND)),
        ("write send(data, $CPU, x", Typed("message", "x", SEND)),
        ("write send(data, $CPU, x1|", Typed("message", "", SEND)),
        ("end overhead(fin", Typed("reason", "fin", OVERHEAD)),
        ("w send(data, $CPU, x1): sta", Typed("condition", "sta", before="")),
        ("w work(): state == ID", Typed("condition", "ID", before="state ==")),
        ("w work : a && ", Typed("condition", "", before="a &&")),
        ("w send(data, $CPU, x1, ", None),
        ("w send(data, $CPU, x1)", None),
        ("w overhead(a, ", None),
        ("w work(", None),
        ("w nothing(", None),
        ("w work()", None),
    ],
)
def test_the_part_at_the_cursor_is_told(syntax: Syntax, text: str, typed: Typed | None) -> None:
    assert typed_at(f"        {syntax.pragma}{text}", syntax) == typed


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("//pragma ", Typed("recap", "")),
        ("// pragma re", Typed("recap", "re")),
        ("//pragma recap", Typed("recap", "recap")),
        ("//pragma omp parallel", None),
        ("x = 1; //pragma recap ", None),
        ("--pragma recap ", None),
        ("pragma recap ", None),
    ],
)
def test_nothing_is_typed_outside_of_a_pragma_of_the_files_language(text: str, typed: Typed | None) -> None:
    assert typed_at(text, VERILOG) == typed
